"""The charts of a report, drawn by matplotlib: as PNG, and as SVG that takes its colours and fonts from the page."""

from __future__ import annotations

import io
import re
import warnings
from typing import Any, Final

from aleazero.errors import shortened
from aleazero.report.charts import Chart, Line, Panel
from aleazero.report.tables import WRITE
from aleazero.untrusted import printable

COLOURS: Final = {
    "ink": "#22272e", "muted": "#6b7480", "faint": "#dfe3e8", "blue": "#1565c0", "red": "#b3395b", "orange": "#c96a00",
    "green": "#2e7d55", "purple": "#6f42c1", "teal": "#00838f",
}  # fmt: skip
"""The light palette; style.css has a dark one with the same names."""
MARKERS: Final = {
    "blue": "o",
    "red": "D",
    "orange": "s",
    "green": "^",
    "purple": "v",
    "teal": "P",
    "ink": "o",
    "muted": "X",
}
LOOK: Final[dict[Any, Any]] = {
    "font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": COLOURS["muted"],
    "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left", "text.color": COLOURS["ink"],
    "axes.titlecolor": COLOURS["ink"], "axes.labelcolor": COLOURS["ink"], "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"], "xtick.labelcolor": COLOURS["ink"], "ytick.labelcolor": COLOURS["ink"],
    "axes.grid": True, "axes.grid.axis": "y", "grid.color": COLOURS["faint"], "grid.linewidth": 0.7,
    "axes.axisbelow": True, "legend.frameon": False, "svg.fonttype": "none", "lines.markersize": 4.5,
    "axes.linewidth": 0.7, "xtick.major.width": 0.7, "ytick.major.width": 0.7, "font.family": "DejaVu Sans",
    "text.parse_math": False,
}  # fmt: skip
WIDTH, HEIGHT, SQUARE = 7.4, 2.75, (3.9, 3.6)
MOST_TICKS: Final = 10
ROUND_TICKS: Final = 4
LEGEND_BELOW: Final = 33
"""Points between the axes and the legend: the ticks and the axis' name are there."""
NAME_HEIGHT: Final = 0.075
"""Of a level's name, as a share of the axes."""
LONGEST_LABEL: Final = 60


