"""How well tables play a game of one player: scores, and how high the best cell of the board came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.match import game_seeds
from aleazero.evaluation.statistics import Mean
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.rows import states_of
from aleazero.nets.tuple_play import TuplePlay
from aleazero.nets.tuples import Tuples


@dataclass(frozen=True)
class TupleScores:
    """What some games came to."""

    scores: NDArray[np.float64]
    tops: NDArray[np.int64]
    """The highest cell at the end, by game (2048: the exponent of the largest tile)."""

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.scores)

    def share(self, top: int) -> float:
        """The share of games that reached such a cell."""
        return float((self.tops >= top).mean())

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        shares = {str(top): self.share(top) for top in np.unique(self.tops).tolist()}
        return {"score": self.mean.to_dict(), "share_with_cell": shares}


def judge_tuples(
    game: Game, tuples: Tuples, games: int, *, plies: int = 1, seed: int = 0, threads: int = 1
) -> TupleScores:
    """Play so many games by the tables, looking ``plies`` moves ahead."""
    assert isinstance(game, KernelGame)
    ends = TuplePlay(game, tuples, plies, threads).play(game_seeds(seed, games))
    scores = np.array([state.returns()[0] for state in states_of(game, ends)])
    return TupleScores(scores, ends[:, : tuples.shape.cells].max(axis=1))
