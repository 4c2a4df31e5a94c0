"""Choice of the numbers that a report plots: lines of points, by panel and chart. figures.py draws them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from aleazero.report.source import RunFiles, Told, ratio, total

LEARN, SELFPLAY, FIT, GATE, EVALUATE, FINAL = "learn", "selfplay", "fit", "gate", "evaluate", "final"
OPPONENTS: Final = {"random": "orange", "rollout": "blue", "oracle": "red"}
PHASES: Final = {LEARN: "blue", SELFPLAY: "blue", FIT: "purple", GATE: "orange", EVALUATE: "green", FINAL: "teal"}
VERDICTS: Final = {"promoted": "green", "kept": "orange", "undecided": "muted"}
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
    """A number over another, perhaps with an interval."""

    x: Told
    y: Told
    low: Told | None = None
    high: Told | None = None


@dataclass(frozen=True)
class Line:
    """Points of one thing."""

    name: str
    colour: str
    """Of the palette, by name."""
    points: list[Point]
    mark: Literal["line", "dots", "bars"] = "line"
    named: Told | None = None
    """Where its name stands, if the run's files have given it."""


@dataclass(frozen=True)
class Panel:
    """Lines over the same axes."""

    title: str
    way: str
    """How its numbers are written."""
    lines: list[Line]
    levels: dict[str, Told] = field(default_factory=dict)
    """Lines across, by name."""
    even: float | None = None
    """Where neither side is better."""
    equal: bool = False
    """Whether best is where both axes say the same."""
    close: bool = False
    """Whether shares are shown from near, not from nothing to all."""
    x_name: str = "iteration"
    x_way: str = "exactly"
    named: Told | None = None
    """Where the end of its title stands, if the run's files have given it."""

    @property
    def drawable(self) -> bool:
        """Whether anything is there to be seen."""
        return any(point.y.number is not None for line in self.lines for point in line.points)


@dataclass(frozen=True)
class Chart:
    """Panels that belong together."""

    key: str
    """Of its file."""
    title: str
    caption: str
    panels: list[Panel]
    minutes: dict[int, Told] = field(default_factory=dict)
    """Of learning until the end of each iteration, for a second axis."""


def means(told: dict[int, Told], *keys: str) -> list[Point]:
    """Means with their intervals, by iteration."""
    points = []
    for event in told.values():
        found = event
        for key in keys:
            found = found[key]
        if found:
            points.append(Point(event["iteration"], found["mean"], found["low"], found["high"]))
    return points


def charts_of(files: RunFiles) -> list[Chart]:
    """All that there is something to draw for."""
    found = []
    for make in (strength, regret, ratings, gates, losses, calibration, entropy, throughput, time_spent):
        chart = make(files)
        panels = [panel for panel in chart.panels if panel.drawable]
        if panels:
            found.append(Chart(chart.key, chart.title, chart.caption, panels, chart.minutes))
    return found


def minutes_learnt(files: RunFiles) -> dict[int, Told]:
    """Minutes of learning until the end of each iteration: gates and evaluations are not in them."""
    found: dict[int, Told] = {}
    told = {one.value["iteration"]: one["seconds"] for one in files.events("learning")}  # of each iteration the last
    spent: list[Told] = []
    for number in sorted({*files.phases(LEARN), *files.phases(FIT)}):
        spent += [
            seconds_of(files.phases(name)[number]) for name in (LEARN, SELFPLAY, FIT) if number in files.phases(name)
        ]
        found[number] = ratio(told[number] if told.get(number) else total(spent), 60)
    return found


def strength(files: RunFiles) -> Chart:
    """Against the fixed opponents and the oracle, and the mean score."""
    measured = files.phases(EVALUATE)
    lines = [Line(f"against {name}", _colour(OPPONENTS, name), means(measured, "results", "opponents", name))
             for name in opponents(files)]  # fmt: skip
    oracle = [Line("against oracle", "red", means(measured, "results", "oracle"))]
    scores = [Line("the network", "blue", means(measured, "results", "score")),
              Line("the oracle, same games", "red", means(measured, "results", "oracle_score"))]  # fmt: skip
    return Chart(
        "strength", "Strength over time",
        "Share of games won by the network of each iteration; draws count half. Bars are intervals of 95 %; at the "
        "dashed line neither side is better.",
        [Panel("games won", "percent", _filled(lines), even=0.5),
         Panel("games won against the oracle", "percent", _filled(oracle), even=0.5, close=True),
         Panel("mean score", "score", _filled(scores))],
        minutes_learnt(files),
    )  # fmt: skip


