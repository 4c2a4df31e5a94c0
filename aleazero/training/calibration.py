"""Whether values are right: what was predicted beside what came."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.luck import stream_key
from aleazero.games.rows import rows_of
from aleazero.nets.between import Between
from aleazero.nets.outcome import MARGIN
from aleazero.training.turns_compiled import turn_player_of

LUCK: Final = 0x63616C69  # "cali": the stream of these games
MOST_TURNS: Final = 2000
"""Of a game; one that is not over by then does not count."""
Tenths = list[tuple[float, float, int]]
"""Predicted, came, and how many, from the lowest prediction to the highest."""


def tenths(predicted: NDArray[Any], came: NDArray[Any]) -> Tenths:
    """The means of both in ten groups by what was predicted."""
    order = np.argsort(predicted, kind="stable")
    return [
        (float(predicted[part].mean()), float(came[part].mean()), len(part))
        for part in np.array_split(order, 10)
        if len(part)
    ]


def calibrate(values: Between, games: int, *, seed: int = 0) -> Tenths:
    """A network's games against itself: what it predicts for player 0 before each turn, and how the game ended.

    Of a duel that is won or lost, the win; else the return.
    """
    lanes, game = turn_player_of(values.game, values.plies), values.game
    states = np.repeat(rows_of(game, [game.new_initial_state()]), games, axis=0)
    running, came = np.arange(games), np.full(games, np.nan)
    predicted: list[NDArray[np.float64]] = []
    whose: list[NDArray[np.int64]] = []
    for turn in range(MOST_TURNS):
        predicted.append(values.columns(values.look(states))[:, 0])
        whose.append(running)
        leaves, starts, known = lanes.list_turn_ends(states)
        ends = values.look(leaves)
        columns = values.columns(ends)
        luck = np.random.Generator(np.random.Philox(key=stream_key(LUCK, seed, turn)))
        draws = luck.random((games, lanes.draws))[running]
        worth, nothing = values.outcome.worth(columns, MARGIN), np.zeros((len(leaves), 0))
        *_, chosen, _ = lanes.play_turns(states, starts, known, worth, nothing, draws, 0.0)
        over = ends.over[chosen]
        came[running[over]] = columns[chosen[over], 0]
        states, running = leaves[chosen[~over]], running[~over]
        if not len(running):
            break
    told, ended = np.concatenate(predicted), came[np.concatenate(whose)]
    counts = ~np.isnan(ended)
    return tenths(told[counts], ended[counts])
