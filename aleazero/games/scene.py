"""Pictures of positions: ``Scene``, the shapes that it consists of, and ``Selection``, which turns clicks into actions.

A game may define ``draw(state) -> Scene``. The picture does not depend on a user interface: ``games.svg`` writes it as
SVG. Coordinates are in units; a picture of 360 units width has one unit per pixel on a phone. Colors have names (see
``games.svg.PALETTE``), so that light and dark pages show the same picture in their own colors.

A shape with a ``part`` can be clicked, and a ``Move`` lists the clicks that make up an action. An action may have
several moves, for example if the order of its clicks is free. A drawing with a second parameter, ``draw(state,
clicks)``, gets the parts that have been clicked so far and may show them, e.g. a piece at its new place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from aleazero.errors import ContractError, IllegalActionError, nearest

Step = str | frozenset[str]
"""A part to click, or a set of parts to click in any order. An empty set needs no click."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What all shapes have in common; the base class of shapes."""

    part: str | None = None
    """Name of the part that a click on this shape selects; None if it cannot be clicked."""
    title: str = ""
    """Name for screen readers and tooltips. A shape with a part should have one."""
    key: str = ""
    """Key that selects the part, as the browser names it: ``r``, ``3``, ``ArrowUp``."""


@dataclass(frozen=True)
class Rect(Shape):
    """A rectangle with its upper left corner at (x, y)."""

    x: float
    y: float
    width: float
    height: float
    color: str = "board"
    radius: float = 0
    """Radius of the corners."""
    outline: str | None = None
    """Color of the outline; None for no outline."""


@dataclass(frozen=True)
class Circle(Shape):
    """A circle with its center at (x, y)."""

    x: float
    y: float
    radius: float
    color: str = "board"
    outline: str | None = None
    """Color of the outline; None for no outline."""


@dataclass(frozen=True)
class Polygon(Shape):
    """A polygon with these corners."""

    points: Sequence[tuple[float, float]]
    color: str = "board"
    outline: str | None = None
    """Color of the outline; None for no outline."""


@dataclass(frozen=True)
class Line(Shape):
    """A straight line from (x1, y1) to (x2, y2)."""

    x1: float
    y1: float
    x2: float
    y2: float
    color: str = "line"
    thickness: float = 2


@dataclass(frozen=True)
class Label(Shape):
    """One line of text. The point (x, y) is at its start, middle or end, and at half of its height."""

    x: float
    y: float
    text: str
    size: float = 16
    color: str = "ink"
    anchor: Literal["start", "middle", "end"] = "middle"
    bold: bool = False


@dataclass(frozen=True)
class Tile(Shape):
    """A tile or card: a rectangle with round corners and text in its middle."""

    x: float
    y: float
    width: float
    height: float
    text: str = ""
    color: str = "paper"
    size: float | None = None
    """Size of the text; None for the largest size that fits."""


@dataclass(frozen=True)
class Button(Shape):
    """A button with its upper left corner at (x, y); its text is pale if it has no effect now."""

    x: float
    y: float
    width: float
    height: float
    text: str
    enabled: bool = True


@dataclass(frozen=True)
class Piece(Shape):
    """A round piece with its center at (x, y)."""

    x: float
    y: float
    radius: float
    color: str = "player0"
    text: str = ""


@dataclass(frozen=True)
class Die(Shape):
    """A die of six faces with its upper left corner at (x, y); face 0 is a die that has not been rolled."""

    x: float
    y: float
    size: float
    face: int
    color: str = "paper"


@dataclass(frozen=True)
class Group(Shape):
    """Several shapes that are one part. The first one is the outline that is highlighted."""

    shapes: Sequence[Shape]


@dataclass(frozen=True)
class Move:
    """A way to choose an action: the parts to click, in this order."""

    action: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Scene:
    """The picture of a position.

    Raises:
        ContractError: two shapes have the same part, a move has a part without a shape, or two actions have the same
            clicks.
    """

    width: float
    """Width in units."""
    height: float
    """Height in units."""
    shapes: Sequence[Shape]
    """The shapes, from back to front."""
    moves: Sequence[Move] = ()
    """How actions are clicked; empty at chance nodes and at the end."""
    title: str = ""
    """The position in a few words, for screen readers: ``player 0 rolls``."""

    def __post_init__(self) -> None:
        names = [shape.part for shape in self.parts()]
        known = frozenset(names)
        if len(known) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ContractError(f"drawing: two shapes have the part {twice!r}, expected one; a Group joins shapes")
        taken: dict[tuple[Step, ...], int] = {}
        for move in self.moves:
            for step in move.steps:
                for part in (step,) if isinstance(step, str) else sorted(step):
                    if part not in known:
                        raise ContractError(f"drawing: action {move.action} has the part {part!r}, but no shape has it")
            steps = tuple(step for step in move.steps if step)
            if taken.setdefault(steps, move.action) != move.action:
                raise ContractError(
                    f"drawing: actions {taken[steps]} and {move.action} have the same clicks, expected different ones"
                )

    def parts(self) -> Iterator[Shape]:
        """Yield the shapes that have a part."""
        return _parts(self.shapes)


