"""Played luck, compiled: chance events of a game that is really played, until there is a decision or the end.

The luck is that of ``games/luck.py``: event number n of a game with a key has the number unit(key, n).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE
from aleazero.games.kernel import Kernels
from aleazero.native.random import GAME_DICE, extend_key_bits, stream_key, unit_bits
from aleazero.search.chance import BAD_OUTCOME, make_draw

UNSETTLED: Final = -1
"""Chance is broken."""
MOST_EVENTS: Final = 10_000
"""Chance events in a row before the rules count as broken."""

_DICE = np.uint64(stream_key(GAME_DICE))


def make_settle(kernels: Kernels) -> Callable[..., Any]:
    """``settle(state, key, events, scratch) -> events``, the chance events of the game so far, or UNSETTLED."""
    kind_of, apply_outcome, draw = kernels.kind, kernels.apply_outcome, make_draw(kernels)

    def settle(state: Any, key: Any, events: Any, scratch: Any) -> Any:
        stop = events + MOST_EVENTS
        while kind_of(state) == CHANCE:
            u = unit_bits(extend_key_bits(key, np.uint64(events)))
            outcome = np.int64(draw(state, u, scratch))
            if outcome == BAD_OUTCOME or events == stop:
                return np.int64(UNSETTLED)
            apply_outcome(state, outcome)
            events += 1
        return np.int64(events)

    return settle


def make_event(kernels: Kernels) -> Callable[..., Any]:
    """``event(state, seed, viewer, count, scratch) -> outcome``: ``games.luck.played_outcome``, or BAD_OUTCOME.

    For games without a ``played_outcome`` of their own, which is not compiled.
    """
    draw = make_draw(kernels)

    def event(state: Any, seed: Any, viewer: Any, count: Any, scratch: Any) -> Any:
        key = extend_key_bits(extend_key_bits(_DICE, seed), np.uint64(viewer))
        return np.int64(draw(state, unit_bits(extend_key_bits(key, np.uint64(count))), scratch))

    return event
