"""Protocols of a group of trees, which the compiled and the plain search implement, and ``driver.py`` drives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import State
from aleazero.search.result import TreeView


@dataclass(frozen=True)
class LeafBatch:
    """Leaves for the evaluator, one row each. Rows after the last leaf fill the batch."""

    observations: NDArray[np.float32]
    legal_masks: NDArray[np.bool_]
    states: Sequence[State] | None


class TreeHandle(Protocol):
    """One tree of a group: its root can be read, and changed before the first simulation."""

    @property
    def simulations(self) -> int:
        """Number of simulations that are backed up."""

    def kind(self) -> int:
        """Return the root's kind."""

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1 (open loop: mean 1)."""

    def root_actions(self) -> tuple[Any, Any, Any, Any]:
        """Return actions (ascending), visits, q (NaN for actions without visits) and priors at the root."""

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Return visits and value sums by outcome of a chance root."""

    def root_value(self) -> NDArray[np.float64]:
        """Return the root's mean by player."""

    def in_flight(self) -> int:
        """Return the visits still counted as in flight: 0 between batches."""

    def view(self) -> TreeView:
        """Return a view of the tree as it is now. It stays valid when the tree is replaced."""


class Group(Protocol):
    """Trees that grow independently of each other and share the batches of an evaluator."""

    statuses: NDArray[np.int64]
    """Status of each tree, by ``search/status.py``."""
    seen: int
    """Set of the statuses after the last ``advance``, and of failures since, one bit per status."""
    pauses: NDArray[np.int64]
    """Simulations after which each tree pauses. It pauses between batches, so pauses do not change results."""
    limits: NDArray[np.int64]
    """Simulations that each tree runs."""

    @property
    def trees(self) -> Sequence[TreeHandle]:
        """The trees."""

    def start_tree(self, place: int, state: State, seed: int) -> None:
        """Replace the tree at a place by one that starts at a state, with the random streams of a seed."""

    def advance(self) -> None:
        """Let each tree that may continue do so, until its leaves wait, or it ends, pauses or fails."""

    def waiting(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int32]]:
        """Return the leaves to evaluate, and the tree of each row. Rows after those fill the batch."""

    def absorb(
        self, logits: NDArray[np.float64], values: NDArray[np.float64], exact: NDArray[np.bool_] | None = None
    ) -> None:
        """Give the evaluations, by row, to the trees that still wait; ``exact``: rows whose values are exact."""

    def try_absorb(self, answer: Any, rows: int) -> bool:
        """Check and absorb an evaluator's answer in one step; False, with nothing absorbed, if it is not valid."""

    def renew_observations(self) -> None:
        """Write the next observations into a new array, because the evaluator kept the present one."""

    def mix_noise(self, places: list[int], keys: list[int]) -> None:
        """Mix noise into the priors at these roots, each drawn from the stream with its key."""

    def fail(self, place: int, error: Exception) -> None:
        """End a tree with an error. Its waiting visits are removed, as if they had not started."""

    def clear(self) -> None:
        """Remove all trees and all requests to the evaluator."""

    def error(self, place: int) -> Exception:
        """Return the error with which a tree ended."""
