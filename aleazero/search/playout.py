"""Playouts: from a leaf to the end of the game, chance as it falls and actions as the game's playouts take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import GAME_DICE, extend_key_bits, stream_key, unit_at, unit_bits
from aleazero.search.tree.arrays import SLACK
from aleazero.search.tree.chance import BAD_OUTCOME, make_draw

# What playouts came to.
PLAYED: Final = 0


UNDRAWN: Final = 1
"""Chance is broken."""


ILLEGAL: Final = 2
"""The rules listed impossible actions, or the game's playouts take one that they did not list."""


BAD_ACTION: Final = -1


def any_action(state: Any, actions: Any, count: Any, u: Any) -> Any:
    """What playouts take in a game that does not say: any legal action, all alike."""
    return actions[int(u * count)]


def make_choose(kernels: Kernels) -> Callable[..., Any]:
    """How this game's playouts act: ``choose(state, u, scratch) -> action``, or BAD_ACTION."""
    legal = kernels.legal
    playout = kernels.playout or any_action
    from_list = playout is any_action

    def choose(state: Any, u: float, scratch: Any) -> Any:
        most = len(scratch.actions) - SLACK
        count = legal(state, scratch.actions)
        if count < 1 or count > most:
            return np.int64(BAD_ACTION)
        action = np.int64(playout(state, scratch.actions, count, u))
        if action < 0 or action >= most:
            return np.int64(BAD_ACTION)
        if from_list:
            return action
        for i in range(count):
            if scratch.actions[i] == action:
                return action
        return np.int64(BAD_ACTION)

    return choose


def make_playouts(kernels: Kernels) -> Callable[..., Any]:
    """The playouts of one game: ``value_by_playouts(start, key, first, scratch, settings, out) -> PLAYED, or …``."""
    kind_of = kernels.kind
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    returns = kernels.returns
    draw = make_draw(kernels)
    choose = make_choose(kernels)

    @not_inlined
    def play_out(start: Any, key: Any, scratch: Any, max_steps: Any) -> Any:
        """A playout from a state; its returns go into the scratch value."""
        state = scratch.walk
        for i in range(len(state)):
            state[i] = start[i]
        for step in range(max_steps):
            kind = kind_of(state)
            if kind == TERMINAL:
                break
            u = unit_at(key, step)
            if kind == CHANCE:
                outcome = np.int64(draw(state, u, scratch))
                if outcome == BAD_OUTCOME:
                    return UNDRAWN
                apply_outcome(state, outcome)
            else:
                action = np.int64(choose(state, u, scratch))
                if action == BAD_ACTION:
                    return ILLEGAL
                apply(state, action)
        returns(state, scratch.value)
        return PLAYED

    @not_inlined
    def value_by_playouts(start: Any, key: Any, first: Any, scratch: Any, settings: Any, out: Any) -> Any:
        """The mean return of playouts, the first of which has this number, by player; PLAYED, or what is broken."""
        for p in range(len(out)):
            out[p] = 0.0
        for playout in range(first, first + settings.playouts):
            status = play_out(start, extend_key_bits(key, np.uint64(playout)), scratch, settings.max_steps)
            if status != PLAYED:
                return status
            for p in range(len(out)):
                out[p] += scratch.value[p]
        for p in range(len(out)):
            out[p] /= settings.playouts
        return PLAYED

    return value_by_playouts


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
