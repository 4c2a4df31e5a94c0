"""The exact oracle of one-player Yatzy: expected points to come, and the value of every action.

What is stored is one number for each set of open categories and upper total, the value between turns. Everything within
a turn follows from those in microseconds. Values are points still to come: add what is on the card for the final score.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games import yatzy as rules
from aleazero.games.base import CHANCE, DECISION, TERMINAL, State
from aleazero.games.dice import DICE, HANDS, KEEPS, KEPT, NUM_KEEPS, dice_of_histogram, histogram_of_outcome
from aleazero.games.kernel import KernelState
from aleazero.games.yatzy_card import (
    ALL_OPEN,
    AVAIL,
    BOARDS,
    BONUS,
    BONUS_FROM,
    IN_HAND,
    NUM_CATEGORIES,
    REROLLS,
    TOTAL,
    UPPER,
    UPPER_CATEGORIES,
    categories_of,
    check_upper,
    multiset,
    whole,
)
from aleazero.oracles.yatzy_table import load_table

if TYPE_CHECKING:
    from aleazero.oracles.yatzy_build import Progress

Values = NDArray[np.float64]

EXACT: Final = 2
"""The value of ``search.evaluator.EXACT``, by shape: oracles do not import the search."""
TIE: Final = 1e-9


class YatzyOracle:
    """Exact values of one-player Yatzy; also an evaluator that is exact at decisions and at afterstates."""

    sees_states = True
    afterstates = EXACT
    decisions = EXACT

    def __init__(self, values: Values) -> None:
        self.values = values
        """(sets of open categories, upper totals) points to come between turns; NaN where play never is."""
        self._solved = lru_cache(maxsize=1024)(self._solve)

    def expected(self) -> float:
        """The expected score of a whole game under best play."""
        return self.state_value(ALL_OPEN, 0)

    def state_value(self, avail_mask: int, upper_total: int) -> float:
        """Expected points to come between turns, before the next roll."""
        check_upper(avail_mask, upper_total)
        return float(self.values[avail_mask, upper_total])

    def action_values(self, avail_mask: int, upper_total: int, dice: Sequence[int], rerolls_left: int) -> Values:
        """By action, the expected points to come; −inf where it is illegal (keeps: where it is not canonical)."""
        leaf_values, layers = self._turn(avail_mask, upper_total)
        if len(dice) != DICE:
            raise PositionError(f"yatzy: got the dice {list(dice)}, expected {DICE}")
        rerolls_left = whole("rerolls left", rerolls_left)
        if rerolls_left not in (0, 1, 2):
            raise PositionError(f"yatzy: got {rerolls_left} rerolls left, expected 0, 1 or 2")
        hand = multiset(dice) - HANDS
        values = np.full(rules.NUM_ACTIONS, -np.inf)
        if rerolls_left == 0:
            from aleazero.games.yatzy_turn import LEAF

            free = categories_of(avail_mask)
            values[rules.MARKS + np.array(free)] = leaf_values[LEAF[free, hand]]
        else:
            masks = KEEPS[hand, : NUM_KEEPS[hand]]
            values[masks] = layers[rerolls_left - 1, KEPT[hand, masks]]
        return values

    def best_actions(
        self, avail_mask: int, upper_total: int, dice: Sequence[int], rerolls_left: int, tolerance: float = TIE
    ) -> list[int]:
        """The actions whose value is within the tolerance of the best one's, ascending."""
        values = self.action_values(avail_mask, upper_total, dice, rerolls_left)
        return [int(action) for action in np.flatnonzero(values >= values.max() - tolerance)]

    def value(self, state: State) -> float:
        """The expected final score from any state of one-player Yatzy."""
        vector = _vector_of(state)
        avail, upper, total = (int(vector[BOARDS + place]) for place in (AVAIL, UPPER, TOTAL))
        if state.kind() == TERMINAL:
            return float(total)
        rerolls, in_hand = int(vector[REROLLS]), int(vector[IN_HAND])
        if state.kind() == CHANCE and rerolls == rules.MOST_REROLLS:
            return total + self.state_value(avail, upper)
        return total + float(self._turn(avail, upper)[1][rerolls, in_hand])

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Logits 0 for best actions and −30 for the others; values are expected final scores."""
        logits = np.full((len(states), rules.NUM_ACTIONS), -30.0)
        values = np.array([[self.value(state)] for state in states]).reshape(-1, 1)
        for row, state in enumerate(states):
            if state.kind() == DECISION:
                logits[row, self.best_actions(*question(state))] = 0.0
        return logits, values

    def _turn(self, avail_mask: int, upper_total: int) -> tuple[Values, Values]:
        """A turn's values: by leaf, and by rerolls left and multiset in hand."""
        check_upper(avail_mask, upper_total)
        if avail_mask == 0:
            raise PositionError("yatzy: got no open category, expected a game that is not over")
        return self._solved(avail_mask, upper_total)

    def _solve(self, avail_mask: int, upper_total: int) -> tuple[Values, Values]:
        from aleazero.games.yatzy_turn import LEAF_CATEGORY, LEAF_SCORE, solve_rerolls

        behind = avail_mask & ~(1 << (NUM_CATEGORIES - 1 - LEAF_CATEGORY))
        upper = upper_total + np.where(LEAF_CATEGORY < UPPER_CATEGORIES, LEAF_SCORE, 0)
        bonus = np.where((upper_total < BONUS_FROM) & (upper >= BONUS_FROM), BONUS, 0)
        leaf_values = LEAF_SCORE + bonus + self.values[behind, np.minimum(upper, BONUS_FROM)]
        layers = solve_rerolls(leaf_values[None, :], avail_mask)[:, 0]
        return leaf_values, layers


def question(state: State) -> tuple[int, int, tuple[int, ...], int]:
    """What ``action_values`` asks of a decision: open categories, upper total, dice, rerolls left."""
    vector = _vector_of(state)
    if state.kind() != DECISION:
        raise PositionError(f"yatzy: nobody decides in {state.to_text()!r}, expected a decision")
    dice = dice_of_histogram(histogram_of_outcome(int(vector[IN_HAND])))
    return int(vector[BOARDS + AVAIL]), int(vector[BOARDS + UPPER]), dice, int(vector[REROLLS])


def _vector_of(state: State) -> NDArray[np.int64]:
    if not isinstance(state, KernelState) or state.game.name != "yatzy" or state.game.num_players != 1:
        raise PositionError(f"the oracle values yatzy(players=1), got a state of {state.game!r}")
    return state.vector


def load_or_build(progress: Progress | None = None) -> YatzyOracle:
    """The oracle over its stored table, or over one that is built now (some seconds) and stored."""
    return YatzyOracle(load_table(progress))
