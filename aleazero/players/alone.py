"""The player of Yatzy for several who plays as if alone: the best expected score, whatever the others have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aleazero.games.base import State
from aleazero.games.dice import dice_of_histogram, histogram_of_outcome
from aleazero.games.kernel import KernelState
from aleazero.games.yatzy_card import AVAIL, BOARD, BOARDS, IN_HAND, PLAYER, REROLLS, UPPER
from aleazero.oracles.yatzy import TIE, YatzyOracle
from aleazero.players.player import Allowed, Thinker


class AlonePlayer(Thinker):
    """The action of the highest expected score on its own board; of those that tie, the lowest id."""

    def __init__(self, oracle: YatzyOracle) -> None:
        self._oracle = oracle

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The best actions."""
        return [self._best(state, some) for state, some in zip(states, allowed, strict=True)]

    def _best(self, state: State, allowed: Allowed) -> int:
        assert isinstance(state, KernelState)
        vector = state.vector.tolist()
        board = BOARDS + BOARD * vector[PLAYER]
        dice = dice_of_histogram(histogram_of_outcome(vector[IN_HAND]))
        values = self._oracle.action_values(vector[board + AVAIL], vector[board + UPPER], dice, vector[REROLLS])
        if allowed is None:
            best = np.flatnonzero(values >= values.max() - TIE)
        else:
            best = np.array([action for action in allowed if values[action] >= values[allowed].max() - TIE])
        return int(best[0])
