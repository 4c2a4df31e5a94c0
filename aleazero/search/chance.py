"""Chance: which outcome a descent or a playout meets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from aleazero.games.base import PROBABILITY_TOLERANCE
from aleazero.games.kernel import Kernels
from aleazero.search.tree import Scratch

BAD_OUTCOME: Final = -1
"""Probabilities that do not sum to 1, or outcomes that a game without ``sample`` cannot list."""


def make_draw(kernels: Kernels) -> Callable[[Any, float, Scratch], Any]:
    """How this game turns a number in [0, 1) into an outcome: by its own ``sample``, or by its list."""
    if kernels.sample is not None:
        sample = kernels.sample

        def draw(state: Any, u: float, scratch: Scratch) -> Any:
            return sample(state, u)

        return draw

    outcomes = kernels.outcomes

    def draw_listed(state: Any, u: float, scratch: Scratch) -> Any:
        count = outcomes(state, scratch.ids, scratch.probabilities)
        total = 0.0
        drawn = BAD_OUTCOME
        for i in range(count):
            total += scratch.probabilities[i]
            if drawn == BAD_OUTCOME and u < total:
                drawn = scratch.ids[i]
        if count < 1 or abs(total - 1.0) > PROBABILITY_TOLERANCE:
            return BAD_OUTCOME
        return scratch.ids[count - 1] if drawn == BAD_OUTCOME else drawn

    return draw_listed
