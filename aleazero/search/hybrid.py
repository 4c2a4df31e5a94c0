"""``Hybrid``: an evaluator with exact values of some states, from a table, and another evaluator for all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE, ESTIMATE, EXACT, NONE, Game, State
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.games.states import rows_of, states_of, vectors_of
from aleazero.native.compile import kernel_dtype, loop_of
from aleazero.native.random import ROLLOUT, extend_key_bits, stream_key
from aleazero.search.evaluator import Rollout, Uniform, resolve_evaluator, trust_at_chance, trust_at_decisions
from aleazero.search.plain.playout import value_by_playouts
from aleazero.search.playout import make_playouts
from aleazero.search.status import DONE, error_for
from aleazero.search.tree.arrays import make_scratch

Values = NDArray[np.float64]
Table = Callable[[Sequence[State]], tuple[Values, NDArray[np.bool_]]]
"""Returns the values (B, players) of states by seat relative to the viewer, and whether they are known (B,)."""
BATCH: Final = 64
"""Rows of every batch for an evaluator of observations, with padding, so that values do not depend on other rows."""

_ROLLOUT = np.uint64(stream_key(ROLLOUT))


class Hybrid:
    """An evaluator with exact values of the states in a table, and the values of another evaluator for all others.

    An evaluator that does not value chance nodes is called for the outcomes of those outside of the table, and the mean
    counts. Random playouts of a state are the same at each call, because their random stream is derived from the state.

    Args:
        game: the game.
        table: the exact values.
        outside: the evaluator of all other states: an object, ``"uniform"`` or ``"rollout:N"``.
        chance: whether the table has chance nodes.
        decisions: whether the table has decisions.
        complete: whether it has every state of these kinds that a search can reach.

    Raises:
        ConfigError: ``outside`` is not an evaluator, or it does not value chance nodes and the game cannot list its
            outcomes.
    """

    sees_states = True

    def __init__(
        self,
        game: Game,
        table: Table,
        outside: Any = "uniform",
        *,
        chance: bool = False,
        decisions: bool = False,
        complete: bool = False,
    ) -> None:
        self.game, self.table, self.outside = game, table, resolve_evaluator(outside)
        self._covers = {"chance": chance, "decisions": decisions, "complete": complete}
        own = trust_at_chance(self.outside)
        self._averages = chance and own is NONE and not isinstance(self.outside, Uniform | Rollout)
        if self._averages and not game.info.lists_outcomes:
            raise ConfigError(
                f"the evaluator does not value chance nodes, and {game.name} does not list its outcomes, expected an "
                "evaluator that values chance nodes"
            )
        self.afterstates = EXACT if chance and complete else max(own, ESTIMATE) if chance else own
        self.decisions = EXACT if decisions and complete else trust_at_decisions(self.outside)
        if not complete:
            self.exact = self._exact
            """Whether the value of each state is exact."""
        if hasattr(self.outside, "ended"):
            self.ended = self.outside.ended
            """Values of terminal states by player, or None."""

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return logits, and values by seat relative to the viewer. States in the table have equal logits."""
        values, known = self.table(states)
        logits = np.zeros((len(states), self.game.num_actions))
        if not known.all():
            rows = rows_of(self.game, states)[~known]
            logits[~known], values[~known] = self._value_outside(states_of(self.game, rows))
        return logits, values

    def for_plan(self, horizon: str, plies: int | None, prunes: bool) -> Hybrid:
        """Return the evaluator for a planner, with the one that it would use outside of the table."""
        if not hasattr(self.outside, "for_plan"):
            return self
        return Hybrid(self.game, self.table, self.outside.for_plan(horizon, plies, prunes), **self._covers)

    def _exact(self, states: Sequence[State]) -> NDArray[np.bool_]:
        return self.table(states)[1]

    # -- outside of the table ----------------------------------------------------------------------------------

    def _value_outside(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return logits and values by seat of states that are not in the table."""
        if isinstance(self.outside, Uniform | Rollout):
            if isinstance(self.outside, Uniform):
                values = np.array([state.returns() for state in states])
            else:
                values = playout_values(self.game, self.outside, states)
            return np.zeros((len(states), self.game.num_actions)), _by_seat(values, _viewers(states))
        if not self._averages:
            return self._call_outside(states)
        states = list(states)
        below: list[tuple[int, float, State]] = []
        for row, state in enumerate(states):
            _list_below(state, row, 1.0, below)
        running = [state for _, _, state in below if not state.is_terminal()]
        logits, seats = self._call_outside(running) if running else (np.zeros((0, self.game.num_actions)), None)
        found_logits = np.zeros((len(states), self.game.num_actions))
        values, place = np.zeros((len(states), self.game.num_players)), 0
        for row, share, state in below:
            if state.is_terminal():
                value = np.array(state.returns())
            else:
                assert seats is not None
                value = np.roll(seats[place], state.viewer())
                if state is states[row]:
                    found_logits[row] = logits[place]
                place += 1
            values[row] += share * value
        return found_logits, _by_seat(values, _viewers(states))

    def _call_outside(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return the other evaluator's logits and values by seat."""
        if getattr(self.outside, "sees_states", False):
            answer: tuple[Values, Values] = self.outside(states)
            return answer
        parts = []
        for start in range(0, len(states), BATCH):
            some = [states[i] for i in range(start, min(start + BATCH, len(states)))]
            observations = np.zeros((BATCH, self.game.observation_size), np.float32)
            masks = np.zeros((BATCH, self.game.num_actions), np.bool_)
            observations[: len(some)] = [state.observation_tensor() for state in some]
            masks[: len(some)] = [state.legal_actions_mask() for state in some]
            parts.append([np.asarray(part, np.float64)[: len(some)] for part in self.outside(observations, masks)])
        return np.concatenate([logits for logits, _ in parts]), np.concatenate([values for _, values in parts])


def _viewers(states: Sequence[State]) -> NDArray[np.int64]:
    return np.array([state.viewer() for state in states], np.int64)


def _by_seat(values: Values, viewers: NDArray[np.int64]) -> Values:
    """Return values by seat relative to each row's viewer, from values by player."""
    players = values.shape[1]
    seats = (np.arange(players)[None, :] + viewers[:, None]) % players
    turned: Values = np.take_along_axis(values, seats, axis=1)
    return turned


def _list_below(state: State, row: int, share: float, found: list[tuple[int, float, State]]) -> None:
    """List the states after all chance events that come next, with their probabilities."""
    if state.kind() != CHANCE:
        found.append((row, share, state))
        return
    for outcome, probability in state.chance_outcomes():
        _list_below(state.child(outcome), row, share * probability, found)


# -- playouts ----------------------------------------------------------------------------------------------------------


class PlayoutSettings(NamedTuple):
    """The numbers of ``Rollout``."""

    playouts: int
    max_steps: int


def playout_values(game: Game, rollout: Rollout, states: Sequence[State]) -> Values:
    """Return the mean return (B, players) of playouts from each state, whose random stream is derived from the state.

    Raises:
        GameError: the rules return something invalid.
    """
    if not isinstance(game, KernelGame):
        keys = [stream_key(ROLLOUT, *state.key()) for state in states]
        return np.array([value_by_playouts(rollout, s, key, 0) for s, key in zip(states, keys, strict=True)])
    info, dtype = game.info, kernel_dtype(game.info.state_dtype)
    values = np.zeros((len(states), info.num_players))
    scratch = make_scratch(info.state_size, dtype, info.num_actions, info.max_outcomes, info.num_players)
    settings = PlayoutSettings(rollout.playouts, rollout.max_steps)
    with np.errstate(over="ignore"):
        rows = vectors_of(states).astype(dtype)
        status = loop_of(game, "playouts", make_value_rows)(rows, scratch, settings, values)
    if status != DONE:
        raise error_for(status, game.name)
    return values


def make_value_rows(kernels: Kernels) -> Callable[..., int]:
    """Make ``value_rows(states, scratch, settings, values) -> DONE or an error`` of one game."""
    value_by_playouts = make_playouts(kernels)

    def value_rows(states: Any, scratch: Any, settings: Any, values: Any) -> Any:
        for row in range(len(states)):
            key = _ROLLOUT
            for i in range(states.shape[1]):
                key = extend_key_bits(key, np.uint64(states[row, i]))
            status = value_by_playouts(states[row], key, 0, scratch, settings, values[row])
            if status != DONE:
                return status
        return np.int64(DONE)

    return value_rows
