"""The figures of the benchmark ``yatzy``: nodes, variance, regret and the first roll of a turn, by budget."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.chance.plot import COLOURS as KNOWN_COLOURS
from benchmarks.chance.plot import INK, LOOK, Rows, plain_numbers

COLOURS = {
    **KNOWN_COLOURS, "implicit": INK, "narrow": "#00838f", "exact-21-stratified": "#b3395b",
}  # fmt: skip
MARKERS = {"implicit": "x", "sampling": "o", "stratified": "s", "progressive": "v", "narrow": "P", "full": "D",
           "open": "^", "exact-21": "*", "exact-21-stratified": "*"}  # fmt: skip
WAYS = {"roll": "rolls", "estimate": "evaluates the afterstate, then rolls", "stop": "evaluates the afterstate"}
DASHES = {"roll": "-", "estimate": (0, (4, 2)), "stop": (0, (1, 1.5))}
EVALUATORS = {"rollout": "playouts", "network": "network-like"}


def draw_all(data: dict[str, Any], folder: Path) -> list[Path]:
    """Draw all results and return the files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    draws: dict[str, Callable[..., Any]] = {"nodes": _nodes, "variance": _variance, "regret": _regret, "fresh": _fresh}
    files = []
    with plt.rc_context(LOOK):
        for part, draw in draws.items():
            if part in data:
                files.append(folder / f"yatzy_{part}.png")
                draw(plt, data[part]).savefig(files[-1])
        plt.close("all")
    return files


def _panels(plt: Any, titles: list[str], across: int) -> tuple[Any, Any]:
    down = -(-len(titles) // across)
    figure, axes = plt.subplots(
        down, across, figsize=(4.3 * across + 0.4, 3.1 * down + 0.8), squeeze=False, layout="constrained"
    )
    for each, title in zip(axes.flat, titles, strict=False):
        each.set_title(title)
    for each in axes.flat[len(titles) :]:
        each.set_visible(False)
    return figure, axes.flat[: len(titles)]


def _look(setting: str) -> dict[str, Any]:
    return {
        "label": setting, "color": COLOURS[setting], "marker": MARKERS.get(setting, "."), "markersize": 5,
        "linewidth": 1.5, "linestyle": (0, (4, 2)) if setting in ("exact-21", "exact-21-stratified") else "-",
    }  # fmt: skip


def _line(axes: Any, rows: Rows, what: str, **look: Any) -> None:
    """Draw a curve by budget, with error bars of two standard errors."""
    axes.errorbar(
        [row["budget"] for row in rows], [row[what] for row in rows], yerr=[2 * row[f"{what}_se"] for row in rows],
        capsize=2, elinewidth=0.9, **look,
    )  # fmt: skip


def _budget_axis(axes: Any, rows: Rows, label: str = "evaluations per search") -> None:
    ticks = sorted({row["budget"] for row in rows})
    axes.set_xscale("log")
    axes.set_xticks(ticks, [f"{budget:,}" for budget in ticks])
    axes.minorticks_off()
    axes.set_xlabel(label)


def _legend(figure: Any, axes: Any, columns: int) -> Any:
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns)
    return figure


def _nodes(plt: Any, data: dict[str, Any]) -> Any:
    rows = data["rows"]
    evaluators = list(dict.fromkeys(row["evaluator"] for row in rows))
    figure, panels = _panels(plt, [f"Reroll-heavy positions, {EVALUATORS[name]}" for name in evaluators], 2)
    for axes, evaluator in zip(panels, evaluators, strict=True):
        own = [row for row in rows if row["evaluator"] == evaluator]
        for setting in dict.fromkeys(row["setting"] for row in own):
            line = [row for row in own if row["setting"] == setting]
            _line(axes, line, "nodes_an_evaluation", **_look(setting))
        _budget_axis(axes, own)
        axes.set_ylim(bottom=0)
    panels[0].set_ylabel("stored nodes per evaluation")
    return _legend(figure, panels[0], 5)


def _variance(plt: Any, rows: Rows) -> Any:
    panels_of = list(dict.fromkeys((row["dice"], row["evaluator"]) for row in rows))
    titles = [f"Roll of {dice} {'die' if dice == 1 else 'dice'}, {EVALUATORS[name]}" for dice, name in panels_of]
    figure, panels = _panels(plt, titles, 2)
    for axes, (dice, evaluator) in zip(panels, panels_of, strict=True):
        own = [row for row in rows if (row["dice"], row["evaluator"]) == (dice, evaluator)]
        for setting in dict.fromkeys(row["setting"] for row in own):
            line = [row for row in own if row["setting"] == setting and row["variance"] > 1e-9]
            _line(axes, line, "variance", **_look(setting))
        _budget_axis(axes, own)
        axes.set_yscale("log")
        plain_numbers(axes.yaxis)
    figure.supylabel("variance of the value of the roll, points² (not shown if 0)", fontsize=10)
    return _legend(figure, panels[0], 4)


def _regret(plt: Any, data: dict[str, Any]) -> Any:
    rows = data["rows"]
    figures = {
        "regret": "All decisions", "regret_reroll_1": "First reroll (two left)",
        "regret_reroll_2": "Second reroll (one left)", "regret_mark": "Scoring decisions",
    }  # fmt: skip
    figure, panels = _panels(plt, list(figures.values()), 2)
    for axes, what in zip(panels, figures, strict=True):
        for setting in dict.fromkeys(row["setting"] for row in rows):
            _line(axes, [row for row in rows if row["setting"] == setting], what, **_look(setting))
        _budget_axis(axes, rows, "simulations")
        axes.set_ylim(bottom=0)
    figure.supylabel("regret of the chosen action, points", fontsize=10)
    return _legend(figure, panels[0], 7)


def _fresh(plt: Any, rows: Rows) -> Any:
    figures = {"nodes": "Nodes", "variance": "Variance of the value of the best score",
               "rmse": "Error of the value of the best score (RMSE)"}  # fmt: skip
    figure, panels = _panels(plt, list(figures.values()), 3)
    for axes, what in zip(panels, figures, strict=True):
        for way, setting in dict.fromkeys((row["way"], row["setting"]) for row in rows):
            line = [row for row in rows if (row["way"], row["setting"]) == (way, setting) and row[what] > 1e-9]
            label = WAYS[way] if way == "stop" else f"{WAYS[way]}, {setting}"
            look = {**_look(setting), "label": label, "linestyle": DASHES[way]}
            if way == "stop":
                look |= {"color": INK, "marker": "x"}
            _line(axes, [{f"{what}_se": 0.0, **row} for row in line], what, **look)
        _budget_axis(axes, rows)
        if what != "rmse":
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        else:
            axes.set_ylim(bottom=0)
    panels[0].set_ylabel("stored nodes")
    panels[1].set_ylabel("points² (not shown if 0)")
    panels[2].set_ylabel("points")
    return _legend(figure, panels[0], 3)
