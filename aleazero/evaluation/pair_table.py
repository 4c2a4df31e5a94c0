"""What pairs came to, for the first of two players: scores by pair, counts of games, points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.evaluation.statistics import PairMean

if TYPE_CHECKING:
    from aleazero.evaluation.pairs import PlayedPair, SeatedGame
    from aleazero.games.base import Game

Values = NDArray[np.float64]


@dataclass(frozen=True)
class PairTable:
    """Pairs in order. Alone, the two games of a pair are compared as if they were one."""

    scores: Values
    """(pairs,) the first player's score, 0 to 1: the mean over the games of a pair (one-player games: over the pair) of
    1 if the highest return belongs to one of its seats, ½ if both players have it, 0 if only the other has. With more
    than two seats each player sits alone among the other's seats as often as the other does, so equal players have ½ on
    average, a player that wins every game has 1, and the scores of the two players sum to 1."""
    returns: tuple[Values, Values]
    """(pairs,) mean return of either player."""
    points: tuple[Values, Values] | None
    """(pairs,) mean points of either, where the game counts them."""
    wins: int
    """Games in which the first player's seats alone have the highest return."""
    draws: int
    losses: int
    games: int
    widest: float | None = None
    """The largest difference of returns that the game allows, where it says."""

    @classmethod
    def of(cls, pairs: Sequence[PlayedPair], game: Game | None = None) -> PairTable:
        """What some pairs of a game came to."""
        if not pairs:
            raise ConfigError("got no pairs, expected at least one")
        rows = [compared(pair) for pair in pairs]
        results = Counter(np.sign(best[0] - best[1]) for row in rows for best in row.bests)
        points = None
        if rows[0].points is not None:
            mine, other = np.array([row.points for row in rows], np.float64).T
            points = (mine, other)
        return cls(
            np.array([row.score for row in rows]),
            (np.array([row.returns[0] for row in rows]), np.array([row.returns[1] for row in rows])),
            points,
            results[1],
            results[0],
            results[-1],
            sum(len(pair.games) for pair in pairs),
            None if game is None or game.info.utility is None else float(np.ptp(game.info.utility)),
        )

    @property
    def gains(self) -> Values:
        """(pairs,) mean return of the first player less that of the second."""
        return self.returns[0] - self.returns[1]

    @property
    def count(self) -> int:
        """Pairs."""
        return len(self.scores)

    @property
    def table(self) -> dict[str, int]:
        """How many pairs have each score, ascending."""
        values, counts = np.unique(np.round(self.scores, 6), return_counts=True)
        return {f"{value:g}": int(count) for value, count in zip(values, counts, strict=True)}

    def score(self, *, any_time: bool = False) -> PairMean:
        """The mean score."""
        return PairMean.of(self.scores, any_time=any_time)

    def gain(self, *, any_time: bool = False) -> PairMean:
        """The mean difference of returns."""
        return PairMean.of_differences(self.gains, self.widest, any_time=any_time)

    def margin(self, *, any_time: bool = False) -> PairMean | None:
        """The mean difference of points, where the game counts them."""
        if self.points is None:
            return None
        return PairMean.of_differences(self.points[0] - self.points[1], None, any_time=any_time)

    def to_dict(self, *, any_time: bool = False) -> dict[str, Any]:
        """As plain data, for JSON; ``any_time`` where the pairs themselves said when to stop."""
        score, margin = self.score(any_time=any_time), self.margin(any_time=any_time)
        told = {
            "pairs": self.count,
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "pair_table": self.table,
            "score": score.to_dict(),
            "elo": {name: elo(getattr(score, name)) for name in ("mean", "low", "high")},
            "return_difference": self.gain(any_time=any_time).to_dict(),
        }
        if margin is not None and self.points is not None:
            means = {
                name: round(float(one.mean()), 6) for name, one in zip(("first", "second"), self.points, strict=True)
            }
            told["points"] = {**means, "difference": margin.to_dict()}
        return told


@dataclass(frozen=True)
class Compared:
    """A pair, told from the first player's side."""

    score: float
    returns: tuple[float, float]
    """Mean, by player."""
    points: tuple[float, float] | None
    bests: list[tuple[float, float]]
    """By game (alone: by pair) the highest return of either player."""


def compared(pair: PlayedPair) -> Compared:
    """Compare the players of a pair."""
    sides = [[_of(game, game.returns, first) for first in (True, False)] for game in pair.games]
    if len(pair.games[0].seating) == 1:
        sides = [[sides[0][0], sides[1][1]]]
    bests = [(max(mine), max(others)) for mine, others in sides]
    score = fmean((1.0 + np.sign(mine - other)) / 2 for mine, other in bests)
    returns = (fmean(fmean(mine) for mine, _ in sides), fmean(fmean(others) for _, others in sides))
    points = None
    if pair.games[0].points is not None:
        by_side = [
            fmean(one for game in pair.games for one in _of(game, game.points or (), first)) for first in (True, False)
        ]
        points = (by_side[0], by_side[1])
    return Compared(float(score), returns, points, bests)


def _of(game: SeatedGame, numbers: Sequence[float], first: bool) -> list[float]:
    """What belongs to one of the two players."""
    return [number for number, is_first in zip(numbers, game.seating, strict=True) if is_first == first]


def elo(score: float | None) -> float | None:
    """The difference of ratings that a score stands for; None where it has no end."""
    return None if score is None or not 0.0 < score < 1.0 else round(400.0 * log10(score / (1.0 - score)), 1) + 0.0
