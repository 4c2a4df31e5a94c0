"""Regret: the value that a player's decisions lose compared with the best actions.

The regret of a decision is the exact value of the best action minus that of the selected action. It does not depend on
dice. Actions that tie for the best are all optimal and have regret 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from aleazero.errors import ConfigError, PositionError
from aleazero.evaluation.statistics import Mean
from aleazero.files import os_errors_as
from aleazero.games.base import State
from aleazero.oracles.oracle import Oracle, best_of
from aleazero.players.player import Player

T = TypeVar("T")
WORST: Final = 10
CHUNK: Final = 64
"""Number of positions for which a player selects actions at once."""
Classify = Callable[[State], tuple[str, str]]
"""Returns the kind of a decision and the stage of the game."""
Progress = Callable[[int, int], None]
"""Called with the number of decisions so far, and the total."""


@dataclass(frozen=True)
class JudgedDecision:
    """One decision of a player, with its regret."""

    position: str
    kind: str
    stage: str
    action: str
    best: tuple[str, ...]
    """Names of all actions that tie for the best."""
    regret: float

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data."""
        return {**vars(self), "best": list(self.best)}


@dataclass(frozen=True)
class RegretSummary:
    """Regret of a group of decisions."""

    regret: Mean
    optimal: float
    """Share of decisions without regret."""
    tied: int
    """Number of decisions with several best actions."""

    @classmethod
    def of(cls, decisions: Sequence[JudgedDecision]) -> RegretSummary:
        """Summarize at least one decision."""
        regrets = [decision.regret for decision in decisions]
        return cls(
            Mean.of(regrets),
            sum(regret == 0.0 for regret in regrets) / len(regrets),
            sum(len(decision.best) > 1 for decision in decisions),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data; the interval does not go below 0."""
        mean = self.regret.to_dict()
        return {**mean, "low": max(0.0, mean["low"]), "optimal": self.optimal, "tied": self.tied}


@dataclass(frozen=True)
class RegretReport:
    """Regret of a player on a set of positions."""

    decisions: tuple[JudgedDecision, ...]
    """The decisions, in the order of the positions."""

    @property
    def overall(self) -> RegretSummary:
        """Summary of all decisions."""
        return RegretSummary.of(self.decisions)

    @property
    def by_kind(self) -> dict[str, RegretSummary]:
        """Summaries by kind of decision, in order of first occurrence."""
        return self._by(lambda decision: decision.kind)

    @property
    def by_stage(self) -> dict[str, RegretSummary]:
        """Summaries by stage of the game, in order of first occurrence."""
        return self._by(lambda decision: decision.stage)

    @property
    def worst(self) -> list[JudgedDecision]:
        """The ten decisions with the highest regret; decisions without regret are left out."""
        costly = [decision for decision in self.decisions if decision.regret > 0.0]
        return sorted(costly, key=lambda decision: -decision.regret)[:WORST]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "overall": self.overall.to_dict(),
            "by_kind": {name: group.to_dict() for name, group in self.by_kind.items()},
            "by_stage": {name: group.to_dict() for name, group in self.by_stage.items()},
            "worst": [decision.to_dict() for decision in self.worst],
        }

    def _by(self, name_of: Callable[[JudgedDecision], str]) -> dict[str, RegretSummary]:
        names = dict.fromkeys(name_of(decision) for decision in self.decisions)
        return {name: RegretSummary.of([one for one in self.decisions if name_of(one) == name]) for name in names}


def measure_regret(
    player: Player,
    states: Sequence[State],
    oracle: Oracle,
    *,
    seed: int = 0,
    classify: Classify | None = None,
    progress: Progress | None = None,
) -> RegretReport:
    """Measure the regret of a player on a set of positions.

    Args:
        player: the player.
        states: decision states.
        oracle: exact values of the game, see ``oracle_of``.
        seed: seed of the player's own random numbers.
        classify: returns the kind of a decision and the stage of the game; by default the game's decision class.
        progress: called with the decisions judged so far and the total.

    Returns:
        The regret of each decision, with summaries.

    Raises:
        PositionError: if there are no positions, or the player selects an illegal action.
    """
    if not states:
        raise PositionError("got no positions, expected at least one")
    decisions: list[JudgedDecision] = []
    for first in range(0, len(states), CHUNK):
        chunk = states[first : first + CHUNK]
        actions = player.select_many(chunk, [seed] * len(chunk))
        decisions += [
            _judge(state, action, oracle, classify or by_class) for state, action in zip(chunk, actions, strict=True)
        ]
        if progress is not None:
            progress(len(decisions), len(states))
    return RegretReport(tuple(decisions))


def by_class(state: State) -> tuple[str, str]:
    """Return the game's class of a decision, and the same stage for all."""
    return state.game.info.decision_classes[state.decision_class()], "all"


def _judge(state: State, action: int, oracle: Oracle, classify: Classify) -> JudgedDecision:
    values = oracle.action_values(state)
    best = best_of(values)
    canonical = state.canonical_action(action)
    if canonical not in values:
        raise PositionError(f"{state.game.name}: the player selected {action} in {state.to_text()!r}, which is illegal")
    regret = 0.0 if canonical in best else max(values.values()) - values[canonical]
    names = tuple(state.action_to_string(one) for one in best)
    return JudgedDecision(state.to_text(), *classify(state), state.action_to_string(canonical), names, regret)


def read_positions(file: Path, read: Callable[[Any], T]) -> list[T]:
    """Read a file of positions, a JSON list; ``read`` converts one entry and raises ``PositionError``."""
    try:
        with os_errors_as(ConfigError, f"cannot read {str(file)!r}"):
            rows = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{file.name} is not JSON ({error}), expected a list of positions") from None
    if not isinstance(rows, list) or not rows:
        raise PositionError(f"{file.name}: got {json.dumps(rows)[:100]}, expected a list of positions")
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(read(row))
        except PositionError as error:
            raise PositionError(f"{file.name}, position {number}: {error}") from None
    return found