def regret(files: RunFiles) -> Chart:
    """What decisions give away, by kind, and games."""
    measured = files.phases(EVALUATE)
    kinds = _named(one["results"]["regret"]["by_kind"].parts() for one in measured.values())
    lines = [Line("all decisions", "ink", means(measured, "results", "regret"))]
    if len(kinds) > 1:
        for number, (name, named) in enumerate(kinds.items()):
            points = means(measured, "results", "regret", "by_kind", name)
            lines.append(Line(name, MORE[number % len(MORE)], points, named=named))
    game = [Line("a game", "ink", means(measured, "results", "regret_a_game"))]
    return Chart(
        "regret", "Regret",
        "What a decision of the network gives away on average against the exact best one, on the same positions every "
        "time; nothing is perfect play. Bars are intervals of 95 %.",
        [Panel("regret a decision", "plain", _filled(lines)), Panel("regret a game", "plain", _filled(game))],
        minutes_learnt(files),
    )  # fmt: skip


def ratings(files: RunFiles) -> Chart:
    """Elo of the networks, and of the fixed opponents as levels."""
    points, levels, gated = {}, {}, files.phases(GATE)
    for one in newest_ratings(files):
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


def gates(files: RunFiles) -> Chart:
    """What each candidate scored against the champion, by verdict: games won, or points ahead where those decide."""
    points: dict[str, list[Point]] = {name: [] for name in VERDICTS}
    in_points = False
    for one in files.phases(GATE).values():
        gain = one["results"]["gain"]
        in_points = in_points or bool(gain)
        score = gain or one["results"]["score"]
        if score:
            points[verdict(one)].append(Point(one["iteration"], score["mean"], score["low"], score["high"]))
    lines = [Line(name, VERDICTS[name], found, "dots") for name, found in points.items() if found]
    what = "How far ahead of the champion so far each iteration's network was, in the game's own points or returns."
    edge = files.config["gate"]["gain0" if in_points else "score0"]
    asked = {} if edge.number in (None, 0.0 if in_points else 0.5) else {"must be above": edge}
    panel = Panel("candidate ahead of champion", "plain", lines, asked, even=0.0)
    if not in_points:
        what = "Share of games that each iteration's network won against the champion so far."
        panel = Panel("candidate against champion", "percent", lines, asked, even=0.5, close=True)
    return Chart("gates", "Gates", f"{what} Bars are intervals of 95 %; at the dashed line both are equal.", [panel])


def losses(files: RunFiles) -> Chart:
    """How far the network is from what it is taught."""
    panels = []
    told = files.events("learning")
    columns = [_columns(one["losses"]) for one in told]
    for number, (name, named) in enumerate(_named(columns).items()):
        points = [Point(one["round"], found[name]) for one, found in zip(told, columns, strict=True) if name in found]
        line = Line(name, MORE[number % len(MORE)], points, named=named)
        panels.append(Panel(f"loss: {name}", "loss", [line], x_name="round", x_way="count", named=named))
    fits = files.events("fit")
    for number, (key, name) in enumerate(LOSSES.items()):
        points = [Point(one["iteration"], one[key]) for one in fits if one[key].number != 0.0]  # 0: not learnt
        panels.append(Panel(f"{name} loss", "loss", [Line(name, MORE[number], points)]))
    caption = "How far the network is from what it is taught; it cannot reach zero in a game of chance."
    return Chart("losses", "Losses", caption, panels)


def calibration(files: RunFiles) -> Chart:
    """What values the newest network predicted, and what came."""
    measured = [one["results"] for one in files.phases(EVALUATE).values() if one["results"]["calibration"]]
    told = files.events("fit") or measured
    rows = told[-1]["calibration"].rows() if told else []
    line = Line("tenths of the predictions", "blue", [Point(row[0], row[1]) for row in rows])
    return Chart(
        "calibration", "Calibration of values",
        "Positions of the newest fit, or of games of the newest network against itself, in ten groups, from the lowest "
        "predicted value to the highest: what was predicted for the player to move, or for the first player, and what "
        "came. On the dashed line predictions are right.",
        [Panel("what came", "plain", [line], equal=True, x_name="predicted value", x_way="plain")],
    )  # fmt: skip


