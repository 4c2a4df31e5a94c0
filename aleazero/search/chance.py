"""Chance: which outcome a visit meets where none are listed, and whether an outcome is stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import PROBABILITY_TOLERANCE
from aleazero.games.kernel import Kernels
from aleazero.search.tree import LARGEST_ID, SLACK, Scratch, Settings, Tree

BAD_OUTCOME: Final = -1
"""Probabilities that do not sum to 1, or outcomes that a game without ``sample`` cannot list."""


def make_draw(kernels: Kernels) -> Callable[[Any, float, Scratch], Any]:
    """How this game turns a number in [0, 1) into an outcome: by its own ``sample``, or by its list."""
    if kernels.sample is not None:
        sample = kernels.sample

        def draw(state: Any, u: float, scratch: Scratch) -> Any:
            outcome = np.int64(sample(state, u))
            return outcome if 0 <= outcome <= LARGEST_ID else np.int64(BAD_OUTCOME)

        return draw

    outcomes = kernels.outcomes

    def draw_listed(state: Any, u: float, scratch: Scratch) -> Any:
        count = outcomes(state, scratch.ids, scratch.probabilities)
        if count < 1 or count > len(scratch.ids) - SLACK:
            return np.int64(BAD_OUTCOME)
        total = 0.0
        drawn = np.int64(BAD_OUTCOME)
        for i in range(count):
            if scratch.probabilities[i] < 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
                return np.int64(BAD_OUTCOME)
            total += scratch.probabilities[i]
            if drawn == BAD_OUTCOME and u < total:
                drawn = scratch.ids[i]
        if abs(total - 1.0) > PROBABILITY_TOLERANCE:
            return np.int64(BAD_OUTCOME)
        return scratch.ids[count - 1] if drawn == BAD_OUTCOME else drawn

    return draw_listed


def is_valid_list(scratch: Any, count: Any) -> bool:
    """Whether the outcomes listed in the scratch are valid: their number, ids and probabilities, and a sum of 1."""
    if count < 1 or count > len(scratch.ids) - SLACK:
        return False
    total = 0.0
    for i in range(count):
        if scratch.probabilities[i] < 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
            return False
        total += scratch.probabilities[i]
    return bool(abs(total - 1.0) <= PROBABILITY_TOLERANCE)


def may_store(tree: Tree, settings: Settings, n: Any) -> Any:
    """Whether widening leaves room for one more stored outcome; the visit that asks is in flight already."""
    node = tree.nodes[n]
    if not settings.widening or node.exact:
        return True
    visits = float(node.visits + node.in_flight)
    room = math.ceil(settings.widening_c * math.pow(visits, settings.widening_alpha))
    return node.num_children < min(settings.max_children, room)
