"""Playouts: from a leaf to the end of the game, chance as it falls and actions as the game's playouts take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits, unit_at
from aleazero.search.chance import BAD_OUTCOME, make_draw
from aleazero.search.tree import SLACK

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
