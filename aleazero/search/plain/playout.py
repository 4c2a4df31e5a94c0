"""Values of leaves in plain Python by the built-in evaluators, ``Uniform`` and ``Rollout``."""

from __future__ import annotations

from aleazero.games.base import CHANCE, TERMINAL, State
from aleazero.native.random import ROLLOUT, draw_at, extend_key, stream_key
from aleazero.search.evaluator import Rollout, Uniform


def evaluate_inside(evaluator: Uniform | Rollout, state: State, seed: int, event: int, number: int = 0) -> list[float]:
    """Return the value of a leaf by player.

    The random stream is derived from the seed and ``event``, a simulation or a state on a frontier; ``number`` is the
    number of the leaf within it.
    """
    if isinstance(evaluator, Uniform):
        return state.returns()
    return value_by_playouts(evaluator, state, stream_key(ROLLOUT, seed, event), number * evaluator.playouts)


def value_by_playouts(evaluator: Rollout, start: State, key: int, first: int) -> list[float]:
    """Return the mean return of playouts by player. ``first`` is the number of the first one in the stream."""
    total = [0.0] * start.game.num_players
    for playout in range(first, first + evaluator.playouts):
        final = play_out(start.clone(), extend_key(key, playout), evaluator.max_steps)
        total = [a + b for a, b in zip(total, final, strict=True)]
    return [value / evaluator.playouts for value in total]


def play_out(state: State, key: int, max_steps: int) -> list[float]:
    """Play from a state to the end of the game, or for ``max_steps``, and return the returns. Changes the state."""
    for step in range(max_steps):
        kind = state.kind()
        if kind == TERMINAL:
            break
        u = draw_at(key, step)
        state._apply(state.sample_outcome(u) if kind == CHANCE else state.playout_action(u))
    return state.returns()
