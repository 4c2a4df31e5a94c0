"""Outcomes of chance events inside compiled loops: list and check them, and turn a number in [0, 1) into one.

Tree search, planner, playouts and self-play use the same functions. ``scratch`` is any named tuple with the arrays
``ids`` and ``probabilities``, which are longer by LIST_SLACK than the longest list.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import MANY, PROBABILITY_TOLERANCE
from aleazero.games.kernel import LIST_SLACK, Kernels
from aleazero.native.compile import not_inlined
from aleazero.search.status import BAD_OUTCOMES, UNLISTED_OUTCOMES

LARGEST_ID: Final = 2**31 - 1
"""Outcome ids are at most this, because edges and nodes store them in 32 bits."""


def make_list_outcomes(kernels: Kernels) -> Callable[[Any, Any], Any]:
    """Make ``list_outcomes(state, scratch) -> count or status`` of one game."""
    outcomes = kernels.outcomes

    def list_outcomes(state: Any, scratch: Any) -> Any:
        """Write the outcomes of a chance node into the scratch, and check them."""
        count = np.int64(outcomes(state, scratch.ids, scratch.probabilities))
        if count == MANY:
            return np.int64(UNLISTED_OUTCOMES)
        if count < 1 or count > len(scratch.ids) - LIST_SLACK:
            return np.int64(BAD_OUTCOMES)
        total = 0.0
        for i in range(count):
            # "not >=" also rejects NaN.
            if not scratch.probabilities[i] >= 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
                return np.int64(BAD_OUTCOMES)
            total += scratch.probabilities[i]
        return count if abs(total - 1.0) <= PROBABILITY_TOLERANCE else np.int64(BAD_OUTCOMES)

    return list_outcomes


def make_draw(kernels: Kernels) -> Callable[[Any, float, Any], Any]:
    """Make ``draw(state, u, scratch) -> outcome or BAD_OUTCOMES`` of one game, by its ``sample`` or by its list."""
    if kernels.sample is not None:
        sample = kernels.sample

        def draw(state: Any, u: float, scratch: Any) -> Any:
            outcome = np.int64(sample(state, u))
            return outcome if 0 <= outcome <= LARGEST_ID else np.int64(BAD_OUTCOMES)

        return draw

    list_outcomes = make_list_outcomes(kernels)

    def draw_listed(state: Any, u: float, scratch: Any) -> Any:
        count = list_outcomes(state, scratch)
        if count < 0:  # a game that cannot list its outcomes needs ``sample``
            return np.int64(BAD_OUTCOMES)
        return scratch.ids[by_share(scratch.probabilities, count, u)]

    return draw_listed


@not_inlined
def by_share(probabilities: Any, count: Any, u: Any) -> Any:
    """Return the index of the outcome whose share of [0, 1) contains u.

    ``games.kernel.sample_listed`` is the same in plain Python.
    """
    below = 0.0
    for i in range(count):
        below += probabilities[i]
        if u < below:
            return np.int64(i)
    return np.int64(count - 1)  # the sum may be less than 1 by rounding
