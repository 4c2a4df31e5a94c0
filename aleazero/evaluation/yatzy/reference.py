"""The solo-optimal player, which maximizes its own expected score, and its values at positions with equal cards.

Yatzy with several players has no known exact values, so this player is the reference. If both cards of a two-player
game are the same, playing to win is nearly the same as playing for points. The regret in points at such positions
shows how well a player plays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aleazero.evaluation.yatzy.positions import solitaire
from aleazero.games.base import State
from aleazero.games.dice import dice_of_histogram, histogram_of_outcome
from aleazero.games.kernel import KernelState
from aleazero.games.yatzy.card import AVAIL, BOARD, BOARDS, IN_HAND, PLAYER, REROLLS, UPPER
from aleazero.oracles.oracle import TIE, Oracle
from aleazero.oracles.yatzy import YatzyOracle
from aleazero.players.player import Allowed, BasePlayer


class SoloPlayer(BasePlayer):
    """Selects the action with the highest expected score on its own card; among ties the lowest id."""

    def __init__(self, oracle: YatzyOracle) -> None:
        self._oracle = oracle

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions."""
        return [self._best(state, some) for state, some in zip(states, allowed, strict=True)]

    def _best(self, state: State, allowed: Allowed) -> int:
        assert isinstance(state, KernelState)
        vector = state.vector.tolist()
        board = BOARDS + BOARD * vector[PLAYER]
        dice = dice_of_histogram(histogram_of_outcome(vector[IN_HAND]))
        values = self._oracle.hand_values(vector[board + AVAIL], vector[board + UPPER], dice, vector[REROLLS])
        if allowed is None:
            best = np.flatnonzero(values >= values.max() - TIE)
        else:
            best = np.array([action for action in allowed if values[action] >= values[allowed].max() - TIE])
        return int(best[0])


class SoloValues:
    """Expected score of the first player's card in the one-player game, with the methods of an ``Oracle``."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def values(self, state: State) -> NDArray[np.float64]:
        """Return the expected score of the first player."""
        return self._oracle.values(_solo_state(state))

    def action_values(self, state: State) -> dict[int, float]:
        """Return the expected score of the first player by legal action."""
        return self._oracle.action_values(_solo_state(state))


def _solo_state(state: State) -> State:
    assert isinstance(state, KernelState)
    return solitaire().state_from_vector(state.vector[: BOARDS + BOARD])
