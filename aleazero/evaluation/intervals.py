"""The mean of pairs, with an interval that covers what it says: with few pairs, lopsided ones, and after a test that
chose when to stop.

Scores lie between two bounds, so the interval is Wilson's, with Student's t and as many trials as the pairs' own spread
stands for. A plain interval covers 57 % where it says 95 % (20 pairs, a true score of 0.98); this one was chosen by
simulation (docs/gates.md). Differences of returns lie between bounds so far apart that they tell nothing: their
interval reaches as far as Student's or Wilson's over what was seen, whichever is further. Where all are alike, bounds
are all that is known. What is both rarer than one in the pairs and large is not covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.student import t_quantile

LEVEL: Final = 0.95
AIM: Final = 100
"""Pairs at which the interval that holds at any time is narrowest, roughly."""
SCORES: Final = (0.0, 1.0)
"""Bounds of a pair's score."""
ALIKE: Final = 1e-9
"""Numbers that differ by less are the same."""
DIGITS: Final = 6
"""What is told of a number; what lies behind is rounding."""


@dataclass(frozen=True)
class PairMean:
    """The mean over some pairs; ``low`` and ``high`` are None where pairs are too few to tell."""

    count: int
    mean: float
    error: float
    """Standard error."""
    low: float | None
    high: float | None

    @classmethod
    def of(
        cls,
        pairs: Sequence[float] | NDArray[Any],
        bounds: tuple[float, float] | None = SCORES,
        *,
        level: float = LEVEL,
        any_time: bool = False,
    ) -> PairMean:
        """The mean of at least one number; ``any_time`` where the numbers themselves said when to stop."""
        array = np.asarray(pairs, np.float64)
        count, mean = len(array), float(array.mean())
        spread = float(array.std(ddof=1)) if count > 1 else 0.0
        low, high = interval(count, mean, spread, bounds, level, any_time)
        return cls(count, mean, spread / sqrt(count), low, high)

    @classmethod
    def of_differences(
        cls, pairs: Sequence[float] | NDArray[Any], widest: float | None, *, any_time: bool = False
    ) -> PairMean:
        """The mean of differences, none of them further from 0 than ``widest`` (None: no such bound is known)."""
        array = np.asarray(pairs, np.float64)
        count, mean = len(array), float(array.mean())
        spread = float(array.std(ddof=1)) if count > 1 else 0.0
        low: float | None = None
        high: float | None = None
        if spread > ALIKE * max(1.0, abs(mean)):
            seen, reach = (float(array.min()), float(array.max())), float("inf") if widest is None else widest
            each = [interval(count, mean, spread, bounds, LEVEL, any_time) for bounds in (None, seen)]
            low = max(-reach, min(low for low, _ in each if low is not None))
            high = min(reach, max(high for _, high in each if high is not None))
        elif widest is not None:
            low, high = interval(count, mean, 0.0, (-widest, widest), LEVEL, any_time)
        return cls(count, mean, spread / sqrt(count), low, high)

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, for JSON."""
        told = {"mean": self.mean, "error": self.error, "low": self.low, "high": self.high}
        return {"count": self.count, **{name: _told(number) for name, number in told.items()}}


def interval(
    count: int, mean: float, spread: float, bounds: tuple[float, float] | None, level: float, any_time: bool
) -> tuple[float | None, float | None]:
    """Where the true mean lies, as the level says; ``spread`` is the pairs' standard deviation."""
    outside = 1.0 - level
    z = any_time_quantile(count, outside) if any_time else t_quantile(1.0 - outside / 2, max(1, count - 1))
    if bounds is None:
        if count < 2:
            return None, None
        return mean - z * spread / sqrt(count), mean + z * spread / sqrt(count)
    low, width = bounds[0], bounds[1] - bounds[0]
    share, ratio = (mean - low) / width, spread / width
    if ratio < ALIKE:  # all alike: what was never seen is rarer than this
        unseen = 1.0 - (outside / 2) ** (1.0 / count)
        ends = share - unseen * share, share + unseen * (1.0 - share)
    else:
        trials = max(share * (1.0 - share) / ratio**2, 0.0) * count
        shrink = 1.0 + z * z / trials
        centre = (share + z * z / (2 * trials)) / shrink
        reach = z / shrink * sqrt(share * (1.0 - share) / trials + (z / (2 * trials)) ** 2)
        ends = centre - reach, centre + reach
    return low + width * max(0.0, ends[0]), low + width * min(1.0, ends[1])


def any_time_quantile(count: int, outside: float) -> float:
    """What stands for a quantile where every number of pairs is looked at: a mean leaves it once in ``outside``."""
    weight = 8.0 * count / AIM
    return sqrt((1.0 + 1.0 / weight) * (log(1.0 + weight) + 2.0 * log(1.0 / outside)))


def _told(number: float | None) -> float | None:
    return None if number is None else round(number, DIGITS) + 0.0
