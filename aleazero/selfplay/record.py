"""The record of a self-play game: every step, and a sample per state."""

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
"""The arrays of a record: type and names of the dimensions."""


@dataclass(frozen=True, eq=False)
class EpisodeRecord:
    """A self-play game and its samples, in order of play."""

    game_number: int
    seed: int
    """Seed of the game dice, 64 bits."""
    start: str
    """Text of the initial state."""
    steps: NDArray[np.int32]
    """(k, 2) player (−1 for chance) and action or outcome of every step."""
    returns: NDArray[np.float64]
    """(players,) final returns by player."""
    step: NDArray[np.int32]
    """(n,) index of the step that follows the sampled state."""
    ply: NDArray[np.int32]
    """(n,) number of decisions before the sampled state."""
    afterstate: NDArray[np.bool_]
    """(n,) whether the sample is a chance node."""
    observations: NDArray[np.float32]
    """(n, size) observation of the viewer."""
    legal_masks: NDArray[np.bool_]
    """(n, actions) all false at afterstates."""
    policies: NDArray[np.float32]
    """(n, actions) fractions of visits; all zero if the weight is 0."""
    viewers: NDArray[np.int8]
    """(n,) player that views the state."""
    root_values: NDArray[np.float32]
    """(n, players) values found by the search, by seat relative to the viewer."""
    scores: NDArray[np.float32]
    """(n, players) final points, or returns if the game has no points, by seat relative to the viewer."""
    weights: NDArray[np.float32]
    """(n,) weight of the policy target; 0 for fast searches, forced moves and afterstates."""
    searched: NDArray[np.bool_]
    """(n,) whether there is a root value; if not, it is 0 and not a target."""

    def __post_init__(self) -> None:
        lengths: dict[str, int] = {"2": 2}
        for name, (kind, dims) in SHAPES.items():
            _check_array(f"game {self.game_number}: {name}", getattr(self, name), np.dtype(kind), dims, lengths)
        if self.game_number < 0:
            raise ReplayError(f"game_number is {self.game_number}, expected at least 0")
        if not 0 <= self.seed < 2**64:
            raise ReplayError(f"game {self.game_number}: seed is {self.seed}, expected 64 bits")

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.step)

    def equals(self, other: EpisodeRecord) -> bool:
        """Return whether two records are bit-identical."""
        return all(_same(getattr(self, field.name), getattr(other, field.name)) for field in fields(self))


def _check_array(what: str, array: Any, kind: np.dtype[Any], dims: tuple[str, ...], lengths: dict[str, int]) -> None:
    if not isinstance(array, np.ndarray):
        raise ReplayError(f"{what} is {type(array).__name__}, expected an array of {kind}")
    if array.dtype != kind:
        raise ReplayError(f"{what} has type {array.dtype}, expected {kind}")
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
    """Return the final points by player if wins are decided by points; else the returns."""
    points = points_of(state) if counts_wins(state.game) else None
    return np.array(state.returns()) if points is None else points
