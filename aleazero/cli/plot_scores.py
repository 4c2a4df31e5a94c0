"""The picture of ``aleazero oracle yatzy simulate``: how the scores of best play spread."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from aleazero.evaluation.scores import Scores

INK, FAINT, BAR, MEAN = "#22272e", "#d9dde3", "#1565c0", "#b3395b"
STEP = 5
"""Points of a bar."""


def check_plot(file: Path | None) -> None:
    """Complain before the games, not after them."""
    if file is None:
        return
    if file.suffix != ".png":
        raise ConfigError(f"--plot is {str(file)!r}, expected a name ending in .png")
    if not file.parent.is_dir():
        raise ConfigError(f"--plot is {str(file)!r}, expected a folder that exists")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError("--plot draws with matplotlib, which is missing: pip install matplotlib") from None


def draw_scores(scores: Scores, expected: float, file: Path) -> None:
    """Draw the histogram of the scores, with and without the bonus, and the expectation."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from aleazero.files import write_file

    edges = range(int(scores.totals.min()) // STEP * STEP, int(scores.totals.max()) + STEP + 1, STEP)
    with plt.rc_context({
        "savefig.dpi": 130, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
        "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": INK,
        "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False,
    }):  # fmt: skip
        figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
        parts = [scores.totals[scores.bonuses], scores.totals[~scores.bonuses]]
        labels = [f"with the bonus ({scores.bonus_rate:.1%})", "without"]
        axes.hist(parts, bins=list(edges), stacked=True, color=[BAR, "#e07b00"], label=labels)
        axes.axvline(expected, color=MEAN, linewidth=1.5, label=f"expected: {expected:.2f}")
        axes.set_title(f"Yatzy alone, best play: {len(scores.totals):,} games, mean {scores.mean.mean:.2f}")
        axes.set_xlabel("final score")
        axes.set_ylabel(f"games in {STEP} points")
        axes.legend(loc="upper left")
        picture = io.BytesIO()
        figure.savefig(picture, format="png")
        plt.close(figure)
    write_file(file, picture.getvalue(), ConfigError)
