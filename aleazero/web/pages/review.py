"""The review of a recorded game: board, cost and luck step by step, and the worst decisions first."""

from __future__ import annotations

import html
import json
from pathlib import PurePath
from typing import Any, Final

from nicegui import events, ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.board import Board
from aleazero.web.parts.judgement import MARKS
from aleazero.web.parts.layout import file_button, heading, loaded_page, paragraph, problem, subheading
from aleazero.web.parts.plots import chart_options, numbers_table, unit_title
from aleazero.web.playground import Playground, one_line

ENDINGS: Final = (".json", ".mat")


def add_pages(playground: Playground) -> None:
    """Add the review."""

    @ui.page("/review")
    async def review(session: str = "") -> None:
        async with loaded_page("Review", "/review"):
            heading("Review a game")
            paragraph(
                "Every decision is compared with the best one, and every roll with its expectation. Open a game of "
                "aleazero play --save or match --save, or a match file (.mat).",
                "quiet",
            )
            page = Review(playground)
            page.build()
            if session:
                data = playground.api.store.get(session).data
                await page.open(json.dumps(data), ".json")


class Review:
    """The page of one file."""

    def __init__(self, playground: Playground) -> None:
        self.playground = playground
        self.text, self.ending = "", ".json"
        self.found: dict[str, Any] = {}
        self.place = 0
        """Number of the entry whose position is shown; the last one is the end of the game."""

    def build(self) -> None:
        """Build the page without a game."""
        with ui.element("section").classes("panel").props('aria-label="File"'):
            file_button("Open a recorded game", ".json,.mat", self._uploaded)
            self.status = ui.label("").classes("status").props('aria-live="polite"')
            self.failed = problem("")
            self.failed.set_visibility(False)
        self.content = ui.element("div").classes("stack")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        ending = PurePath(event.file.name).suffix.casefold()
        try:
            text = await event.file.text()
        except UnicodeDecodeError:
            text = ""
        await self.open(text, ending if ending in ENDINGS else ".json")

    async def open(self, text: str, ending: str, number: int = 0) -> None:
        """Judge a game and show it."""
        self.text, self.ending = text, ending
        self.failed.set_visibility(False)
        self.status.text = "Judging … (a first judgement compiles the game)"
        try:
            self.found = await self.playground.study(
                "judgements:review_file", _game_of(text), text=text, ending=ending, number=number
            )
        except AleaZeroError as error:
            self.failed.text, self.status.text = one_line(error), ""
            self.failed.set_visibility(True)
            return
        kind = "" if self.found["exact"] else "estimates by "
        self.status.text = f"Judged by {kind}{self.found['judge']}."
        self.content.clear()
        with self.content:
            self._show()
        await self._go(0)

    def _show(self) -> None:
        found = self.found
        if len(found["games"]) > 1:
            options = {number: f"game {number}: {names}" for number, names in enumerate(found["games"])}
            ui.select(
                options, value=0, label="game", on_change=lambda event: self.open(self.text, self.ending, event.value)
            ).props("outlined dense")
        with ui.element("div").classes("two"):
            with ui.element("section").classes("panel").props('aria-label="Position"'):
                self.title = ui.html("", sanitize=False, tag="h2")
                self.board = Board(self.playground)
                self.note = ui.html("", sanitize=False).classes("coach").props('aria-live="polite"')
                with ui.element("div").classes("row"):
                    ui.button("Back", on_click=lambda: self._go(self.place - 1)).props("outline dense")
                    ui.button("Next", on_click=lambda: self._go(self.place + 1)).props("unelevated dense")
                    self.slider = ui.slider(min=0, max=len(found["entries"]), value=0).classes("grow")
                    self.slider.props('aria-label="Step"').on("change", lambda: self._go(int(self.slider.value)))
            with ui.element("div").classes("stack"):
                with ui.element("section").classes("panel").props('aria-label="Value"'):
                    name = found["unit"]
                    subheading(unit_title(name, "player 0" if len(found["totals"]) > 1 else ""))
                    points = [[one["step"] - 1, one["value"][0]] for one in found["entries"] if one["value"]]
                    last = found["entries"][-1]["step"] if found["entries"] else 0
                    lines = [("player 0", [*points, [last, found["end"][0]]])]
                    chart = ui.echart(chart_options(lines, name, [0]), renderer="svg").classes("chart")
                    chart.props('role="img" aria-label="Value of player 0 over the game"')
                with ui.element("section").classes("panel").props('aria-label="Totals"'):
                    subheading("Totals")
                    rows = [
                        (one["name"], one["decisions"], one["regret"],
                         "–" if one["best"] is None else f"{one['best']:.0%}", one["errors"], one["blunders"],
                         one["luck"], one["result"], one["adjusted"])
                        for one in found["totals"]
                    ]  # fmt: skip
                    heads = ("player", "decisions", "regret", "best", "errors", "blunders", "luck", "result",
                             "luck-adjusted")  # fmt: skip
                    ui.html(numbers_table(heads, rows), sanitize=False).classes("scroll").props(
                        'tabindex="0" role="region" aria-label="Totals by player"'
                    )
                with ui.element("section").classes("panel").props('aria-label="Worst decisions"'):
                    subheading("Worst decisions")
                    self._worst()
        ui.keyboard(on_key=self._key)

    def _worst(self) -> None:
        by_step = {one["step"]: place for place, one in enumerate(self.found["entries"])}
        for step in self.found["worst"]:
            one = self.found["entries"][by_step[step]]
            text = f"step {step}, player {one['player']}: {one['name']} cost {one['cost_text']}"
            ui.button(text, on_click=lambda _, place=by_step[step]: self._go(place)).props("flat dense align=left")
        if not self.found["worst"]:
            ui.label("No decision cost anything.").classes("quiet")

    async def _go(self, place: int) -> None:
        """Show the position before an entry, or the end."""
        entries = self.found["entries"]
        self.place = max(0, min(place, len(entries)))
        self.slider.value = self.place
        one = entries[self.place] if self.place < len(entries) else None
        await self.board.show(
            self.found["game"], self.found["params"], self.found["last"] if one is None else one["position"]
        )
        self.title.content = html.escape("The end" if one is None else f"Before step {one['step']}")
        self.note.content = "The game ends here." if one is None else _note(one)

    async def _key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and str(event.key.name) in ("ArrowLeft", "ArrowRight"):
            await self._go(self.place + (1 if event.key.name == "ArrowRight" else -1))


def _note(one: dict[str, Any]) -> str:
    """Return the judgement of an entry as HTML."""
    name = html.escape(one["name"])
    if one["kind"] == "roll":
        share = "" if one["probability"] is None else f" (probability {one['probability']:.3f})"
        return f"Roll: <b>{name}</b>{share}. Luck: {' / '.join(one['luck_text'])}."
    if one["forced"]:
        return f"Player {one['player']}: <b>{name}</b>, the only move."
    others = "".join(f"<li>{html.escape(text)}: {value}</li>" for text, value in one["alternatives"])
    cost = f'<span class="bad">cost {one["cost_text"]}.{MARKS[one["mark"]]}</span>'
    better = f"{cost} Better: <b>{html.escape(one['best'])}</b>"
    verdict = '<span class="good">the best move</span>' if one["is_best"] else better
    return f"Player {one['player']}: <b>{name}</b>, {verdict}<ul style='margin:0.2rem 0'>{others}</ul>"


def _game_of(text: str) -> str:
    """Return the name of the game in a file, so that a user's game is known as such."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    game = data.get("game") if isinstance(data, dict) else None
    return game if isinstance(game, str) else ""
