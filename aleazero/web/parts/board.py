"""A board on a page: the picture of a position whose parts can be clicked or reached by keyboard."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from nicegui import events, ui

from aleazero.web.playground import Playground

CLICKED: Final = """(event) => {
  const part = event.target.closest('[data-part][role="button"]');
  if (part) emit(part.dataset.part, false, +part.closest('.board').dataset.picture);
}"""
PRESSED: Final = """(event) => {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  const part = event.target.closest('[data-part][role="button"]');
  if (part) { event.preventDefault(); event.stopPropagation();
    emit(part.dataset.part, true, +part.closest('.board').dataset.picture); }
}"""


class Board:
    """The picture of a position. A click on a part calls ``on_part`` with its name.

    Args:
        playground: draws positions.
        on_part: called with the part that was clicked; None for a board that only shows.
    """

    def __init__(self, playground: Playground, on_part: Callable[[str], Awaitable[None]] | None = None) -> None:
        self._playground, self._on_part = playground, on_part
        self.data: dict[str, Any] = {"svg": None, "clicks": [], "action": None, "finished": False, "keys": {}}
        """What the task ``board`` returned."""
        self._asked = 0
        """Number of the last drawing; earlier ones that come later are not shown."""
        self._hint: int | None = None
        self._picture = 0
        """Number of the position that is shown, which clicks contain."""
        self._element = ui.html("", sanitize=False).classes("board")
        if on_part is not None:
            self._element.on("click", self._clicked, js_handler=CLICKED)
            self._element.on("keydown", self._clicked, js_handler=PRESSED)

    async def _clicked(self, event: events.GenericEventArguments) -> None:
        part, by_key, picture = event.args
        if picture != self._picture:  # a second click on a picture that is already replaced here
            return
        assert self._on_part is not None
        await self._on_part(str(part))
        if by_key:  # the picture was replaced
            self.focus(str(part))

    def focus(self, part: str) -> None:
        """Move the keyboard's focus to a part, or to the first one if it is gone."""
        name = json.dumps(f'[data-part={json.dumps(part)}][role="button"]')
        ui.run_javascript(
            f"const board = getHtmlElement({self._element.id});"
            f"(board.querySelector({name}) || board.querySelector('[role=\"button\"]'))?.focus()"
        )

    def fade(self) -> None:
        """Show the picture pale, as that of another position."""
        self._element.classes("faded")

    async def show(
        self, game: str, params: Mapping[str, Any], position: str, *, active: bool = False, click: str | None = None,
        hint: int | None = None,
    ) -> None:  # fmt: skip
        """Show a position.

        Args:
            game: name of the game.
            params: its parameters.
            position: the position as text.
            active: whether parts can be clicked.
            click: a click to add to those so far; without it and a hint, nothing is selected.
            hint: an action whose parts are marked, until another call without a click.
        """
        clicks = [] if click is None and hint is None else self.data["clicks"]
        if click is None:
            self._hint = hint
        self._asked += 1
        asked = self._asked
        data = await self._playground.rules(
            "board", game, game=game, params=dict(params), position=position, clicks=clicks, click=click, active=active,
            hint=self._hint,
        )  # fmt: skip
        if asked != self._asked:
            return
        self.data, svg = data, data["svg"]
        self._element.classes(remove="faded")
        self._picture += click is None
        self._element.props(f"data-picture={self._picture} data-clicks={len(self.data['clicks'])}")
        self._element.content = f"<pre>{html.escape(self.data['text'])}</pre>" if svg is None else svg
