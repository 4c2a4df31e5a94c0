"""The right side of the table: what each decision cost and each roll brought, as a curve, meters and the coach."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Mapping, Sequence
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.serving.scale import Scale
from aleazero.web.parts.layout import panel, subheading
from aleazero.web.parts.plots import Curve, chart_options, scale_title
from aleazero.web.parts.seats import PERSON, judge_text, seat_names
from aleazero.web.playground import IN_BACKGROUND, Playground, one_line

MARKS: Final = {"": "", "error": " An error.", "blunder": " A blunder."}
METER: Final = 0.1
"""Least luck at the end of a meter, as a share of the range of values."""


class Judgement:
    """Panels with the curve, the luck of each player and the coach; ``follow`` gives them the steps of the game.

    Args:
        playground: judges the steps.
        view: the view of the session.
        has_luck: whether the game has chance events.
    """

    def __init__(self, playground: Playground, view: Mapping[str, Any], has_luck: bool) -> None:
        self.playground, self.view, self.has_luck = playground, view, has_luck
        self.entries: list[dict[str, Any]] = []
        """Judged plays and rolls."""
        self.end: list[float] | None = None
        """Value of the last judged position."""
        self.scale: Scale | None = None
        self.judge = ""
        self._steps: Sequence[Any] = ()
        self._before: Sequence[str] = ()
        self._task: asyncio.Task[None] | None = None
        self._build()
        ui.context.client.on_delete(self._stop)

    def _build(self) -> None:
        with panel("Value and luck" if self.has_luck else "Value"):
            self._title = ui.html("Value over the game", sanitize=False, tag="h2")
            self._chart = ui.echart(chart_options([], None), renderer="svg").classes("chart")
            self._chart.props('role="img" aria-label="Value over the game"')
            if self.has_luck:
                subheading("Luck")
            self._meters = ui.html("", sanitize=False).classes("meter")
            self._source = ui.label("").classes("quiet").style("min-height: 1.4em")
        with panel("Coach"):
            with ui.element("div").classes("row"):
                subheading("Coach")
                self.coach = ui.switch("Judge my moves", value=True, on_change=self._show)
            self._advice = ui.html("", sanitize=False).classes("coach").props('aria-live="polite"')
        self._show()

    def follow(self, steps: Sequence[Any], before: Sequence[str], view: Mapping[str, Any]) -> None:
        """Judge the steps of the game as far as they are new.

        Args:
            steps: all steps, as (player, action).
            before: the position before each step, and the last one.
            view: the view of the session.
        """
        self.view = view
        end = len(steps)
        if view["players"] > 1 and view["player"] is not None:  # a play that is not complete yet
            while end and steps[end - 1][0] == view["player"]:
                end -= 1
        both = zip(self._steps, steps[:end], strict=False)
        kept = next((n for n, (old, new) in enumerate(both) if old != new), min(end, len(self._steps)))
        while self._judged > kept:
            self.end = self.entries.pop()["value"]
        self._steps, self._before = steps[:end], before
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._judge())
        self._show()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    @property
    def _judged(self) -> int:
        """Number of steps that are judged."""
        return 0 if not self.entries else int(self.entries[-1]["step"]) - 1 + int(self.entries[-1]["length"])

    async def _judge(self) -> None:
        """Judge until no step is new; steps that arrive in the meantime are judged next."""
        while self._judged < len(self._steps):
            first, steps, position = self._judged, self._steps, self._before[self._judged]
            self._source.text = "Judging …"
            try:
                found = await self.playground.study(
                    "judgements:judge_steps", self.view["game"], priority=IN_BACKGROUND, game=self.view["game"],
                    params=self.view["params"], position=position, steps=[list(step) for step in steps[first:]],
                    first=first,
                )  # fmt: skip
            except AleaZeroError as error:
                self._source.text = f"No judgement: {one_line(error)}"
                return
            if self._judged == first and self._steps[: len(steps)] == steps:  # nothing was taken back
                self.entries += found["entries"]
                self.end, self.scale = found["end"], found["scale"]
                self.judge = judge_text(found["judge"], found["exact"])
            self._show()

    # -- showing -------------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        seats = self.view["seats"]
        mine = next((number for number, seat in enumerate(seats) if seat == PERSON), 0)
        players = [mine] if len(seats) <= 2 else list(range(len(seats)))
        names = seat_names(seats)
        lines = [Curve(names[player], self._line(player), player) for player in players]
        if self.scale is not None:
            self._title.content = html.escape(scale_title(self.scale, f"player {mine}" if len(seats) == 2 else ""))
        self._chart.options.clear()
        self._chart.options.update(chart_options(lines, self.scale))
        self._chart.update()
        if self.has_luck:
            self._meters.content = self._luck(names)
        self._source.text = self.judge or "The first judgement compiles the game."
        self._advice.content = self._coaching() if self.coach.value else "The coach is off."

    def _line(self, player: int) -> list[list[float]]:
        points = [[one["step"] - 1, one["value"][player]] for one in self.entries if one["value"] is not None]
        return points if self.end is None else [*points, [self._judged, self.end[player]]]

    def _luck(self, names: Sequence[str]) -> str:
        """Return a meter for each player: the sum of the luck of all rolls."""
        if self.scale is None:
            return luck_meters([(name, 0.0, "") for name in names], 1.0)
        rolls = [one for one in self.entries if one["kind"] == "roll"]
        sums = [sum(one["luck"][player] for one in rolls) for player in range(len(names))]
        values = (abs(value) for one in self.entries for value in one["value"] or ())
        span = max(values, default=0.0) if self.scale.span is None else self.scale.span
        both = zip(names, sums, strict=True)
        return luck_meters([(n, self.scale.difference(luck), self.scale.luck(luck)) for n, luck in both], METER * span)

    def _coaching(self) -> str:
        """Return the judgement of the last decision of a person."""
        for one in reversed(self.entries):
            if one["kind"] != "decision" or self.view["seats"][one["player"]] != PERSON:
                continue
            name = html.escape(one["name"])
            if one["forced"]:
                return f"<b>{name}</b> was the only move."
            if one["is_best"]:
                return f'<span class="good">✓ <b>{name}</b> was the best move.</span>'
            if not one["costs"]:
                best = html.escape(one["best"])
                return f'<span class="good">✓ <b>{name}</b> was as good as the best move, <b>{best}</b>.</span>'
            others = "".join(f"<li>{html.escape(text)}: {value}</li>" for text, value in one["alternatives"][:4])
            return (
                f'<span class="bad">✗ <b>{name}</b> cost {one["cost_text"]}.{MARKS[one["mark"]]}</span> '
                f"Better: <b>{html.escape(one['best'])}</b>.<ul>{others}</ul>"
            )
        return "After each of your moves, the coach shows what it cost and what was better."


def luck_meters(meters: Sequence[tuple[str, float, str]], least: float) -> str:
    """Return bars to the left or right of a middle as HTML.

    Args:
        meters: name, number and text of each.
        least: number of a bar of full length, if no number is larger.
    """
    most = max([least, *(abs(number) for _, number, _ in meters)]) or 1.0
    rows = []
    for name, number, text in meters:
        width = 50 * abs(number) / most
        side = f"left:{50 - width:.1f}%" if number < 0 else "left:50%"
        low = ' class="low"' if number < 0 else ""
        rows.append(
            f'<span>{html.escape(name)}</span><span class="bar" aria-hidden="true"><i{low} '
            f'style="{side};width:{width:.1f}%"></i><b></b></span><span class="number">{text}</span>'
        )
    return "".join(rows)
