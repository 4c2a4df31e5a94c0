"""Judgements of decisions and rolls: what a judge returns, and the parts that all judges share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import State
from aleazero.oracles.oracle import best_of

Vector = NDArray[np.float64]
"""Expected return of each player, shape (players,)."""
ALTERNATIVES: Final = 5
"""Plays that are listed for each decision."""


@dataclass(frozen=True)
class JudgedPlay:
    """A judged play: the actions of a player until the next roll or the next player."""

    value: Vector
    """Value before the play, under the best play, by player."""
    costs: tuple[float, ...]
    """For each action the value of the best action minus that of the chosen one, for the mover; 0 for all that tie."""
    best: tuple[int, ...]
    """Actions of the best play; the chosen ones if they tie for the best."""
    alternatives: tuple[tuple[tuple[int, ...], float], ...]
    """The best plays and the chosen one, the best first, each with its value for the mover."""


@dataclass(frozen=True)
class JudgedRoll:
    """A judged outcome of a chance node."""

    expected: Vector
    """Expectation before the roll, by player."""
    luck: Vector
    """Value after the roll minus the expectation before it, by player."""
    probability: float | None
    """Probability of the outcome; None if outcomes cannot be listed."""


class Judge(ABC):
    """Values decisions and rolls; ``make_judge`` makes one."""

    name: str
    """What judges, for results, e.g. ``oracle (exact values)``."""
    kind: str
    """``oracle``, ``plan`` or ``search``."""
    exact: bool = False
    """Whether all values are exact."""
    batch: int = 1
    """Decisions or rolls that are best judged together."""

    @abstractmethod
    def judge_plays(self, states: Sequence[State], plays: Sequence[Sequence[int]]) -> list[JudgedPlay]:
        """Judge decisions: at each state, the actions that the mover played until a roll or another player."""

    @abstractmethod
    def judge_rolls(self, states: Sequence[State], outcomes: Sequence[int]) -> list[JudgedRoll]:
        """Judge the outcomes that were played at chance nodes."""

    @abstractmethod
    def values(self, states: Sequence[State]) -> list[Vector]:
        """Return the expected return of each player in any states, under best play."""


def judged(
    state: State,
    play: Sequence[int],
    value: Vector,
    rows: Sequence[tuple[Mapping[int, float], int]],
    plays: Mapping[tuple[int, ...], float],
) -> JudgedPlay:
    """Return the judgement of a play.

    Args:
        state: the decision at which it starts.
        play: its actions.
        value: value of the state by player.
        rows: for each action with a choice the values of all actions for the mover, and the action.
        plays: values of complete plays; empty if each play is one action.
    """
    costs = tuple(
        0.0 if action in best_of(values) else max(values.values()) - values[action] for values, action in rows
    )
    chosen = tuple(play)
    reached = rows[-1][0][rows[-1][1]]
    listed = dict(plays) or {(action,): number for action, number in rows[0][0].items()}
    ordered = sorted(listed.items(), key=lambda item: (-item[1], item[0]))
    end = _after(state, chosen).key()
    others = [(actions, number) for actions, number in ordered if actions != chosen[: len(actions)] or plays]
    others = [
        (actions, number) for actions, number in others[: ALTERNATIVES + 1] if _after(state, actions).key() != end
    ]
    alternatives = sorted([*others[: ALTERNATIVES - 1], (chosen, reached)], key=lambda item: -item[1])
    best = chosen if sum(costs) == 0.0 else ordered[0][0]
    return JudgedPlay(np.asarray(value, np.float64), costs, best, tuple(alternatives))


def probability_of(state: State, outcome: int) -> float | None:
    """Return the probability of an outcome; None if outcomes cannot be listed."""
    return dict(state.chance_outcomes())[outcome] if state.outcomes_listed() else None


def limited(values: Any, state: State) -> Any:
    """Return values within the range of the game's returns."""
    return np.asarray(values) if state.game.info.utility is None else np.clip(values, *state.game.info.utility)


def final_value(state: State) -> Vector:
    """Return the returns of a terminal state."""
    return np.array(state.returns(), np.float64)


def _after(state: State, actions: Sequence[int]) -> State:
    at = state.clone()
    for action in actions:
        at.apply_action(action)
    return at
