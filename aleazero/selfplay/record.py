"""What a game of self-play leaves behind: every step, and a sample for each state that was looked at."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.games.base import State, counts_wins
from aleazero.games.kernel import points_of

SAMPLES: Final = "samples"
SHAPES: Final[dict[str, tuple[type[np.generic], tuple[str, ...]]]] = {
    "steps": (np.int32, ("steps", "2")),
    "returns": (np.float64, ("players",)),
    "step": (np.int32, (SAMPLES,)),
    "ply": (np.int32, (SAMPLES,)),
    "afterstate": (np.bool_, (SAMPLES,)),
    "observations": (np.float32, (SAMPLES, "observation")),
    "legal_masks": (np.bool_, (SAMPLES, "actions")),
    "policies": (np.float32, (SAMPLES, "actions")),
    "viewers": (np.int8, (SAMPLES,)),
    "root_values": (np.float32, (SAMPLES, "players")),
    "scores": (np.float32, (SAMPLES, "players")),
    "weights": (np.float32, (SAMPLES,)),
    "searched": (np.bool_, (SAMPLES,)),
}
"""The arrays of a record: their types, and the names of their lengths."""


@dataclass(frozen=True, eq=False)
class EpisodeRecord:
    """One game of self-play and its samples, in the order in which they were met."""

    game_number: int
    seed: int
    """Of its played luck; 64 bits."""
    start: str
    """The first state, as text."""
    steps: NDArray[np.int32]
    """(k, 2): the player (−1 for chance) and the action or outcome; the whole game."""
    returns: NDArray[np.float64]
    """(players,)"""
    step: NDArray[np.int32]
    """(n,) index of the step before which the sampled state stands."""
    ply: NDArray[np.int32]
    """(n,) decisions made before."""
    afterstate: NDArray[np.bool_]
    """(n,) whether the sample is a chance node."""
    observations: NDArray[np.float32]
    """(n, size) as the viewer sees it."""
    legal_masks: NDArray[np.bool_]
    """(n, actions), all false at afterstates."""
    policies: NDArray[np.float32]
    """(n, actions) shares of visits; zeros where the weight is 0, and at afterstates."""
    viewers: NDArray[np.int8]
    """(n,) absolute seats."""
    root_values: NDArray[np.float32]
    """(n, players) what the search found; seat 0 is the viewer's."""
    scores: NDArray[np.float32]
    """(n, players) the final points behind the returns, or the returns where nothing else is counted; seat 0 is the
    viewer's."""
    weights: NDArray[np.float32]
    """(n,) weight of the policy as a target; 0 where there is none: a fast search, a forced move, an afterstate."""
    searched: NDArray[np.bool_]
    """(n,) whether there is a root value; where not, it is 0 and no target."""

    def __post_init__(self) -> None:
        lengths: dict[str, int] = {"2": 2}
        for name, (kind, dims) in SHAPES.items():
            _check_array(f"game {self.game_number}: {name}", getattr(self, name), np.dtype(kind), dims, lengths)
        if self.game_number < 0:
            raise ReplayError(f"game_number is {self.game_number}, expected at least 0")
        if not 0 <= self.seed < 2**64:
            raise ReplayError(f"game {self.game_number}: seed is {self.seed}, expected 64 bits")

    def __len__(self) -> int:
        """How many samples there are."""
        return len(self.step)

    def equals(self, other: EpisodeRecord) -> bool:
        """Whether two records are the same to the bit."""
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))


def _check_array(what: str, array: Any, kind: np.dtype[Any], dims: tuple[str, ...], lengths: dict[str, int]) -> None:
    if not isinstance(array, np.ndarray):
        raise ReplayError(f"{what} is {type(array).__name__}, expected an array of {kind}")
    if array.dtype != kind:
        raise ReplayError(f"{what} is of {array.dtype}, expected {kind}")
    if array.ndim != len(dims):
        raise ReplayError(f"{what} has shape {array.shape}, expected ({', '.join(dims)})")
    for dim, length in zip(dims, array.shape, strict=True):
        if lengths.setdefault(dim, length) != length:
            raise ReplayError(f"{what} has shape {array.shape}, expected {lengths[dim]} for {dim}")


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(one.shape == other.shape and one.tobytes() == other.tobytes())
    return bool(one == other)


def final_scores(state: State) -> NDArray[np.float64]:
    """The points behind wins and losses, by player, where the game tells them; else the returns."""
    points = points_of(state) if counts_wins(state.game) else None
    return np.array(state.returns()) if points is None else points
