"""A judged game on a page: its board, what was played or rolled, and its values as a curve."""

from __future__ import annotations

import html
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from nicegui import events, ui

from aleazero.web.parts.board import Board
from aleazero.web.parts.judgement import MARKS
from aleazero.web.parts.plots import Curve, chart_options, numbers_table
from aleazero.web.playground import Playground

SYMBOLS: Final = {"error": ("triangle", 11), "blunder": ("diamond", 14)}
"""Symbol and size of a marked decision in the curve."""
TOTALS: Final = ("decisions", "regret", "best", "errors", "blunders", "luck", "result", "adjusted")
"""Rows of the table of totals."""
OF_LUCK: Final = ("luck", "adjusted")
"""Rows that games without chance do not have."""


class Replay:
    """The board of a judged game at one of its places, with the cost or the luck there.

    Args:
        playground: draws positions.
        found: the game, as the task ``review_file`` returns it.
    """

    def __init__(self, playground: Playground, found: Mapping[str, Any]) -> None:
        self.found = found
        self.place = 0
        """Number of the entry whose position is shown; the last one is the end of the game."""
        self.title = ui.html("", sanitize=False, tag="h3")
        self.board = Board(playground)
        self.note = ui.html("", sanitize=False).classes("replay-note").props('aria-live="polite"')

    @property
    def last(self) -> int:
        """The place of the end of the game."""
        return len(self.found["entries"])

    @property
    def position(self) -> str:
        """The position that is shown."""
        return str(self.found["last"] if self.place == self.last else self.found["entries"][self.place]["position"])

    async def show(self, place: int) -> None:
        """Show the position before an entry, or the end."""
        self.place = shown = max(0, min(place, self.last))
        one = self.found["entries"][shown] if shown < self.last else None
        await self.board.show(self.found["game"], self.found["params"], self.position)
        if self.place != shown:  # another place was asked for in the meantime
            return
        names = self.found["names"]
        if one is None:
            results = ", ".join(f"{total['name']} {total['result']}" for total in self.found["totals"])
            self.title.content, self.note.content = "The end", html.escape(f"Result: {results}.")
        else:
            self.title.content = html.escape(f"Step {one['step']}")
            self.note.content = note_of(one, names)


def note_of(one: Mapping[str, Any], names: list[str]) -> str:
    """Return the judgement of an entry as HTML; ``names`` are those of the seats, or empty."""
    name = html.escape(one["name"])
    if one["kind"] == "roll":
        share = "" if one["probability"] is None else f" (probability {one['probability']:.3f})"
        return f"Roll: <b>{name}</b>{share}. Luck: {' / '.join(one['luck_text'])}."
    who = html.escape(f"Player {one['player']}" + (f" ({names[one['player']]})" if names else ""))
    if one["forced"]:
        return f"{who}: <b>{name}</b>, the only move."
    others = "".join(f"<li>{html.escape(text)}: {value}</li>" for text, value in one["alternatives"])
    cost = f'<span class="bad">✗ cost {one["cost_text"]}.{MARKS[one["mark"]]}</span>'
    better = f"{cost} Better: <b>{html.escape(one['best'])}</b>"
    equal = f'<span class="good">✓ as good as the best move, <b>{html.escape(one["best"])}</b></span>'
    verdict = '<span class="good">✓ the best move</span>' if one["is_best"] else better if one["costs"] else equal
    return f"{who}: <b>{name}</b>, {verdict}<ul>{others}</ul>"


def value_curve(found: Mapping[str, Any], player: int, name: str) -> Curve:
    """Return the values of a player over a judged game, at the number of steps played."""
    points = [[one["step"] - 1, one["value"][player]] for one in found["entries"] if one["value"]]
    last = found["entries"][-1] if found["entries"] else None
    end = 0 if last is None else last["step"] - 1 + last["length"]
    return Curve(name, [*points, [end, found["end"][player]]], player)


def game_chart(found: Mapping[str, Any], player: int, go: Callable[[int], Awaitable[None]]) -> ui.echart:
    """Add the curve of a player's values with marks at errors and blunders. A click on it calls ``go`` with a place."""
    options = chart_options([value_curve(found, player, f"player {player}")], found["scale"])
    steps = [one["step"] - 1 for one in found["entries"]]
    marked = [one for one in found["entries"] if one["kind"] == "decision" and one["mark"] and one["value"]]
    for mark, (symbol, size) in SYMBOLS.items():
        points = [[one["step"] - 1, one["value"][player]] for one in marked if one["mark"] == mark]
        options["series"].append({
            "type": "scatter", "name": f"{mark}s", "data": points, "symbol": symbol, "symbolSize": size, "z": 5,
            "itemStyle": {"color": "#b5500a", "borderColor": "#ffffff", "borderWidth": 1},
        })  # fmt: skip
    options["legend"] = {"show": True, "top": 0}
    options["grid"]["top"] = 30

    async def click(event: events.EChartPointClickEventArguments) -> None:
        assert isinstance(event.value, list)
        step = event.value[0]
        await go(steps.index(step) if step in steps else len(steps))

    chart = ui.echart(options, on_point_click=click, renderer="svg").classes("chart")
    return chart.props(f'role="img" aria-label="Value of player {player} over the game, with marks at errors"')


def totals_table(found: Mapping[str, Any]) -> str:
    """Return the totals of the players of a judged game as HTML, one column per player."""

    def cell(one: Mapping[str, Any], row: str) -> Any:
        if row == "best" and one[row] is not None:
            return f"{100 * one[row]:.0f} %"
        return "–" if one[row] is None else one[row]

    names, totals = {"best": "best decisions", "adjusted": "luck-adjusted result"}, found["totals"]
    heads = ["", *(f"{one['player']}: {one['name']}" for one in totals)]
    shown = TOTALS if found["scale"].has_luck else [row for row in TOTALS if row not in OF_LUCK]
    return numbers_table(heads, [[names.get(row, row), *(cell(one, row) for one in totals)] for row in shown])
