"""Choice of the numbers that a report plots.

A chart has panels, a panel has lines, a line has points, and every number of a point has its place.
``figures.py`` draws them, and ``tables.py`` lists them below the drawing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from aleazero.report.source import RunSource, Sourced, ratio, total

LEARN, SELFPLAY, FIT, GATE, EVALUATE, FINAL = "learn", "selfplay", "fit", "gate", "evaluate", "final"
WEAK_OPPONENTS: Final = {"random": "orange", "rollout": "blue"}
"""Opponents of every game, with their colours; other opponents are an oracle or a reference player."""
PHASES: Final = {LEARN: "blue", SELFPLAY: "blue", FIT: "purple", GATE: "orange", EVALUATE: "green", FINAL: "teal"}
BARS: Final = "Bars are 95 % confidence intervals."
VERDICT_COLOURS: Final = {"promoted": "green", "kept": "orange", "undecided": "muted"}
MORE: Final = ("blue", "purple", "green", "orange", "teal", "red")
NETWORK: Final = re.compile(r"network [1-9][0-9]*")
LOSSES: Final = {
    "policy_loss": "policy",
    "value_loss": "value",
    "afterstate_loss": "afterstate",
    "margin_loss": "margin",
}


@dataclass(frozen=True)
class Point:
    """A number over another, optionally with an interval."""

    x: Sourced
    y: Sourced
    low: Sourced | None = None
    high: Sourced | None = None


@dataclass(frozen=True)
class Line:
    """Points of one series."""

    name: str
    colour: str
    """A name of the palette, see ``figures.py:COLOURS``."""
    points: list[Point]
    mark: Literal["line", "dots", "bars"] = "line"
    named: Sourced | None = None
    """The source of its name, if that comes from the run's files."""


@dataclass(frozen=True)
class Panel:
    """Lines with the same axes."""

    title: str
    way: str
    """How its numbers are written: a key of ``tables.py:WRITE``."""
    lines: list[Line]
    levels: dict[str, Sourced] = field(default_factory=dict)
    """Horizontal lines, by name."""
    even: float | None = None
    """The value at which neither side is better."""
    equal: bool = False
    """Whether points on the diagonal are best."""
    close: bool = False
    """Whether the axis of shares covers the data only, not 0 to 100 %."""
    x_name: str = "iteration"
    x_way: str = "exactly"
    named: Sourced | None = None
    """The source of the end of its title, if that comes from the run's files."""

    @property
    def drawable(self) -> bool:
        """Whether there is anything to draw."""
        return any(point.y.number is not None for line in self.lines for point in line.points)


@dataclass(frozen=True)
class Chart:
    """Panels that are drawn in one figure."""

    key: str
    """The name of its file and of its section."""
    title: str
    caption: str
    panels: list[Panel]
    minutes: dict[int, Sourced] = field(default_factory=dict)
    """Minutes of learning until the end of each iteration, for a second axis."""


def charts_of(run: RunSource) -> list[Chart]:
    """Return all charts that have anything to draw."""
    found = []
    for make in (strength_chart, regret_chart, ratings_chart, gates_chart, losses_chart, calibration_chart,
                 entropy_chart, throughput_chart, time_chart):  # fmt: skip
        chart = make(run)
        panels = [panel for panel in chart.panels if panel.drawable]
        if panels:
            found.append(Chart(chart.key, chart.title, chart.caption, panels, chart.minutes))
    return found


def minutes_of_learning(run: RunSource) -> dict[int, Sourced]:
    """Return the minutes of learning until the end of each iteration, without gates and evaluations."""
    found: dict[int, Sourced] = {}
    learning = {one.value["iteration"]: one["seconds"] for one in run.events("learning")}  # the last of each iteration
    spent: list[Sourced] = []
    for number in sorted({*run.phases(LEARN), *run.phases(FIT)}):
        spent += [seconds_of(run.phases(name)[number]) for name in (LEARN, SELFPLAY, FIT) if number in run.phases(name)]
        found[number] = ratio(learning[number] if learning.get(number) else total(spent), 60)
    return found


def strength_chart(run: RunSource) -> Chart:
    """Chart the scores against the fixed opponents, and the mean score."""
    evaluated = run.phases(EVALUATE)
    lines = {name: Line(f"against {name}", WEAK_OPPONENTS.get(name, "red"),
                        means(evaluated, "results", "opponents", name)) for name in opponents(run)}  # fmt: skip
    weak = [line for name, line in lines.items() if name in WEAK_OPPONENTS]
    strong = [line for name, line in lines.items() if name not in WEAK_OPPONENTS]
    scores = [Line("the network", "blue", means(evaluated, "results", "score")),
              Line("its opponent", "red", means(evaluated, "results", "reference_score"))]  # fmt: skip
    return Chart(
        "strength", "Strength over time",
        f"Share of games won by the network of each iteration; draws count half. {BARS} At the dashed line both sides "
        "are equal.",
        [Panel("games won", "percent", _filled(weak), even=0.5),
         *(Panel(f"games won {line.name}", "percent", _filled([line]), even=0.5, close=True) for line in strong),
         Panel("mean score", "score", _filled(scores))],
        minutes_of_learning(run),
    )  # fmt: skip


