"""The review of a recorded game: board, cost and luck step by step, and the worst decisions first."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any, Final

from nicegui import events, ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.layout import (
    Problem,
    file_button,
    heading,
    is_open,
    loaded_page,
    on_keys,
    panel,
    paragraph,
    scroll_region,
    shows_errors,
    subheading,
)
from aleazero.web.parts.plots import scale_title
from aleazero.web.parts.replay import Replay, game_chart, totals_table
from aleazero.web.parts.seats import PERSON, SEARCHES, judge_text
from aleazero.web.playground import Playground, address_of, game_text, one_line

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
        self.number = 0
        """Number of the game in the file."""

    def build(self) -> None:
        """Build the page without a game."""
        with panel("File"):
            file_button("Open a recorded game", ".json,.mat", self._uploaded)
            self.status = ui.label("").classes("status").props('aria-live="polite"')
            self.failed = Problem()
        self.content = ui.element("div").classes("stack")

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        ending = PurePath(event.file.name).suffix.casefold()
        raw = await event.file.read()
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")  # match files are older than UTF-8, as in ``aleazero review``
        await self.open(text, ending if ending in ENDINGS else ".json")

    async def open(self, text: str, ending: str, number: int = 0) -> None:
        """Judge a game and show it."""
        self.text, self.ending, self.number = text, ending, number
        self.failed.hide()
        self.status.text = "Judging … (a first judgement compiles the game)"
        try:
            self.found = await self.playground.study(
                "judgements:review_file", _game_of(text), text=text, ending=ending, number=number
            )
        except AleaZeroError as error:
            self.failed.show(one_line(error))
            self.status.text = ""
            return
        if not is_open():
            return
        self.status.text = judge_text(self.found["judge"], self.found["exact"])
        self.content.clear()
        with self.content:
            self._show()
        await self._go(0)

    def _show(self) -> None:
        found = self.found
        if len(found["games"]) > 1:
            options = {number: f"game {number}: {names}" for number, names in enumerate(found["games"])}
            ui.select(
                options, value=self.number, label="game",
                on_change=lambda event: self.open(self.text, self.ending, event.value),
            ).props("outlined dense")  # fmt: skip
        with ui.element("div").classes("two"):
            with panel("Position"):
                self.replay = Replay(self.playground, found)
                with ui.element("div").classes("row"):
                    ui.button("Back", on_click=lambda: self._go(self.replay.place - 1)).props("outline dense")
                    ui.button("Next", on_click=lambda: self._go(self.replay.place + 1)).props("unelevated dense")
                    self.slider = ui.slider(min=0, max=self.replay.last, value=0).classes("grow")
                    self.slider.props('aria-label="Step"').on("change", lambda: self._go(int(self.slider.value)))
                with ui.element("div").classes("row"):
                    ui.button("Try again from here", on_click=self._play).props("outline dense")
                    ui.button("Analyse", on_click=self._analyse).props("outline dense")
            with ui.element("div").classes("stack"):
                with panel("Value"):
                    subheading(scale_title(found["scale"], "player 0" if len(found["totals"]) > 1 else ""))
                    game_chart(found, 0, self._go)
                    paragraph("Click on the curve to see the position.", "quiet")
                with panel("Totals"):
                    subheading("Totals")
                    scroll_region("Totals by player", totals_table(found))
                with panel("Worst decisions"):
                    subheading("Worst decisions")
                    self._worst()
        on_keys(self._key, repeating=True)

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
        await self.replay.show(place)
        self.slider.value = self.replay.place

    async def _play(self) -> None:
        """Start a game from the position, in which a person plays the seat that decides."""
        found = self.found
        seats = [next(reversed(SEARCHES))] * len(found["totals"])
        place = self.replay.place
        mover = found["entries"][place]["player"] if place < self.replay.last else 0
        seats[mover] = PERSON
        session = await shows_errors(
            lambda: self.playground.new_session(
                found["game"], found["params"], seats, None, position=self.replay.position
            )
        )
        if session is not None:
            ui.navigate.to(f"/table/{session}")

    def _analyse(self) -> None:
        ui.navigate.to(address_of("/analysis", game_text(self.found), self.replay.position))

    async def _key(self, key: str) -> None:
        if key in ("ArrowLeft", "ArrowRight"):
            await self._go(self.replay.place + (1 if key == "ArrowRight" else -1))


def _game_of(text: str) -> str:
    """Return the name of the game in a file, so that a user's game is known as such."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    game = data.get("game") if isinstance(data, dict) else None
    return game if isinstance(game, str) else ""
