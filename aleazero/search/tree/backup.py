"""Backup: a visit's value goes up its recorded path, to every player's account; no signs are flipped.

In ``sample`` mode every node takes the value as it came. In ``expectation`` mode every node of the path is valued
anew, from the bottom up, from what lies below it.
"""

from __future__ import annotations

from typing import Any

from aleazero.games.base import CHANCE, DECISION
from aleazero.native.compile import not_inlined
from aleazero.search.tree.arrays import NO_EDGE, NO_NODE, Batch, Settings, Tree


def count(tree: Tree, batch: Batch, v: Any, step: Any) -> Any:
    """A step of a visit is no longer in flight: its node and edge are visited. The node."""
    n = batch.paths[v, step, 0]
    slot = batch.paths[v, step, 1]
    node = tree.nodes[n]
    node.visits += 1
    node.in_flight -= 1
    if slot != NO_EDGE:
        edge = tree.edges[node.first_edge + slot]
        edge.in_flight -= 1
        edge.visits += 1
    return n


def backup_sample(tree: Tree, batch: Batch, settings: Settings, v: Any, value: Any) -> None:
    """Add a value to the nodes of a path, and the mover's part of it to the edges of decisions.

    If the range by which values are scaled is learned, it is widened to the means of these edges on the way.
    """
    for step in range(batch.visits[v].length):
        node = tree.nodes[count(tree, batch, v, step)]
        for p in range(len(value)):
            node.value_sums[p] += value[p]
        if node.kind == DECISION:
            mover = node.mover
            edge = tree.edges[node.first_edge + batch.paths[v, step, 1]]
            edge.total += value[mover]
            if settings.learns_range:
                mean = edge.total / edge.visits
                tree.low[mover] = min(tree.low[mover], mean)
                tree.high[mover] = max(tree.high[mover], mean)


@not_inlined
def backup_expectation(tree: Tree, batch: Batch, v: Any, value: Any) -> None:
    """Value the nodes of a path anew; ``value`` is room to work in."""
    for back in range(batch.visits[v].length):
        n = count(tree, batch, v, batch.visits[v].length - 1 - back)
        if tree.nodes[n].kind == CHANCE:
            expected_value(tree, n, value)
            for p in range(len(value)):
                tree.nodes[n].value_sums[p] = value[p] * tree.nodes[n].visits
        else:
            sum_actions(tree, n)


def expected_value(tree: Tree, n: Any, value: Any) -> None:
    """The mean of the outcomes evaluated so far, weighted by probability.

    An outcome that is not stored has the mean of its own transient evaluations, until it is stored and visited. The
    others have the evaluator's estimate of the node, or without one the mean of those that were evaluated.
    """
    node = tree.nodes[n]
    mass = 0.0
    for p in range(len(value)):
        value[p] = 0.0
    slot = node.first_listed
    while slot != NO_EDGE:
        edge = tree.edges[node.first_edge + slot]
        if edge.child != NO_NODE and tree.nodes[edge.child].visits > 0:
            for p in range(len(value)):
                value[p] += edge.prior * (tree.nodes[edge.child].value_sums[p] / tree.nodes[edge.child].visits)
            mass += edge.prior
        elif edge.visits > 0:  # every pick so far was transient
            for p in range(len(value)):
                value[p] += edge.prior * (tree.transient_sums[node.first_edge + slot, p] / edge.visits)
            mass += edge.prior
        slot = edge.next_listed
    for p in range(len(value)):
        if node.evaluated:
            value[p] += (1.0 - mass) * tree.leaf_values[n, p]
        else:
            value[p] /= mass


def sum_actions(tree: Tree, n: Any) -> None:
    """A decision's total: its own evaluation, and its actions' values as often as they were visited."""
    node = tree.nodes[n]
    players = len(tree.low)
    for p in range(players):
        node.value_sums[p] = tree.leaf_values[n, p]
    for e in range(node.first_edge, node.first_edge + node.num_edges):
        edge = tree.edges[e]
        if edge.visits > 0:
            child = tree.nodes[edge.child]
            for p in range(players):
                node.value_sums[p] += edge.visits * (child.value_sums[p] / child.visits)
            edge.total = edge.visits * (child.value_sums[node.mover] / child.visits)


@not_inlined
def learn_range(tree: Tree, batch: Batch, v: Any) -> None:
    """Widen the range by which values are scaled to the means of the path's edges."""
    for step in range(batch.visits[v].length):
        node = tree.nodes[batch.paths[v, step, 0]]
        if node.kind == DECISION:
            edge = tree.edges[node.first_edge + batch.paths[v, step, 1]]
            mean = edge.total / edge.visits
            tree.low[node.mover] = min(tree.low[node.mover], mean)
            tree.high[node.mover] = max(tree.high[node.mover], mean)


@not_inlined
def release(tree: Tree, batch: Batch, v: Any) -> None:
    """Take back the counts of a descent that came to nothing."""
    visit = batch.visits[v]
    for step in range(visit.length):
        node = tree.nodes[batch.paths[v, step, 0]]
        node.in_flight -= 1
        slot = batch.paths[v, step, 1]
        if slot != NO_EDGE:
            tree.edges[node.first_edge + slot].in_flight -= 1
    for row in range(visit.first_row, visit.first_row + visit.num_rows):
        count_pick(tree, batch, v, row, 0)


def count_pick(tree: Tree, batch: Batch, v: Any, row: Any, visits: Any) -> None:
    """An outcome that was picked beside the path is no longer in flight."""
    slot = batch.rows[row].pick
    if slot != NO_EDGE:
        above = tree.nodes[batch.paths[v, batch.visits[v].length - 1, 0]]
        edge = tree.edges[above.first_edge + slot]
        edge.in_flight -= 1
        edge.visits += visits
