"""The value target ``exact``: what an oracle says a state is worth, where one covers it; ``td`` elsewhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import Game
from aleazero.oracles.oracle import require_oracle
from aleazero.replay.states import sampled_states
from aleazero.replay.window import Window
from aleazero.training.targets import value_targets


def exact_targets(window: Window, game: Game, decay: float = 0.9) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """(samples, players) targets by seat from the viewer on, and (samples,) whether an oracle gave them.

    Every game of the window is played again. A game without an oracle is refused.
    """
    judge = require_oracle(game)
    targets, covered = value_targets(window, "td", decay=decay), np.zeros(len(window), np.bool_)
    row = 0
    for record in window.records():
        for state in sampled_states(record, game):
            try:
                targets[row] = np.roll(judge.values(state), -state.viewer())
                covered[row] = True
            except PositionError:  # play from the first state never comes here
                pass
            row += 1
    return targets, covered
