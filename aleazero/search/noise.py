"""Noise for the root: a draw from a symmetric Dirichlet distribution, the same for the same key.

A generator of numpy's would take longer to be made than a small search; this one has nothing to be made.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import DECISION
from aleazero.native.compile import cached_njit
from aleazero.native.random import GOLDEN_BITS, mix_bits, open_unit_bits

_mix_bits, _open_unit_bits = cached_njit()(mix_bits), cached_njit()(open_unit_bits)


def dirichlet_noise(key: int, alpha: float, count: int) -> NDArray[np.float64]:
    """So many shares that sum to 1, of concentration alpha."""
    shares = np.empty(count)
    with np.errstate(over="ignore"):
        _fill(np.uint64(key), float(alpha), shares)
    return shares


def disturb_roots(nodes: Any, edges: Any, places: list[int], keys: list[int], alpha: float, share: float,
                  closed: bool) -> None:  # fmt: skip
    """Blend noise into the priors at the roots of the trees at these places, each by its key, in native code."""
    with np.errstate(over="ignore"):
        _disturb(nodes, edges, np.array(places, np.int64), np.array(keys, np.uint64), alpha, share, closed)


@cached_njit()
def _disturb(nodes: Any, edges: Any, places: Any, keys: Any, alpha: float, share: float, closed: bool) -> None:
    noise = np.empty(edges.shape[1])
    for i in range(len(places)):
        root = nodes[places[i], 0]
        if root.kind != DECISION or root.num_edges < 1:
            continue
        count = root.num_edges
        shares = noise[:count]
        _fill(keys[i], alpha, shares)
        scale = 1.0 if closed else float(count)
        for slot in range(count):
            edge = edges[places[i], root.first_edge + slot]
            edge.prior = (1.0 - share) * edge.prior + share * shares[slot] * scale


@cached_njit()
def _fill(key: Any, alpha: float, shares: Any) -> None:
    """Gamma variates by the method of Marsaglia and Tsang (2000), in logarithms: small alphas would underflow."""
    boosted = alpha + 1.0 if alpha < 1.0 else alpha
    d = boosted - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    state = key
    most = -math.inf
    for i in range(len(shares)):
        logarithm = -math.inf
        if alpha < 1.0:
            state += GOLDEN_BITS
            extra = math.log(_unit(state)) / alpha
        else:
            extra = 0.0
        while logarithm == -math.inf:
            state += GOLDEN_BITS
            first = _unit(state)
            state += GOLDEN_BITS
            second = _unit(state)
            state += GOLDEN_BITS
            u = _unit(state)
            x = math.sqrt(-2.0 * math.log(first)) * math.cos(2.0 * math.pi * second)
            v = 1.0 + c * x
            if v > 0.0:
                cube = v * v * v
                if math.log(u) < 0.5 * x * x + d - d * cube + d * math.log(cube):
                    logarithm = math.log(d * cube) + extra
        shares[i] = logarithm
        most = max(most, logarithm)
    total = 0.0
    for i in range(len(shares)):
        shares[i] = math.exp(shares[i] - most)
        total += shares[i]
    for i in range(len(shares)):
        shares[i] /= total


@cached_njit()
def _unit(state: Any) -> Any:
    return _open_unit_bits(_mix_bits(state))