def regret_chart(run: RunSource) -> Chart:
    """Chart the regret per decision, by kind, and per game."""
    evaluated = run.phases(EVALUATE)
    kinds = _named(one["results"]["regret"]["by_kind"].parts() for one in evaluated.values())
    lines = [Line("all decisions", "ink", means(evaluated, "results", "regret"))]
    if len(kinds) > 1:
        for number, (name, named) in enumerate(kinds.items()):
            points = means(evaluated, "results", "regret", "by_kind", name)
            lines.append(Line(name, MORE[number % len(MORE)], points, named=named))
    game = [Line("per game", "ink", means(evaluated, "results", "regret_per_game"))]
    return Chart(
        "regret", "Regret",
        f"Mean regret of the network of each iteration, per decision on fixed positions; zero is optimal play. {BARS}",
        [Panel("regret per decision", "plain", _filled(lines)), Panel("regret per game", "plain", _filled(game))],
        minutes_of_learning(run),
    )  # fmt: skip


def ratings_chart(run: RunSource) -> Chart:
    """Chart the Elo of the networks, with the fixed opponents as horizontal lines."""
    points, levels, gated = {}, {}, run.phases(GATE)
    for one in newest_ratings(run):
        name = str(one["name"].value)
        number = int(name.removeprefix("network ")) if NETWORK.fullmatch(name) else 0
        if number in gated and one["low"] and one["high"]:
            points[number] = Point(gated[number]["iteration"], one["rating"], one["low"], one["high"])
        elif not number and one["low"] and one["high"]:
            levels[name] = one["rating"]
    line = Line("networks", "blue", [points[number] for number in sorted(points)])
    return Chart(
        "ratings", "Ratings",
        "Elo rating of the network of each iteration, from all pairs of the run, relative to the oracle or reference "
        "player, or else to random play. "
        f"{BARS} Players that won or lost every game are not drawn.",
        [Panel("Elo", "elo", [line], levels, x_name="network")],
    )  # fmt: skip


def gates_chart(run: RunSource) -> Chart:
    """Chart the score of each candidate against the champion: games won, or the gain if gates compare returns."""
    points: dict[str, list[Point]] = {name: [] for name in VERDICT_COLOURS}
    in_points = False
    for one in run.phases(GATE).values():
        gain = one["results"]["gain"]
        in_points = in_points or bool(gain)
        score = gain or one["results"]["score"]
        if score:
            points[verdict(one)].append(Point(one["iteration"], score["mean"], score["low"], score["high"]))
    lines = [Line(name, VERDICT_COLOURS[name], found, "dots") for name, found in points.items() if found]
    what = "Mean return of each candidate minus that of the champion."
    edge = run.config["gate"]["gain0" if in_points else "score0"]
    threshold = {} if edge.number in (None, 0.0 if in_points else 0.5) else {"must be above": edge}
    panel = Panel("gain over the champion", "plain", lines, threshold, even=0.0)
    if not in_points:
        what = "Share of games that each candidate won against the champion."
        panel = Panel("candidate against champion", "percent", lines, threshold, even=0.5, close=True)
    return Chart("gates", "Gates", f"{what} {BARS} At the dashed line both are equal.", [panel])


def losses_chart(run: RunSource) -> Chart:
    """Chart the losses of training."""
    panels = []
    rounds = run.events("learning")
    columns = [one["losses"].parts() for one in rounds]
    for number, (name, named) in enumerate(_named(columns).items()):
        points = [Point(one["round"], found[name]) for one, found in zip(rounds, columns, strict=True) if name in found]
        line = Line(name, MORE[number % len(MORE)], points, named=named)
        panels.append(Panel(f"loss: {name}", "loss", [line], x_name="round", x_way="count", named=named))
    fits = run.events("fit")
    for number, (key, name) in enumerate(LOSSES.items()):
        points = [Point(one["iteration"], one[key]) for one in fits if one[key].number != 0.0]  # 0: not trained
        panels.append(Panel(f"{name} loss", "loss", [Line(name, MORE[number], points)]))
    caption = "Distance of the network's outputs from their targets. In games of chance it cannot reach zero."
    return Chart("losses", "Losses", caption, panels)


