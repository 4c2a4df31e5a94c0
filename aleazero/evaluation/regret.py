"""Regret: what a player's decisions give away against exact values, with no luck in it.

The regret of a decision is the best action's exact value less that of the selected one. Actions that tie for the best
are all optimal and have no regret.
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
"""Positions that a player is asked about at once."""
Classify = Callable[[State], tuple[str, str]]
"""Tells the kind of a decision and the stage of the game."""
Progress = Callable[[int, int], None]
"""Called with the number of decisions done so far, and of all."""


@dataclass(frozen=True)
class JudgedDecision:
    """One decision of a player, judged."""

    position: str
    kind: str
    stage: str
    action: str
    best: tuple[str, ...]
    """All actions that tie for the best."""
    regret: float

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON."""
        return {**vars(self), "best": list(self.best)}


@dataclass(frozen=True)
class RegretSummary:
    """Some decisions together."""

    regret: Mean
    optimal: float
    """The share of decisions without regret."""
    tied: int
    """Decisions where several actions are best."""

    @classmethod
    def of(cls, decisions: Sequence[JudgedDecision]) -> RegretSummary:
        """What some decisions come to."""
        regrets = [decision.regret for decision in decisions]
        return cls(
            Mean.of(regrets),
            sum(regret == 0.0 for regret in regrets) / len(regrets),
            sum(len(decision.best) > 1 for decision in decisions),
        )

    def to_dict(self) -> dict[str, Any]:
        """As plain data, for JSON; no decision can give away less than nothing."""
        told = self.regret.to_dict()
        return {**told, "low": max(0.0, told["low"]), "optimal": self.optimal, "tied": self.tied}


@dataclass(frozen=True)
class RegretReport:
    """What a player gives away on a set of positions."""

    decisions: tuple[JudgedDecision, ...]

    @property
    def overall(self) -> RegretSummary:
        """All decisions."""
        return RegretSummary.of(self.decisions)

    @property
    def by_kind(self) -> dict[str, RegretSummary]:
        """By kind of decision, in the order they first appear."""
        return self._by(lambda decision: decision.kind)

    @property
    def by_stage(self) -> dict[str, RegretSummary]:
        """By stage of the game, in the order they first appear."""
        return self._by(lambda decision: decision.stage)

    @property
    def worst(self) -> list[JudgedDecision]:
        """The ten decisions that give away most, of those that give away anything."""
        costly = [decision for decision in self.decisions if decision.regret > 0.0]
        return sorted(costly, key=lambda decision: -decision.regret)[:WORST]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
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
    """Ask a player about each position and judge its action by the oracle; ``seed`` is of the player's own luck."""
    if not states:
        raise PositionError("got no positions to judge, expected at least one")
    decisions: list[JudgedDecision] = []
    for first in range(0, len(states), CHUNK):
        some = states[first : first + CHUNK]
        actions = player.select_many(some, [seed] * len(some))
        decisions += [
            _judge(state, action, oracle, classify or by_class) for state, action in zip(some, actions, strict=True)
        ]
        if progress is not None:
            progress(len(decisions), len(states))
    return RegretReport(tuple(decisions))


def by_class(state: State) -> tuple[str, str]:
    """The game's own class of the decision, and no stages."""
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
    """Read a file of positions, a JSON list; ``read`` reads one entry.

    Raises:
        ConfigError: the file cannot be read.
        PositionError: it is not a list, or an entry is not a position.
    """
    try:
        with os_errors_as(ConfigError, f"cannot read {str(file)!r}"):
            rows = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise PositionError(f"{file.name}: got what is no JSON ({error}), expected a list of positions") from None
    if not isinstance(rows, list) or not rows:
        raise PositionError(f"{file.name}: got {json.dumps(rows)[:100]}, expected a list of positions")
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(read(row))
        except PositionError as error:
            raise PositionError(f"{file.name}, position {number}: {error}") from None
    return found
