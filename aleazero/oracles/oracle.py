"""Oracles: the exact value of every state and action of a game, from its kit or by solving it completely."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, GameError
from aleazero.games.base import DECISION, EXACT, Game, State
from aleazero.games.kit import kit_of
from aleazero.oracles.solve import TIE as TIE
from aleazero.oracles.solve import Solution, solve

MAX_STATES: Final = 1_000_000
"""Of a game that is solved completely, if somebody asks for its oracle."""
KEPT: Final = 4
"""Games whose oracles are kept: solving takes its time."""


class Oracle(Protocol):
    """The exact value of every state and action that play can reach; others are a PositionError.

    An oracle may have an ``evaluator`` of its own; ``evaluator_of`` makes one for others.
    """

    def values(self, state: State) -> NDArray[np.float64]:
        """By player, the expected return under best play; of afterstates too."""

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected return of the mover under best play."""


class SolvedOracle:
    """The oracle of a game that is small enough to be solved completely."""

    def __init__(self, solution: Solution) -> None:
        self.evaluator = solution

    def values(self, state: State) -> NDArray[np.float64]:
        """By player, the expected return under best play."""
        return self.evaluator.value(state)

    def action_values(self, state: State) -> dict[int, float]:
        """By legal action, the expected return of the mover."""
        mover = state.current_player()
        return {action: float(value[mover]) for action, value in self.evaluator.action_values(state).items()}


class OracleEvaluator:
    """An oracle as an evaluator of searches and plans, exact at decisions and at afterstates."""

    sees_states = True
    afterstates = EXACT
    decisions = EXACT

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def __call__(self, states: Sequence[State]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Logits 0 for best actions and −30 for the others; values by seat from the viewer on."""
        logits = np.full((len(states), states[0].game.num_actions), -30.0)
        for row, state in enumerate(states):
            if state.kind() == DECISION:
                logits[row, best_of(self._oracle.action_values(state))] = 0.0
        return logits, np.array([np.roll(self._oracle.values(state), -state.viewer()) for state in states])


def evaluator_of(oracle: Oracle) -> Any:
    """The evaluator that an oracle has, or else one over its values."""
    own = getattr(oracle, "evaluator", None)
    return OracleEvaluator(oracle) if own is None else own


def best_of(values: Mapping[int, float]) -> list[int]:
    """The actions that tie for the best, ascending."""
    best = max(values.values())
    return sorted(action for action, value in values.items() if value >= best - TIE)


def oracle_of(game: Game, *, max_states: int = MAX_STATES) -> Oracle | None:
    """Return the oracle of a game; None if it has none.

    Args:
        game: any game. The oracle of its kit is taken; a game without one is solved, if its outcomes are listed, its
            returns are bounded and its kit names no reference player in place of an oracle.
        max_states: a game of more states is not solved.
    """
    found = _find(game, max_states)
    return None if isinstance(found, str) else found


def require_oracle(game: Game, *, max_states: int = MAX_STATES) -> Oracle:
    """Return the oracle of a game.

    Raises:
        ConfigError: the game has none; the error has the reason.
    """
    found = _find(game, max_states)
    if isinstance(found, str):
        raise ConfigError(f"{game!r} has no oracle: {found}")
    return found


@dataclass
class _Kept:
    """What is known of a game's oracle: the oracle, or the reason why there is none up to some number of states."""

    oracle: Oracle | None
    reason: str
    max_states: int


_kept: OrderedDict[Game, _Kept] = OrderedDict()


def _find(game: Game, max_states: int) -> Oracle | str:
    """The oracle of a game, or the reason why it has none. What was found for the same game object is kept."""
    known = _kept.get(game)
    if known is None or (known.oracle is None and known.max_states < max_states):
        known = _kept[game] = _find_oracle(game, max_states)
    _kept.move_to_end(game)
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    if isinstance(known.oracle, SolvedOracle) and known.oracle.evaluator.num_states > max_states:
        return f"{game.name}: more than {max_states} states, expected a smaller game or a higher max_states"
    return known.reason if known.oracle is None else known.oracle


def _find_oracle(game: Game, max_states: int) -> _Kept:
    kit = kit_of(game)
    if kit.oracle is not None:
        return _Kept(kit.oracle(), "", max_states)
    if kit.reference is not None:
        reason = f"its exact values are not known; the player {kit.reference!r} is its reference"
        return _Kept(None, reason, 2**63)
    if not game.info.lists_outcomes or game.info.utility is None:
        return _Kept(None, "only games with listed outcomes and bounded returns are solved", 2**63)
    try:
        return _Kept(SolvedOracle(solve(game, max_states=max_states)), "", max_states)
    except GameError as error:
        return _Kept(None, str(error), max_states)
