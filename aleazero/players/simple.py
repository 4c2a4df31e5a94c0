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
from aleazero.players.player import Allowed, Thinker, own_seed


class RandomPlayer(Thinker):
    """Any legal action, each with the same chance."""

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """An action by lot."""
        return [
            by_lot(some or state.legal_actions(), own_seed(state, seed))
            for state, seed, some in zip(states, seeds, allowed, strict=True)
        ]


def by_lot(actions: Sequence[int], key: int) -> int:
    """One of some actions, each with the same chance; ``key`` is 64 random bits."""
    return actions[int(unit(key) * len(actions))]


class OraclePlayer(Thinker):
    """The action of the highest exact value among those allowed; of those that tie, the lowest id."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The best actions."""
        return [self._best(state, some) for state, some in zip(states, allowed, strict=True)]

    def _best(self, state: State, allowed: Allowed) -> int:
        values = self._judge.action_values(state)
        return best_of(values if allowed is None else {action: values[action] for action in allowed})[0]


def greedy_player(game: Game) -> PlanPlayer:
    """The most that this turn can bring, expected exactly, with no thought of the next."""
    return GreedyPlayer(game, Points(), {"horizon": "turn"})


class GreedyPlayer(PlanPlayer):
    """Plans a turn over points, whose values are in no unit that a game's returns have: it explains nothing."""

    def explain(self, state: State, seed: int) -> None:
        """Return None."""


class Points:
    """Values a state by the return so far, and by the margin in points if the game's returns count wins only.

    The margin is the player's own points minus the mean of the others', so that points taken from another player count.
    """

    sees_states = True
    afterstates = 1
    """ESTIMATE: the points at an afterstate count as they are."""

    def __call__(self, states: Sequence[State]) -> tuple[Any, Any]:
        """Equal logits; values in seats relative to the viewer."""
        game = states[0].game
        values = np.array([np.roll(worth(state), -state.viewer()) for state in states])
        return np.zeros((len(states), game.num_actions)), values

    def ended(self, states: Sequence[State]) -> NDArray[np.float64]:
        """Values of the ends of a game, by player: the return stands in for the player's own points."""
        return np.array([worth(state) for state in states])


def worth(state: State) -> NDArray[np.float64]:
    """The return so far, by player, plus the player's own points minus the mean of the others'."""
    points = points_of(state)
    returns = np.array(state.returns())
    if points is None:
        return returns
    own = np.zeros_like(points) if state.is_terminal() else points
    others = (points.sum() - points) / max(1, len(points) - 1)
    found: NDArray[np.float64] = returns + own - others
    return found


def points_of(state: State) -> NDArray[np.float64] | None:
    """What the game's own ``points`` say, by player; None in a game that has none."""
    if not isinstance(state, KernelState) or "points" not in state.game.kernels.words:
        return None
    points = np.zeros(state.game.num_players)
    state.game.kernels.words["points"](state.vector, points)
    return points
