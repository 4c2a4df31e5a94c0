"""What the benchmark ``yatzy`` searches: positions of one-player Yatzy, an evaluator over its oracle, the settings."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count, islice
from typing import Any, cast

import numpy as np

from aleazero.games.base import DECISION, NONE, State, Trust
from aleazero.games.kernel import KernelGame
from aleazero.games.registry import load_game
from aleazero.games.yatzy.rules import NUM_ACTIONS
from aleazero.oracles.yatzy import YatzyOracle, decision_of, load_or_build
from aleazero.search.config import ChanceConfig, Widening
from benchmarks.chance.cases import SETTINGS as ALL_SETTINGS
from benchmarks.chance.cases import Vector

IMPLICIT = "implicit"
"""Beside the settings: the tree without chance nodes."""
SETTINGS: dict[str, dict[str, Any]] = {
    **ALL_SETTINGS,
    "narrow": {"widening": Widening(c=1.0, alpha=0.5, max_children=32)},
    "exact-21-stratified": {"exact_up_to": 21, "pick": "stratified", "backup": "expectation"},
}
NETWORK_ERROR = 5.0
"""Standard deviation of the network-like evaluator's error, in points."""
SKILL = 0.75
"""Share of best actions in the games that the positions are from."""
DECISIONS = 45
STRIDE = 7
"""Prime to the decisions of a game, so that as many positions in a row are one of each turn and kind."""
DUEL = (
    "filled ones twos pair house upper 6 total 40 / filled threes fours two_pairs chance upper 21 total 60 / "
    "player 0 dice 11456 rerolls 2"
)
"""A middle game of two, whose speed is measured."""


def settings_of(name: str) -> ChanceConfig:
    """A way to treat chance by name; the implicit tree draws."""
    return ChanceConfig() if name == IMPLICIT else ChanceConfig(**SETTINGS[name])


@cache
def solitaire() -> KernelGame:
    """Yatzy alone."""
    return cast("KernelGame", load_game("yatzy", players=1))


@cache
def oracle() -> YatzyOracle:
    """The truth about it."""
    return load_or_build()


def position(number: int) -> State:
    """A decision of a game of its own, in which best actions were taken three times out of four, else any."""
    luck = random.Random(number)
    left = number * STRIDE % DECISIONS
    state = solitaire().new_initial_state()
    while True:
        if state.is_chance_node():
            state.apply_action(state.sample_outcome(luck.random()))
            continue
        if left == 0:
            return state
        left -= 1
        skilled = luck.random() < SKILL
        state.apply_action(luck.choice(oracle().best_actions(state) if skilled else state.legal_actions()))


def positions(amount: int, wanted: Callable[[State], bool] = lambda state: True) -> list[State]:
    """The first positions that are wanted."""
    return list(islice(filter(wanted, map(position, count())), amount))


def rerolls_left(state: State) -> int:
    """0 where a category is marked."""
    return decision_of(state)[3]


def open_categories(state: State) -> int:
    """How many turns are left, this one included."""
    return decision_of(state)[0].bit_count()


def is_reroll_heavy(state: State) -> bool:
    """Two rerolls and further turns ahead, so that no search comes to the end of the game."""
    return rerolls_left(state) == 2 and open_categories(state) >= 4


def best_rolls(dice: int, amount: int) -> list[State]:
    """Chance nodes where so many dice are in the air, and rightly so."""

    def behind(state: State) -> State:
        return state.child(oracle().best_actions(state)[0])

    def wanted(state: State) -> bool:
        return rerolls_left(state) > 0 and len(behind(state).chance_outcomes()) == {1: 6, 2: 21}[dice]

    return [behind(state) for state in positions(amount, wanted)]


class YatzyNetwork:
    """Stands for a trained network: the oracle's values and priors, spoilt by an error that is fixed for each state.

    It is ``chance_cases.NetworkLike`` for Yatzy, where states are too many to solve them one by one. Perhaps it has
    learnt afterstates too.
    """

    sees_states = True

    def __init__(self, seed: int, afterstates: Trust = NONE) -> None:
        self.seed, self.afterstates = seed.to_bytes(8, "little"), afterstates
        self._known: dict[bytes, tuple[Vector, float]] = {}

    def __call__(self, states: Sequence[State]) -> tuple[Vector, Vector]:
        """Logits by action, and values."""
        answers = [self._answer(state) for state in states]
        return np.array([logits for logits, _ in answers]), np.array([[value] for _, value in answers])

    def _answer(self, state: State) -> tuple[Vector, float]:
        key = state.key()
        if key not in self._known:
            digest = hashlib.blake2b(key, key=self.seed, digest_size=16).digest()
            luck = np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
            value = oracle().value(state) + NETWORK_ERROR * luck.standard_normal()
            logits = np.zeros(NUM_ACTIONS)
            if state.kind() == DECISION:
                exact = oracle().hand_values(*decision_of(state))
                logits = np.where(np.isfinite(exact), exact, 0.0) / NETWORK_ERROR + luck.standard_normal(NUM_ACTIONS)
            self._known[key] = logits, value
        return self._known[key]


def make_evaluator(name: str, seed: int = 0) -> Any:
    """Playouts by name, or a network."""
    return YatzyNetwork(seed) if name == "network" else name


def regret_of(state: State, action: int | None) -> float:
    """What an action loses in expected points."""
    values = oracle().hand_values(*decision_of(state))
    return float(values.max() - values[action])
