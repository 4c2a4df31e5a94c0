"""Whether values are right: what was predicted beside what came."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.rows import rows_of
from aleazero.native.random import CALIBRATION, stream_key
from aleazero.nets.outcome import MARGIN
from aleazero.nets.values import NetValues
from aleazero.training.targets import Tenths, tenths
from aleazero.training.turns_compiled import lanes_of

MOST_TURNS: Final = 2000
"""Of a game; one that is not over by then does not count."""


def calibrate(values: NetValues, games: int, *, seed: int = 0) -> Tenths:
    """A network's games against itself: what it predicts for player 0 before each turn, and how the game ended.

    Of a duel that is won or lost, the win; else the return.
    """
    lanes, game = lanes_of(values.game, values.plies), values.game
    states = np.repeat(rows_of(game, [game.new_initial_state()]), games, axis=0)
    running, came = np.arange(games), np.full(games, np.nan)
    predicted: list[NDArray[np.float64]] = []
    whose: list[NDArray[np.int64]] = []
    for turn in range(MOST_TURNS):
        predicted.append(values.columns(values.see(states))[:, 0])
        whose.append(running)
        leaves, starts, known = lanes.spread(states)
        ends = values.see(leaves)
        columns = values.columns(ends)
        luck = np.random.Generator(np.random.Philox(key=stream_key(CALIBRATION, seed, turn)))
        draws = luck.random((games, lanes.draws))[running]
        worth, nothing = values.outcome.values_by_player(columns, MARGIN), np.zeros((len(leaves), 0))
        *_, chosen, _ = lanes.play(states, starts, known, worth, nothing, draws, 0.0)
        over = ends.over[chosen]
        came[running[over]] = columns[chosen[over], 0]
        states, running = leaves[chosen[~over]], running[~over]
        if not len(running):
            break
    told, ended = np.concatenate(predicted), came[np.concatenate(whose)]
    counts = ~np.isnan(ended)
    return tenths(told[counts], ended[counts])
