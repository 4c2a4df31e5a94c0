"""Noise for the root: a draw from a symmetric Dirichlet distribution, the same for the same key.

A generator of numpy's would take longer to be made than a small search; this one has nothing to be made.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import DECISION
from aleazero.jit import compile_and_keep
from aleazero.search.streams import mix_bits

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_S11 = np.uint64(11)
_mix_bits = compile_and_keep()(mix_bits)


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


@compile_and_keep()
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


@compile_and_keep()
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
            state += _GOLDEN
            extra = math.log(_unit(state)) / alpha
        else:
            extra = 0.0
        while logarithm == -math.inf:
            state += _GOLDEN
            first = _unit(state)
            state += _GOLDEN
            second = _unit(state)
            state += _GOLDEN
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


@compile_and_keep()
def _unit(state: Any) -> float:
    """A number in (0, 1), from a state by SplitMix64."""
    return (float(_mix_bits(state) >> _S11) + 0.5) * (1.0 / 9007199254740992.0)
