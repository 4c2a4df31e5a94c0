"""States as rows of an array: vectors of a kernel game (rows, state size), or an object game's states (rows,).

Rows are picked, put and repeated alike in both, and none is changed where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState, KernelStates, vectors_of

Rows = NDArray[Any]


def rows_of(game: Game, states: Sequence[State]) -> Rows:
    """States as rows."""
    if isinstance(game, KernelGame):
        return vectors_of(states)
    rows = np.empty(len(states), object)
    rows[:] = list(states)
    return rows


def state_of(game: Game, row: Any) -> State:
    """The state of a row, to look at and not to change."""
    return KernelState(game, row) if isinstance(game, KernelGame) else cast(State, row)


def states_of(game: Game, rows: Rows) -> Sequence[State]:
    """The states of rows."""
    return KernelStates(game, rows) if isinstance(game, KernelGame) else cast(list[State], rows.tolist())


def pack(game: Game, rows: Rows) -> NDArray[Any]:
    """Rows as numbers, for a file."""
    if isinstance(game, KernelGame):
        return rows
    return np.frombuffer("\n".join(state.serialize() for state in rows).encode(), np.uint8)


def unpack(game: Game, packed: NDArray[Any]) -> Rows:
    """The rows that ``pack`` made numbers of."""
    if isinstance(game, KernelGame):
        return np.array(packed)
    return rows_of(game, [game.deserialize(text) for text in packed.tobytes().decode().split("\n")])
