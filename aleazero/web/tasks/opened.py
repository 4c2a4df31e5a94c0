"""The game and the position of a task that takes time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aleazero.games.base import Game, State
from aleazero.serving.desk import Desk
from aleazero.serving.work import Work


def open_game(payload: Mapping[str, Any], work: Work) -> tuple[Desk, Any, Game]:
    """Return the desk of a worker process, the game of a task, and its key for engines that the process keeps."""
    desk = Desk(payload["sources"], payload["limits"], work)
    key, game = desk.game(payload["game"], payload["params"])
    return desk, key, game


def state_of(game: Game, payload: Mapping[str, Any]) -> State:
    """Return the position of a task; None stands for the start of the game."""
    position = payload["position"]
    return game.new_initial_state() if position is None else game.state_from_text(position)
