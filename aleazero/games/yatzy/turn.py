"""Exact solution of a turn of Yatzy: 252 hands, 462 kept multisets, and 120 leaves, one per category and score.

Two identities make it fast. Rolling k dice is rolling one die k times, so the value of kept dice is the mean over six
faces of the values with one die more. The best keep of a hand is either the complete hand or the best keep of a
multiset with one die less. Tables are arguments of the compiled functions, not constants in their code.

``YatzyTurns`` is a ``TurnSolver`` of the planner.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.dice import (
    ADD,
    DICE,
    DROP,
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
from aleazero.games.yatzy.card import (
    AVAIL,
    BOARD,
    BOARDS,
    BONUS,
    BONUS_FROM,
    IN_HAND,
    KIND,
    MARKS,
    NUM_CATEGORIES,
    PLAYER,
    REROLLS,
    SCORES,
    TOTAL,
    UPPER,
    UPPER_CATEGORIES,
    categories_of,
)
from aleazero.native.compile import cached_njit

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

Values = NDArray[np.float64]
Table = NDArray[np.uint16]
"""Unsigned, so that compiled code need not handle negative indices."""

MULTISETS = len(HISTOGRAMS)

# Leaves are numbered by category, then by score.
_LISTED = [(c, points) for c in range(NUM_CATEGORIES) for points in sorted(set(SCORES[:, c].tolist()))]
LEAF_CATEGORY, LEAF_SCORE = (np.array(column, np.int64) for column in zip(*_LISTED, strict=True))
LEAF = np.array([[_LISTED.index((c, n)) for n in SCORES[:, c].tolist()] for c in range(NUM_CATEGORIES)], np.uint16)
"""(15, 252) the leaf after scoring a hand in a category."""
LEAF_RAISED = np.where(LEAF_CATEGORY < UPPER_CATEGORIES, LEAF_SCORE, 0)
"""(120,) points that a leaf adds to the upper total."""
LEAF_BIT = 1 << (NUM_CATEGORIES - 1 - LEAF_CATEGORY)
"""(120,) bit of the category that a leaf fills."""
KEEPS_FROM = np.concatenate([[0], np.cumsum(NUM_KEEPS, dtype=np.int64)]).astype(np.uint16)
KEEP_LIST = np.concatenate([KEPT[hand, KEEPS[hand, : NUM_KEEPS[hand]]] for hand in range(NUM_HANDS)]).astype(np.uint16)
"""(4368,) multisets that each hand can keep, in the order of the actions."""


_compile = cached_njit(nogil=True, error_model="numpy")


@_compile
def _mark_best(offered: Values, open_categories: Any, leaf: Table, value: Values, chosen: Table) -> None:
    """Find the best category of each hand, and its leaf."""
    first_hand = len(value) - leaf.shape[1]
    for hand in range(leaf.shape[1]):
        value[first_hand + hand] = -np.inf
    for category in open_categories:
        leaves = leaf[category]
        for hand in range(leaf.shape[1]):
            number = leaves[hand]
            better = offered[number] > value[first_hand + hand]
            value[first_hand + hand] = offered[number] if better else value[first_hand + hand]
            chosen[hand] = number if better else chosen[hand]


@_compile
def _keep_best(kept: Values, drop: Table, value: Values, highest: Values, hands: int) -> None:
    """Find the value of the best keep of each hand."""
    highest[0] = kept[0]
    for number in range(1, len(kept)):
        most = kept[number]
        for place in range(5):
            other = highest[drop[number, place]]
            most = other if other > most else most
        highest[number] = most
    for hand in range(len(kept) - hands, len(kept)):
        value[hand] = highest[hand]


@_compile
def _find_keep(kept: Values, value: Values, keeps_from: Table, keep_list: Table, chosen: Table) -> None:
    """Find the first best keep of each hand, in the order of the actions."""
    first_hand = len(value) - len(chosen)
    for hand in range(len(chosen)):
        place = keeps_from[hand]
        while kept[keep_list[place]] != value[first_hand + hand]:
            place += 1
        chosen[hand] = keep_list[place]


@_compile
def _expect_rolls(value: Values, add: Table) -> None:
    """Compute the values of kept multisets before the missing dice are rolled, from the values of the hands."""
    for number in range(len(add) - 1, -1, -1):
        more = add[number]
        low = value[more[0]] + value[more[1]] + value[more[2]]
        value[number] = (low + value[more[3]] + value[more[4]] + value[more[5]]) / 6.0


@_compile
def solve_layers(
    leaf_values: Values,
    open_categories: NDArray[np.int64],
    mover: int,
    leaf: Table,
    add: Table,
    drop: Table,
    keeps_from: Table,
    keep_list: Table,
    values: Values,
) -> None:
    """Fill ``values`` (layers, players, multisets) from the values of the leaves (players, leaves).

    The layer is the number of rerolls left. In a layer, hands of five have the value of their decision, and smaller
    multisets the value before the roll after keeping them. The mover maximizes; the first of equal actions is taken.
    """
    layers, players, multisets = values.shape
    hands = leaf.shape[1]
    chosen = np.zeros(hands, np.uint16)
    highest = np.empty(multisets)
    for layer in range(layers):
        if layer == 0:
            _mark_best(leaf_values[mover], open_categories, leaf, values[0, mover], chosen)
        else:
            _keep_best(values[layer - 1, mover], drop, values[layer, mover], highest, hands)
            if players > 1:
                _find_keep(values[layer - 1, mover], values[layer, mover], keeps_from, keep_list, chosen)
        for player in range(players):
            value = values[layer, player]
            if player != mover:
                source = leaf_values[player] if layer == 0 else values[layer - 1, player]
                for hand in range(hands):
                    value[multisets - hands + hand] = source[chosen[hand]]
            _expect_rolls(value, add)


def solve_rerolls(leaf_values: Values, avail_mask: int, mover: int = 0, layers: int = 3) -> Values:
    """Return the values (layers, players, multisets) of a turn from those of all leaves (players, leaves).

    The layer is the number of rerolls left. The empty multiset in the last layer has the value before the first roll.
    """
    values = np.empty((layers, len(leaf_values), MULTISETS))
    free = np.array(categories_of(avail_mask), np.int64)
    solve_layers(leaf_values, free, mover, LEAF, ADD, DROP, KEEPS_FROM, KEEP_LIST, values)
    return values


class YatzyTurns:
    """The ``TurnSolver`` of Yatzy."""

    def __init__(self, game: KernelGame) -> None:
        self.game = game

    def leaves(self, state: KernelState) -> NDArray[np.int64]:
        """Return the possible ends of the turn (leaves, state_size), before the first roll of the next player."""
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
        """Return the states at the start of the turns of these states, before the first roll."""
        rows = vectors.copy()
        rows[:, [IN_HAND, REROLLS, KIND]] = 0, 2, CHANCE
        return rows

    def kinds(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the kinds of leaves."""
        return leaves[:, KIND]

    def viewers(self, leaves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the players who acted last at leaves."""
        return (leaves[:, PLAYER] - 1) % self.game.num_players

    def solve(self, state: KernelState, values: Values) -> SolvedYatzyTurn:
        """Solve the rest of the turn from the values (leaves, players) of its leaves."""
        leaf_values = np.zeros((self.game.num_players, len(LEAF_CATEGORY)))
        leaf_values[:, leaf_numbers(state)] = values.T
        vector = state.vector
        mover = int(vector[PLAYER])
        layers = int(vector[REROLLS]) + (vector[KIND] == CHANCE)
        avail = int(vector[BOARDS + BOARD * mover + AVAIL])
        return SolvedYatzyTurn(vector.copy(), leaf_values, solve_rerolls(leaf_values, avail, mover, layers))


def leaf_numbers(state: KernelState) -> NDArray[np.int64]:
    """Return the leaves that this turn can still reach, ascending."""
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
    """Return the leaves of all hands in the open categories."""
    return np.unique(LEAF[categories_of(avail)]).astype(np.int64)


class SolvedYatzyTurn:
    """Values of best play from a state to the end of its turn."""

    def __init__(self, root: NDArray[np.int64], leaf_values: Values, values: Values) -> None:
        self.root, self.leaf_values, self.values = root, leaf_values, values
        self.nodes = values.shape[0] * MULTISETS
        self._head, self._boards = root[:BOARDS].tolist(), root[BOARDS:].tobytes()

    def action_values(self, state: KernelState) -> dict[int, Values] | None:
        """Return the values by player after each action or outcome; None for a state outside of this turn."""
        vector = state.vector
        if not self._reaches(vector):
            return None
        in_hand, rerolls = int(vector[IN_HAND]), int(vector[REROLLS])
        if vector[KIND] == CHANCE:
            first = FIRST[DICE - int(SIZES[in_hand])]
            return dict(enumerate(self._after_roll(in_hand, rerolls), start=first))
        hand = in_hand - HANDS
        if rerolls == 0:
            free = categories_of(int(vector[BOARDS + BOARD * int(vector[PLAYER]) + AVAIL]))
            return {MARKS + c: self.leaf_values[:, LEAF[c, hand]].copy() for c in free}
        masks = KEEPS[hand, : NUM_KEEPS[hand]]
        after = self.values[rerolls - 1, :, KEPT[hand, masks]]
        return {int(mask): value.copy() for mask, value in zip(masks, after, strict=True)}

    def rolled(self, state: KernelState) -> Values | None:
        """Return the values (outcomes, players) after each roll; None for a state outside of this turn."""
        vector = state.vector
        if vector[KIND] != CHANCE or not self._reaches(vector):
            return None
        return self._after_roll(int(vector[IN_HAND]), int(vector[REROLLS]))

    def _after_roll(self, in_hand: int, rerolls: int) -> Values:
        hands = HAND_AFTER[ROLLS_FROM[in_hand] : ROLLS_FROM[in_hand + 1]]
        values: Values = self.values[rerolls, :, hands].copy()
        return values

    def nearly_best(self, state: KernelState, mover: int, tie: float) -> list[int]:
        """Return the actions of a decision whose value is within ``tie`` · (1 + |best|) of the best, ascending."""
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
        """Return whether a state can be reached from the root in the same turn."""
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
        # Two steps after a decision every hand is possible. Two steps after a chance node, the dice before the roll and
        # the dice kept from the hand must be part of one hand.
        return root_kind == DECISION or bool(np.maximum(dice, root_dice).sum() <= DICE)
