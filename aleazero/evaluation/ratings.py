"""Elo ratings of several players from pairs, by maximum likelihood (Bradley-Terry) with one player as anchor.

Draws count half. Errors are computed over pairs, not games, because games with the same dice are one observation. For
any two players that met, half a pair won by each is added, so that all ratings are finite. An interval has no bound on
a side that the results do not limit: for a player that won every pair there is no upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, log, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, nearest
from aleazero.evaluation.statistics import LEVEL, t_quantile

ELO: Final = 400.0 / log(10.0)
"""Rating points per unit of log odds."""
ADDED: Final = np.array([0.0, 1.0])
"""Scores that are added for any two players that met, each with ``ADDED_WEIGHT``."""
ADDED_WEIGHT: Final = 0.5
STEPS: Final = 100


@dataclass(frozen=True)
class PairResult:
    """Pairs between two players."""

    first: str
    """Name of the first player."""
    second: str
    """Name of the second player."""
    scores: Sequence[float] | NDArray[np.float64]
    """(pairs,) Scores of the first player, 0 to 1."""


@dataclass(frozen=True)
class Rating:
    """A player's rating, relative to the anchor's."""

    name: str
    rating: float
    error: float
    """Standard error; 0 for the anchor."""
    low: float
    """Lower end of the 95 % confidence interval; −inf if there is no bound."""
    high: float
    """Upper end of the 95 % confidence interval; inf if there is no bound."""
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data; an infinite bound is None."""
        numbers = {name: getattr(self, name) for name in ("rating", "error", "low", "high")}
        finite = {name: round(number, 1) + 0.0 if isfinite(number) else None for name, number in numbers.items()}
        return {"name": self.name, **finite, "pairs": self.pairs}


def rate_players(results: Sequence[PairResult], anchor: str, anchor_rating: float = 0.0) -> list[Rating]:
    """Rate all players.

    Args:
        results: pairs between players; each player must be connected to the anchor through opponents.
        anchor: name of the player whose rating is fixed.
        anchor_rating: rating of the anchor.

    Returns:
        The ratings, best player first.

    Raises:
        ConfigError: if the anchor is unknown, a player is not connected to it, or scores are invalid.
    """
    names = list(dict.fromkeys(name for result in results for name in (result.first, result.second)))
    if anchor not in names:
        raise ConfigError(f"anchor is {anchor!r}, {nearest(anchor, names)}")
    _check(results, names, anchor)
    place = {name: number for number, name in enumerate(names)}
    sides = np.zeros((len(results), len(names)))
    for row, result in enumerate(results):
        sides[row, place[result.first]], sides[row, place[result.second]] = 1.0, -1.0
    free = [number for name, number in place.items() if name != anchor]
    scores = [np.concatenate((np.asarray(result.scores, np.float64), ADDED)) for result in results]
    weights = [np.concatenate((np.ones(len(one) - len(ADDED)), np.full(len(ADDED), ADDED_WEIGHT))) for one in scores]
    logits, spread = _fit(sides[:, free], scores, weights)
    counts = {name: sum(len(r.scores) for r in results if name in (r.first, r.second)) for name in names}
    reach = t_quantile(0.5 + LEVEL / 2, max(1, sum(len(result.scores) for result in results) - len(free)))
    rated = [Rating(anchor, anchor_rating, 0.0, anchor_rating, anchor_rating, counts[anchor])]
    for column, number in enumerate(free):
        rating, error = anchor_rating + ELO * float(logits[column]), ELO * sqrt(float(spread[column, column]))
        name = names[number]
        low = rating - reach * error if anchor in _beaten(results, name) else -inf
        high = rating + reach * error if name in _beaten(results, anchor) else inf
        rated.append(Rating(name, rating, error, low, high, counts[name]))
    return sorted(rated, key=lambda one: (-one.rating, one.name))


def connected(results: Sequence[PairResult], anchor: str) -> set[str]:
    """Return the players that met the anchor, directly or through other players."""
    found = {anchor}
    while more := {n for r in results if {r.first, r.second} & found for n in (r.first, r.second)} - found:
        found |= more
    return found


def _beaten(results: Sequence[PairResult], player: str) -> set[str]:
    """Return the players that a player scored against, directly or through other players."""
    scored = {(r.first, r.second) for r in results if max(r.scores) > 0.0}
    scored |= {(r.second, r.first) for r in results if min(r.scores) < 1.0}
    found = {player}
    while more := {loser for winner, loser in scored if winner in found} - found:
        found |= more
    return found


def _fit(
    sides: NDArray[np.float64], scores: list[NDArray[np.float64]], weights: list[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log odds of each player by Newton's method, and their sandwich covariance."""
    logits = np.zeros(sides.shape[1])
    total = np.array([one.sum() for one in weights])
    won = np.array([one @ score for one, score in zip(weights, scores, strict=True)])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-sides @ logits))
        information = sides.T @ (sides * (total * chance * (1.0 - chance))[:, None])
        step = np.linalg.solve(information, sides.T @ (won - total * chance))
        logits = logits + step * min(1.0, 2.0 / max(1e-9, float(np.abs(step).max())))
        if float(np.abs(step).max(initial=0.0)) < 1e-10:
            break
    chance = 1.0 / (1.0 + np.exp(-sides @ logits))
    inverse = np.linalg.inv(sides.T @ (sides * (total * chance * (1.0 - chance))[:, None]))
    squares = np.array([one @ (score - p) ** 2 for one, score, p in zip(weights, scores, chance, strict=True)])
    covariance: NDArray[np.float64] = inverse @ (sides.T @ (sides * squares[:, None])) @ inverse
    return logits, covariance


def _check(results: Sequence[PairResult], names: Sequence[str], anchor: str) -> None:
    for result in results:
        scores = np.asarray(result.scores, np.float64)
        players = f"{result.first} against {result.second}"
        if result.first == result.second:
            raise ConfigError(f"got pairs of {result.first} against itself, expected two players")
        if scores.ndim != 1 or not len(scores) or not bool(((scores >= 0.0) & (scores <= 1.0)).all()):
            raise ConfigError(f"{players}: got scores {scores.tolist()[:5]}, expected at least one, from 0 to 1")
    met = connected(results, anchor)
    apart = [name for name in names if name not in met]
    if apart:
        raise ConfigError(
            f"got no pairs between {anchor!r} and {', '.join(apart)}, expected all players to be connected"
        )
