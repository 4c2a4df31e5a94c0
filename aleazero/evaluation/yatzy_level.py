"""Decisions of two-player Yatzy at a level score, judged as if alone.

A duel has no exact values. But where both cards are the same, who plays to win should play nearly as who plays for
points: what such a decision gives away in points tells whether a player knows the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.evaluation.regret import RegretReport, measure_regret
from aleazero.evaluation.yatzy_sets import Position, classify, solitaire
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.yatzy_card import BOARD, BOARDS, Board, vector_of
from aleazero.oracles.judge import Judge, judge_of
from aleazero.players.player import Player


class AsIfAlone:
    """Judges what the first player's own card comes to."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.evaluator: Any = None
        """There is none: it knows nothing of who wins."""

    def values(self, state: State) -> NDArray[np.float64]:
        """The expected score of the first player."""
        return self._judge.values(_alone(state))

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected score of the first player."""
        return self._judge.action_values(_alone(state))


def measure_level(player: Player, game: Game, positions: Sequence[Position], *, seed: int = 0) -> RegretReport:
    """A player's regret in points, at positions of a set where the other has the same card."""
    if not (isinstance(game, KernelGame) and game.name == "yatzy" and game.num_players == 2):
        raise ConfigError(f"game is {game!r}, expected yatzy with 2 players")
    states = []
    for one in positions:
        boards = [Board(one.avail_mask, one.upper_total_cap)] * 2
        states.append(game.state_from_vector(vector_of(boards, one.dice_sorted, one.rerolls_left, 0, False)))
    return measure_regret(player, states, AsIfAlone(judge_of(solitaire())), seed=seed, classify=classify)


def _alone(state: State) -> State:
    assert isinstance(state, KernelState)
    return solitaire().state_from_vector(state.vector[: BOARDS + BOARD])  # type: ignore[attr-defined,no-any-return]
