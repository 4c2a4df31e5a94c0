"""How a report writes numbers: each in an element that names its place in the run's files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from html import escape
from typing import Final
from urllib.parse import unquote

from aleazero.games.registry import title_of
from aleazero.runs.told import Told

NOTHING: Final = "–"
"""What is shown where a file says nothing, or not a number."""


def plain(value: float) -> str:
    """Three digits, or all before the point."""
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    if value == 0:
        return "0"
    return f"{value:#.3g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def minutes(value: float) -> str:
    """As exact as somebody who waits wants to know it."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2f}"


WRITE: Final[dict[str, Callable[[float], str]]] = {
    "plain": plain,
    "minutes": minutes,
    "count": lambda value: f"{value:,.0f}",
    "percent": lambda value: f"{value:.1%}",
    "score": lambda value: f"{value:,.1f}",
    "loss": lambda value: f"{value:.4f}",
    "elo": lambda value: f"{value:+,.0f}" if round(value) else "0",
    "file": lambda value: f"{value:04.0f}",
    "exactly": lambda value: str(int(value)),
    "date": lambda value: f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M} UTC",
}
"""By name, the ways to write a number."""


def written(told: Told, way: str) -> str:
    """A number as text."""
    if told.number is None:
        return NOTHING
    return WRITE[way](told.value).replace("-", "−" if way != "date" else "-")  # a seed is too long for a float


def shown(told: Told, way: str = "plain") -> str:
    """A number as HTML, with its place."""
    return f'<span data-from="{escape(told.place)}">{written(told, way)}</span>'


def shown_text(told: Told) -> str:
    """A word or a sentence of the run's files as HTML, with its place."""
    return f'<span data-from="{escape(told.place)}" data-as="text">{escape(str(told.value))}</span>'


def shown_game(told: Told) -> str:
    """What people call a game, as HTML; the text that it is loaded by is its tooltip."""
    text = str(told.value)
    return (
        f'<span data-from="{escape(told.place)}" data-as="game" title="{escape(text)}">{escape(title_of(text))}</span>'
    )


def shown_name(told: Told) -> str:
    """What a part of the run's files is called there, as HTML."""
    name = unquote(told.place.rpartition("/")[2])
    return f'<span data-from="{escape(told.place)}" data-as="name">{escape(name)}</span>'


def between(told: Told, way: str = "plain", joined: str = " to ") -> str:
    """The ends of an interval; nothing where there are none."""
    low, high = told["low"], told["high"]
    if low.number is None:
        return NOTHING if high.number is None else f"{shown(high, way)} or less"
    return f"{shown(low, way)} or more" if high.number is None else f"{shown(low, way)}{joined}{shown(high, way)}"


def with_interval(told: Told, way: str = "plain") -> str:
    """A mean and its interval."""
    mean = shown(told["mean"], way)
    return mean if told["low"].number is None else f'{mean} <small class="range">({between(told, way)})</small>'
