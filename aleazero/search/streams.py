"""The search's luck: counter-based streams keyed (use, seed, simulation), read at a depth or a playout's step.

A descent that has to be done again draws the same numbers, and no two uses share a stream. The functions of
this file run inside the compiled loop, in unsigned 64-bit arithmetic; their twins over Python's integers are in
``games/luck.py``.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

DESCENT: Final = 0x64657363656E74  # "descent"
ROLLOUT: Final = 0x726F6C6C6F7574  # "rollout"
NOISE: Final = 0x6E6F697365  # "noise"
TIES: Final = 0x74696573  # "ties"
ROOT_EVALUATION: Final = (1 << 64) - 1
"""The simulation number of the root's own evaluation."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = (np.uint64(n) for n in (11, 27, 30, 31))


def mix_bits(z: Any) -> Any:
    """SplitMix64's finaliser."""
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


def extend_key_bits(key: Any, part: Any) -> Any:
    """A key with one more part mixed in."""
    return mix_bits(key + _GOLDEN + part)


def unit_at(key: Any, place: Any) -> float:
    """The number at a place of the stream of a key, in [0, 1)."""
    return float(rank_at(key, place) >> _S11) * (1.0 / 9007199254740992.0)


def rank_at(key: Any, place: Any) -> Any:
    """The 64 bits at a place of the stream of a key."""
    return mix_bits(key + _GOLDEN * np.uint64(place + 1))
