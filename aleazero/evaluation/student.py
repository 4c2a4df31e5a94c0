"""Student's t: how far a mean of few numbers may stray."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, pi, sqrt
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
    """The number that is not exceeded with this chance, for at least one degree of freedom; by Newton's steps."""
    if freedom > MANY:
        return NormalDist().inv_cdf(chance)
    if chance < 0.5:
        return -t_quantile(1.0 - chance, freedom)
    half = freedom / 2
    scale = exp(lgamma(half + 0.5) - lgamma(half)) / sqrt(freedom * pi)
    low, high, t = 0.0, inf, NormalDist().inv_cdf(chance)
    for _ in range(STEPS):
        off = t_cdf(t, freedom) - chance
        low, high = (low, t) if off > 0 else (t, high)
        step = off / (scale * (1.0 + t * t / freedom) ** -(half + 0.5))
        if abs(step) <= 1e-12 * (1.0 + t):
            break
        # Newton's step, or where it leaves what is known, half the way (twice as far, where there is no end).
        between = (low + high) / 2 if high < inf else 2.0 * t + 1.0
        t = t - step if low < t - step < min(high, 10.0 * t + 10.0) else between
    return t


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