def _parts(shapes: Sequence[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if shape.part is not None:
            yield shape
        if isinstance(shape, Group):
            yield from _parts(shape.shapes)


@dataclass(frozen=True)
class Selection:
    """The clicks of a user so far, and the actions that they can still become. It does not change; clicks return a
    new one.

    A front end shows ``clickable`` as clickable and calls ``click``. It plays ``action`` if the selection is
    ``finished``; it offers to play it if there is one but more parts can be clicked.
    """

    moves: Sequence[Move]
    """The moves of the scene."""
    clicks: tuple[str, ...] = ()
    """The parts that have been clicked, in order."""

    @property
    def compatible(self) -> list[int]:
        """The actions that can still be reached, ascending."""
        return sorted({move.action for move in self.moves if _next_parts(move.steps, self.clicks) is not None})

    @property
    def clickable(self) -> list[str]:
        """The parts that can be clicked next, in alphabetical order."""
        offered = (_next_parts(move.steps, self.clicks) for move in self.moves)
        return sorted({part for parts in offered for part in parts or ()})

    @property
    def action(self) -> int | None:
        """The action that exactly these clicks stand for; None if there is none."""
        return next((move.action for move in self.moves if _is_complete(move.steps, self.clicks)), None)

    @property
    def finished(self) -> bool:
        """Whether there is an action and no other click is possible."""
        return self.action is not None and not self.clickable

    def click(self, part: str) -> Selection:
        """Return the selection after a click.

        A part that can be clicked next is added. Otherwise a part that is selected is removed, if the other clicks
        still lead to an action; and a part that can be clicked first starts a new selection.

        Args:
            part: name of the part.

        Raises:
            IllegalActionError: the part cannot be clicked.
        """
        if part in self.clickable:
            return replace(self, clicks=(*self.clicks, part))
        if part in self.clicks:
            last = len(self.clicks) - 1 - self.clicks[::-1].index(part)
            without = replace(self, clicks=self.clicks[:last] + self.clicks[last + 1 :])
            if without.compatible:
                return without
        start = Selection(self.moves)
        if part not in start.clickable:
            raise IllegalActionError(f"cannot select {part!r} here, {nearest(part, self.clickable)}")
        return replace(start, clicks=(part,))

    def back(self) -> Selection:
        """Return the selection without its last click."""
        return replace(self, clicks=self.clicks[:-1])


def _next_parts(steps: Sequence[Step], clicks: Sequence[str]) -> frozenset[str] | None:
    """Return the parts that continue the clicks towards the end of the steps; None if the clicks do not fit them."""
    left = list(clicks)
    for step in steps:
        if isinstance(step, str):
            if not left:
                return frozenset((step,))
            if left.pop(0) != step:
                return None
        else:
            missing = set(step)
            while left and left[0] in missing:
                missing.remove(left.pop(0))
            if missing:
                return None if left else frozenset(missing)
    return None if left else frozenset()


def _is_complete(steps: Sequence[Step], clicks: Sequence[str]) -> bool:
    parts = _next_parts(steps, clicks)
    return parts is not None and not parts


def call_draw(name: str, draw: Callable[..., Any], arguments: tuple[Any, ...], clicks: Sequence[str]) -> Scene:
    """Call the drawing of a game, with the clicks if it has a parameter for them.

    Args:
        name: name of the game, for errors.
        draw: the game's function.
        arguments: its arguments without the clicks.
        clicks: the parts that have been clicked so far.

    Raises:
        ContractError: it did not return a Scene.
    """
    takes_clicks = len(inspect.signature(draw).parameters) > len(arguments)
    scene = draw(*arguments, tuple(clicks)) if takes_clicks else draw(*arguments)
    if not isinstance(scene, Scene):
        raise ContractError(f"{name}: draw() returned {type(scene).__name__}, expected aleazero.games.scene.Scene")
    return scene
