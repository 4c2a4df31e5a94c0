"""Many states as one array: the vectors of a kernel game (rows, state_size), or the states of an object game (rows,).

Rows are selected, assigned and repeated in the same way in both. A row is replaced, never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState, Vector

Rows = NDArray[Any]


class KernelStates(Sequence[State]):
    """States of a kernel game over the rows of an array (states, state_size). An item is created when it is read."""

    def __init__(self, game: KernelGame, vectors: Vector) -> None:
        self.game, self.vectors = game, vectors

    def __len__(self) -> int:
        return len(self.vectors)

    @overload
    def __getitem__(self, place: int) -> KernelState: ...
    @overload
    def __getitem__(self, place: slice) -> KernelStates: ...
    def __getitem__(self, place: int | slice) -> KernelState | KernelStates:
        if isinstance(place, slice):
            return KernelStates(self.game, self.vectors[place])
        return KernelState(self.game, self.vectors[place].copy())

    def __iter__(self) -> Iterator[State]:
        return (KernelState(self.game, vector.copy()) for vector in self.vectors)


def vectors_of(states: Sequence[State]) -> Vector:
    """Return the vectors (states, state_size) of states of a kernel game."""
    if isinstance(states, KernelStates):
        return states.vectors
    return np.array([cast(KernelState, state).vector for state in states], np.int64)


def rows_of(game: Game, states: Sequence[State]) -> Rows:
    """Return states as rows."""
    if isinstance(game, KernelGame):
        return vectors_of(states)
    rows = np.empty(len(states), object)
    rows[:] = list(states)
    return rows


def state_of(game: Game, row: Any) -> State:
    """Return the state of a row, which must not be changed."""
    return KernelState(game, row) if isinstance(game, KernelGame) else cast(State, row)


def states_of(game: Game, rows: Rows) -> Sequence[State]:
    """Return the states of rows."""
    return KernelStates(game, rows) if isinstance(game, KernelGame) else cast(list[State], rows.tolist())


def pack(game: Game, rows: Rows) -> NDArray[Any]:
    """Return rows as numbers, for a file."""
    if isinstance(game, KernelGame):
        return rows
    return np.frombuffer("\n".join(state.serialize() for state in rows).encode(), np.uint8)


def unpack(game: Game, packed: NDArray[Any]) -> Rows:
    """Return the rows that ``pack`` converted to numbers."""
    if isinstance(game, KernelGame):
        return np.array(packed)
    return rows_of(game, [game.deserialize(text) for text in packed.tobytes().decode().split("\n")])
