"""Cases of the benchmark ``yatzy``: positions of one-player Yatzy, an evaluator based on its oracle, and settings."""

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
"""Name of the tree without chance nodes."""
SETTINGS: dict[str, dict[str, Any]] = {
    **ALL_SETTINGS,
    "narrow": {"widening": Widening(c=1.0, alpha=0.5, max_children=32)},
    "exact-21-stratified": {"exact_up_to": 21, "pick": "stratified", "backup": "expectation"},
}
NETWORK_ERROR = 5.0
"""Standard deviation of the error of the network-like evaluator, in points."""
SKILL = 0.75
"""Fraction of best actions in the games from which positions are taken."""
DECISIONS = 45
STRIDE = 7
"""Coprime to the number of decisions, so that 45 consecutive positions contain every turn and kind once."""
TWO_PLAYERS = (
    "filled ones twos pair house upper 6 total 40 / filled threes fours two_pairs chance upper 21 total 60 / "
    "player 0 dice 11456 rerolls 2"
)
"""A two-player position in the middle game, for the measurement of speed."""


def settings_of(name: str) -> ChanceConfig:
    """Return chance settings by name; the implicit tree samples outcomes."""
    return ChanceConfig() if name == IMPLICIT else ChanceConfig(**SETTINGS[name])


@cache
def solitaire() -> KernelGame:
    """Return one-player Yatzy."""
    return cast("KernelGame", load_game("yatzy", players=1))


@cache
def oracle() -> YatzyOracle:
    """Return its oracle."""
    return load_or_build()


def position(number: int) -> State:
    """Return a decision of a separate game, in which three of four actions are best and the others random."""
    rng = random.Random(number)
    left = number * STRIDE % DECISIONS
    state = solitaire().new_initial_state()
    while True:
        if state.is_chance_node():
            state.apply_action(state.sample_outcome(rng.random()))
            continue
        if left == 0:
            return state
        left -= 1
        skilled = rng.random() < SKILL
        state.apply_action(rng.choice(oracle().best_actions(state) if skilled else state.legal_actions()))


def positions(amount: int, wanted: Callable[[State], bool] = lambda state: True) -> list[State]:
    """Return the first positions that satisfy ``wanted``."""
    return list(islice(filter(wanted, map(position, count())), amount))


def rerolls_left(state: State) -> int:
    """Return the number of rerolls left; 0 at scoring decisions."""
    return decision_of(state)[3]


def open_categories(state: State) -> int:
    """Return the number of turns left, including this one."""
    return decision_of(state)[0].bit_count()


def is_reroll_heavy(state: State) -> bool:
    """Return whether two rerolls and several turns are left, so that no search reaches the end of the game."""
    return rerolls_left(state) == 2 and open_categories(state) >= 4


def best_rolls(dice: int, amount: int) -> list[State]:
    """Return chance nodes with a roll of this many dice, each after a best action."""

    def after_best(state: State) -> State:
        return state.child(oracle().best_actions(state)[0])

    def wanted(state: State) -> bool:
        return rerolls_left(state) > 0 and len(after_best(state).chance_outcomes()) == {1: 6, 2: 21}[dice]

    return [after_best(state) for state in positions(amount, wanted)]


class YatzyNetwork:
    """An evaluator that behaves like a trained network: values and priors of the oracle with a random error per state.

    It is ``benchmarks.chance.cases.NetworkLike`` for Yatzy. ``afterstates`` is whether it evaluates chance nodes.
    """

    sees_states = True

    def __init__(self, seed: int, afterstates: Trust = NONE) -> None:
        self.seed, self.afterstates = seed.to_bytes(8, "little"), afterstates
        self._known: dict[bytes, tuple[Vector, float]] = {}

    def __call__(self, states: Sequence[State]) -> tuple[Vector, Vector]:
        """Return logits by action, and values."""
        answers = [self._answer(state) for state in states]
        return np.array([logits for logits, _ in answers]), np.array([[value] for _, value in answers])

    def _answer(self, state: State) -> tuple[Vector, float]:
        key = state.key()
        if key not in self._known:
            digest = hashlib.blake2b(key, key=self.seed, digest_size=16).digest()
            rng = np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))
            value = oracle().value(state) + NETWORK_ERROR * rng.standard_normal()
            logits = np.zeros(NUM_ACTIONS)
            if state.kind() == DECISION:
                exact = oracle().hand_values(*decision_of(state))
                logits = np.where(np.isfinite(exact), exact, 0.0) / NETWORK_ERROR + rng.standard_normal(NUM_ACTIONS)
            self._known[key] = logits, value
        return self._known[key]


def make_evaluator(name: str, seed: int = 0) -> Any:
    """Return the name of an evaluator, or a network."""
    return YatzyNetwork(seed) if name == "network" else name


def regret_of(state: State, action: int | None) -> float:
    """Return the loss of an action in expected points."""
    values = oracle().hand_values(*decision_of(state))
    return float(values.max() - values[action])