def draw(chart: Chart) -> tuple[str, bytes]:
    """Draw a chart; return it as SVG for the page, and as PNG."""
    import matplotlib as mpl

    with mpl.rc_context({**LOOK, "svg.hashsalt": chart.key}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing|constrained_layout not applied", UserWarning)
        figure = make_figure(chart)
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(svg.getvalue(), chart), png.getvalue()


def make_figure(chart: Chart) -> Any:
    """Return a chart as a figure of matplotlib."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    across = 2 if len(chart.panels) > 1 else 1
    down = -(-len(chart.panels) // across)
    square = any(panel.equal for panel in chart.panels)
    size = SQUARE if square else (WIDTH, HEIGHT * down + 0.25)
    figure = Figure(size, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.06, wspace=0.04, hspace=0.06))
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for panel, ax in zip(chart.panels, axes, strict=False):
        _draw_panel(ax, panel, across == 1)
        if chart.minutes and panel.x_name == "iteration":
            _minutes_above(ax, chart)
    for ax in axes[len(chart.panels) :]:
        ax.set_visible(False)
    return figure


def _draw_panel(ax: Any, panel: Panel, wide: bool) -> None:
    from matplotlib.transforms import ScaledTranslation

    bottoms: dict[float, float] = {}
    for line in panel.lines:
        if line.mark == "bars":
            _draw_bars(ax, line, bottoms)
        else:
            _draw_line(ax, line)
    if panel.even is not None:
        ax.axhline(panel.even, color=COLOURS["muted"], linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    _set_axes(ax, panel)
    ax.set_title(label_of(panel.title), pad=8)
    _draw_levels(ax, panel)
    if len(panel.lines) > 1:
        below = ax.transAxes + ScaledTranslation(0, -LEGEND_BELOW / 72, ax.figure.dpi_scale_trans)
        ax.legend(loc="upper left", bbox_to_anchor=(0, 0), bbox_transform=below, ncols=5 if wide else 2,
                  borderaxespad=0, borderpad=0, handlelength=1.4, columnspacing=1.4, fontsize=8.5)  # fmt: skip


def label_of(name: str) -> str:
    """Return a name from the run's files, shortened, and without characters that fonts or formulas do not accept."""
    return shortened(printable(" ".join(name.split())), LONGEST_LABEL, 0).lstrip("_")


def _draw_levels(ax: Any, panel: Panel) -> None:
    """Draw horizontal lines with their names at the right; names that would overlap are moved apart."""
    across = sorted((level.number, name) for name, level in panel.levels.items() if level.number is not None)
    for number, _ in across:
        ax.axhline(number, color=COLOURS["muted"], linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    low, high = ax.get_ylim()
    height = -1.0
    for number, name in across:
        height = max(height + NAME_HEIGHT, (number - low) / (high - low))
        ax.annotate(label_of(name), (1, height), xycoords="axes fraction", xytext=(4, 0), textcoords="offset points",
                    va="center", fontsize=8.5, color=COLOURS["muted"])  # fmt: skip


def _draw_line(ax: Any, line: Line) -> None:
    """Draw points with their intervals; the line has a gap at a missing number."""
    gap = float("nan")
    xs = [gap if one.x.number is None else one.x.number for one in line.points]
    ys = [gap if one.y.number is None else one.y.number for one in line.points]
    marker, colour = MARKERS[line.colour], COLOURS[line.colour]
    crowded = len(xs) > 40
    ax.plot(xs, ys, color=colour, marker="" if crowded else marker, linewidth=0 if line.mark == "dots" else 1.5,
            label=label_of(line.name), zorder=3)  # fmt: skip
    for x, y, one in zip(xs, ys, line.points, strict=True):
        if one.low is not None and one.high is not None and None not in (one.low.number, one.high.number) and y == y:
            ax.plot([x, x], [one.low.number, one.high.number], color=colour, linewidth=1.1, alpha=0.75, zorder=2,
                    solid_capstyle="butt")  # fmt: skip


def _draw_bars(ax: Any, line: Line, bottoms: dict[float, float]) -> None:
    """Draw bars on top of those that were drawn before."""
    points = [
        (one.x.number, one.y.number) for one in line.points if one.x.number is not None and one.y.number is not None
    ]
    ax.bar([x for x, _ in points], [y for _, y in points], bottom=[bottoms.get(x, 0.0) for x, _ in points],
           color=COLOURS[line.colour], width=0.7, label=label_of(line.name), linewidth=0)  # fmt: skip
    for x, y in points:
        bottoms[x] = bottoms.get(x, 0.0) + y


def _set_axes(ax: Any, panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    xs = [one.x.number for line in panel.lines for one in line.points if one.x.number is not None]
    if panel.equal:
        low, high = min(*ax.get_xlim(), *ax.get_ylim()), max(*ax.get_xlim(), *ax.get_ylim())
        ax.plot([low, high], [low, high], color=COLOURS["muted"], linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        ax.set(xlim=(low, high), ylim=(low, high), aspect="equal", anchor="W")
        ax.grid(True, axis="both")
    else:
        room = 0.5 if panel.x_name != "round" else 0.02 * (max(xs) - min(xs)) + 0.5
        ax.set_xlim((min(xs) if panel.x_name == "round" else 1) - room, max(xs) + room)
        ax.xaxis.set_major_locator(MaxNLocator(_ticks(panel, xs), integer=True, min_n_ticks=1))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.set_xlabel(panel.x_name)
    if panel.way == "percent" and panel.close:
        ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:.4g}%"))
    elif panel.way == "percent":
        ax.set_ylim(-0.03, 1.03)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
    elif not panel.equal and panel.way in ("plain", "minutes"):
        low, high = ax.get_ylim()
        top = 1.0 if _all_zero(panel) else high + 0.04 * (high - min(low, 0.0))
        bars = any(line.mark == "bars" for line in panel.lines)
        ax.set_ylim(low if _below_zero(panel) else 0.0 if bars else -0.03 * top, top)
    if panel.way != "percent":
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, panel.way)))


def _ticks(panel: Panel, xs: list[float]) -> int:
    """Return the number of ticks that have room: rounds are long numbers."""
    return 1 if len(xs) < 2 else MOST_TICKS if panel.x_name != "round" else ROUND_TICKS


def _minutes_above(ax: Any, chart: Chart) -> None:
    """Write the minutes of learning above the iterations."""
    low, high = ax.get_xlim()
    ticks = [tick for tick in ax.get_xticks() if low <= tick <= high and int(tick) in chart.minutes]
    ticks = [tick for tick in ticks if chart.minutes[int(tick)].number is not None]
    if ticks:
        above = ax.secondary_xaxis("top")
        above.spines["top"].set_visible(False)
        above.set_xticks(ticks, [WRITE["minutes"](chart.minutes[int(tick)].number or 0.0) for tick in ticks])
        above.tick_params(length=0, labelsize=8, pad=1, labelcolor=COLOURS["muted"])
        above.set_xlabel("minutes of learning", fontsize=8, color=COLOURS["muted"], loc="right")


def _below_zero(panel: Panel) -> bool:
    numbers = [one.y.number for line in panel.lines for one in line.points]
    return any(number < 0 for number in numbers if number is not None)


def _all_zero(panel: Panel) -> bool:
    return all(not one.y.number for line in panel.lines for one in line.points)


def _tick(value: float, way: str) -> str:
    text = f"{value:+,.0f}" if way == "elo" and value else f"{value:,.6g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return text.replace("-", "−")


def _for_page(svg: str, chart: Chart) -> str:
    """Prepare an SVG for the page: colours by name, fonts of the page, ids that no other figure has, no style sheet."""
    svg = svg[svg.index("<svg") :]
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var(--{name})")
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;\"]*;? ?", "", svg)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{chart.key}-", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    start = f'<svg role="img" aria-label="{chart.title}" class="drawn{" square" * any(p.equal for p in chart.panels)}" '
    return start + re.sub(r'\b(width|height)="[^"]*pt" ', "", svg[len("<svg ") :].strip(), count=2) + "\n"