def calibration_chart(run: RunSource) -> Chart:
    """Chart the predicted values of the newest network and the mean returns."""
    evaluated = [one["results"] for one in run.phases(EVALUATE).values() if one["results"]["calibration"]]
    fits = run.events("fit")
    found = fits or evaluated
    rows = found[-1]["calibration"].rows() if found else []
    line = Line("tenths of the predictions", "blue", [Point(row[0], row[1]) for row in rows])
    source = (
        "Samples of the newest fit, from the point of view of the player to move,"
        if fits
        else "Positions of games of the newest network against itself, from the first player's point of view,"
    )
    return Chart(
        "calibration", "Calibration of values",
        f"{source} in ten groups by predicted value. On the dashed line predictions and results are equal.",
        [Panel("mean result", "plain", [line], equal=True, x_name="predicted value", x_way="plain")],
    )  # fmt: skip


def entropy_chart(run: RunSource) -> Chart:
    """Chart the entropy of the search's and of the network's policy."""
    fits = run.events("fit")
    lines = [Line(name, colour, [Point(one["iteration"], one[key]) for one in fits])
             for key, name, colour in (("target_entropy", "search policy", "orange"),
                                       ("model_entropy", "network policy", "blue"),
                                       ("kl", "KL divergence", "purple"))]  # fmt: skip
    return Chart("entropy", "Policy entropy",
                 "Entropy of the search policy and of the network policy, and the KL divergence between them, in nats.",
                 [Panel("nats", "plain", lines)])  # fmt: skip


def throughput_chart(run: RunSource) -> Chart:
    """Chart the throughput of each phase."""
    newest = {one.value["iteration"]: one for one in run.events("learning") if one["turns_per_second"].number}
    played, fits = run.events("selfplay"), run.events("fit")
    gated = [one for one in run.phases(GATE).values() if one["results"]["pairs"].number]
    rates = (
        ("learning: turns/s", PHASES[LEARN], [(one, one["turns_per_second"]) for one in newest.values()]),
        ("self-play: games/s", PHASES[SELFPLAY], [(one, ratio(one["games"], one["seconds"])) for one in played]),
        ("self-play: evaluations/s", PHASES[SELFPLAY],
         [(one, ratio(one["evaluations"], one["seconds"])) for one in played]),
        ("fit: samples/s", PHASES[FIT], [(one, one["samples_per_second"]) for one in fits]),
        ("gate: pairs/s", PHASES[GATE],
         [(one, ratio(one["results"]["pairs"], one["seconds"])) for one in gated]),
        ("evaluation: pairs/s", PHASES[EVALUATE],
         [(one, ratio(_met(one), one["seconds"])) for one in run.phases(EVALUATE).values() if _met(one)]),
    )  # fmt: skip
    panels = [Panel(title, "plain", [Line(title, colour, [Point(one["iteration"], rate) for one, rate in found])])
              for title, colour, found in rates]  # fmt: skip
    return Chart("throughput", "Throughput", "Throughput of each phase.", panels)


def _met(evaluated: Sourced) -> Sourced:
    """Return the number of pairs of an evaluation."""
    return total([one["count"] for one in evaluated["results"]["opponents"].parts().values()])


def time_chart(run: RunSource) -> Chart:
    """Chart the minutes of each phase."""
    lines = []
    for name, colour in PHASES.items():
        points = [Point(one["iteration"], ratio(seconds_of(one), 60)) for one in run.phases(name).values()]
        lines.append(Line(name, colour, points, "bars"))
    return Chart("time", "Time", "Minutes of each iteration, by phase.",
                 [Panel("minutes", "minutes", _filled(lines))])  # fmt: skip


def means(ends: dict[int, Sourced], *keys: str) -> list[Point]:
    """Return the means at the same keys of all events, with their intervals."""
    points = []
    for event in ends.values():
        found = event
        for key in keys:
            found = found[key]
        if found:
            points.append(Point(event["iteration"], found["mean"], found["low"], found["high"]))
    return points


def seconds_of(phase: Sourced) -> Sourced:
    """Return the seconds of a phase, including those before it was stopped."""
    return total([phase["interrupted"], phase["seconds"]])


def opponents(run: RunSource) -> list[str]:
    """Return the names of all fixed opponents of the evaluations."""
    return list(_named(one["results"]["opponents"].parts() for one in run.phases(EVALUATE).values()))


def newest_ratings(run: RunSource) -> list[Sourced]:
    """Return the ratings of the newest evaluation that has any."""
    found = [one["results"]["ratings"].rows() for one in run.phases(EVALUATE).values() if one["results"]["ratings"]]
    return found[-1] if found else []


def verdict(gate: Sourced) -> str:
    """Return the verdict of a gate: a key of ``VERDICT_COLOURS``."""
    results = gate["results"]
    return "promoted" if results["promoted"].value else "kept" if results["decided"].value else "undecided"


def _named(found: Iterable[dict[str, Sourced]]) -> dict[str, Sourced]:
    """Return all parts by name, in the order of their first occurrence."""
    return {name: part for parts in found for name, part in parts.items()}


def _filled(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.points]
