"""One tree of a compiled group: what is touched up and read at its root."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import DECISION
from aleazero.search.compiled_view import CompiledView, running_sum
from aleazero.search.tree import EDGES, NODES, SIMULATIONS, TALLY, Tree


class CompiledTree:
    """A tree at a place of a group."""

    def __init__(self, group: Any, place: int) -> None:
        # A circle of references would keep the memory of searches that nobody holds.
        self._group, self._place = weakref.proxy(group), place

    @property
    def arrays(self) -> Tree:
        """The tree's arrays, as they are now; room for more may replace them."""
        tree: Tree = self._group.tree_at(self._place)
        return tree

    @property
    def simulations(self) -> int:
        """Simulations that are done."""
        return int(self._group.counters[self._place, SIMULATIONS])

    def kind(self) -> int:
        """The root's kind."""
        return int(self._group.nodes["kind"][self._place, 0])

    def restrict(self, actions: list[int]) -> None:
        """Drop the root's other actions; the priors of those left are scaled to sum to 1."""
        edges = self._root_slots()
        kept = edges[np.isin(edges["action"], actions)].copy()
        weight = running_sum(kept["prior"])
        kept["prior"] = kept["prior"] / weight if weight > 0 else 1.0 / len(kept)
        if not self._group.closed:
            kept["prior"] *= len(kept)
        edges[: len(kept)] = kept
        self._group.nodes[self._place, 0]["num_edges"] = len(kept)

    def _root_slots(self) -> Any:
        read, place = self._group.read, self._place
        first, count = (int(read.nodes[field][place, 0]) for field in ("first_edge", "num_edges"))
        return read.edges[place, first : first + (max(0, count) if self.kind() == DECISION else 0)]

    def root_actions(self) -> tuple[Any, Any, Any, Any]:
        """Actions, visits, q and priors at the root, by action, when the tree last stopped."""
        roots, place = self._group.roots, self._place
        here = place, slice(roots.counts[place])
        return roots.actions[here].copy(), roots.visits[here].copy(), roots.q[here].copy(), roots.priors[here].copy()

    def root_outcomes(self) -> dict[int, tuple[int, NDArray[np.float64]]]:
        """Visits and total by outcome of a chance root."""
        tree = self.arrays
        return {
            int(tree.nodes[n]["label"]): (int(tree.nodes[n]["visits"]), tree.nodes["value_sums"][n].copy())
            for n in self._make_view().children(0)
            if (tree.nodes[n]["kind"] == TALLY) != self._group.closed
        }

    def root_value(self) -> NDArray[np.float64]:
        """The root's mean by player, when the tree last stopped."""
        value: NDArray[np.float64] = self._group.roots.values[self._place].copy()
        return value

    def in_flight(self) -> int:
        """Visits still counted as in flight in the whole tree: 0 between batches."""
        tree = self.arrays
        nodes = tree.nodes["in_flight"][: tree.counters[NODES]].sum()
        return int(nodes + tree.edges["in_flight"][: tree.counters[EDGES]].sum())

    def view(self) -> CompiledView:
        """The tree as it is now; it stays so while somebody holds the view."""
        view = self._make_view()
        self._group.remember(self._place, view)
        return view

    def _make_view(self) -> CompiledView:
        return CompiledView(self._group.game, self._group.read, self._place, self._group.closed)
