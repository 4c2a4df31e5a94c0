"""Evaluators, which compute priors and values of leaves; the built-in ones, and checks of the output of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, EvaluatorError, nearest
from aleazero.games.base import ESTIMATE as ESTIMATE
from aleazero.games.base import EXACT as EXACT
from aleazero.games.base import NONE as NONE
from aleazero.games.base import State, Trust
from aleazero.native.compile import cached_njit
from aleazero.untrusted import parse_digits


class Evaluator(Protocol):
    """Protocol of an evaluator: any callable that returns logits and values for a batch of states.

    Values are by seat relative to the viewer of each row. The viewer is the player to move, or at a chance node the
    player that moved last. Seat j is player (viewer + j) mod players.

    These attributes are optional:

    - ``afterstates``: how values of chance nodes are used. ``NONE`` (default): the evaluator is not called for chance
      nodes. ``ESTIMATE``: a new chance node is a leaf, and later visits continue below it. ``EXACT``: nothing is
      expanded below a chance node.
    - ``decisions``: how values of decisions are used, ``ESTIMATE`` (default) or ``EXACT``.
    - ``sees_states = True``: the evaluator is called with a sequence of ``State`` instead of two arrays.
    - ``ended(states)``: values of terminal states by player, shape (B, players), in place of their returns. Requires
      ``sees_states``. Each terminal state that a search stores then counts as an evaluation.
    - ``exact(states)``: whether the value of each state is exact, shape (B,), for evaluators that are exact for some
      states only. Nothing is expanded below these. Requires ``sees_states`` and closed loop. Chance nodes are valued
      only if ``afterstates`` is not ``NONE``.
    - ``logit_unit``: the difference of returns that one unit of a logit stands for, if logits are values of actions.
      The search needs it for ``first_play="logits"``.
    - ``for_plan(horizon, plies, prunes)``: returns the evaluator that a planner with these settings uses instead.
    - ``any_size = True``: the values of a row do not depend on the size of the batch, so a forest does not pad batches.
    - ``one_at_a_time = True``: a forest does not call the evaluator from two threads at the same time.
    """

    def __call__(self, observations: Any, legal_masks: Any, /) -> tuple[Any, Any]:
        """Evaluate a batch of B states.

        Args:
            observations: float32 array, shape (B, observation size).
            legal_masks: bool array, shape (B, actions); all False for a chance node.

        Returns:
            Logits of the actions, shape (B, actions), of which only those of legal actions are used, and values by
            seat, shape (B, players).
        """


@dataclass(frozen=True)
class Uniform:
    """Built-in evaluator with equal priors. The value of a leaf is the return so far, which in many games is 0."""


@dataclass(frozen=True)
class Rollout:
    """Built-in evaluator. The value of a leaf is the mean return of random playouts.

    Playouts choose legal actions with equal probability, or use the ``playout`` function of the game if it has one.
    Priors are equal, or a softmax over the ``prior_logit`` of the game's actions if it has this function.

    Args:
        playouts: number of playouts per leaf.
        max_steps: maximum number of steps per playout. The returns of the state reached then count.

    Raises:
        ConfigError: an argument is not an integer from 1 to 2147483647.
    """

    playouts: int = 1
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        for name in ("playouts", "max_steps"):
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value < 2**31:
                raise ConfigError(f"Rollout: {name} is {value!r}, expected an integer from 1 to 2147483647")


EVALUATOR_NAMES: Final = ("uniform", "rollout", "rollout:N")
LOADED: Final = {
    "net": "aleazero.load_net({!r}, game) loads the network",
    "oracle": "aleazero.solve(game) solves a small game",
}
"""What to use in Python for the evaluators of player specs that depend on a file or on the game."""
PLAN_PLAYOUTS: Final = 100
"""Playouts per state of ``"rollout"`` in a plan. A search averages the leaves below an action, but a plan takes the
best of them. With one playout each, that is mostly the luckiest one."""


def resolve_evaluator(evaluator: Any, playouts: int = 1) -> Any:
    """Return the evaluator with a name, or the given evaluator itself; ``playouts`` is the number of ``"rollout"``."""
    if isinstance(evaluator, str):
        name, colon, number = evaluator.partition(":")
        if name in LOADED:
            raise ConfigError(f"evaluator is {evaluator!r}, expected the object: {LOADED[name].format(number)}")
        if name not in EVALUATOR_NAMES or (colon and name != "rollout"):
            problem = f"evaluator is {evaluator!r}, {nearest(evaluator, EVALUATOR_NAMES)}"
            raise ConfigError(f"{problem} (a network is loaded by aleazero.load_net(path, game))")
        if name == "uniform":
            return Uniform()
        if colon and not 1 <= (parse_digits(number) or 0) < 2**31:
            raise ConfigError(f"evaluator is {evaluator!r}, expected rollout:N with an integer N from 1 to 2147483647")
        return Rollout(int(number) if colon else playouts)
    if not isinstance(evaluator, Uniform | Rollout) and not callable(evaluator):
        raise ConfigError(f"evaluator is {evaluator!r}, expected uniform, rollout, rollout:N or a callable")
    return evaluator


def trust_at_chance(evaluator: Any) -> Trust:
    """Return how values of chance nodes are used; NONE if the evaluator is not called for them."""
    return _trust(evaluator, "afterstates", NONE)


def trust_at_decisions(evaluator: Any) -> Trust:
    """Return how values of decisions are used."""
    trust = _trust(evaluator, "decisions", ESTIMATE)
    if trust is NONE:
        raise ConfigError("evaluator.decisions is NONE, expected ESTIMATE or EXACT")
    return trust


def logit_unit_of(evaluator: Any) -> float:
    """Return the difference of returns that one unit of a logit stands for."""
    unit = getattr(evaluator, "logit_unit", None)
    if unit is None:
        raise ConfigError(
            "is logits, expected parent or a number: the evaluator has no logit_unit, so its logits are not values of "
            "actions",
            field="first_play",
        )
    if not isinstance(unit, float) or not 0.0 < unit < math.inf:
        raise ConfigError(f"evaluator.logit_unit is {unit!r}, expected a finite number above 0")
    return unit


def values_ends(evaluator: Any) -> bool:
    """Return whether the evaluator also values terminal states, in place of their returns."""
    return bool(getattr(evaluator, "sees_states", False)) and getattr(evaluator, "ended", None) is not None


class WithEnds:
    """An evaluator of states that passes terminal states to its ``ended`` function."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Return logits, and values by seat relative to the viewer."""
        over = np.array([state.is_terminal() for state in states])
        if not over.any():
            answer: tuple[Any, Any] = self._evaluator(states)
            return answer
        game = states[0].game
        logits, values = np.zeros((len(states), game.num_actions)), np.zeros((len(states), game.num_players))
        if not over.all():
            running = [state for state in states if not state.is_terminal()]
            logits[~over], values[~over] = self._evaluator(running)
        ends = [state for state in states if state.is_terminal()]
        values[over] = [
            np.roll(value, -end.viewer()) for value, end in zip(self._evaluator.ended(ends), ends, strict=True)
        ]
        return logits, values


