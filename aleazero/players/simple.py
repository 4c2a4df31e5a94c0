"""Players without a search: one by chance, one by points, one that knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelState
from aleazero.games.luck import unit
from aleazero.oracles.judge import Judge, best_of
from aleazero.players.planning import PlanPlayer
from aleazero.players.player import Thinker, own_seed


class RandomPlayer(Thinker):
    """Any legal action, each with the same chance."""

    def choose(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """An action by lot."""
        return [
            legal[int(unit(own_seed(state, seed)) * len(legal))]
            for state, seed in zip(states, seeds, strict=True)
            for legal in [state.legal_actions()]
        ]


class OraclePlayer(Thinker):
    """The action of the highest exact value; of those that tie, the lowest id."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def choose(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """The best actions."""
        return [best_of(self._judge.action_values(state))[0] for state in states]


def greedy_player(game: Game) -> PlanPlayer:
    """The most that this turn can bring, expected exactly, with no thought of the next."""
    return PlanPlayer(game, Points(), {"horizon": "turn"})


class Points:
    """Values a state by the return so far, and by the points on the board where returns count wins only."""

    sees_states = True
    afterstates = 1
    """ESTIMATE: the points at an afterstate count as they are."""

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Equal logits; values in seats relative to the viewer."""
        game = states[0].game
        values = np.array([np.roll(worth(state), -state.viewer()) for state in states])
        return np.zeros((len(states), game.num_actions)), values


def worth(state: State) -> NDArray[np.float64]:
    """The return so far, by player, and what the game's own ``points`` say."""
    returns = np.array(state.returns())
    if isinstance(state, KernelState) and "points" in state.game.kernels.words:
        points = np.zeros(len(returns))
        state.game.kernels.words["points"](state.vector, points)
        returns += points
    return returns
