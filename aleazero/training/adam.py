"""Adam on flat vectors, compiled to one pass over parameters, gradient and moments."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.native.compile import cached_njit

Floats = NDArray[np.float32]
BETA1: Final = 0.9
BETA2: Final = 0.999
EPSILON: Final = 1e-8


def step(
    theta: Floats, grad: Floats, m: Floats, v: Floats, rate: float, step: int, clip: float = 0.0, shrink: float = 1.0
) -> float:
    """Update theta and its moments m and v in place, and return the norm of the gradient.

    ``step`` counts from 1. ``shrink`` is a factor of the gradient; 1 / rows turns a sum into a mean. ``clip`` is the
    maximum norm after it; 0 disables clipping.
    """
    norm = shrink * math.sqrt(_squares(grad))
    factor = shrink * (clip / norm if 0.0 < clip < norm else 1.0)
    _move(theta, grad, m, v, factor, rate / (1.0 - BETA1**step), math.sqrt(1.0 - BETA2**step))
    return norm


@cached_njit(nogil=True)
def _squares(values: Any) -> float:
    """Return the sum of squares, added in eight lanes so that the order is fixed and vectorizes."""
    lanes = np.zeros(8)
    eights = len(values) // 8 * 8
    for i in range(0, eights, 8):
        for lane in range(8):
            lanes[lane] += np.float64(values[i + lane]) * np.float64(values[i + lane])
    for i in range(eights, len(values)):
        lanes[i - eights] += np.float64(values[i]) * np.float64(values[i])
    total = 0.0
    for lane in range(8):
        total += lanes[lane]
    return total


@cached_njit(nogil=True, error_model="numpy")
def _move(theta: Any, grad: Any, m: Any, v: Any, factor: float, rate: float, corrected: float) -> None:
    scale, speed, root = np.float32(factor), np.float32(rate), np.float32(1 / corrected)
    first, second, least = np.float32(BETA1), np.float32(BETA2), np.float32(EPSILON)
    rest1, rest2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    for i in range(len(theta)):
        g = grad[i] * scale
        m[i] = first * m[i] + rest1 * g
        v[i] = second * v[i] + rest2 * g * g
        theta[i] = theta[i] - speed * (m[i] / (np.sqrt(v[i]) * root + least))


@cached_njit(nogil=True)
def average(mean: Any, theta: Any, share: float) -> None:
    """Move a running average towards theta by this fraction of the distance."""
    part = np.float32(share)
    for i in range(len(mean)):
        mean[i] += part * (theta[i] - mean[i])
