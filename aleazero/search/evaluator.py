"""Evaluators: what gives leaves their priors and values.

``Uniform`` and ``Rollout`` run inside the compiled loop. Any callable may serve instead::

    logits, values = evaluator(observations, legal_masks)

with observations (B, size), legal_masks (B, actions), logits (B, actions) and values (B, players), in seats
relative to the viewer: seat 0 is the viewer, seat j is player (viewer + j) mod players. Only logits of legal actions
count. Attributes may say more:

- ``afterstates``: NONE (default; never asked at chance nodes), ESTIMATE (a new chance node is a leaf; later
  visits go on), EXACT (its value stands, nothing is expanded below). Masks there are all false.
- ``decisions``: ESTIMATE (default) or EXACT.
- ``sees_states = True``: it is called with a sequence of ``State`` instead of observations and masks.
- ``ended(states)``: values of terminal states, by player, if they are more than the returns (a margin). Requires
  ``sees_states``. Each end of the game that a search stores then counts as an evaluation.
- ``for_plan(horizon, plies, prunes)``: the evaluator that a planner with these settings asks instead.
- ``any_size = True``: a row's bits do not depend on the size of the batch, so a forest need not fill it up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, EvaluatorError, nearest
from aleazero.games.base import ESTIMATE as ESTIMATE
from aleazero.games.base import EXACT as EXACT
from aleazero.games.base import NONE as NONE
from aleazero.games.base import State, Trust
from aleazero.native.compile import cached_njit


class Evaluator(Protocol):
    """Any callable from a batch of leaves to logits and values, by seat relative to the viewer."""

    def __call__(self, observations: Any, legal_masks: Any, /) -> tuple[Any, Any]:
        """Logits (B, actions) and values (B, players)."""


@dataclass(frozen=True)
class Uniform:
    """Equal priors; the value is the return so far (0 before the end of a win/loss game)."""


@dataclass(frozen=True)
class Rollout:
    """Equal priors; the value is the mean return of playouts, each cut at ``max_steps`` steps.

    They take any legal action, all alike, or what the game's own ``playout`` says.
    """

    playouts: int = 1
    max_steps: int = 10_000

    def __post_init__(self) -> None:
        for name in ("playouts", "max_steps"):
            value = getattr(self, name)
            if not isinstance(value, int) or not 1 <= value < 2**31:
                raise ConfigError(f"Rollout: {name} is {value!r}, expected a whole number from 1 to 2147483647")


EVALUATOR_NAMES = {"uniform": Uniform(), "rollout": Rollout()}


def resolve_evaluator(evaluator: Any) -> Any:
    """An evaluator by name, or the given one if it can be called."""
    if isinstance(evaluator, str):
        if evaluator not in EVALUATOR_NAMES:
            raise ConfigError(f"no evaluator {evaluator!r}, {nearest(evaluator, EVALUATOR_NAMES)}")
        return EVALUATOR_NAMES[evaluator]
    if not isinstance(evaluator, Uniform | Rollout) and not callable(evaluator):
        raise ConfigError(f"evaluator is {evaluator!r}, expected a name or a callable")
    return evaluator


def trust_at_chance(evaluator: Any) -> Trust:
    """Return how far the evaluator's values of chance nodes are trusted; NONE if it does not value them."""
    return _trust(evaluator, "afterstates", NONE)


def trust_at_decisions(evaluator: Any) -> Trust:
    """Return how far the evaluator's values of decisions are trusted."""
    trust = _trust(evaluator, "decisions", ESTIMATE)
    if trust is NONE:
        raise ConfigError("evaluator.decisions is NONE, expected ESTIMATE or EXACT")
    return trust


def values_ends(evaluator: Any) -> bool:
    """Return whether the evaluator values terminal states, in place of their returns."""
    return bool(getattr(evaluator, "sees_states", False)) and getattr(evaluator, "ended", None) is not None


class WithEnds:
    """An evaluator of states, with its own values of ends among them."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Logits, and values in seats relative to the viewer."""
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
    """Ask a batch callable and check its answer: shapes, finite values, usable logits of the legal actions.

    Only the first ``rows`` count; what lies behind them fills the batch up to its shape.
    """
    return check_answer(call_evaluator(evaluator, observations, legal_masks, states), legal_masks, num_players, rows)


def call_evaluator(evaluator: Any, observations: Any, legal_masks: Any, states: Sequence[State] | None = None) -> Any:
    """What a batch callable answers, whatever it is; its errors become an EvaluatorError."""
    try:
        return evaluator(states) if states is not None else evaluator(observations, legal_masks.copy())
    except Exception as error:
        raise _raised(error) from error


def check_answer(
    answer: Any, legal_masks: NDArray[np.bool_], num_players: int, rows: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """An answer as logits and values that can be used."""
    try:
        logits, values = answer
        logits = np.asarray(logits, np.float64)
        values = np.asarray(values, np.float64)
    except Exception as error:
        raise _raised(error) from error
    size, num_actions = legal_masks.shape
    if logits.shape != (size, num_actions):
        raise EvaluatorError(f"the evaluator gave logits of shape {logits.shape}, expected {(size, num_actions)}")
    if values.shape != (size, num_players):
        raise EvaluatorError(f"the evaluator gave values of shape {values.shape}, expected {(size, num_players)}")
    _require_usable(logits[:rows], values[:rows], legal_masks[:rows])
    return logits, values


def _raised(error: Exception) -> EvaluatorError:
    said = (str(error).splitlines() or [""])[0]
    return EvaluatorError(f"the evaluator raised {type(error).__name__}: {said}")


def _require_usable(logits: NDArray[np.float64], values: NDArray[np.float64], legal_masks: NDArray[np.bool_]) -> None:
    legal = np.where(legal_masks, logits, 0.0)
    if math.isfinite(values.sum()) and math.isfinite(legal.sum()):
        return  # a finite sum has finite parts; one that is not wants a closer look
    if not np.isfinite(values).all():
        raise EvaluatorError(f"the evaluator gave the value {values[~np.isfinite(values)][0]}, expected finite numbers")
    if np.isnan(legal).any() or np.isposinf(legal).any():
        raise EvaluatorError("the evaluator gave a logit that is NaN or +inf at a legal action, expected numbers")
    hopeless = legal_masks.any(axis=1) & ~np.isfinite(np.where(legal_masks, logits, -np.inf)).any(axis=1)
    if hopeless.any():
        raise EvaluatorError("the evaluator gave -inf for every legal action of a leaf, expected at least one number")


@cached_njit(nogil=True)
def copy_answer(logits: Any, values: Any, masks: Any, rows: int, logits_out: Any, values_out: Any) -> bool:
    """Copy the first rows of an answer; return whether values are finite and logits of legal actions usable."""
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
    """Whether an answer is logits and values as they should be; one that is not may still be made so."""
    return (
        isinstance(answer, tuple)
        and len(answer) == len(shapes)
        and all(isinstance(part, np.ndarray) and part.dtype in (np.float32, np.float64) for part in answer)
        and tuple(part.shape for part in answer) == shapes
    )
