"""What judges a decision: the exact value of every action, for whoever moves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, GameError
from aleazero.games.base import Game, State
from aleazero.oracles.solve import Solution, solve
from aleazero.oracles.yatzy import YatzyOracle, load_or_build, question

TIE: Final = 1e-9
"""Actions whose values differ by no more are equally good."""
MAX_STATES: Final = 1_000_000
"""Of a game that is solved whole."""
KNOWN: Final = "yatzy(players=1), dice_game, tic_tac_toe, pig up to target=75, others of at most a million states"
"""What has an oracle, in words."""


class Judge(Protocol):
    """Knows the exact value of every state and action that play can reach; of others a PositionError."""

    @property
    def evaluator(self) -> Any:
        """The same knowledge as an evaluator."""

    def values(self, state: State) -> NDArray[np.float64]:
        """By player, the expected return under best play; of afterstates too."""

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected return of the mover under best play."""


class YatzyJudge:
    """The judge of one-player Yatzy."""

    def __init__(self, oracle: YatzyOracle) -> None:
        self.evaluator = oracle

    def values(self, state: State) -> NDArray[np.float64]:
        """The expected final score, of the only player."""
        return np.array([self.evaluator.value(state)])

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected final score."""
        values = self.evaluator.action_values(*question(state))
        total = state.returns()[0]
        return {action: total + float(values[action]) for action in state.legal_actions()}


class SolvedJudge:
    """The judge of a game that is small enough to be solved whole."""

    def __init__(self, solution: Solution) -> None:
        self.evaluator = solution

    def values(self, state: State) -> NDArray[np.float64]:
        """By player, the expected return under best play."""
        return self.evaluator.value(state)

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected return of the mover."""
        mover = state.current_player()
        return {action: float(value[mover]) for action, value in self.evaluator.action_values(state).items()}


def best_of(values: Mapping[int, float]) -> list[int]:
    """The actions that tie for the best, ascending."""
    best = max(values.values())
    return sorted(action for action, value in values.items() if value >= best - TIE)


@lru_cache(maxsize=2)
def judge_of(game: Game) -> Judge:
    """The judge of a game: Yatzy's oracle, or the game solved whole where it has at most a million states.

    Solving takes its time, so who asks for the same game again gets the same judge.
    """
    if game.name == "yatzy":
        if game.num_players != 1:
            raise ConfigError(
                f"{game!r} has no oracle, expected players=1: only alone is the best score all that counts"
            )
        return YatzyJudge(load_or_build())
    if not game.info.lists_outcomes or game.info.utility is None:
        raise ConfigError(f"{game!r} has no oracle, expected listed outcomes and bounded returns; known: {KNOWN}")
    try:
        return SolvedJudge(solve(game, max_states=MAX_STATES))
    except GameError as error:
        raise ConfigError(f"{game!r} has no oracle: {error}; known: {KNOWN}") from None
