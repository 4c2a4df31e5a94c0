"""What a report draws: lines of points, each number with its place, by panel and chart. Drawing is elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from aleazero.runs.told import Told


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
