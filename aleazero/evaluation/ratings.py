"""Ratings of several players from pairs: Elo by maximum likelihood (Bradley and Terry), one player anchored.

Draws count half. The spread of ratings is that of pairs, not of games: games with the same luck are one observation.
Between any two players who met, half a pair is added that either won, so that nobody's rating is infinite. Intervals
are, where nothing bounds them: of a player who won every pair nobody knows how much better they are.
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
"""Points of rating a unit of log odds."""
ADDED: Final = np.array([0.0, 1.0])
WEIGHT: Final = 0.5
STEPS: Final = 100


@dataclass(frozen=True)
class PairResult:
    """What two players' pairs came to: scores of the first, 0 to 1, by pair."""

    first: str
    second: str
    scores: Sequence[float] | NDArray[np.float64]


@dataclass(frozen=True)
class Rating:
    """A player's rating, relative to the anchor's."""

    name: str
    rating: float
    error: float
    """Standard error; 0 for the anchor."""
    low: float
    """Minus infinity where the pairs set no bound."""
    high: float
    """Likewise, infinity."""
    pairs: int

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON; None where there is no bound."""
        told = {name: getattr(self, name) for name in ("rating", "error", "low", "high")}
        finite = {name: round(number, 1) + 0.0 if isfinite(number) else None for name, number in told.items()}
        return {"name": self.name, **finite, "pairs": self.pairs}


def rate_players(results: Sequence[PairResult], anchor: str, anchor_rating: float = 0.0) -> list[Rating]:
    """Rate all players who met, the best first; every one must have met the anchor, or somebody who did, and so on."""
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
    weights = [np.concatenate((np.ones(len(one) - len(ADDED)), np.full(len(ADDED), WEIGHT))) for one in scores]
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
    """Return the players that met the anchor, or a player who did, and so on."""
    found = {anchor}
    while more := {n for r in results if {r.first, r.second} & found for n in (r.first, r.second)} - found:
        found |= more
    return found


def _beaten(results: Sequence[PairResult], who: str) -> set[str]:
    """Those a player took anything from, and those whom these did, and so on."""
    took = {(r.first, r.second) for r in results if max(r.scores) > 0.0}
    took |= {(r.second, r.first) for r in results if min(r.scores) < 1.0}
    found = {who}
    while more := {loser for winner, loser in took if winner in found} - found:
        found |= more
    return found


def _fit(
    sides: NDArray[np.float64], scores: list[NDArray[np.float64]], weights: list[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Log odds by player, and their covariance, by Newton's steps: the information's inverse around the pairs' own."""
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
        who = f"{result.first} against {result.second}"
        if result.first == result.second:
            raise ConfigError(f"got pairs of {result.first} against itself, expected two players")
        if scores.ndim != 1 or not len(scores) or not bool(((scores >= 0.0) & (scores <= 1.0)).all()):
            raise ConfigError(f"{who}: got scores {scores.tolist()[:5]}, expected at least one, from 0 to 1")
    met = connected(results, anchor)
    apart = [name for name in names if name not in met]
    if apart:
        raise ConfigError(
            f"got no pairs between {anchor!r} and {', '.join(apart)}, expected all players to be connected"
        )
