"""What all pages share: the HTTP API's state, calls of worker processes, and the games that the lobby shows."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

from aleazero.errors import AleaZeroError
from aleazero.serving.api.jobs import Job
from aleazero.serving.api.state import Api
from aleazero.serving.requests import name_of
from aleazero.untrusted import printable

MOST_CARDS: Final = 100
"""Descriptions of games that are kept."""
TASKS: Final = "aleazero.web.tasks"
"""Package of the pages' own tasks, which run in worker processes."""
IN_BACKGROUND: Final = -1
"""Priority of what a page computes unasked: the searches that people start come first."""


async def stays_connected() -> MutableMapping[str, Any]:
    """Wait forever: a page's work does not end when a request of the browser ends."""
    await asyncio.Event().wait()
    raise AssertionError


@dataclass
class Playground:
    """The pages' way to games, sessions and searches. No rules and no searches run in this process."""

    api: Api
    shown: Sequence[str] = ()
    """Games of the lobby, with or without parameters; empty for all."""
    _cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def rules(self, task: str, of: str | None = None, /, **payload: Any) -> Any:
        """Run a task of ``tasks.rules``, or of another module as ``MODULE:TASK``, in a process for rules."""
        name = task if ":" in task else f"{TASKS}.rules:{task}"
        return await self.api.rules(stays_connected, name, of, **payload)

    def start(self, task: str, of: str, /, *, priority: int = 0, **payload: Any) -> Job:
        """Start a task ``MODULE:TASK`` of ``tasks`` in a process for searches; a higher priority starts first."""
        more = {"sources": self.api.sources, "limits": self.api.request_limits, **payload}
        return self.api.jobs.start_search(f"{TASKS}.{task}", more, name_of(of), priority)

    async def study(self, task: str, of: str, /, *, priority: int = 0, **payload: Any) -> Any:
        """Run a task as ``start`` does, to its end; it is stopped if the caller is cancelled."""
        return await self.api.jobs.finish(self.start(task, of, priority=priority, **payload))

    async def card(self, game: str) -> dict[str, Any]:
        """Describe a game with or without parameters; ``error`` is set if it cannot be loaded."""
        known = self._cards.get(game)
        if known is not None:
            return known
        try:
            card: dict[str, Any] = await self.rules("describe_card", game, text=game)
        except AleaZeroError as error:
            return {"game": game, "title": game, "error": one_line(error)}
        if len(self._cards) >= MOST_CARDS:
            self._cards.pop(next(iter(self._cards)), None)
        self._cards[game] = card
        return card

    async def game_names(self) -> list[str]:
        """Return the games of the lobby."""
        if self.shown:
            return list(self.shown)
        return [*self.api.sources.games, *(await self.rules("bundled_games"))]

    async def simplest_game(self) -> str:
        """Return the game of the lobby with the fewest actions and players, one with chance if there is one."""
        cards = [await self.card(name) for name in await self.game_names()]
        sound = [card for card in cards if not card["error"]]
        best = min(sound, key=lambda card: (not card["chance"], card["actions"], card["players"]), default=cards[0])
        return str(best["game"])

    async def new_session(
        self, game: str, params: Mapping[str, Any], seats: Sequence[str], seed: int | None, position: str | None = None
    ) -> str:
        """Start a session, from a position or from the start of the game, and return its id."""
        made = await self.api.open_session(
            stays_connected, name_of(game) or "", game=game, params=dict(params), position=position, moves=[],
            seed=secrets.randbits(32) if seed is None else seed, seats=list(seats), names=None, temperature=0.0,
            draw=False,
        )  # fmt: skip
        return str(made["id"])

    async def import_session(self, data: Any) -> str:
        """Store a session from the JSON data of a file and return its id."""
        game = data.get("game") if isinstance(data, dict) else None
        made = await self.api.open_session(stays_connected, game if isinstance(game, str) else "", file=data)
        return str(made["id"])

    async def view(self, session: str) -> dict[str, Any]:
        """Return the view of a session."""
        return await self.api.view(stays_connected, session)

    async def change(self, session: str, change: str, **more: Any) -> dict[str, Any]:
        """Change a session: ``moves``, ``draw``, ``undo`` or ``redo``."""
        return await self.api.change(stays_connected, session, "change_session", change=change, **more)

    async def play_seat(self, session: str, revision: int | None = None) -> dict[str, Any]:
        """Let the player of the seat to move play one action; ``revision`` is the one that the page shows."""
        return await self.api.change(stays_connected, session, "play_seat", revision, search=True, all=False)


def game_text(view: Mapping[str, Any]) -> str:
    """Return a game with its parameters as one text, as ``load_game`` reads it."""
    params = ", ".join(f"{key}={value!r}" for key, value in view["params"].items())
    return f"{view['game']}({params})" if params else str(view["game"])


def address_of(page: str, game: str, position: str | None = None) -> str:
    """Return the address of a page, such as ``/analysis``, for a game with or without parameters."""
    return f"{page}?{urlencode({'game': game} | ({} if position is None else {'position': position}))}"


def one_line(error: BaseException) -> str:
    """Return an error as one printable line."""
    return printable(" ".join(str(error).split())) or type(error).__name__
