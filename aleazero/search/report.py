"""Report: what a tree has found at its root, written where Python reads it without a look at the tree."""

from __future__ import annotations

import math
from typing import Any

from aleazero.games.base import DECISION
from aleazero.native.compile import not_inlined
from aleazero.search.tree import Roots, Settings, Tree


def report(tree: Tree, roots: Roots, settings: Settings, b: Any) -> None:
    """Note the root's value and its actions."""
    root = tree.nodes[0]
    for p in range(len(tree.low)):
        roots.values[b, p] = root.value_sums[p] / max(1, root.visits)
    count = root.num_edges if root.kind == DECISION and root.num_edges > 0 else 0
    list_actions(tree.edges, root.first_edge, count, settings.open_loop, roots, b)


@not_inlined
def list_actions(edges: Any, first: Any, count: Any, open_loop: Any, roots: Roots, b: Any) -> None:
    """The root's actions, ascending: in open loop they appeared in another order, and their priors are weights."""
    weight = 0.0
    for slot in range(count):
        weight += edges[first + slot].prior
    if not open_loop or weight == 0.0:
        weight = 1.0
    for slot in range(count):
        edge = edges[first + slot]
        i = slot
        while i > 0 and roots.actions[b, i - 1] > edge.action:
            roots.actions[b, i] = roots.actions[b, i - 1]
            roots.visits[b, i] = roots.visits[b, i - 1]
            roots.q[b, i] = roots.q[b, i - 1]
            roots.priors[b, i] = roots.priors[b, i - 1]
            i -= 1
        roots.actions[b, i] = edge.action
        roots.visits[b, i] = edge.visits
        roots.q[b, i] = edge.total / edge.visits if edge.visits > 0 else math.nan
        roots.priors[b, i] = edge.prior / weight
    roots.counts[b] = count
