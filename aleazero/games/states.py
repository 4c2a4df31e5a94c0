"""Many states as one array: vectors of a kernel game (rows, state size), or an object game's states (rows,).

Rows are picked, put and repeated alike in both, and none is changed where it stands.
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
    """States as rows of an array (states, state size); one is made where somebody looks at it."""

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
    """The vectors of kernel games' states (states, state size)."""
    if isinstance(states, KernelStates):
        return states.vectors
    return np.array([cast(KernelState, state).vector for state in states], np.int64)


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
