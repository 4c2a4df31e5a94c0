"""Yatzy's own solver of turns, as the planner asks for it: where a turn can end, and what is best on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.dice import (
    DICE,
    FIRST,
    HAND_AFTER,
    HANDS,
    HISTOGRAMS,
    KEEPS,
    KEPT,
    NUM_HANDS,
    NUM_KEEPS,
    ROLLS_FROM,
    SIZES,
)
from aleazero.games.yatzy_card import (
    AVAIL,
    BOARD,
    BOARDS,
    BONUS,
    BONUS_FROM,
    IN_HAND,
    KIND,
    NUM_CATEGORIES,
    PLAYER,
    REROLLS,
    TOTAL,
    UPPER,
    UPPER_CATEGORIES,
    categories_of,
)
from aleazero.games.yatzy_turn import LEAF, LEAF_CATEGORY, LEAF_SCORE, MULTISETS, Values, solve_rerolls

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

MARKS = 32


class YatzyTurns:
    """Yatzy's ``TurnSolver``."""

    def __init__(self, game: KernelGame) -> None:
        self.game = game

    def leaves(self, state: KernelState) -> NDArray[np.int64]:
        """The boards after each mark and score that can still come, with the next player's roll in the air."""
        numbers = leaf_numbers(state)
        category, score = LEAF_CATEGORY[numbers], LEAF_SCORE[numbers]
        rows = np.tile(state.vector, (len(numbers), 1))
        rows[:, [IN_HAND, REROLLS, KIND]] = 0, 2, CHANCE
        rows[:, PLAYER] = (state.vector[PLAYER] + 1) % self.game.num_players
        board = BOARDS + BOARD * int(state.vector[PLAYER])
        upper, raised = state.vector[board + UPPER], np.where(category < UPPER_CATEGORIES, score, 0)
        reached = (upper < BONUS_FROM) & (upper + raised >= BONUS_FROM)
        rows[:, board + UPPER] = np.minimum(BONUS_FROM, upper + raised)
        rows[:, board + TOTAL] += score + np.where(reached, BONUS, 0)
        rows[:, board + AVAIL] -= 1 << (NUM_CATEGORIES - 1 - category)
        if not rows[0, BOARDS + AVAIL :: BOARD].any():
            rows[:, KIND] = TERMINAL
        return rows

    def starts(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """The states that the turns of these states began from: the first roll is in the air."""
        rows = vectors.copy()
        rows[:, [IN_HAND, REROLLS, KIND]] = 0, 2, CHANCE
        return rows

    def solve(self, state: KernelState, values: Values) -> SolvedYatzyTurn:
        """Solve the rest of the turn, given the values (leaves, players) of its leaves."""
        leaf_values = np.zeros((self.game.num_players, len(LEAF_CATEGORY)))
        leaf_values[:, leaf_numbers(state)] = values.T
        vector = state.vector
        mover = int(vector[PLAYER])
        layers = int(vector[REROLLS]) + (vector[KIND] == CHANCE)
        avail = int(vector[BOARDS + BOARD * mover + AVAIL])
        return SolvedYatzyTurn(vector.copy(), leaf_values, solve_rerolls(leaf_values, avail, mover, layers))


def leaf_numbers(state: KernelState) -> NDArray[np.int64]:
    """The leaves that can still come in this turn, ascending."""
    in_hand, rerolls = int(state.vector[IN_HAND]), int(state.vector[REROLLS])
    free = categories_of(int(state.vector[BOARDS + BOARD * int(state.vector[PLAYER]) + AVAIL]))
    if rerolls > 0:  # all dice can be rolled again
        hands = np.arange(NUM_HANDS)
    elif state.vector[KIND] == DECISION:
        hands = np.array([in_hand - HANDS])
    else:
        hands = HAND_AFTER[ROLLS_FROM[in_hand] : ROLLS_FROM[in_hand + 1]] - HANDS
    return np.unique(LEAF[free][:, hands]).astype(np.int64)


class SolvedYatzyTurn:
    """What is best from a state on to the end of its turn."""

    def __init__(self, root: NDArray[np.int64], leaf_values: Values, values: Values) -> None:
        self.root, self.leaf_values, self.values = root, leaf_values, values
        self.nodes = values.shape[0] * MULTISETS

    def action_values(self, state: KernelState) -> dict[int, Values] | None:
        """By action or outcome the values of what follows, by player; None outside of this rest of a turn."""
        vector = state.vector
        if not self._reaches(vector):
            return None
        in_hand, rerolls = int(vector[IN_HAND]), int(vector[REROLLS])
        if vector[KIND] == CHANCE:
            first = FIRST[DICE - int(SIZES[in_hand])]
            hands = HAND_AFTER[ROLLS_FROM[in_hand] : ROLLS_FROM[in_hand + 1]]
            return dict(enumerate(self.values[rerolls, :, hands].copy(), start=first))
        hand = in_hand - HANDS
        if rerolls == 0:
            free = categories_of(int(vector[BOARDS + BOARD * int(vector[PLAYER]) + AVAIL]))
            return {MARKS + c: self.leaf_values[:, LEAF[c, hand]].copy() for c in free}
        masks = KEEPS[hand, : NUM_KEEPS[hand]]
        after = self.values[rerolls - 1, :, KEPT[hand, masks]]
        return {int(mask): value.copy() for mask, value in zip(masks, after, strict=True)}

    def _reaches(self, vector: NDArray[np.int64]) -> bool:
        """Whether a state can come from the root on, in the same turn."""
        root = self.root
        if vector[KIND] == TERMINAL or (vector[PLAYER:KIND] != root[PLAYER:KIND]).any():
            return False
        if (vector[BOARDS:] != root[BOARDS:]).any():
            return False
        steps = _stage(vector) - _stage(root)
        dice, root_dice = HISTOGRAMS[vector[IN_HAND]], HISTOGRAMS[root[IN_HAND]]
        if steps <= 0:
            return bool(steps == 0 and vector[IN_HAND] == root[IN_HAND])
        if steps == 1:
            return bool((dice >= root_dice).all() if root[KIND] == CHANCE else (dice <= root_dice).all())
        # Two steps behind a roll some of the dice that were kept may be kept again; else anything can come.
        return steps > 2 or root[KIND] == DECISION or bool(np.maximum(dice, root_dice).sum() <= DICE)


def _stage(vector: NDArray[np.int64]) -> int:
    """How far the turn is: 0 before the first roll, 5 at the mark."""
    return 2 * (2 - int(vector[REROLLS])) + (vector[KIND] == DECISION)