def entropy(files: RunFiles) -> Chart:
    """How undecided the search and the network are."""
    fits = files.events("fit")
    lines = [Line(name, colour, [Point(one["iteration"], one[key]) for one in fits])
             for key, name, colour in (("target_entropy", "the search's choices", "orange"),
                                       ("model_entropy", "the network's policy", "blue"),
                                       ("kl", "distance between them", "purple"))]  # fmt: skip
    return Chart("entropy", "Policy entropy",
                 "How undecided the search and the network are, in nats, and the divergence of one from the other: "
                 "zero is sure, or agreed.", [Panel("nats", "plain", lines)])  # fmt: skip


def throughput(files: RunFiles) -> Chart:
    """Work a second, by phase."""
    learnt = {one.value["iteration"]: one for one in files.events("learning") if one["turns_per_second"].number}
    played, fits = files.events("selfplay"), files.events("fit")
    gated = [one for one in files.phases(GATE).values() if one["results"]["pairs"].number]
    rates = (
        ("learning: turns a second", PHASES[LEARN], [(one, one["turns_per_second"]) for one in learnt.values()]),
        ("self-play: games a second", PHASES[SELFPLAY], [(one, ratio(one["games"], one["seconds"])) for one in played]),
        ("self-play: evaluations a second", PHASES[SELFPLAY],
         [(one, ratio(one["evaluations"], one["seconds"])) for one in played]),
        ("fit: samples a second", PHASES[FIT], [(one, one["samples_per_second"]) for one in fits]),
        ("gate: pairs of games a second", PHASES[GATE],
         [(one, ratio(one["results"]["pairs"], one["seconds"])) for one in gated]),
        ("evaluate: pairs of games a second", PHASES[EVALUATE],
         [(one, ratio(_met(one), one["seconds"])) for one in files.phases(EVALUATE).values() if _met(one)]),
    )  # fmt: skip
    panels = [Panel(title, "plain", [Line(title, colour, [Point(one["iteration"], rate) for one, rate in found])])
              for title, colour, found in rates]  # fmt: skip
    return Chart("throughput", "Throughput", "Work a second, by phase.", panels)


def _met(evaluated: Told) -> Told:
    """Pairs against all opponents of an evaluation."""
    results = evaluated["results"]
    return total([one["count"] for one in (*results["opponents"].parts().values(), results["oracle"])])


def time_spent(files: RunFiles) -> Chart:
    """Minutes of each phase."""
    lines = []
    for name, colour in PHASES.items():
        points = [Point(one["iteration"], ratio(seconds_of(one), 60)) for one in files.phases(name).values()]
        lines.append(Line(name, colour, points, "bars"))
    return Chart("time", "Where the time went", "Minutes of each iteration, by phase.",
                 [Panel("minutes", "minutes", _filled(lines))])  # fmt: skip


def seconds_of(phase: Told) -> Told:
    """Seconds of a phase, with those until it was stopped."""
    return total([phase["interrupted"], phase["seconds"]])


def opponents(files: RunFiles) -> list[str]:
    """All fixed opponents that were met."""
    return list(_named(one["results"]["opponents"].parts() for one in files.phases(EVALUATE).values()))


def newest_ratings(files: RunFiles) -> list[Told]:
    """As they were told last."""
    found = [one["results"]["ratings"].rows() for one in files.phases(EVALUATE).values() if one["results"]["ratings"]]
    return found[-1] if found else []


def verdict(gate: Told) -> str:
    """Of a gate, in a word."""
    results = gate["results"]
    return "promoted" if results["promoted"].value else "kept" if results["decided"].value else "undecided"


def _named(found: Iterable[dict[str, Told]]) -> dict[str, Told]:
    """All that has a name, in the order in which it first has."""
    return {name: told for parts in found for name, told in parts.items()}


def _columns(losses: Told) -> dict[str, Told]:
    """Losses by column; runs of before gave them numbers."""
    if isinstance(losses.value, list):
        return {str(number): one for number, one in enumerate(losses.rows())}
    return losses.parts()


def _filled(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.points]


def _colour(known: dict[str, str], name: str) -> str:
    return known.get(name, "teal")
