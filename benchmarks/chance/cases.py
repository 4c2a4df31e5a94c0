"""Cases of the benchmark ``chance``: four games that are solved exactly, their positions, and chance settings.

2048 itself cannot be solved. ``examples/short_2048.py`` has its moves and tiles but ends after four moves, so exact
values are known for realistic boards.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import Game, State
from aleazero.games.registry import load_game
from aleazero.oracles.solve import Solution, solve
from aleazero.search.config import PRESETS

Vector = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
"""Games of the repository that are not part of the wheel."""

SETTINGS: dict[str, dict[str, Any]] = {
    **PRESETS,
    "stratified-pick": {"pick": "stratified"},
    "expectation": {"backup": "expectation"},
    "samples-4": {"samples_per_visit": 4},
    "exact-21": {"exact_up_to": 21, "backup": "expectation"},
}
"""Settings of ``ChanceConfig`` by name: the presets, and variants that change one setting."""

EVALUATORS = ("rollout", "network")


@dataclass(frozen=True)
class Position:
    """A decision node and the exact solution of its game."""

    state: State
    truth: Solution

    @property
    def mover(self) -> int:
        """The player to move, whose point of view errors have."""
        return self.state.current_player()

    @property
    def value(self) -> float:
        """The exact value for the player to move."""
        return float(self.truth.value(self.state)[self.mover])

    @cached_property
    def action_values(self) -> dict[int, float]:
        """The exact value of each action for the player to move."""
        return {action: float(value[self.mover]) for action, value in self.truth.action_values(self.state).items()}


@dataclass(frozen=True)
class Case:
    """A game that is solved exactly."""

    title: str
    spec: str
    texts: tuple[str, ...]
    """Texts of the positions, all decision nodes."""
    noise: float
    """Standard deviation of the error of the network-like evaluator, in units of return."""
    plans: tuple[str, ...]
    """Horizons of the planner, as in ``--plan``."""
    params: dict[str, Any] = field(default_factory=dict)
    whole: bool = True
    """Whether it is solved from the start; otherwise from each position, because the game is too large."""

    @cached_property
    def game(self) -> Game:
        """The game."""
        return load_game(self.spec, **self.params)

    @cached_property
    def positions(self) -> list[Position]:
        """The positions with their exact solution."""
        states = [self.game.state_from_text(text) for text in self.texts]
        if not self.whole:
            return [Position(state, solve(self.game, start=state)) for state in states]
        solution = solve(self.game)
        return [Position(state, solution) for state in states]


CASES = {
    "dice_game": Case(
        title="dice game, 6 outcomes", spec="dice_game", texts=("0", "5", "10", "14"), noise=1.0,
        plans=("1", "2", "4", "game"),
    ),
    "pig": Case(
        title="pig to 50, 6 outcomes", spec="pig", params={"target": 50}, noise=0.1,
        texts=("0-0 turn 30", "10-16 turn 28", "8-12 turn 10", "30-40 turn 8"), plans=("1", "2", "3", "turn"),
    ),
    "2048": Case(
        title="2048, four moves, up to 18 outcomes", spec=str(EXAMPLES / "short_2048.py"), noise=4.0, whole=False,
        texts=(
            "8 4 2 ./16 2 4 ./32 8 2 2/64 16 4 . score 0 moves 4",
            "64 32 16 2/2 8 4 8/4 2 16 4/2 . . . score 0 moves 4",
            "128 16 4 2/4 32 8 16/2 4 2 ./. 2 8 4 score 0 moves 4",
            "2 4 8 16/4 8 16 2/2 4 8 ./. 2 4 . score 0 moves 4",
        ),
        plans=("1", "2", "3", "game"),
    ),
    "five_dice": Case(
        title="five dice, up to 252 outcomes", spec=str(EXAMPLES / "five_dice.py"), noise=2.0,
        texts=("1 2 3 4 6 rerolls 2", "1 1 3 4 5 rerolls 2", "2 2 5 5 6 rerolls 1", "1 1 2 2 3 rerolls 1"),
        plans=("1", "game"),
    ),
}  # fmt: skip


def known_cases() -> list[str]:
    """Return the cases whose game is available; the examples are only in the repository."""
    return [name for name, case in CASES.items() if not case.spec.endswith(".py") or Path(case.spec).is_file()]


class NetworkLike:
    """An evaluator that behaves like a trained network: exact values and priors with a random error per state.

    The error is Gaussian with standard deviation ``noise`` and depends only on the seed and the state, so repeated
    calls give the same result. Priors are a softmax over action values with errors of their own.
    """

    sees_states = True

    def __init__(self, truth: Solution, noise: float, seed: int) -> None:
        self.truth, self.noise, self.seed = truth, noise, seed.to_bytes(8, "little")
        self._known: dict[bytes, tuple[Vector, Vector]] = {}

    def __call__(self, states: Sequence[State]) -> tuple[Vector, Vector]:
        """Return logits by action, and values by seat relative to the viewer."""
        answers = [self._answer(state) for state in states]
        return np.array([logits for logits, _ in answers]), np.array([values for _, values in answers])

    def _answer(self, state: State) -> tuple[Vector, Vector]:
        key = state.key()
        if key not in self._known:
            self._known[key] = self._make(state, random.Random(hashlib.blake2b(key, key=self.seed).digest()))
        return self._known[key]

    def _make(self, state: State, rng: random.Random) -> tuple[Vector, Vector]:
        error = rng.gauss(0.0, self.noise)
        values = np.roll(self.truth.value(state), -state.viewer())
        values[0] += error
        values[1:] -= error / max(1, len(values) - 1)  # values keep their sum
        logits = np.zeros(state.game.num_actions)
        for action, value in self.truth.action_values(state).items():
            logits[action] = float(value[state.viewer()]) / self.noise + rng.gauss(0.0, 1.0)
        return logits, values


def make_evaluator(name: str, case: Case, position: Position, seed: int) -> Any:
    """Return an evaluator for one position; ``seed`` is the seed of a network."""
    return NetworkLike(position.truth, case.noise, seed) if name == "network" else name
