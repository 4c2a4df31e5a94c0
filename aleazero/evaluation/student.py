"""Student's t: how far a mean of few numbers may stray."""

from __future__ import annotations

from functools import lru_cache
from math import exp, lgamma, log, log1p
from statistics import NormalDist
from typing import Final

MANY: Final = 10_000
"""With more degrees of freedom it is as good as normal."""
STEPS: Final = 500
TINY: Final = 1e-300


def t_cdf(t: float, freedom: float) -> float:
    """The chance to be at most t."""
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return 1.0 - tail if t > 0 else tail


@lru_cache(maxsize=4096)
def t_quantile(chance: float, freedom: int) -> float:
    """The number that is not exceeded with this chance, for at least one degree of freedom; by halving."""
    if freedom > MANY:
        return NormalDist().inv_cdf(chance)
    if chance < 0.5:
        return -t_quantile(1.0 - chance, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < chance:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * (1.0 + high):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if t_cdf(middle, freedom) < chance else (low, middle)
    return high


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _incomplete_beta(b, a, 1.0 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    fraction = d
    for m in range(1, STEPS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _not_zero(1.0 + numerator * d)
            c = _not_zero(1.0 + numerator / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * fraction


def _not_zero(x: float) -> float:
    return x if abs(x) > TINY else TINY
