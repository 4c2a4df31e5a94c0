"""Playouts and game dice inside compiled code.

A playout goes from a state to the end of the game. Outcomes are drawn, and actions are those of the game's ``playout``
function, or random ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.kernel import LIST_SLACK, Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import GAME_DICE, extend_key_bits, stream_key, unit_at, unit_bits
from aleazero.search.outcomes import make_draw
from aleazero.search.status import BAD_OUTCOMES, BAD_PLAYOUT, DONE, ENDLESS_CHANCE

MOST_EVENTS: Final = 10_000
"""Chance events in a row in a game that is played, before the rules count as broken."""

_DICE = np.uint64(stream_key(GAME_DICE))


def make_playouts(kernels: Kernels) -> Callable[..., Any]:
    """Make ``value_by_playouts(start, key, first, scratch, settings, out) -> DONE or an error`` of one game."""
    kind_of = kernels.kind
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    returns = kernels.returns
    draw = make_draw(kernels)
    choose = make_choose(kernels)

    @not_inlined
    def value_by_playouts(start: Any, key: Any, first: Any, scratch: Any, settings: Any, out: Any) -> Any:
        """Write the mean return of playouts by player. ``first`` is the number of the first one in the stream."""
        for p in range(len(out)):
            out[p] = 0.0
        for playout in range(first, first + settings.playouts):
            status = play_out(start, extend_key_bits(key, np.uint64(playout)), scratch, settings.max_steps)
            if status != DONE:
                return status
            for p in range(len(out)):
                out[p] += scratch.value[p]
        for p in range(len(out)):
            out[p] /= settings.playouts
        return DONE

    @not_inlined
    def play_out(start: Any, key: Any, scratch: Any, max_steps: Any) -> Any:
        """Play from a state to the end of the game, or for ``max_steps``; the returns go into ``scratch.value``."""
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
                if outcome < 0:
                    return BAD_OUTCOMES
                apply_outcome(state, outcome)
            else:
                action = np.int64(choose(state, u, scratch))
                if action < 0:
                    return BAD_PLAYOUT
                apply(state, action)
        returns(state, scratch.value)
        return DONE

    return value_by_playouts


def make_choose(kernels: Kernels) -> Callable[..., Any]:
    """Make ``choose(state, u, scratch) -> action or BAD_PLAYOUT`` of one game: the action that a playout takes."""
    legal = kernels.legal
    playout = kernels.playout or any_action
    from_list = playout is any_action

    def choose(state: Any, u: float, scratch: Any) -> Any:
        most = len(scratch.actions) - LIST_SLACK
        count = legal(state, scratch.actions)
        if count < 1 or count > most:
            return np.int64(BAD_PLAYOUT)
        action = np.int64(playout(state, scratch.actions, count, u))
        if action < 0 or action >= most:
            return np.int64(BAD_PLAYOUT)
        if from_list:
            return action
        for i in range(count):
            if scratch.actions[i] == action:
                return action
        return np.int64(BAD_PLAYOUT)

    return choose


def any_action(state: Any, actions: Any, count: Any, u: Any) -> Any:
    """Return a random legal action: the policy of playouts of games without a ``playout`` function."""
    return actions[int(u * count)]


# -- game dice ---------------------------------------------------------------------------------------------------------


def make_play_chance(kernels: Kernels) -> Callable[..., Any]:
    """Make ``play_chance(state, key, events, scratch) -> events or an error`` of one game.

    It plays the chance events that come next. ``events`` counts those of the game so far, which number its dice.
    """
    kind_of, apply_outcome, draw = kernels.kind, kernels.apply_outcome, make_draw(kernels)

    def play_chance(state: Any, key: Any, events: Any, scratch: Any) -> Any:
        stop = events + MOST_EVENTS
        while kind_of(state) == CHANCE:
            u = unit_bits(extend_key_bits(key, np.uint64(events)))
            outcome = np.int64(draw(state, u, scratch))
            if outcome < 0:
                return np.int64(BAD_OUTCOMES)
            if events == stop:
                return np.int64(ENDLESS_CHANCE)
            apply_outcome(state, outcome)
            events += 1
        return np.int64(events)

    return play_chance


def make_draw_event(kernels: Kernels) -> Callable[..., Any]:
    """Make ``draw_event(state, seed, viewer, count, scratch) -> outcome or BAD_OUTCOMES`` of one game.

    It equals ``games.game_dice.played_outcome`` of games without a ``played_outcome`` function, which is not compiled.
    """
    draw = make_draw(kernels)

    def draw_event(state: Any, seed: Any, viewer: Any, count: Any, scratch: Any) -> Any:
        key = extend_key_bits(extend_key_bits(_DICE, seed), np.uint64(viewer))
        return np.int64(draw(state, unit_bits(extend_key_bits(key, np.uint64(count))), scratch))

    return draw_event
