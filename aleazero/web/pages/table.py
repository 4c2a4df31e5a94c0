"""The table: a game being played, with dice, curve, luck, hints, coach, undo and keyboard."""

from __future__ import annotations

import asyncio
import html
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Final

from nicegui import ui

from aleazero.errors import AleaZeroError
from aleazero.serving.api.store import SessionConflictError, UnknownSessionError
from aleazero.web.parts.board import Board
from aleazero.web.parts.dice import outcome_html
from aleazero.web.parts.judgement import Judgement
from aleazero.web.parts.layout import (
    heading,
    loaded_page,
    on_keys,
    panel,
    paragraph,
    scroll_region,
    shows_errors,
    subheading,
)
from aleazero.web.parts.seats import PERSON, full_names, seat_names
from aleazero.web.playground import Playground, address_of, game_text, one_line

MOST_BUTTONS: Final = 300
"""Actions that are shown as buttons."""
MOST_OUTCOMES: Final = 60
"""Outcomes that are shown as buttons."""
DIGITS: Final = tuple("123456789")
"""Keys of the first moves."""
RECENT: Final = 8
"""Rolls and actions that are shown below the board."""
KEYS: Final = (
    ("1 … 9", "play the first … ninth move, if the board has no such key"),
    ("Tab, Enter", "select a part of the board or a button"),
    ("Enter", "play the selected parts, if they are a move"), ("Escape", "clear the selection"),
    ("u", "undo"), ("y", "redo"), ("h", "hint"), ("c", "coach on or off"),
    ("n", "continue: let the next player or the dice move"),
)  # fmt: skip
KEEP_PLACE: Final = """document.addEventListener('keydown', event => {
  if (event.key.startsWith('Arrow') && document.querySelector('.board [data-key^="Arrow"]')
      && !event.target.closest('input, textarea, .scroll')) event.preventDefault();
})"""
"""Keeps a page in its place if arrow keys belong to the board."""


def add_pages(playground: Playground) -> None:
    """Add the table."""

    @ui.page("/table/{session}")
    async def table(session: str) -> None:
        async with loaded_page("Table", "/"):
            try:
                view = await playground.view(session)
            except UnknownSessionError:
                heading("No such game")
                paragraph("This game was deleted, or its address is incomplete.")
                ui.link("Back to the games", "/")
                return
            page = Table(playground, session, await playground.card(game_text(view)))
            page.build(view)
            await page.begin(view)


