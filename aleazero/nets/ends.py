"""States between turns, as a value network sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import TERMINAL
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.search.compile import compile_loop

Ints = NDArray[np.int64]


class Ends:
    """What there is to see of states between turns."""

    def __init__(self, game: KernelGame, features: int, states: Ints, points: bool) -> None:
        self.states = states = np.ascontiguousarray(states, np.int64)  # compiled for nothing else
        rows, players = len(states), game.num_players
        self.over = np.zeros(rows, np.bool_)
        self.viewers = np.zeros(rows, np.int64)
        self.features = np.zeros((rows, features), np.float32)
        self.returns = np.zeros((rows, players))
        self.points = np.zeros((rows, players if points else 0))
        _look_of(game, points)(states, self.over, self.viewers, self.features, self.returns, self.points)


def _look_of(game: KernelGame, points: bool) -> Any:
    """A game's compiled look at states between turns, made once a game."""
    made = getattr(game, "_ends_look", None)
    if made is None:
        made = compile_loop(make_look(game.kernels, points), f"{game.name}_ends")
        game._ends_look = made  # type: ignore[attr-defined]
    return made


def make_look(kernels: Kernels, points: bool) -> Any:
    """The look of one game: ``look(states, over, viewers, features, returns, points)``."""
    kind_of, viewer_of, tell, returns_of = kernels.kind, kernels.viewer, kernels.features, kernels.returns
    points_of = kernels.words["points"] if points else kernels.returns

    def look(states: Any, over: Any, viewers: Any, features: Any, returns: Any, points_out: Any) -> int:
        for row in range(len(states)):
            state = states[row]
            over[row] = kind_of(state) == TERMINAL
            returns_of(state, returns[row])
            if points_out.shape[1] > 0:
                points_of(state, points_out[row])
            viewers[row] = viewer_of(state)
            if not over[row]:
                tell(state, viewers[row], features[row])
        return 0

    return look
