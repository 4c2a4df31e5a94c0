"""The scores of many games of one-player Yatzy: mean, bonus, percentiles and how they spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.statistics import Mean

PERCENTILES: Final = (1, 5, 25, 50, 75, 95, 99)
BIN: Final = 20
"""Points of a bin of the histogram."""


@dataclass(frozen=True)
class Scores:
    """Final scores, and which games took the bonus."""

    totals: NDArray[np.int64]
    bonuses: NDArray[np.bool_]

    @property
    def mean(self) -> Mean:
        """The mean score."""
        return Mean.of(self.totals)

    @property
    def bonus_rate(self) -> float:
        """The share of games with the bonus."""
        return float(self.bonuses.mean())

    @property
    def percentiles(self) -> dict[int, float]:
        """By percent, the score that so many games do not exceed."""
        return {percent: float(np.percentile(self.totals, percent)) for percent in PERCENTILES}

    @property
    def histogram(self) -> dict[int, int]:
        """By the lowest score of a bin, the games in it; from the first that has any to the last."""
        bins = self.totals // BIN
        counts = np.bincount(bins - bins.min())
        return {int(bins.min() + place) * BIN: int(count) for place, count in enumerate(counts)}

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            **self.mean.to_dict(),
            "bonus_rate": self.bonus_rate,
            "lowest": int(self.totals.min()),
            "highest": int(self.totals.max()),
            "percentiles": {str(percent): score for percent, score in self.percentiles.items()},
            "histogram": [{"from": low, "to": low + BIN - 1, "games": n} for low, n in self.histogram.items()],
        }
