"""The figures of the benchmark ``chance``: error, deviation and regret by budget, and planner and search by time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.chance.cases import CASES

INK, FAINT = "#22272e", "#d9dde3"
COLOURS = {
    "sampling": "#1565c0", "stratified": "#b3395b", "progressive": "#6f42c1", "full": "#2e9d63", "open": "#e07b00",
    "stratified-pick": "#b3395b", "expectation": "#1565c0", "samples-4": "#6f42c1", "exact-21": "#2e9d63",
}  # fmt: skip
MARKERS = {"sampling": "o", "stratified": "s", "progressive": "v", "full": "D", "open": "^"}
LOOK: dict[Any, Any] = {
    "savefig.dpi": 130, "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": INK,
    "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": INK,
    "axes.grid": True, "grid.color": FAINT, "grid.linewidth": 0.6, "axes.axisbelow": True, "legend.frameon": False,
}  # fmt: skip
"""Settings of matplotlib for all figures."""
EVALUATORS = {"rollout": "random playouts", "network": "network-like"}

Rows = list[dict[str, Any]]


def draw_all(data: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all results and return the files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(LOOK):
        files = [
            _by_budget(plt, data, folder / "answers_error.png", "value_rmse", "error of the root's value (RMSE)"),
            _by_budget(plt, data, folder / "answers_luck.png", "value_deviation", "standard deviation of the value"),
            _by_budget(plt, data, folder / "answers_regret.png", "regret", "regret of the chosen action"),
            _planner(plt, data, folder / "answers_planner.png"),
        ]
        plt.close("all")
    return files


def _grid(plt: Any, rows: Rows) -> tuple[Any, list[tuple[Any, str, str, Rows]]]:
    """Return panels for evaluators (rows) and games (columns), each with its data."""
    games = list(dict.fromkeys(row["game"] for row in rows))
    evaluators = list(dict.fromkeys(row["evaluator"] for row in rows))
    figure, axes = plt.subplots(
        len(evaluators), len(games), figsize=(3.3 * len(games) + 0.4, 2.9 * len(evaluators) + 0.9),
        squeeze=False, layout="constrained",
    )  # fmt: skip
    panels = []
    for i, evaluator in enumerate(evaluators):
        for j, game in enumerate(games):
            own = [row for row in rows if (row["game"], row["evaluator"]) == (game, evaluator)]
            axes[i, j].set_title(f"{CASES[game].title}\n{EVALUATORS[evaluator]}")
            panels.append((axes[i, j], game, evaluator, own))
    return figure, panels


def _by_budget(plt: Any, data: dict[str, Any], file: Path, what: str, label: str) -> Path:
    """Draw a result by budget, with error bars of two standard errors. Presets are solid, variants dashed."""
    figure, panels = _grid(plt, data["search"])
    for axes, _, _, rows in panels:
        for setting, line in _lines(rows):
            bars = [2 * row[f"{what}_se"] for row in line]
            axes.errorbar([row["budget"] for row in line], [row[what] for row in line], yerr=bars,
                          capsize=2, elinewidth=0.9, **_look(setting))  # fmt: skip
        ticks = sorted({row["budget"] for row in rows})
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{budget:,}" for budget in ticks])
        axes.minorticks_off()
        if what == "regret":  # can be zero
            axes.set_ylim(bottom=0)
        else:
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        axes.set_xlabel("evaluations")
    _finish(figure, panels, label)
    figure.savefig(file)
    return file


def _planner(plt: Any, data: dict[str, Any], file: Path) -> Path:
    """Draw errors by CPU time: curves of the search, points of the planner. An exact plan is a vertical line."""
    figure, panels = _grid(plt, data["search"])
    for axes, game, evaluator, rows in panels:
        for setting, line in _lines(rows):
            if setting in MARKERS:
                axes.plot([1000 * row["seconds"] for row in line], [row["value_rmse"] for row in line],
                          **_look(setting))  # fmt: skip
        for plan in data["planner"]:
            if (plan["game"], plan["evaluator"]) != (game, evaluator):
                continue
            name = f"{plan['plan']} plies" if plan["plan"].isdecimal() else plan["plan"]
            if plan["value_rmse"] < 1e-9:
                axes.axvline(1000 * plan["seconds"], color=INK, linewidth=1, linestyle=(0, (4, 3)))
                axes.annotate(f" complete {name}, exact", (1000 * plan["seconds"], 0.02), rotation=90, fontsize=7.5,
                              xycoords=("data", "axes fraction"), ha="right", va="bottom")  # fmt: skip
            else:
                axes.plot(1000 * plan["seconds"], plan["value_rmse"], "*", color=INK, markersize=9, zorder=5)
                axes.annotate(name.replace("1 plies", "1 ply"), (1000 * plan["seconds"], plan["value_rmse"]),
                              xytext=(0, 7), textcoords="offset points", ha="center", fontsize=7.5)  # fmt: skip
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.margins(0.12, 0.15)
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        axes.set_xlabel("CPU time, ms")
    _finish(figure, panels, "error of the root's value (RMSE)")
    figure.savefig(file)
    return file


def _lines(rows: Rows) -> list[tuple[str, Rows]]:
    return [(setting, [row for row in rows if row["setting"] == setting])
            for setting in dict.fromkeys(row["setting"] for row in rows)]  # fmt: skip


def _look(setting: str) -> dict[str, Any]:
    preset = setting in MARKERS
    return {
        "label": setting, "color": COLOURS[setting], "marker": MARKERS.get(setting, "."), "markersize": 4.5,
        "linewidth": 1.6 if preset else 1.0, "linestyle": "-" if preset else (0, (4, 2)),
        "alpha": 1.0 if preset else 0.75,
    }  # fmt: skip


def plain_numbers(axis: Any) -> None:
    """Label a logarithmic axis with plain numbers, such as 0.02 instead of 2 × 10⁻²."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _finish(figure: Any, panels: Sequence[tuple[Any, str, str, Rows]], label: str) -> None:
    """Add one legend and one y label for all panels."""
    handles, names = panels[0][0].get_legend_handles_labels()
    columns = len({game for _, game, _, _ in panels})
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 2 * columns + 1))
    figure.supylabel(label, fontsize=10)
