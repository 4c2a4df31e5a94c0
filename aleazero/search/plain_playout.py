"""Playouts in plain Python: the twin of ``playout.py``."""

from __future__ import annotations

from aleazero.games.base import CHANCE, TERMINAL, State
from aleazero.native.random import draw_at, extend_key
from aleazero.search.evaluator import Rollout


def value_by_playouts(evaluator: Rollout, start: State, key: int, first: int = 0) -> list[float]:
    """The mean return of playouts, the first of which has this number, by player."""
    total = [0.0] * start.game.num_players
    for playout in range(first, first + evaluator.playouts):
        final = play_out(start.clone(), extend_key(key, playout), evaluator.max_steps)
        total = [a + b for a, b in zip(total, final, strict=True)]
    return [value / evaluator.playouts for value in total]


def play_out(state: State, key: int, max_steps: int) -> list[float]:
    """The returns of a playout, which changes the state."""
    for step in range(max_steps):
        kind = state.kind()
        if kind == TERMINAL:
            break
        u = draw_at(key, step)
        state._apply(state.sample_outcome(u) if kind == CHANCE else state.playout_action(u))
    return state.returns()
