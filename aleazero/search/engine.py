"""What both searches offer to the loop that drives them (``search.py``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import State
from aleazero.search.export import TreeNode

# What ``advance`` stopped for.
DONE: Final = 0
WAITING: Final = 1
FULL: Final = 2
EVALUATIONS_SPENT: Final = 3
PAUSED: Final = 4

MAX_CHANCE_RUN: Final = 256
"""More chance events than this in a row, and the game is taken to be in a loop."""


@dataclass(frozen=True)
class Leaves:
    """A batch of leaves for the evaluator."""

    observations: NDArray[np.float32]
    legal_masks: NDArray[np.bool_]
    states: list[State] | None


@dataclass(frozen=True)
class Counts:
    """Sizes of a tree."""

    nodes: int
    depth: int
    expansions: int
    chance_nodes: int
    chance_visits: int
    chance_children: int
    outcome_counts: dict[int, int]
    collisions: int
    transient: int
    blocked: int
    exact_expansions: int
    tree_bytes: int


class TreeView(Protocol):
    """A searched tree, to be read by people."""

    def root(self) -> TreeNode:
        """The root, as a node of the exported tree."""


class Engine(Protocol):
    """One tree that can be grown, step by step."""

    @property
    def simulations(self) -> int:
        """Simulations that are done."""

    @property
    def evaluations(self) -> int:
        """Leaves that were evaluated, the root among them."""

    def reset(self, state: State, seed: int) -> None:
        """Forget the tree and start from a state, with the luck of a seed."""

    def advance(self, pause: int) -> int:
        """Simulate to the end, or until leaves wait, or a limit is reached, or ``pause`` simulations are done.

        A pause falls between batches, so where it falls does not change the search.
        """

    def waiting(self, with_states: bool) -> Leaves:
        """What the evaluator is to be asked."""

    def absorb(self, logits: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """Take the evaluator's answer."""

    def abandon(self) -> None:
        """Let go of the waiting leaves, as if their descents had not been."""

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1."""

    def mix_noise(self, noise: NDArray[np.float64]) -> None:
        """Blend noise into the root's priors."""

    def root_edges(self) -> tuple[Any, Any, Any, Any]:
        """Actions, visits, totals and priors at the root."""

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Visits and total by outcome of a chance root."""

    def root_value(self) -> NDArray[np.float64]:
        """The root's mean by player."""

    def counts(self) -> Counts:
        """Sizes of the tree."""

    def in_flight(self) -> int:
        """Visits still counted as in flight: 0 between batches."""

    def view(self) -> TreeView:
        """The tree as it is now; a later search leaves it alone while somebody holds the view."""
