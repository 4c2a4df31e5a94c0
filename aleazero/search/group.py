"""What the compiled and the plain search offer to the code that drives them (``lockstep.py``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import State
from aleazero.search.result import TreeView


@dataclass(frozen=True)
class Leaves:
    """A batch of leaves for the evaluator."""

    observations: NDArray[np.float32]
    legal_masks: NDArray[np.bool_]
    states: Sequence[State] | None


class GrownTree(Protocol):
    """One tree of a group, read and touched up at its root."""

    @property
    def simulations(self) -> int:
        """Simulations that are done."""

    def kind(self) -> int:
        """The root's kind."""

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1."""

    def root_actions(self) -> tuple[Any, Any, Any, Any]:
        """Actions, visits, q (NaN where an action was not tried) and priors at the root, by action."""

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Visits and total by outcome of a chance root."""

    def root_value(self) -> NDArray[np.float64]:
        """The root's mean by player."""

    def in_flight(self) -> int:
        """Visits still counted as in flight: 0 between batches."""

    def view(self) -> TreeView:
        """The tree as it is now; a later search leaves it alone while somebody holds the view."""


class Group(Protocol):
    """Trees that are grown side by side, each by itself; their leaves meet in one batch."""

    statuses: NDArray[np.int64]
    """Where each tree stands."""
    seen: int
    """Where trees stood after they last went on, or failed since: one bit a status."""
    pauses: NDArray[np.int64]
    """Simulations after which each tree pauses. A pause falls between batches, so it does not change a search."""
    limits: NDArray[np.int64]
    """Simulations that each tree is to do."""

    @property
    def trees(self) -> Sequence[GrownTree]:
        """The trees."""

    def plant(self, place: int, state: State, seed: int) -> None:
        """Forget the tree at a place and begin one at a state, with the luck of a seed."""

    def advance(self) -> None:
        """Let each tree that may go on do so, until its leaves wait, or it ends, pauses or fails."""

    def waiting(self, with_states: bool) -> tuple[Leaves, NDArray[np.int32]]:
        """What the evaluator is to be asked, and which tree asks, by row; rows behind those fill the batch."""

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Answer the leaves of the trees that still wait, row by row."""

    def take_in(self, answer: Any, rows: int) -> bool:
        """Absorb an answer of so many rows at once, if it has the right form and can be used; whether that is so."""

    def renew_observations(self) -> None:
        """Write further observations into another array."""

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Blend noise into the priors at these roots, drawn by a key each."""

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error; its waiting leaves are let go of, as if their descents had not been."""

    def clear(self) -> None:
        """Forget every tree, and what was asked."""

    def error(self, place: int) -> Exception:
        """Why a tree failed."""
