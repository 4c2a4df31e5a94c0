"""Game dice: the outcomes of chance events in a played game, derived from the seed and the event.

The same event of the same episode has the same outcome whatever was played before it, so two players can be compared
on the same dice. Searches have separate random streams and never see the game dice.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aleazero.games.base import State
from aleazero.games.kernel import KernelState
from aleazero.native.random import GAME_DICE, stream_key, unit


def played_outcome(state: State, seed: int, count: int) -> int:
    """Return the outcome of a chance event in a played game.

    Args:
        state: the state, a chance node.
        seed: seed of the episode.
        count: number of earlier chance events in the episode with the same viewer.

    Returns:
        An outcome id.
    """
    if isinstance(state, KernelState) and "played_outcome" in state.game.kernels.uncompiled:
        return int(state.game.kernels.uncompiled["played_outcome"](state.vector, seed, count))
    return state.sample_outcome(unit(stream_key(GAME_DICE, seed, state.viewer(), count)))


def roller_of(state: State) -> int | None:
    """Return the player that rolls at a chance node; None at other states."""
    if not state.is_chance_node():
        return None
    return int(state.game.kernels.to_play(state.vector)) if isinstance(state, KernelState) else state.viewer()


@dataclass
class GameDice:
    """The dice of one played game. They count the chance events of each viewer."""

    seed: int
    counts: dict[int, int] = field(default_factory=dict)
    """Number of chance events so far, by viewer."""

    def draw(self, state: State, viewer: int | None = None) -> int:
        """Return the outcome of a chance node; ``viewer`` is that of the state, if it is already known."""
        viewer = state.viewer() if viewer is None else viewer
        count = self.counts.get(viewer, 0)
        self.counts[viewer] = count + 1
        return played_outcome(state, self.seed, count)
