"""Values of states between turns, by a value network or by tables. Terminal states have their final result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError, ConfigError, ContractError
from aleazero.games.base import TERMINAL, Game, find_bad_end
from aleazero.games.check_states import check_features
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.games.kit import kit_of
from aleazero.games.states import Rows
from aleazero.native.compile import loop_of
from aleazero.nets.checkpoint import load_tables, load_value_net
from aleazero.nets.outcome import Column, Outcome, feature_schema, feature_shape
from aleazero.nets.tables import TupleTables, require_board
from aleazero.nets.value_net import FlatNet, Floats

ExactColumns = Callable[[Rows], tuple[NDArray[np.float64], NDArray[np.bool_]]]
"""Returns columns of the outcome by player for rows of states, and whether they are known (``GameKit``)."""


class NetValues:
    """A value network together with its game. ``theta`` may be changed from outside."""

    def __init__(self, game: Game, net: FlatNet, theta: Floats, plies: int | None = None) -> None:
        self.game, self.net, self.theta = game, net, theta
        self.outcome = Outcome.of(game)
        self.plies = 1 if plies == 0 else plies  # sampled or planned, the states are the same
        """Number of plies to plan; None for complete turns."""
        self.samples_chance = plies == 0
        """Whether chance events were sampled in training, perhaps because they are too many to plan."""
        self.exact: ExactColumns | None = None
        """Exact results of some states, in place of those of the network."""

    @classmethod
    def load(cls, path: str | Path, game: Game) -> NetValues:
        """Load a value network that was trained on this game; with exact values if it was trained with them."""
        net, theta, about = load_value_net(path, game, feature_shape(game), feature_schema(game))
        plies = about.training.get("plies")
        values = cls(game, net, theta, plies)
        try:
            require_phases(net.config.phases, game)
            if about.training.get("exact"):
                values.exact = exact_columns_of(game)
        except ConfigError as error:
            raise CheckpointError(f"{path}: {error}") from None
        return values

    def see(self, states: Rows, room: Floats | None = None) -> SeenStates:
        """Compute the inputs of the network for states between turns; in ``room`` (states, F), if it is given."""
        return SeenStates(self.game, self.net.shape.features, states, self.outcome.margin, room)

    def columns(self, ends: SeenStates) -> NDArray[np.float64]:
        """Return the columns of the outcome by player."""
        outcome = self.outcome
        columns = np.empty((len(ends.over), len(outcome.columns)))
        live: Any = ~ends.over
        over = ends.over
        if live.any():
            if 16 * np.count_nonzero(over) < len(over):
                live = slice(None)  # faster than a copy of the others; the few terminal states are overwritten below
            predicted = self.net.forward(self.theta, ends.features[live], ends.phases[live]).astype(np.float64)
            columns[live] = outcome.by_player(predicted, ends.viewers[live])
            if outcome.kind == "score":
                columns[live] += ends.returns[live]
        if over.any():
            columns[over] = outcome.at_end(ends.returns[over], ends.points[over])
        if self.exact is not None:
            found, known = self.exact(ends.states)
            columns[known] = found[known]
        return columns

    def values_by_player(self, states: Rows, margin_weight: float) -> NDArray[np.float64]:
        """Return the value of states between turns to each player, shape (states, players)."""
        return self.outcome.values_by_player(self.columns(self.see(states)), margin_weight)


class TableValues:
    """N-tuple tables together with their game, with the interface of ``NetValues``."""

    plies: int | None = None

    def __init__(self, game: Game, tuples: TupleTables) -> None:
        self.game, self.tuples = require_board(game, tuples.shape), tuples
        self.outcome = Outcome("score", 1, (Column(name="score"),))

    @classmethod
    def load(cls, path: str | Path, game: Game) -> TableValues:
        """Load tables that were trained on this game."""
        return cls(game, load_tables(path, game))

    def see(self, states: NDArray[np.int64]) -> SeenStates:
        """Compute returns and ends of boards."""
        return SeenStates(self.game, self.game.observation_size, states, points=False)

    def columns(self, ends: SeenStates) -> NDArray[np.float64]:
        """Return the expected final score: the points so far plus the value of the tables."""
        rest = self.tuples.values(ends.states).astype(np.float64)
        return ends.returns + np.where(ends.over, 0.0, rest)[:, None]


class SeenStates:
    """States between turns as arrays: network inputs, viewers, returns, and whether the game is over."""

    def __init__(self, game: Game, features: int, states: Rows, points: bool, room: Floats | None = None) -> None:
        rows, players = len(states), game.num_players
        self.over = np.zeros(rows, np.bool_)
        self.viewers = np.zeros(rows, np.int64)
        self.phases = np.zeros(rows, np.int64)
        """Phase of each state; 0 if the game is over."""
        self.features = np.empty((rows, features), np.float32) if room is None else room
        """Inputs of the network; 0 if the game is over."""
        self.returns = np.zeros((rows, players))
        self.points = np.zeros((rows, players if points else 0))
        """Points of the players if the game is over; else 0."""
        if isinstance(game, KernelGame):
            self.states = np.ascontiguousarray(states, np.int64)  # the compiled loop takes no other type
            seen = (self.over, self.viewers, self.phases, self.features, self.returns, self.points)
            _see_of(game, points)(self.states, *seen)
        else:
            self.states = states
            self._see_objects()
        most = len(game.info.phases) - 1
        if rows and most and not 0 <= self.phases.min() <= self.phases.max() <= most:
            got = f"{self.phases.min()} to {self.phases.max()}"
            raise ContractError(f"{game.name}: phases are {got}, expected 0 to {most}")
        finals = self.returns[self.over]
        bad = find_bad_end(game.info, finals) if len(finals) else None
        if bad is not None:
            raise ContractError(f"{game.name}: a game ended with returns {finals[bad[0]].tolist()}, expected {bad[1]}")

    def _see_objects(self) -> None:
        for row, state in enumerate(self.states):
            self.over[row] = state.is_terminal()
            self.returns[row] = state.returns()
            self.viewers[row] = state.viewer()
            self.features[row] = 0.0
            if not self.over[row]:
                self.phases[row] = state.phase()
                self.features[row] = state.observation_tensor()


def exact_columns_of(game: Game) -> ExactColumns:
    """Return the exact results of some states of a game. Raises ConfigError if its kit has none."""
    make = kit_of(game).exact_columns
    if make is None:
        raise ConfigError(f"is true, expected false: {game!r} has no exact values between turns", field="exact")
    exact: ExactColumns = make()
    return exact


def require_phases(phases: int, game: Game) -> None:
    """Raise an error unless there is one network, or one network per phase of the game."""
    names = game.info.phases
    if phases not in (1, len(names)):
        expected = f"1 or {len(names)} ({', '.join(names)})" if len(names) > 1 else f"1: {game.name} has no phases"
        raise ConfigError(f"net.phases is {phases}, expected {expected}")


def _see_of(game: KernelGame, points: bool) -> Any:
    """Return the compiled ``see`` of a game.

    Compiled features have no bounds checks, so the features of some states are first checked in plain Python.
    """

    def make(kernels: Kernels) -> Any:
        check_features(game)
        return make_see(kernels, points)

    return loop_of(game, "ends", make, points)


def make_see(kernels: Kernels, points: bool) -> Any:
    """Make ``see(states, over, viewers, phases, features, returns, points)`` of a game."""
    kind_of, viewer_of, write_features, returns_of = kernels.kind, kernels.viewer, kernels.features, kernels.returns
    phase_of = kernels.phase
    points_of = kernels.uncompiled["points"] if points else kernels.returns

    def see(states: Any, over: Any, viewers: Any, phases: Any, features: Any, returns: Any, points_out: Any) -> int:
        for row in range(len(states)):
            state = states[row]
            over[row] = kind_of(state) == TERMINAL
            returns_of(state, returns[row])
            viewers[row] = viewer_of(state)
            if not over[row]:
                phases[row] = phase_of(state)
                write_features(state, viewers[row], features[row])
            else:
                if points_out.shape[1] > 0:
                    points_of(state, points_out[row])
                for i in range(features.shape[1]):
                    features[row, i] = 0.0
        return 0

    return see
