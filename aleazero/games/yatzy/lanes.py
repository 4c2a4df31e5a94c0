"""Compiled turns of many Yatzy games at once, for afterstate training: list the turn ends, plan and play the turns.

``YatzyLanes`` is a ``TurnPlayer`` (``training/turns.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.dice import ADD, DICE, DROP, FACES, HANDS, SIZES
from aleazero.games.yatzy.card import (
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
)
from aleazero.games.yatzy.turn import KEEP_LIST, KEEPS_FROM, LEAF, LEAF_CATEGORY, LEAF_SCORE, MULTISETS, solve_layers
from aleazero.native.compile import cached_njit

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame

MOST_LEAVES: Final = len(LEAF_CATEGORY)
ROLLS: Final = 3
_compile = cached_njit(nogil=True, error_model="numpy")


class YatzyLanes:
    """Turns of Yatzy. A lane is a game before the first roll of a turn."""

    draws = ROLLS * DICE + 2
    """Random numbers per turn: the dice, whether the category is random, and which one."""

    def __init__(self, game: KernelGame) -> None:
        self.players = game.num_players

    def list_turn_ends(self, states: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], None]:
        """Return all possible turn ends (leaves, state_size), and the start of each lane among them (lanes + 1)."""
        leaves = np.empty((len(states) * MOST_LEAVES, states.shape[1]), np.int64)
        starts = np.zeros(len(states) + 1, np.int64)
        _spread(states, self.players, LEAF_CATEGORY, LEAF_SCORE, leaves, starts)
        return leaves[: starts[-1]], starts, None

    def play_turns(
        self,
        states: NDArray[np.int64],
        starts: NDArray[np.int64],
        known: None,
        worth: NDArray[np.float64],
        carried: NDArray[np.float64],
        draws: NDArray[np.float64],
        explore: float,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], NDArray[np.bool_]]:
        """Plan and play one turn in each lane.

        Args:
            states: (lanes, state_size), before the first roll.
            starts: (lanes + 1), from ``list_turn_ends``.
            known: not used.
            worth: (leaves, players), values of the turn ends.
            carried: (leaves, c), further numbers of the turn ends.
            draws: (lanes, ``draws``), uniform random numbers.
            explore: probability of scoring a random category.

        Returns:
            By lane: the player; the expected value for the player under best play; the expectations (lanes, c) of the
            carried numbers; the leaf at which the turn ended; whether a random category was scored.
        """
        expected = np.empty((len(states), 1 + carried.shape[1]))
        chosen = np.empty(len(states), np.int64)
        explored = np.zeros(len(states), np.bool_)
        _play(
            states, starts, worth, carried, draws, explore, LEAF_CATEGORY, LEAF, ADD, DROP, KEEPS_FROM, KEEP_LIST,
            SIZES, expected, chosen, explored,
        )  # fmt: skip
        return states[:, PLAYER], expected[:, 0], expected[:, 1:], chosen, explored


@_compile
def _spread(states: Any, players: int, category: Any, score: Any, leaves: Any, starts: Any) -> None:
    row = 0
    for lane in range(len(states)):
        state = states[lane]
        player = state[PLAYER]
        board = BOARDS + BOARD * player
        avail, upper = state[board + AVAIL], state[board + UPPER]
        last = player == players - 1 and avail & (avail - 1) == 0
        for leaf in range(len(category)):
            bit = 1 << (NUM_CATEGORIES - 1 - category[leaf])
            if avail & bit == 0:
                continue
            out = leaves[row]
            for i in range(len(state)):
                out[i] = state[i]
            out[IN_HAND] = 0
            out[REROLLS] = ROLLS - 1
            out[PLAYER] = (player + 1) % players
            out[KIND] = TERMINAL if last else CHANCE
            out[board + AVAIL] = avail - bit
            gained = score[leaf]
            if category[leaf] < UPPER_CATEGORIES:
                out[board + UPPER] = min(BONUS_FROM, upper + score[leaf])
                gained += BONUS if upper < BONUS_FROM and upper + score[leaf] >= BONUS_FROM else 0
            out[board + TOTAL] += gained
            row += 1
        starts[lane + 1] = row


@_compile
def _play(states: Any, starts: Any, worth: Any, carried: Any, draws: Any, explore: float, category: Any, leaf: Any,
          add: Any, drop: Any, keeps_from: Any, keep_list: Any, sizes: Any, expected: Any, chosen: Any,
          explored: Any) -> None:  # fmt: skip
    rows = 1 + carried.shape[1]
    leaf_values = np.zeros((rows, len(category)))
    place = np.zeros(len(category), np.int64)
    values = np.empty((ROLLS, rows, MULTISETS))
    free = np.empty(NUM_CATEGORIES, np.int64)
    for lane in range(len(states)):
        state = states[lane]
        player = state[PLAYER]
        avail = state[BOARDS + BOARD * player + AVAIL]
        num_free = 0
        for c in range(NUM_CATEGORIES):
            if avail >> (NUM_CATEGORIES - 1 - c) & 1:
                free[num_free] = c
                num_free += 1
        row = starts[lane]
        for number in range(len(category)):
            if avail >> (NUM_CATEGORIES - 1 - category[number]) & 1:
                leaf_values[0, number] = worth[row, player]
                for column in range(1, rows):
                    leaf_values[column, number] = carried[row, column - 1]
                place[number] = row
                row += 1
        solve_layers(leaf_values, free[:num_free], 0, leaf, add, drop, keeps_from, keep_list, values)
        for column in range(rows):
            expected[lane, column] = values[ROLLS - 1, column, 0]
        in_hand = 0
        for roll in range(ROLLS):
            for die in range(DICE - sizes[in_hand]):
                in_hand = add[in_hand, int(draws[lane, DICE * roll + die] * FACES)]
            hand = in_hand - HANDS
            if roll < ROLLS - 1:
                kept = values[ROLLS - 2 - roll, 0]
                in_hand = keep_list[keeps_from[hand]]
                for i in range(keeps_from[hand] + 1, keeps_from[hand + 1]):
                    if kept[keep_list[i]] > kept[in_hand]:
                        in_hand = keep_list[i]
        number = leaf[free[0], hand]
        if num_free > 1 and draws[lane, ROLLS * DICE] < explore:
            explored[lane] = True
            number = leaf[free[int(draws[lane, ROLLS * DICE + 1] * num_free)], hand]
        else:
            for i in range(1, num_free):
                if leaf_values[0, leaf[free[i], hand]] > leaf_values[0, number]:
                    number = leaf[free[i], hand]
        chosen[lane] = place[number]
