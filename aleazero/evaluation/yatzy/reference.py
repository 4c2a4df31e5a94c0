"""The solo player, which plays for the best expected score whatever the others have, and its oracle at level positions.

Yatzy for several has no exact values, so this player is the reference. If both cards of a two-player game are the same,
a player that plays to win should play nearly as one that plays for points. What its decisions at such positions lose in
points shows whether it knows the game.
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
        values = self._oracle.hand_values(vector[board + AVAIL], vector[board + UPPER], dice, vector[REROLLS])
        if allowed is None:
            best = np.flatnonzero(values >= values.max() - TIE)
        else:
            best = np.array([action for action in allowed if values[action] >= values[allowed].max() - TIE])
        return int(best[0])


class SoloOracle:
    """Judges the expected score on the first player's own card, as if there were no others."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def values(self, state: State) -> NDArray[np.float64]:
        """The expected score of the first player."""
        return self._oracle.values(_alone(state))

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected score of the first player."""
        return self._oracle.action_values(_alone(state))


def _alone(state: State) -> State:
    assert isinstance(state, KernelState)
    return solitaire().state_from_vector(state.vector[: BOARDS + BOARD])  # type: ignore[attr-defined,no-any-return]
