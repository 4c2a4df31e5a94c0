"""Played luck: the dice of a game that is really played, keyed by the event and not by what came before.

The same event of the same episode gives the same outcome whatever was played before it, so two players can be
compared on the same luck. It never reaches a search, which draws from streams of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from aleazero.errors import ConfigError
from aleazero.games.base import State
from aleazero.games.kernel import KernelState

MASK: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15
PLAYED: Final = 0x706C61796564  # "played": the name of this stream


def mix(z: int) -> int:
    """SplitMix64's finaliser: 64 bits in, 64 well-mixed bits out."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def stream_key(*parts: int) -> int:
    """One 64-bit key for a tuple of numbers; every part is mixed in at its place."""
    key = 0
    for part in parts:
        key = extend_key(key, part)
    return key


def extend_key(key: int, part: int) -> int:
    """The key of a tuple with one number more: that of the tuple, extended."""
    return mix((key + GOLDEN + part) & MASK)


def unit(bits: int) -> float:
    """The top 53 of 64 bits as a number in [0, 1)."""
    return (bits >> 11) * (1.0 / 9007199254740992.0)


def check_seed(seed: Any, name: str = "seed") -> None:
    """Refuse what is no seed; errors call it by name."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed <= MASK:
        raise ConfigError(f"is {seed!r}, expected 0 to 2^64 - 1", field=name)


def played_outcome(state: State, seed: int, count: int) -> int:
    """The outcome of a played chance event: the viewer's event number ``count`` in the episode ``seed``."""
    if isinstance(state, KernelState) and "played_outcome" in state.game.kernels.words:
        return int(state.game.kernels.words["played_outcome"](state.vector, seed, count))
    return state.sample_outcome(unit(stream_key(PLAYED, seed, state.viewer(), count)))


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
