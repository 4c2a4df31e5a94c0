"""The sequential test: pairs in order, and a verdict as soon as there is reason for one.

Two wagers stand in for the likelihood ratio of an SPRT. One bets that pairs are better than ``low``: under ``low`` its
wealth stays the same on average, whatever the pairs' distribution, so it multiplies by 1/alpha at most in a share alpha
of gates. The other bets that they are worse than ``high``, up to 1/beta. Each stakes what wins fastest if the truth is
the other bound: the distance of the bounds over the mean square of the pairs so far. The likelihood ratio itself, over
an estimated spread, errs in up to a half of gates where most pairs are split (docs/gates.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
PROMOTE: Final = 1
KEEP: Final = -1
OPEN: Final = 0
MOST: Final = 0.9
"""Share of the wealth that a pair may lose, at most."""
PRIOR: Final = 8.0
"""Pairs that the spread assumed at first counts for."""


@dataclass(frozen=True)
class Hypotheses:
    """What the test tells apart: means of at most ``low`` from those of at least ``high``."""

    low: float
    high: float
    alpha: float
    beta: float
    bounds: tuple[float, float] | None
    """Of a pair's value; None where it has none, and the rates hold nearly."""
    spread: float
    """Of pairs, as it is assumed at first."""


def wealth(pairs: Values, test: Hypotheses) -> tuple[Values, Values]:
    """Log wealth of the two wagers (gates, pairs), for promoting and for keeping."""
    distance, centre = test.high - test.low, (test.low + test.high) / 2
    squares = np.cumsum((pairs - centre) ** 2, axis=1)
    before = np.concatenate((np.zeros((len(pairs), 1)), squares[:, :-1]), axis=1)
    stake = distance / ((PRIOR * test.spread**2 + before) / (PRIOR + np.arange(pairs.shape[1])))
    logs = []
    for sign, bound in ((1.0, test.low), (-1.0, test.high)):
        gain = sign * (pairs - bound)
        if test.bounds is not None:
            worst = bound - test.bounds[0] if sign > 0 else test.bounds[1] - bound
            gain = np.minimum(stake, MOST / worst) * gain
        else:
            gain = np.maximum(stake * gain, -MOST)
        logs.append(np.cumsum(np.log1p(gain), axis=1))
    return logs[0], logs[1]


def decide(pairs: Values, test: Hypotheses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By gate (a row of pairs, in order): the number of pairs looked at, and PROMOTE, KEEP or OPEN."""
    for_it, against = wealth(pairs, test)
    up, down = for_it >= -np.log(test.alpha), against >= -np.log(test.beta)
    ended = up | down
    last = np.where(ended.any(axis=1), ended.argmax(axis=1), pairs.shape[1] - 1)
    rows = np.arange(len(pairs))
    verdict = np.where(up[rows, last], PROMOTE, np.where(down[rows, last], KEEP, OPEN))
    return last + 1, verdict.astype(np.int64)
