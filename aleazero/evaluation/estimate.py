"""A mean with its standard error and its interval of 95 %."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Z95: Final = 1.959964
"""Of a normal distribution 95 % lie within so many standard deviations."""


@dataclass(frozen=True)
class Estimate:
    """The mean of some independent numbers."""

    count: int
    mean: float
    error: float
    """Standard error."""

    @classmethod
    def of(cls, numbers: Sequence[float] | NDArray[Any]) -> Estimate:
        """The mean of at least one number; of one alone the error is 0."""
        array = np.asarray(numbers, np.float64)
        spread = float(array.std(ddof=1)) if len(array) > 1 else 0.0
        return cls(len(array), float(array.mean()), spread / sqrt(len(array)))

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.mean - Z95 * self.error

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.mean + Z95 * self.error

    def to_dict(self) -> dict[str, float]:
        """As plain numbers, for JSON."""
        return {"count": self.count, "mean": self.mean, "error": self.error, "low": self.low, "high": self.high}
