"""Oracles: the exact value of every state and action of a game, from the game's kit or by solving the game."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, GameError
from aleazero.games.base import EXACT, Game, State
from aleazero.games.kit import GameKit, kit_of
from aleazero.oracles.solve import TIE as TIE
from aleazero.oracles.solve import Solution, evaluate_exactly, solve

MAX_STATES: Final = 1_000_000
"""Maximum number of states of a game that is solved for its oracle."""
MANY_STATES: Final = 100_000
"""A game with more states takes several seconds, which is announced."""

log = logging.getLogger("aleazero")


class Oracle(Protocol):
    """The exact value of every state and action that play can reach. Other states raise a PositionError.

    An oracle may have an attribute ``evaluator``; ``evaluator_of`` makes an evaluator for oracles without one.
    """

    def values(self, state: State) -> NDArray[np.float64]:
        """Return the expected return (players,) of each player under best play, also at afterstates."""

    def action_values(self, state: State) -> dict[int, float]:
        """Return the expected return of the mover under best play, after each legal action."""


class SolvedOracle:
    """The oracle of a game that was solved completely."""

    def __init__(self, solution: Solution) -> None:
        self.evaluator = solution

    def values(self, state: State) -> NDArray[np.float64]:
        """Return the expected return (players,) of each player under best play."""
        return self.evaluator.value(state)

    def action_values(self, state: State) -> dict[int, float]:
        """Return the expected return of the mover under best play, after each legal action."""
        mover = state.current_player()
        return {action: float(value[mover]) for action, value in self.evaluator.action_values(state).items()}


class OracleEvaluator:
    """An oracle as an evaluator of searches and plans, exact at decisions and afterstates."""

    sees_states = True
    afterstates = EXACT
    decisions = EXACT

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def __call__(self, states: Sequence[State]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return logits and values, as evaluators do."""
        oracle = self._oracle
        return evaluate_exactly(states, oracle.values, lambda state: best_of(oracle.action_values(state)))


def evaluator_of(oracle: Oracle) -> Any:
    """Return the evaluator of an oracle, or one that is made from its values."""
    own = getattr(oracle, "evaluator", None)
    return OracleEvaluator(oracle) if own is None else own


def best_of(values: Mapping[int, float]) -> list[int]:
    """Return the actions that tie for the best, ascending."""
    best = max(values.values())
    return sorted(action for action, value in values.items() if value >= best - TIE)


def oracle_of(game: Game, *, max_states: int = MAX_STATES) -> Oracle | None:
    """Return the oracle of a game.

    The oracle comes from the game's kit. A game without one is solved, if its outcomes are listed, its returns are
    bounded and its kit has no reference player. The oracle is stored with the game object.

    Args:
        game: any game.
        max_states: games with more states are not solved.

    Returns:
        The oracle; None if the game has none.
    """
    found = _find(game, max_states)
    return None if isinstance(found, str) else found


def require_oracle(game: Game, *, max_states: int = MAX_STATES) -> Oracle:
    """Return the oracle of a game, as ``oracle_of`` does.

    Raises:
        ConfigError: the game has no oracle; the message has the reason.
    """
    found = _find(game, max_states)
    if isinstance(found, str):
        raise ConfigError(f"{game!r} has no oracle: {found}")
    return found


def _find(game: Game, max_states: int) -> Oracle | str:
    """Return the oracle of a game, or the reason why it has none. Results are stored with the game object."""
    kit = kit_of(game)
    found: dict[int | None, Oracle | str] = vars(game).setdefault("_oracles", {})
    key = max_states if kit.oracle is None else None
    if key not in found:
        solved = (known for known in found.values() if isinstance(known, SolvedOracle))
        fitting = next((known for known in solved if known.evaluator.num_states <= max_states), None)
        found[key] = fitting or _find_oracle(game, kit, max_states)
    return found[key]


def why_no_oracle(game: Game) -> str | None:
    """Return why a game has no oracle, without solving it; None if it has one, or may be small enough to be solved."""
    kit = kit_of(game)
    if kit.oracle is not None:
        return None
    if kit.no_oracle is not None:
        return kit.no_oracle
    if kit.reference is not None:
        return f"its exact values are not known; the player {kit.reference!r} is its reference"
    if not game.info.lists_outcomes or game.info.utility is None:
        return "only games with listed outcomes and bounded returns are solved"
    return None


def _find_oracle(game: Game, kit: GameKit, max_states: int) -> Oracle | str:
    if kit.oracle is not None:
        oracle: Oracle = kit.oracle()
        return oracle
    if (reason := why_no_oracle(game)) is not None:
        return reason
    try:
        return SolvedOracle(solve(game, max_states=max_states, progress=lambda *done: _announce(game, *done)))
    except GameError as error:
        return str(error)


def _announce(game: Game, stage: str, done: int) -> None:
    """Log that the solution of a large game takes time."""
    if stage == "states" and done == MANY_STATES:
        log.warning("solving %r: more than %s states so far, which can take a minute", game, f"{done:,}")
