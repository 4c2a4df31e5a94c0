"""Warnings about drafts to the floor: a player that has learned to avoid penalties badly makes many of them."""

from __future__ import annotations

from typing import Final, cast

from aleazero.games.azul.board import BOARD, BOARDS, DESTINATIONS, LINE_SIZE, NUM_ROWS, PLAYER, TO_FLOOR
from aleazero.games.azul.policy import tiles_taken
from aleazero.games.base import State
from aleazero.games.kernel import KernelState
from aleazero.games.kit import MoveWarning


def is_floor_move(state: State, action: int) -> bool:
    """Return whether a draft puts all its tiles on the floor."""
    return action % DESTINATIONS == TO_FLOOR


def is_dominated_floor_move(state: State, action: int) -> bool:
    """Return whether a draft goes to the floor, although a line could have taken all its tiles."""
    if not is_floor_move(state, action):
        return False
    vector = cast("KernelState", state).vector
    board, tiles = BOARDS + BOARD * vector[PLAYER], tiles_taken(vector, action)
    legal = state.legal_actions()
    return any(
        action - TO_FLOOR + row in legal and tiles <= row + 1 - vector[board + LINE_SIZE + row]
        for row in range(NUM_ROWS)
    )


MOVE_WARNINGS: Final = {
    "floor moves": MoveWarning(
        is_floor_move, 0.20, "Drafts that put all tiles on the floor, as a share of the player's decisions."
    ),
    "dominated floor moves": MoveWarning(
        is_dominated_floor_move,
        0.08,
        "Drafts to the floor although a line could take all tiles, as a share of the player's decisions.",
    ),
}
