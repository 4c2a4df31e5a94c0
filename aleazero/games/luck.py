"""Played luck: the dice of a game that is really played, keyed by the event and not by what came before.

The same event of the same episode gives the same outcome whatever was played before it, so two players can be
compared on the same luck. It never reaches a search, which draws from streams of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from aleazero.games.base import State
from aleazero.games.kernel import KernelState
from aleazero.native.random import GAME_DICE, stream_key, unit


def played_outcome(state: State, seed: int, count: int) -> int:
    """The outcome of a played chance event: the viewer's event number ``count`` in the episode ``seed``."""
    if isinstance(state, KernelState) and "played_outcome" in state.game.kernels.words:
        return int(state.game.kernels.words["played_outcome"](state.vector, seed, count))
    return state.sample_outcome(unit(stream_key(GAME_DICE, seed, state.viewer(), count)))


@dataclass
class PlayedLuck:
    """The luck of one played game, which counts each viewer's chance events."""

    seed: int
    counts: dict[int, int] = field(default_factory=dict)
    """Chance events so far, by viewer."""

    def draw(self, state: State, viewer: int | None = None) -> int:
        """The outcome of the chance event that is pending; ``viewer`` is the state's, where it is known already."""
        viewer = state.viewer() if viewer is None else viewer
        count = self.counts.get(viewer, 0)
        self.counts[viewer] = count + 1
        return played_outcome(state, self.seed, count)
