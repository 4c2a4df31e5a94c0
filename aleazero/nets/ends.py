"""States between turns, as a value network sees them."""

from __future__ import annotations

from typing import Any

import numpy as np

from aleazero.errors import ContractError
from aleazero.games.base import TERMINAL, Game, find_bad_end
from aleazero.games.check import check_features
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.games.states import Rows
from aleazero.search.compile import compile_loop


class Ends:
    """What there is to see of states between turns."""

    def __init__(self, game: Game, features: int, states: Rows, points: bool) -> None:
        rows, players = len(states), game.num_players
        self.over = np.zeros(rows, np.bool_)
        self.viewers = np.zeros(rows, np.int64)
        self.phases = np.zeros(rows, np.int64)
        """0 where the game is over."""
        self.features = np.zeros((rows, features), np.float32)
        self.returns = np.zeros((rows, players))
        self.points = np.zeros((rows, players if points else 0))
        if isinstance(game, KernelGame):
            self.states = np.ascontiguousarray(states, np.int64)  # compiled for nothing else
            seen = (self.over, self.viewers, self.phases, self.features, self.returns, self.points)
            _look_of(game, points)(self.states, *seen)
        else:
            self.states = states
            self._look_at_objects()
        most = len(game.info.phases) - 1
        if rows and most and not 0 <= self.phases.min() <= self.phases.max() <= most:
            got = f"{self.phases.min()} to {self.phases.max()}"
            raise ContractError(f"{game.name}: phases are {got}, expected 0 to {most}")
        finals = self.returns[self.over]
        bad = find_bad_end(game.info, finals) if len(finals) else None
        if bad is not None:
            raise ContractError(f"{game.name}: a game ended with returns {finals[bad[0]].tolist()}, expected {bad[1]}")

    def _look_at_objects(self) -> None:
        for row, state in enumerate(self.states):
            self.over[row] = state.is_terminal()
            self.returns[row] = state.returns()
            self.viewers[row] = state.viewer()
            if not self.over[row]:
                self.phases[row] = state.phase()
                self.features[row] = state.observation_tensor()


def _look_of(game: KernelGame, points: bool) -> Any:
    """A game's compiled look at states between turns, made once per game.

    Compiled features have no bounds checks, so some are written in plain Python first.
    """
    made = getattr(game, "_ends_look", None)
    if made is None:
        check_features(game)
        made = compile_loop(make_look(game.kernels, points), f"{game.name}_ends")
        game._ends_look = made  # type: ignore[attr-defined]
    return made


def make_look(kernels: Kernels, points: bool) -> Any:
    """The look of one game: ``look(states, over, viewers, phases, features, returns, points)``."""
    kind_of, viewer_of, tell, returns_of = kernels.kind, kernels.viewer, kernels.features, kernels.returns
    phase_of = kernels.phase
    points_of = kernels.words["points"] if points else kernels.returns

    def look(states: Any, over: Any, viewers: Any, phases: Any, features: Any, returns: Any, points_out: Any) -> int:
        for row in range(len(states)):
            state = states[row]
            over[row] = kind_of(state) == TERMINAL
            returns_of(state, returns[row])
            if points_out.shape[1] > 0:
                points_of(state, points_out[row])
            viewers[row] = viewer_of(state)
            if not over[row]:
                phases[row] = phase_of(state)
                tell(state, viewers[row], features[row])
        return 0

    return look
