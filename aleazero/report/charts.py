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
ORACLE: Final = "oracle"
OPPONENTS: Final = {"random": "orange", "rollout": "blue", ORACLE: "red"}
PHASES: Final = {LEARN: "blue", SELFPLAY: "blue", FIT: "purple", GATE: "orange", EVALUATE: "green", FINAL: "teal"}
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


def minutes_learnt(run: RunSource) -> dict[int, Sourced]:
    """Return the minutes of learning until the end of each iteration, without gates and evaluations."""
    found: dict[int, Sourced] = {}
    learning = {one.value["iteration"]: one["seconds"] for one in run.events("learning")}  # the last of each iteration
    spent: list[Sourced] = []
    for number in sorted({*run.phases(LEARN), *run.phases(FIT)}):
        spent += [seconds_of(run.phases(name)[number]) for name in (LEARN, SELFPLAY, FIT) if number in run.phases(name)]
        found[number] = ratio(learning[number] if learning.get(number) else total(spent), 60)
    return found


def strength_chart(run: RunSource) -> Chart:
    """Chart the scores against the fixed opponents and the oracle, and the mean score."""
    measured = run.phases(EVALUATE)
    lines = [Line(f"against {name}", _colour(OPPONENTS, name), means(measured, "results", "opponents", name))
             for name in opponents(run) if name != ORACLE]  # fmt: skip
    oracle = [Line("against oracle", OPPONENTS[ORACLE], means(measured, "results", "opponents", ORACLE))]
    scores = [Line("the network", "blue", means(measured, "results", "score")),
              Line("the oracle, same games", "red", means(measured, "results", "oracle_score"))]  # fmt: skip
    return Chart(
        "strength", "Strength over time",
        "Share of games won by the network of each iteration; draws count half. Bars are intervals of 95 %; at the "
        "dashed line neither side is better.",
        [Panel("games won", "percent", _filled(lines), even=0.5),
         Panel("games won against the oracle", "percent", _filled(oracle), even=0.5, close=True),
         Panel("mean score", "score", _filled(scores))],
        minutes_learnt(run),
    )  # fmt: skip


def regret_chart(run: RunSource) -> Chart:
    """Chart the regret per decision, by kind, and per game."""
    measured = run.phases(EVALUATE)
    kinds = _named(one["results"]["regret"]["by_kind"].parts() for one in measured.values())
    lines = [Line("all decisions", "ink", means(measured, "results", "regret"))]
    if len(kinds) > 1:
        for number, (name, named) in enumerate(kinds.items()):
            points = means(measured, "results", "regret", "by_kind", name)
            lines.append(Line(name, MORE[number % len(MORE)], points, named=named))
    game = [Line("per game", "ink", means(measured, "results", "regret_per_game"))]
    return Chart(
        "regret", "Regret",
        "What a decision of the network gives away on average against the exact best one, on the same positions every "
        "time; nothing is perfect play. Bars are intervals of 95 %.",
        [Panel("regret per decision", "plain", _filled(lines)), Panel("regret per game", "plain", _filled(game))],
        minutes_learnt(run),
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
        "Elo of the network of each iteration, from all pairs of games that were played; the oracle is zero, or, where "
        "it was not met, random play. Bars are intervals of 95 %; who won or lost every game is not drawn.",
        [Panel("Elo", "elo", [line], levels, x_name="network")],
    )  # fmt: skip


def gates_chart(run: RunSource) -> Chart:
    """Chart the score of each candidate against the champion: games won, or points ahead if gates go by points."""
    points: dict[str, list[Point]] = {name: [] for name in VERDICT_COLOURS}
    in_points = False
    for one in run.phases(GATE).values():
        gain = one["results"]["gain"]
        in_points = in_points or bool(gain)
        score = gain or one["results"]["score"]
        if score:
            points[verdict(one)].append(Point(one["iteration"], score["mean"], score["low"], score["high"]))
    lines = [Line(name, VERDICT_COLOURS[name], found, "dots") for name, found in points.items() if found]
    what = "How far ahead of the champion so far each iteration's network was, in the game's own points or returns."
    edge = run.config["gate"]["gain0" if in_points else "score0"]
    asked = {} if edge.number in (None, 0.0 if in_points else 0.5) else {"must be above": edge}
    panel = Panel("candidate ahead of champion", "plain", lines, asked, even=0.0)
    if not in_points:
        what = "Share of games that each iteration's network won against the champion so far."
        panel = Panel("candidate against champion", "percent", lines, asked, even=0.5, close=True)
    return Chart("gates", "Gates", f"{what} Bars are intervals of 95 %; at the dashed line both are equal.", [panel])


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
    caption = "How far the network is from what it is taught; it cannot reach zero in a game of chance."
    return Chart("losses", "Losses", caption, panels)