class Table:
    """The page of one session.

    Args:
        playground: changes the session.
        session: its id.
        card: description of its game.
    """

    def __init__(self, playground: Playground, session: str, card: Mapping[str, Any]) -> None:
        self.playground, self.session = playground, session
        self.title = str(card["title"])
        self.has_chance, self.rolls_dice = card.get("chance", True), card.get("dice", False)
        self.view: dict[str, Any] = {}
        self.log: list[dict[str, Any]] = []
        """All steps of the session."""
        self.busy = False
        """Whether the session is changing; further changes are ignored until its new position is shown."""
        self.drawing = asyncio.Lock()
        """Held while the board is drawn, so that quick clicks are drawn one after another."""
        self.halted = False
        """Whether players and dice wait for a click, after undo."""

    # -- parts of the page ---------------------------------------------------------------------------------------------

    def build(self, view: dict[str, Any]) -> None:
        """Build the page of a session."""
        heading(self.title)
        with ui.element("div").classes("two"):
            with ui.element("div").classes("stack"):
                with panel("Board"):
                    self.status = ui.label("").classes("status").props('aria-live="polite"')
                    self.board = Board(self.playground, self._part)
                    self.rolls = ui.html("", sanitize=False).classes("rolls")
                    self.news = ui.label("").classes("news quiet")
                    self._actions()
                with ui.expansion("Moves").classes("panel") as self.moves_panel:
                    self.moves = ui.element("div").classes("moves").props('role="group" aria-label="Legal moves"')
            with ui.element("div").classes("stack"):
                self.judgement = Judgement(self.playground, view, self.has_chance)
                with panel("History"):
                    subheading("History")
                    self.history = scroll_region("All moves and rolls").style("height: 15rem")
                with ui.expansion("Keyboard").classes("panel"):
                    self.board_keys = ui.html("", sanitize=False).classes("quiet")
                    ui.html(_keys_html(KEYS), sanitize=False).classes("quiet")
        on_keys(self._key)
        on_keys(self._enter, buttons=False)
        ui.run_javascript(KEEP_PLACE)

    def _actions(self) -> None:
        with ui.element("div").classes("row"):
            self.play_button = ui.button("Play selection", on_click=self._play_selection).props("unelevated dense")
            self.go = ui.button("Continue", on_click=self._continue).props("unelevated dense")
            self.undo_button = ui.button("Undo", on_click=lambda: self._walk("undo")).props("outline dense")
            self.redo_button = ui.button("Redo", on_click=lambda: self._walk("redo")).props("outline dense")
            self.hint_button = ui.button("Hint", on_click=self._hint).props("outline dense")
            ui.button("Analyse", on_click=self._analyse).props("outline dense")
            ui.button("Review", on_click=lambda: ui.navigate.to(f"/review?session={self.session}")).props(
                "outline dense"
            )
            ui.button("Save file", on_click=self._save).props("outline dense")
            self.by_hand = ui.switch("Enter outcomes by hand", on_change=self._hand_changed)
            self.by_hand.set_visibility(self.has_chance)

    # -- the course of the game ----------------------------------------------------------------------------------------

    async def begin(self, view: dict[str, Any]) -> None:
        """Show the session and let other players move."""
        await self._read_log()
        await self._show(view)
        await self._proceed()

    async def _read_log(self) -> None:
        """Read all steps of the session."""
        data = self.playground.api.store.get(self.session).data
        try:
            self.log = await self.playground.rules("aleazero.serving.api.tasks:history", data["game"], session=data)
        except AleaZeroError as error:
            ui.notify(one_line(error), type="negative")

    def _waits(self) -> str:
        """Return what happens next: ``person``, ``player``, ``dice`` or ``over``."""
        if self.view["node"] == "terminal":
            return "over"
        if self.view["node"] == "chance":
            return "dice"
        return "person" if self.view["seats"][self.view["player"]] == PERSON else "player"

    async def _proceed(self) -> None:
        """Let the dice and the other players move until a person decides."""
        while not self.halted and (waits := self._waits()) in ("player", "dice"):
            if waits == "dice" and self.by_hand.value:
                break
            if waits == "dice":
                done = await self._do(lambda: self._change("draw"))
            else:
                self.status.text = f"{self._name(self.view['player'])} thinks … (a first move also compiles the game)"
                done = await self._do(lambda: self.playground.play_seat(self.session, self.view["revision"]))
            if not done:
                self.halted = True
        self._show_status()
        self._follow()

    async def _do(self, change: Callable[[], Awaitable[dict[str, Any]]]) -> bool:
        """Change the session and show the result; an error is shown and changes nothing."""
        if self.busy:
            return False
        self.busy = True
        try:
            async with self.drawing:
                await self._show(await change())
        except AleaZeroError as error:
            ui.notify(one_line(error), type="negative", multi_line=True, close_button="Close", timeout=10_000)
            if isinstance(error, SessionConflictError):
                await shows_errors(self._reload)
            return False
        finally:
            self.busy = False
        return True

    async def _change(self, change: str, view: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """Change the session as this page shows it, or as ``view`` does; a conflict if another page changed it."""
        revision = (view or self.view)["revision"]
        return await self.playground.change(self.session, change, revision=revision, **more)

    async def _reload(self) -> None:
        """Show the session as another page has left it; players and dice wait for a click."""
        self.halted = True
        view = await self.playground.view(self.session)
        await self._read_log()
        await self._show(view)
        self._follow()

    async def _move(self, action: int) -> None:
        self.halted = False
        drawn = not self.by_hand.value
        if await self._do(lambda: self._change("moves", moves=[action], draw=drawn)):
            await self._proceed()

    async def _continue(self) -> None:
        self.halted = False
        if self._waits() == "dice":
            await self._do(lambda: self._change("draw"))
        await self._proceed()

    async def _walk(self, change: str) -> None:
        """Take back the last play of a person, or play it again."""
        key = "steps" if change == "undo" else "redo_steps"
        if self.busy or not self.view[key]:
            return
        self.halted = True

        async def walk() -> dict[str, Any]:
            view = self.view
            changes: list[dict[str, Any]] = []
            while view[key]:
                left = view[key]
                try:
                    view = await self._change(change, view, unit="play", count=1)
                except SessionConflictError:
                    raise
                except AleaZeroError:  # only rolls are left
                    view = await self._change(change, view, unit="step", count=left)
                changes += view["changes"]
                if view["node"] == "decision" and view["seats"][view["player"]] == PERSON:
                    break
            return {**view, "changes": changes}

        await self._do(walk)
        self._show_status()
        self._follow()

    async def _hand_changed(self) -> None:
        if self.view and self._waits() == "dice":
            await self._show(self.view)
            await self._proceed()

    # -- showing -------------------------------------------------------------------------------------------------------

    async def _show(self, view: dict[str, Any]) -> None:
        self.view = view
        del self.log[view["steps"] - len(view["changes"]) :]
        new = len(self.log)
        self.log += view["changes"]
        try:
            active = view["node"] == "decision" and self._waits() == "person"
            await self.board.show(view["game"], view["params"], view["position"], active=active)
        except AleaZeroError as error:
            ui.notify(one_line(error), type="negative")
        self.news.text = ""
        self._show_rolls(new if view["changes"] else len(self.log))
        self._show_history()
        self._show_moves()
        self._show_status()

    def _name(self, player: int) -> str:
        """Return the name of a seat for people."""
        return full_names(self.view["names"])[player]

    def _show_status(self) -> None:
        view, waits = self.view, self._waits()
        if waits == "over":
            results = ", ".join(f"{self._name(n)} {value:g}" for n, value in enumerate(view["returns"]))
            self.status.text = f"The game is over: {results}"
        elif waits == "dice":
            self.status.text = "The dice are rolled next" if self.halted else "Roll the dice"
        elif waits == "person":
            self.status.text = f"{self._name(view['player'])} to move"
        elif self.halted:
            self.status.text = f"{self._name(view['player'])} moves next"
        selection = self.board.data["action"] is not None and not self.board.data["finished"]
        _offer(self.play_button, selection)
        self.play_button.set_visibility(self.board.data["svg"] is not None)
        _offer(self.go, waits == "dice" or (waits == "player" and self.halted))
        self.go.text = "Roll" if waits == "dice" else "Continue"
        self.undo_button.set_enabled(view["steps"] > 0)
        self.redo_button.set_enabled(view["redo_steps"] > 0)
        self.hint_button.set_enabled(waits == "person")

    def _show_rolls(self, new: int) -> None:
        """Show the last steps in one line, the newest first; those from number ``new`` on have just happened."""
        chips = []
        for number in range(len(self.log) - 1, max(-1, len(self.log) - 1 - RECENT), -1):
            classes = "chip" + " new" * (number >= new) + " rolled" * (self.log[number]["player"] < 0)
            chips.append(f'<span class="{classes}">{self._step_html(number)}</span>')
        self.rolls.content = "".join(chips)

    def _step_html(self, number: int) -> str:
        """Return a step as HTML: who played what, or the roll."""
        step = self.log[number]
        if step["player"] < 0:
            return outcome_html(step["name"], self.rolls_dice)
        return f"<b>{html.escape(seat_names(self.view['names'])[step['player']])}</b> {html.escape(step['name'])}"

    def _show_history(self) -> None:
        rows = [f"<li>{self._step_html(number)}</li>" for number in range(len(self.log) - 1, -1, -1)]
        self.history.content = f"<ol reversed>{''.join(rows)}</ol>" if rows else "No moves yet."

    def _show_moves(self) -> None:
        """Show a button for each legal action, or for each outcome if a person rolls the dice."""
        waits, moves = self._waits(), self.view["moves"]
        self.moves.clear()
        outcomes = waits == "dice" and self.by_hand.value
        shown = (moves or [])[: MOST_OUTCOMES if outcomes else MOST_BUTTONS] if outcomes or waits == "person" else []
        keys = self.board.data["keys"]
        self.board_keys.content = _keys_html((key, title or part) for key, (part, title) in keys.items())
        self.moves_panel.text = "Enter the outcome" if outcomes else "All moves as buttons"
        if outcomes or self.board.data["svg"] is None:
            self.moves_panel.open()
        with self.moves:
            for number, move in enumerate(shown):
                text = move["name"] + (f"  {move['probability']:.1%}" if outcomes else "")
                button = ui.button(text, on_click=lambda _, action=move["id"]: self._move(action))
                button.props("outline dense no-caps").mark(f"move-{move['id']}")
                button.props(f'data-action="{move["id"]}"')
                if number < 9 and not outcomes and str(number + 1) not in keys:
                    button.props(f'aria-keyshortcuts="{number + 1}" data-digit="{number + 1}"')
            if len(shown) < len(moves or ()) and shown:
                ui.label(f"{len(moves or ()) - len(shown)} more are not shown: roll, or select them on the board.")
            if not shown:
                ui.label("No move to choose now.").classes("quiet")

    def _follow(self) -> None:
        """Judge the steps that are new."""
        data = self.playground.api.store.get(self.session).data
        before = [data["start"], *(step["position"] for step in self.log)]
        self.judgement.follow(data["steps"], before, self.view)

    # -- clicks and keys -----------------------------------------------------------------------------------------------

    async def _part(self, part: str) -> None:
        view = self.view
        async with self.drawing:
            if self.busy or view is not self.view or self._waits() != "person":
                return
            try:
                await self.board.show(view["game"], view["params"], view["position"], active=True, click=part)
            except AleaZeroError as error:
                ui.notify(one_line(error), type="negative")
                return
            self._show_status()
        if self.board.data["finished"]:
            await self._move(self.board.data["action"])

    async def _play_selection(self) -> None:
        if self.board.data["action"] is not None and self._waits() == "person":
            await self._move(self.board.data["action"])

    async def _key(self, key: str) -> None:
        if key in self.board.data["keys"]:  # those of the board take precedence
            await self._part(self.board.data["keys"][key][0])
        elif key == "Escape":
            async with self.drawing:
                await self._show({**self.view, "changes": []})
        elif key == "u":
            await self._walk("undo")
        elif key == "y":
            await self._walk("redo")
        elif key == "h":
            await self._hint()
        elif key == "n":
            await self._continue()
        elif key == "c":
            self.judgement.coach.value = not self.judgement.coach.value
        elif key in DIGITS and self._waits() == "person" and int(key) <= len(self.view["moves"]):
            await self._move(self.view["moves"][int(key) - 1]["id"])

    async def _enter(self, key: str) -> None:
        if key == "Enter":
            await self._play_selection()

    async def _hint(self) -> None:
        if self.busy or self._waits() != "person":
            return
        view = self.view
        self.news.text = "Looking for the best move …"
        try:
            found = await self.playground.study(
                "judgements:hint", view["game"], game=view["game"], params=view["params"], position=view["position"]
            )
        except AleaZeroError as error:
            self.news.text = one_line(error)
            return
        async with self.drawing:
            if self.busy or self.view["revision"] != view["revision"]:  # the game has continued
                self.news.text = ""
                return
            hint = int(found["action"])
            await self.board.show(view["game"], view["params"], view["position"], active=True, hint=hint)
            self._show_status()
        plays = [f"{name} ({value})" for name, value in found["alternatives"]]
        self.news.text = f"Hint: {plays[0]}." if plays else f"Hint: {found['name']} is the only move."
        if len(plays) > 1:
            self.news.text += f" Next best: {', '.join(plays[1:])}."
        for button in self.moves.default_slot.children:
            button.classes(remove="hinted")
            if button.props.get("data-action") == str(found["action"]):
                button.classes("hinted")

    def _analyse(self) -> None:
        ui.navigate.to(address_of("/analysis", game_text(self.view), self.view["position"]))

    def _save(self) -> None:
        data = self.playground.api.store.get(self.session).data
        ui.download.content(json.dumps(data, ensure_ascii=False, indent=1), f"{data['game']}.json", "application/json")


def _keys_html(keys: Iterable[tuple[str, str]]) -> str:
    """Return keys with their meanings as HTML."""
    return "".join(f"<p><kbd>{html.escape(key)}</kbd> {html.escape(meaning)}</p>" for key, meaning in keys)


def _offer(button: ui.button, enabled: bool) -> None:
    """Enable or disable a main button; a disabled one looks like the others."""
    button.set_enabled(enabled)
    button.props("unelevated", remove="outline") if enabled else button.props("outline", remove="unelevated")
