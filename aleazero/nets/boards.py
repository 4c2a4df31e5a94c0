"""What boards of one player are worth behind an action, by tables over tuples of cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import Game
from aleazero.nets.columns import Column
from aleazero.nets.ends import Ends
from aleazero.nets.load import load_tables
from aleazero.nets.outcome import Outcome
from aleazero.nets.tuples import Tuples, require_board


class Boards:
    """Tables with the game they value: the same to ask as a value network, ``nets.between.Between``."""

    plies: int | None = None

    def __init__(self, game: Game, tuples: Tuples) -> None:
        self.game, self.tuples = require_board(game, tuples.shape), tuples
        self.outcome = Outcome("score", 1, (Column(name="score"),))

    @classmethod
    def load(cls, path: str | Path, game: Game) -> Boards:
        """The tables of a checkpoint, if they were taught this game."""
        return cls(game, load_tables(path, game))

    def look(self, states: NDArray[np.int64]) -> Ends:
        """What there is to see of boards."""
        return Ends(self.game, self.game.observation_size, states, points=False)

    def columns(self, ends: Ends) -> NDArray[np.float64]:
        """The points so far, and what the tables expect to come."""
        rest = self.tuples.values(ends.states).astype(np.float64)
        return ends.returns + np.where(ends.over, 0.0, rest)[:, None]