def calibration_chart(run: RunSource) -> Chart:
    """Chart the predicted values of the newest network and the mean returns."""
    measured = [one["results"] for one in run.phases(EVALUATE).values() if one["results"]["calibration"]]
    found = run.events("fit") or measured
    rows = found[-1]["calibration"].rows() if found else []
    line = Line("tenths of the predictions", "blue", [Point(row[0], row[1]) for row in rows])
    return Chart(
        "calibration", "Calibration of values",
        "Positions of the newest fit, or of games of the newest network against itself, in ten groups, from the lowest "
        "predicted value to the highest: what was predicted for the player to move, or for the first player, and what "
        "came. On the dashed line predictions are right.",
        [Panel("what came", "plain", [line], equal=True, x_name="predicted value", x_way="plain")],
    )  # fmt: skip


def entropy_chart(run: RunSource) -> Chart:
    """Chart the entropy of the search's and of the network's policy."""
    fits = run.events("fit")
    lines = [Line(name, colour, [Point(one["iteration"], one[key]) for one in fits])
             for key, name, colour in (("target_entropy", "the search's choices", "orange"),
                                       ("model_entropy", "the network's policy", "blue"),
                                       ("kl", "distance between them", "purple"))]  # fmt: skip
    return Chart("entropy", "Policy entropy",
                 "How undecided the search and the network are, in nats, and the divergence of one from the other: "
                 "zero is sure, or agreed.", [Panel("nats", "plain", lines)])  # fmt: skip


def throughput_chart(run: RunSource) -> Chart:
    """Chart the throughput of each phase."""
    newest = {one.value["iteration"]: one for one in run.events("learning") if one["turns_per_second"].number}
    played, fits = run.events("selfplay"), run.events("fit")
    gated = [one for one in run.phases(GATE).values() if one["results"]["pairs"].number]
    rates = (
        ("learning: turns a second", PHASES[LEARN], [(one, one["turns_per_second"]) for one in newest.values()]),
        ("self-play: games a second", PHASES[SELFPLAY], [(one, ratio(one["games"], one["seconds"])) for one in played]),
        ("self-play: evaluations a second", PHASES[SELFPLAY],
         [(one, ratio(one["evaluations"], one["seconds"])) for one in played]),
        ("fit: samples a second", PHASES[FIT], [(one, one["samples_per_second"]) for one in fits]),
        ("gate: pairs of games a second", PHASES[GATE],
         [(one, ratio(one["results"]["pairs"], one["seconds"])) for one in gated]),
        ("evaluate: pairs of games a second", PHASES[EVALUATE],
         [(one, ratio(_met(one), one["seconds"])) for one in run.phases(EVALUATE).values() if _met(one)]),
    )  # fmt: skip
    panels = [Panel(title, "plain", [Line(title, colour, [Point(one["iteration"], rate) for one, rate in found])])
              for title, colour, found in rates]  # fmt: skip
    return Chart("throughput", "Throughput", "Work a second, by phase.", panels)


def _met(evaluated: Sourced) -> Sourced:
    """Return the pairs against all opponents of an evaluation."""
    return total([one["count"] for one in evaluated["results"]["opponents"].parts().values()])


def time_chart(run: RunSource) -> Chart:
    """Chart the minutes of each phase."""
    lines = []
    for name, colour in PHASES.items():
        points = [Point(one["iteration"], ratio(seconds_of(one), 60)) for one in run.phases(name).values()]
        lines.append(Line(name, colour, points, "bars"))
    return Chart("time", "Where the time went", "Minutes of each iteration, by phase.",
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
    """Return the names of all fixed opponents that were met."""
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


def _colour(known: dict[str, str], name: str) -> str:
    return known.get(name, "teal")
