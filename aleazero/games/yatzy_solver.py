"""Yatzy's own solver of turns, as the planner asks for it: where a turn can end, and what is best on the way."""

from __future__ import annotations

from functools import lru_cache
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
LEAF_RAISED = np.where(LEAF_CATEGORY < UPPER_CATEGORIES, LEAF_SCORE, 0)
"""By leaf, what it adds to the upper total."""
LEAF_BIT = 1 << (NUM_CATEGORIES - 1 - LEAF_CATEGORY)
"""By leaf, the category that it closes."""


class YatzyTurns:
    """Yatzy's ``TurnSolver``."""

    def __init__(self, game: KernelGame) -> None:
        self.game = game

    def leaves(self, state: KernelState) -> NDArray[np.int64]:
        """The boards after each mark and score that can still come, with the next player's roll in the air."""
        numbers = leaf_numbers(state)
        score, raised = LEAF_SCORE[numbers], LEAF_RAISED[numbers]
        player = int(state.vector[PLAYER])
        board = BOARDS + BOARD * player
        first = state.vector.copy()
        first[[IN_HAND, REROLLS, KIND, PLAYER]] = 0, 2, CHANCE, (player + 1) % self.game.num_players
        rows = first[None].repeat(len(numbers), axis=0)
        upper = int(state.vector[board + UPPER])
        rows[:, board + TOTAL] += score if upper >= BONUS_FROM else score + BONUS * (raised >= BONUS_FROM - upper)
        rows[:, board + UPPER] = np.minimum(BONUS_FROM, upper + raised)
        rows[:, board + AVAIL] -= LEAF_BIT[numbers]
        if not rows[0, BOARDS + AVAIL :: BOARD].any():
            rows[:, KIND] = TERMINAL
        return rows

    def starts(self, vectors: NDArray[np.int64]) -> NDArray[np.int64]:
        """The states that the turns of these states began from: the first roll is in the air."""
        rows = vectors.copy()
        rows[:, [IN_HAND, REROLLS, KIND]] = 0, 2, CHANCE
        return rows

    def kinds(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """The kinds of leaves."""
        return leaves[:, KIND]

    def viewers(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Who acted last at leaves: the player before."""
        return (leaves[:, PLAYER] - 1) % self.game.num_players

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
    avail = int(state.vector[BOARDS + BOARD * int(state.vector[PLAYER]) + AVAIL])
    if rerolls > 0:  # all dice can be rolled again
        return _all_leaves(avail)
    if state.vector[KIND] == DECISION:
        hands = np.array([in_hand - HANDS])
    else:
        hands = HAND_AFTER[ROLLS_FROM[in_hand] : ROLLS_FROM[in_hand + 1]] - HANDS
    return np.unique(LEAF[categories_of(avail)][:, hands]).astype(np.int64)


@lru_cache(maxsize=1 << NUM_CATEGORIES)
def _all_leaves(avail: int) -> NDArray[np.int64]:
    """The leaves of any hand, by open categories."""
    return np.unique(LEAF[categories_of(avail)]).astype(np.int64)


class SolvedYatzyTurn:
    """What is best from a state on to the end of its turn."""

    def __init__(self, root: NDArray[np.int64], leaf_values: Values, values: Values) -> None:
        self.root, self.leaf_values, self.values = root, leaf_values, values
        self.nodes = values.shape[0] * MULTISETS
        self._head, self._boards = root[:BOARDS].tolist(), root[BOARDS:].tobytes()

    def action_values(self, state: KernelState) -> dict[int, Values] | None:
        """By action or outcome the values of what follows, by player; None outside of this rest of a turn."""
        vector = state.vector
        if not self._reaches(vector):
            return None
        in_hand, rerolls = int(vector[IN_HAND]), int(vector[REROLLS])
        if vector[KIND] == CHANCE:
            first = FIRST[DICE - int(SIZES[in_hand])]
            return dict(enumerate(self._behind(in_hand, rerolls), start=first))
        hand = in_hand - HANDS
        if rerolls == 0:
            free = categories_of(int(vector[BOARDS + BOARD * int(vector[PLAYER]) + AVAIL]))
            return {MARKS + c: self.leaf_values[:, LEAF[c, hand]].copy() for c in free}
        masks = KEEPS[hand, : NUM_KEEPS[hand]]
        after = self.values[rerolls - 1, :, KEPT[hand, masks]]
        return {int(mask): value.copy() for mask, value in zip(masks, after, strict=True)}

    def rolled(self, state: KernelState) -> Values | None:
        """The values (outcomes, players) behind a roll inside this rest of a turn; None elsewhere."""
        vector = state.vector
        if vector[KIND] != CHANCE or not self._reaches(vector):
            return None
        return self._behind(int(vector[IN_HAND]), int(vector[REROLLS]))

    def _behind(self, in_hand: int, rerolls: int) -> Values:
        hands = HAND_AFTER[ROLLS_FROM[in_hand] : ROLLS_FROM[in_hand + 1]]
        behind: Values = self.values[rerolls, :, hands].copy()
        return behind

    def nearly_best(self, state: KernelState, mover: int, tie: float) -> list[int]:
        """The actions of a decision whose value is within ``tie``·(1 + the best) of the best, ascending."""
        vector = state.vector
        if vector[KIND] != DECISION or not self._reaches(vector):
            return []
        hand, rerolls = int(vector[IN_HAND]) - HANDS, int(vector[REROLLS])
        if rerolls == 0:
            free = np.array(categories_of(int(vector[BOARDS + BOARD * mover + AVAIL])))
            actions, values = MARKS + free, self.leaf_values[mover, LEAF[free, hand]]
        else:
            actions = KEEPS[hand, : NUM_KEEPS[hand]]
            values = self.values[rerolls - 1, mover, KEPT[hand, actions]]
        best = float(values.max())
        near: list[int] = actions[values >= best - tie * (1.0 + abs(best))].tolist()
        return near

    def _reaches(self, vector: NDArray[np.int64]) -> bool:
        """Whether a state can come from the root on, in the same turn."""
        in_hand, rerolls, player, kind = vector[:BOARDS].tolist()
        root_hand, root_rerolls, root_player, root_kind = self._head
        if kind == TERMINAL or player != root_player or vector[BOARDS:].tobytes() != self._boards:
            return False
        steps = 2 * (root_rerolls - rerolls) + (kind == DECISION) - (root_kind == DECISION)
        if steps <= 0:
            return bool(steps == 0 and in_hand == root_hand)
        if steps > 2:
            return True
        dice, root_dice = HISTOGRAMS[in_hand], HISTOGRAMS[root_hand]
        if steps == 1:
            return bool((dice >= root_dice).all() if root_kind == CHANCE else (dice <= root_dice).all())
        # Two steps behind a roll some of the dice that were kept may be kept again; else anything can come.
        return root_kind == DECISION or bool(np.maximum(dice, root_dice).sum() <= DICE)
