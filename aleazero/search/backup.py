"""Backup: a leaf's value goes up its recorded path, to every player's account; no signs are flipped."""

from __future__ import annotations

from typing import Any

import numpy as np

from aleazero.search.streams import ROOT_EVALUATION
from aleazero.search.tree import NO_EDGE, SIMULATIONS, Batch, Settings, Tree

_ROOT = np.uint64(ROOT_EVALUATION)


def backup(tree: Tree, batch: Batch, settings: Settings, row: Any, value: Any) -> None:
    """Add a value vector to the nodes of a path, and the mover's part of it to the edges."""
    players = tree.totals.shape[1]
    for step in range(batch.lengths[row]):
        n = batch.path_nodes[row, step]
        slot = batch.path_slots[row, step]
        node = tree.nodes[n]
        node.visits += 1
        for p in range(players):
            tree.totals[n, p] += value[p]
        if slot != NO_EDGE:
            edge = tree.edges[node.first_edge + slot]
            edge.in_flight -= 1
            edge.visits += 1
            edge.total += value[node.mover]
            if settings.learns_range:
                mean = edge.total / edge.visits
                tree.low[node.mover] = min(tree.low[node.mover], mean)
                tree.high[node.mover] = max(tree.high[node.mover], mean)
    if batch.simulations[row] != _ROOT:
        tree.counters[SIMULATIONS] += 1


def release(tree: Tree, batch: Batch, row: Any) -> None:
    """Take back the in-flight counts of a descent that came to nothing."""
    for step in range(batch.lengths[row]):
        slot = batch.path_slots[row, step]
        if slot != NO_EDGE:
            tree.edges[tree.nodes[batch.path_nodes[row, step]].first_edge + slot].in_flight -= 1
