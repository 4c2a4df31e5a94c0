"""What boards of one player are worth behind an action, by tables over tuples of cells."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import TERMINAL, Game
from aleazero.nets.columns import Column
from aleazero.nets.load import load_tables
from aleazero.nets.outcome import Outcome
from aleazero.nets.tuples import Tuples, require_board


class Looked(NamedTuple):
    """Boards, and what is seen of them."""

    states: NDArray[np.int64]
    over: NDArray[np.bool_]
    viewers: NDArray[np.int64]
    returns: NDArray[np.float64]


class Boards:
    """Tables with the game they value: the same to ask as a value network, ``nets.between.Between``."""

    plies = None

    def __init__(self, game: Game, tuples: Tuples) -> None:
        self.game, self.tuples = require_board(game, tuples.shape), tuples
        self.outcome = Outcome("score", 1, (Column(name="score"),))

    @classmethod
    def load(cls, path: str | Path, game: Game) -> Boards:
        """The tables of a checkpoint, if they were taught this game."""
        return cls(game, load_tables(path, game))

    def look(self, states: NDArray[np.int64]) -> Looked:
        """What there is to see of boards."""
        kernels = self.game.kernels
        returns = np.zeros((len(states), 1))
        for state, points in zip(states, returns, strict=True):
            kernels.returns(state, points)
        over = np.array([kernels.kind(state) == TERMINAL for state in states], np.bool_)
        return Looked(states, over, np.zeros(len(states), np.int64), returns)

    def columns(self, looked: Looked) -> NDArray[np.float64]:
        """The points so far, and what the tables expect to come."""
        rest = self.tuples.values(looked.states).astype(np.float64)
        return looked.returns + np.where(looked.over, 0.0, rest)[:, None]
