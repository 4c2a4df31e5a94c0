"""Prefetch the memory of the next trees of a group while one tree is at work.

Between two rounds the evaluator fills the processor's caches, so the memory of every tree is no longer cached. The
recorded paths show what a backup will read. It is loaded in four steps, each one tree ahead of the next, because each
step reads what the step before has loaded.
"""

from __future__ import annotations

from typing import Any, Final

from aleazero.native.compile import not_inlined, prefetch
from aleazero.search.status import ANSWERED
from aleazero.search.tree.arrays import CACHE_LINE, EDGE, IN_FLIGHT, NO_NODE, NUM_COUNTERS, InFlight, Tree

_COUNTERS_PER_LINE: Final = CACHE_LINE // 8
_EDGES_PER_LINE: Final = CACHE_LINE // EDGE.itemsize


def prefetch_next(trees: Tree, flights: InFlight, statuses: Any, first: Any, turn: Any) -> None:
    """Prefetch what the next trees will read when they absorb their evaluations."""
    count = len(statuses)
    if turn + 4 < count and statuses[(first + turn + 4) % count] == ANSWERED:
        prefetch_visits(trees.counters, flights, (first + turn + 4) % count)
    if turn + 3 < count and statuses[(first + turn + 3) % count] == ANSWERED:
        prefetch_nodes(trees, flights, (first + turn + 3) % count)
    if turn + 2 < count and statuses[(first + turn + 2) % count] == ANSWERED:
        prefetch_edges(trees, flights, (first + turn + 2) % count)
    if turn + 1 < count and statuses[(first + turn + 1) % count] == ANSWERED:
        prefetch_children(trees, flights, (first + turn + 1) % count)


def prefetch_visits(counters: Any, flights: InFlight, b: Any) -> None:
    """Prefetch the counters of a tree, and its visits with the beginnings of their paths."""
    for i in range(0, NUM_COUNTERS, _COUNTERS_PER_LINE):
        prefetch(counters, (b, i))
    for v in range(flights.visits.shape[1]):
        prefetch(flights.visits, (b, v))
        prefetch(flights.leaves, (b, v))
        prefetch(flights.paths, (b, v))


@not_inlined
def prefetch_nodes(trees: Tree, flights: InFlight, b: Any) -> None:
    """Prefetch the nodes of a tree's paths, and its leaves."""
    keeps_leaf_values = trees.leaf_values.shape[1] > 0
    for v in range(trees.counters[b, IN_FLIGHT]):
        visit = flights.visits[b, v]
        for step in range(visit.length):
            n = flights.paths[b, v, step, 0]
            prefetch(trees.nodes, (b, n))
            prefetch(trees.states, (b, n))
            if keeps_leaf_values:
                prefetch(trees.leaf_values, (b, n))
        for leaf in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
            n = flights.leaves[b, leaf].node
            if n != NO_NODE:
                prefetch(trees.nodes, (b, n))
                prefetch(trees.states, (b, n))


@not_inlined
def prefetch_edges(trees: Tree, flights: InFlight, b: Any) -> None:
    """Prefetch the edges of the nodes of a tree's paths."""
    for v in range(trees.counters[b, IN_FLIGHT]):
        for step in range(flights.visits[b, v].length):
            n = flights.paths[b, v, step, 0]
            if n != 0 or v == 0:
                node = trees.nodes[b, n]
                for e in range(node.first_edge, node.first_edge + node.num_edges, _EDGES_PER_LINE):
                    prefetch(trees.edges, (b, e))


@not_inlined
def prefetch_children(trees: Tree, flights: InFlight, b: Any) -> None:
    """Prefetch the children of the nodes of a tree's paths."""
    for v in range(trees.counters[b, IN_FLIGHT]):
        for step in range(flights.visits[b, v].length):
            n = flights.paths[b, v, step, 0]
            if n != 0 or v == 0:
                node = trees.nodes[b, n]
                for e in range(node.first_edge, node.first_edge + node.num_edges):
                    if trees.edges[b, e].visits > 0 and trees.edges[b, e].child != NO_NODE:
                        prefetch(trees.nodes, (b, trees.edges[b, e].child))