def _trust(evaluator: Any, name: str, default: Trust) -> Trust:
    given = getattr(evaluator, name, default)
    if isinstance(given, Trust):
        return given
    try:
        return Trust(given)
    except ValueError:
        raise ConfigError(f"evaluator.{name} is {given!r}, expected NONE, ESTIMATE or EXACT") from None


def evaluate_batch(
    evaluator: Any,
    observations: NDArray[np.float32],
    legal_masks: NDArray[np.bool_],
    states: Sequence[State] | None,
    num_players: int,
    rows: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Call an evaluator and check shapes, values and the logits of legal actions. Only the first ``rows`` are used."""
    return check_answer(call_evaluator(evaluator, observations, legal_masks, states), legal_masks, num_players, rows)


def evaluate_states(evaluator: Any, states: Sequence[State]) -> NDArray[np.float64]:
    """Return the values of states, by seat relative to the viewer, of an evaluator that has ``state_values``."""
    try:
        values: NDArray[np.float64] = evaluator.state_values(states)
    except Exception as error:
        raise _raised(error) from error
    _require_usable(np.zeros((len(values), 0)), values, np.zeros((len(values), 0), np.bool_))
    return values


def call_evaluator(evaluator: Any, observations: Any, legal_masks: Any, states: Sequence[State] | None = None) -> Any:
    """Return the output of an evaluator, which is not checked. Exceptions become an EvaluatorError."""
    try:
        return evaluator(states) if states is not None else evaluator(observations, legal_masks.copy())
    except Exception as error:
        raise _raised(error) from error


def call_exact(exact: Any, states: Any) -> NDArray[np.bool_]:
    """Return whether the value of each state is exact, by the ``exact`` function of an evaluator."""
    try:
        found = np.asarray(exact(states))
    except Exception as error:
        raise _raised(error) from error
    if found.shape != (len(states),) or found.dtype != np.bool_:
        got = f"{found.dtype} of shape {found.shape}"
        raise EvaluatorError(f"the evaluator's exact returned {got}, expected booleans of shape ({len(states)},)")
    return found


def check_answer(
    answer: Any, legal_masks: NDArray[np.bool_], num_players: int, rows: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the output of an evaluator as arrays of logits and values; raise EvaluatorError if it is invalid."""
    try:
        logits, values = answer
        logits = np.asarray(logits, np.float64)
        values = np.asarray(values, np.float64)
    except Exception as error:
        raise _raised(error) from error
    size, num_actions = legal_masks.shape
    if logits.shape != (size, num_actions):
        raise EvaluatorError(f"the evaluator returned logits of shape {logits.shape}, expected {(size, num_actions)}")
    if values.shape != (size, num_players):
        raise EvaluatorError(f"the evaluator returned values of shape {values.shape}, expected {(size, num_players)}")
    _require_usable(logits[:rows], values[:rows], legal_masks[:rows])
    return logits, values


def _raised(error: Exception) -> EvaluatorError:
    message = (str(error).splitlines() or [""])[0]
    return EvaluatorError(f"the evaluator raised {type(error).__name__}: {message}")


def _require_usable(logits: NDArray[np.float64], values: NDArray[np.float64], legal_masks: NDArray[np.bool_]) -> None:
    legal = np.where(legal_masks, logits, 0.0)
    if math.isfinite(values.sum()) and math.isfinite(legal.sum()):
        return  # a finite sum has finite terms
    if not np.isfinite(values).all():
        raise EvaluatorError(f"the evaluator returned value {values[~np.isfinite(values)][0]}, expected finite numbers")
    if np.isnan(legal).any() or np.isposinf(legal).any():
        raise EvaluatorError("the evaluator returned NaN or +inf as logit of a legal action, expected a number or -inf")
    all_excluded = legal_masks.any(axis=1) & ~np.isfinite(np.where(legal_masks, logits, -np.inf)).any(axis=1)
    if all_excluded.any():
        raise EvaluatorError("the evaluator returned -inf for all legal actions, expected at least one finite logit")


@cached_njit(nogil=True)
def copy_answer(logits: Any, values: Any, masks: Any, rows: int, logits_out: Any, values_out: Any) -> bool:
    """Copy the first rows of an output; return whether values are finite and logits of legal actions valid."""
    usable = True
    for row in range(rows):
        for p in range(values.shape[1]):
            value = np.float64(values[row, p])
            values_out[row, p] = value
            usable = usable and np.isfinite(value)
        all_finite = True
        for action in range(logits.shape[1]):
            logit = np.float64(logits[row, action])
            logits_out[row, action] = logit
            all_finite = all_finite & (logit - logit == 0.0)
        if all_finite:
            continue
        decides = False
        some_finite = False
        for action in range(logits.shape[1]):
            if masks[row, action]:
                logit = logits_out[row, action]
                decides = True
                some_finite = some_finite or np.isfinite(logit)
                usable = usable and not np.isnan(logit) and logit != np.inf
        usable = usable and (some_finite or not decides)
    return usable


def is_answer(answer: Any, *shapes: tuple[int, ...]) -> bool:
    """Return whether an output is a tuple of float arrays of these shapes. Others may still be converted to such."""
    return (
        isinstance(answer, tuple)
        and len(answer) == len(shapes)
        and all(isinstance(part, np.ndarray) and part.dtype in (np.float32, np.float64) for part in answer)
        and tuple(part.shape for part in answer) == shapes
    )
