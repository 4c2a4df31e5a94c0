"""A turn of three dice and two rerolls: keep what you like, then bank the sum of the best face's dice; three turns.

Written for the tests of the planner: hands and kept dice are multisets, so many ways lead to the same state. The
turn's number is part of the state, and a solver of turns is included.
"""

from __future__ import annotations

import sys
from functools import cache
from itertools import combinations_with_replacement
from math import factorial
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL, GameInfo
from aleazero.games.kernel import KernelGame, KernelState

DICE, FACES, ROLLS, TURNS = 3, 6, 3, 3
# The state vector: counts of the six faces, rolls left, kind, turn, points.
ROLLS_LEFT, KIND, TURN, POINTS = 6, 7, 8, 9
STATE_SIZE = 10
BANK = 0
"""Actions: 0 banks, 1 + k keeps multiset k."""


def _multisets(most: int) -> list[tuple[int, ...]]:
    return [
        tuple(chosen.count(face) for face in range(FACES))
        for size in range(most + 1)
        for chosen in combinations_with_replacement(range(FACES), size)
    ]


KEEPS = np.array([row for row in _multisets(DICE) if sum(row) < DICE], np.int64)  # 1 + 6 + 21 = 28, no dice to 2
HANDS = np.array([row for row in _multisets(DICE) if sum(row) > 0], np.int64)  # 6 + 21 + 56 = 83 rolls of 1 to 3 dice
SIZES = HANDS.sum(axis=1)
CHANCES = np.array([
    factorial(int(sum(row))) / np.prod([factorial(int(n)) for n in row]) / FACES ** int(sum(row)) for row in HANDS
])  # fmt: skip


def describe() -> GameInfo:
    return GameInfo(
        name="kept_dice", num_players=1, num_actions=1 + len(KEEPS), max_outcomes=56, utility=None,
        state_size=STATE_SIZE, state_dtype="int16", observation_size=STATE_SIZE, observation_schema="kept-1",
    )  # fmt: skip


def init(state: Any) -> None:
    state[KIND] = CHANCE
    state[ROLLS_LEFT] = ROLLS - 1


def kind(state: Any) -> int:
    return state[KIND]


def to_play(state: Any) -> int:
    return 0


def turn(state: Any) -> int:
    return state[TURN]


def legal(state: Any, out: Any) -> int:
    out[0] = BANK
    count = 1
    if state[ROLLS_LEFT] > 0:
        for k in range(len(KEEPS)):
            inside = True
            for face in range(FACES):
                if KEEPS[k, face] > state[face]:
                    inside = False
            if inside:
                out[count] = 1 + k
                count += 1
    return count


def apply(state: Any, action: int) -> None:
    if action == BANK:
        best = 0
        for face in range(FACES):
            best = max(best, state[face] * (face + 1))
        state[POINTS] += best
        for face in range(FACES):
            state[face] = 0
        state[TURN] += 1
        state[ROLLS_LEFT] = ROLLS - 1
        state[KIND] = CHANCE if state[TURN] < TURNS else TERMINAL
    else:
        for face in range(FACES):
            state[face] = KEEPS[action - 1, face]
        state[ROLLS_LEFT] -= 1
        state[KIND] = CHANCE


def outcomes(state: Any, ids: Any, probabilities: Any) -> int:
    missing = DICE
    for face in range(FACES):
        missing -= state[face]
    count = 0
    for h in range(len(HANDS)):
        if SIZES[h] == missing:
            ids[count] = h
            probabilities[count] = CHANCES[h]
            count += 1
    return count


def apply_outcome(state: Any, outcome: int) -> None:
    for face in range(FACES):
        state[face] += HANDS[outcome, face]
    state[KIND] = DECISION


def returns(state: Any, out: Any) -> None:
    out[0] = state[POINTS]


# A solver of turns: from the last roll backwards over all hands. Not fast, but another way than the planner's.


class Solver:
    def __init__(self, game: KernelGame) -> None:
        self.game = game
        self.calls = 0

    def leaves(self, state: KernelState) -> np.ndarray:
        self.calls += 1
        gains = range(1, DICE * FACES + 1) if state.kind() == CHANCE or state.vector[ROLLS_LEFT] else [None]
        rows = []
        for gain in gains:
            after = state.vector.copy()
            if gain is None:
                apply(after, BANK)
            else:
                after[:FACES] = 0
                after[POINTS] += gain
                after[TURN] += 1
                after[ROLLS_LEFT] = ROLLS - 1
                after[KIND] = CHANCE if after[TURN] < TURNS else TERMINAL
            rows.append(after)
        return np.array(rows)

    def solve(self, state: KernelState, values: np.ndarray) -> SolvedTurn:
        return SolvedTurn(state, {int(leaf[POINTS]): values[row] for row, leaf in enumerate(self.leaves(state))})


class SolvedTurn:
    def __init__(self, root: KernelState, by_points: dict[int, np.ndarray]) -> None:
        self.root, self.by_points = root, by_points
        self.nodes = len(by_points)
        self.known: dict[bytes, np.ndarray] = {}

    def action_values(self, state: KernelState) -> dict[int, np.ndarray] | None:
        if state.vector[TURN] != self.root.vector[TURN] or state.kind() == TERMINAL:
            return None
        return {label: self._value(state.child(label)) for label in state.legal_actions()}

    def _value(self, state: KernelState) -> np.ndarray:
        if state.vector[TURN] != self.root.vector[TURN] or state.kind() == TERMINAL:
            return self.by_points[int(state.vector[POINTS])]
        key = state.key()
        if key not in self.known:
            values = self.action_values(state)
            if state.kind() == CHANCE:
                self.known[key] = sum(p * values[o] for o, p in state.chance_outcomes())
            else:
                self.known[key] = max(values.values(), key=lambda value: value[0])
        return self.known[key]


def turn_solver(game: KernelGame) -> Solver:
    return Solver(game)


@cache
def kept_dice() -> KernelGame:
    return KernelGame(sys.modules[__name__], {})
