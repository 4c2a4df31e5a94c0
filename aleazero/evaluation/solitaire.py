"""A player's scores in one-player Yatzy, beside best play on the same dice.

Dice decide most of a score. The difference to best play with the same dice has much less luck in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aleazero.errors import ConfigError
from aleazero.evaluation.match import Progress, game_seeds, play_match
from aleazero.evaluation.scores import Scores
from aleazero.evaluation.statistics import Mean
from aleazero.evaluation.yatzy_sets import solitaire
from aleazero.games.kernel import KernelState
from aleazero.games.yatzy_card import BOARDS, BONUS_FROM, TOTAL, UPPER
from aleazero.oracles.yatzy import YatzyOracle
from aleazero.oracles.yatzy_simulate import simulate
from aleazero.players.player import Player


@dataclass(frozen=True)
class SolitaireReport:
    """The scores of a player, and of best play with the same dice."""

    scores: Scores
    best: Scores

    @property
    def behind(self) -> Mean:
        """How far the player is behind best play, game by game."""
        return Mean.of(self.best.totals - self.scores.totals)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {
            "scores": self.scores.to_dict(),
            "best_play": self.best.to_dict(),
            "behind": self.behind.to_dict(),
            "totals": self.scores.totals.tolist(),
        }


def play_solitaire(
    player: Player,
    games: int,
    oracle: YatzyOracle,
    *,
    seed: int = 0,
    player_seed: int = 0,
    progress: Progress | None = None,
) -> SolitaireReport:
    """Play some games; ``seed`` is of the dice, ``player_seed`` of the player's own luck."""
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ConfigError(f"games is {games!r}, expected a whole number of at least 1")
    seeds = game_seeds(seed, games)
    played = play_match(solitaire(), [player], seeds, player_seed=player_seed, progress=progress)
    best = simulate(oracle, seeds)
    return SolitaireReport(_scores([game.state for game in played]), Scores(best.totals, best.bonuses))


def _scores(ends: Sequence[Any]) -> Scores:
    vectors = np.array([state.vector for state in ends if isinstance(state, KernelState)])
    return Scores(vectors[:, BOARDS + TOTAL], vectors[:, BOARDS + UPPER] >= BONUS_FROM)
