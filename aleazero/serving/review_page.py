"""The page of a reviewed game: one HTML file without external resources.

``review.html.j2`` holds the HTML and the script, ``review.css`` the style. This module prepares their texts and draws
the curve. The page works without the script, which only adds the viewer that steps through the game.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from aleazero.errors import ConfigError, count_text
from aleazero.games.base import State
from aleazero.games.registry import title_of
from aleazero.games.svg import STYLE, to_svg
from aleazero.serving.review import Review, ReviewRow, roll_text, scale_of
from aleazero.serving.scale import Scale

if TYPE_CHECKING:
    from jinja2 import Template

MOST_WORST: Final = 10
"""Decisions that the page shows first."""
WIDTH, HEIGHT = 800, 300
LEFT, RIGHT, TOP, BOTTOM = 74, 14, 14, 30
"""Margins of the curve."""


def why_no_page() -> str | None:
    """Return an error message if a package for pages is missing; None if it is installed."""
    try:
        import_module("jinja2")
    except ImportError:
        install = "pip install 'aleazero[report]' (in a clone of the repository: pip install '.[report]')"
        return f"the page requires jinja2, which is missing: {install}"
    return None


def write_page(review: Review, path: Path) -> None:
    """Write the page of a review, atomically.

    Raises:
        ConfigError: jinja2 is missing, or the file cannot be written.
    """
    why = why_no_page()
    if why is not None:
        raise ConfigError(why)
    from aleazero.files import write_file
    from aleazero.untrusted import printable

    write_file(path, printable(make_page(review)), ConfigError)


def make_page(review: Review) -> str:
    """Return the page of a review as HTML."""
    studied, ledger = review.studied, review.ledger
    scale, rows = scale_of(studied.game), review.rows
    names = [totals.name for totals in ledger.totals]
    by_step = {row.decision.step: row for row in rows if row.decision is not None}
    return (
        _template()
        .render(
            title=capitalized(title_of(studied.game.name).replace("_", " ")),
            seats=", ".join(f"player {seat}: {name}" for seat, name in enumerate(studied.names)),
            value_title=capitalized(scale.name),
            params=", ".join(f"{name} {value}" for name, value in studied.game.params.items()),
            studied=studied,
            ledger=ledger,
            scale=scale,
            names=names,
            several=len(names) > 1,
            marked=any(one.mark for one in ledger.decisions),
            result=result_text(review, scale),
            rows=rows,
            worst=[by_step[one.step] for one in ledger.worst[:MOST_WORST]],
            end=studied.end(),
            board=board,
            curve=draw_curve(curve_of(rows, ledger.end, names), scale),
            legend=curve_of(rows, ledger.end, names),
            roll_text=roll_text,
            style=_resource("review.css") + STYLE,
        )
        .lstrip()
    )


def capitalized(text: str) -> str:
    """Return a text that starts with an upper-case letter; other letters stay as they are."""
    return text[:1].upper() + text[1:]


def board(state: State) -> Any:
    """Return the picture of a position if the game draws it, else its text."""
    from markupsafe import Markup

    scene = state.draw()
    if scene is None:
        return Markup("<pre>{}</pre>").format(str(state))
    return Markup('<div class="drawn">{}</div>').format(Markup(to_svg(scene, styled=False)))


def result_text(review: Review, scale: Scale) -> str:
    """Return how the game ended."""
    returns, names = review.ledger.returns, [totals.name for totals in review.ledger.totals]
    if returns is None:
        return review.studied.result or "The game is not over."
    if len(returns) == 1:
        return f"Result: {returns[0]:,.10g}."
    winners = [name for name, value in zip(names, returns, strict=True) if value == max(returns)]
    if len(winners) > 1:
        return "The game is a draw."
    points = f" {count_text(round(max(returns)), 'point')}" if review.studied.game.info.levels > 1 else ""
    return f"{winners[0]} wins{points}."


# -- the curve -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """The value of the positions for one player."""

    name: str
    number: int
    """Number of the line, for its colour."""
    points: tuple[tuple[int, float, str], ...]
    """Number of the row, value in returns, and mark of the decision there."""


def curve_of(rows: Sequence[ReviewRow], end: Sequence[float], names: Sequence[str]) -> list[Line]:
    """Return the lines of the curve: of the first player in games of one or two, else of all players.

    Marks of the second player are on the line of the first.
    """
    shown = range(1 if len(names) <= 2 else len(names))
    lines = []
    for player in shown:
        points = [
            (row.number, row.value[player], row.decision.mark if row.decision and _own(row, player, names) else "")
            for row in rows
        ]
        lines.append(Line(names[player], player, (*points, (len(rows) + 1, end[player], ""))))
    return lines


def _own(row: ReviewRow, player: int, names: Sequence[str]) -> bool:
    return len(names) <= 2 or row.player == player


def draw_curve(lines: Sequence[Line], scale: Scale) -> Any:
    """Return the curve as SVG."""
    from markupsafe import Markup

    values = [scale.number(value) for line in lines for _, value, _ in line.points]
    low, high = (0.0, 100.0) if scale.is_win_chance else (min(values), max(values))
    ticks = [0.0, 25.0, 50.0, 75.0, 100.0] if scale.is_win_chance else ticks_between(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    last = max(2, lines[0].points[-1][0])

    def x(number: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (number - 1) / (last - 1)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    parts = []
    middle = 50.0 if scale.is_win_chance else 0.0
    for tick in ticks:
        kind = "middle" if tick == middle else "grid"
        parts.append(
            Markup('<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
                kind, LEFT, WIDTH - RIGHT, y(tick), y(tick)
            )
        )
        text = f"{tick:,.10g}{scale.symbol}".replace("-", "−")
        parts.append(Markup('<text class="y" x="{}" y="{:.1f}">{}</text>').format(LEFT - 7, y(tick) + 4, text))
    for tick in ticks_between(1, last):
        if tick >= 1 and tick == int(tick) and tick <= last:
            parts.append(
                Markup('<text class="x" x="{:.1f}" y="{}">{}</text>').format(x(tick), HEIGHT - 9, f"{int(tick)}")
            )
    for line in lines:
        path = " ".join(f"{x(number):.1f},{y(scale.number(value)):.1f}" for number, value, _ in line.points)
        parts.append(Markup('<polyline class="line player{}" points="{}"/>').format(line.number % 6, path))
    for line in lines:
        for number, value, mark in line.points:
            if mark:
                dot = Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5"><title>{}: {}</title></circle>')
                parts.append(
                    Markup('<a href="#r{}">{}</a>').format(
                        number, dot.format(mark, x(number), y(scale.number(value)), number, mark)
                    )
                )
    cursor = Markup('<line id="cursor" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>').format(LEFT, TOP, HEIGHT - BOTTOM)
    return Markup(
        '<svg id="curve" viewBox="0 0 {} {}" role="img" aria-label="{} at each step" data-left="{}" data-right="{}" '
        'data-last="{}">{}{}</svg>'
    ).format(WIDTH, HEIGHT, scale.name, LEFT, WIDTH - RIGHT, last, Markup("").join(parts), cursor)


def ticks_between(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers that cover a range."""
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 10) + 0.0 for number in range(first, last + 1)]


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(_resource("review.html.j2"))


def _resource(name: str) -> str:
    return resources("aleazero.serving").joinpath(name).read_text(encoding="utf-8")
