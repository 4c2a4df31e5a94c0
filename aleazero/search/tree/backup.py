"""Back up: add the value of a visit to the nodes and edges of its recorded path.

Values are vectors with one number per player, so no signs are flipped. If values are backed up as sampled, every node
of the path gets the visit's value. If they are backed up as expectations, every node of the path is valued again from
its children, from the leaf to the root. A leaf is not on the path: ``finish_visit`` in ``loop.py`` adds its value.
"""

from __future__ import annotations

from typing import Any

from aleazero.games.base import CHANCE, DECISION
from aleazero.native.compile import not_inlined
from aleazero.search.tree.arrays import NO_EDGE, NO_NODE, InFlight, LoopSettings, Tree


def backup_sample(tree: Tree, flight: InFlight, settings: LoopSettings, v: Any, value: Any) -> None:
    """Add a value to the nodes of a path, and the mover's part of it to the edges of decisions.

    If the range by which values are scaled is learned, it is widened to the means of these edges.
    """
    for step in range(flight.visits[v].length):
        node = tree.nodes[count_step(tree, flight, v, step)]
        for p in range(len(value)):
            node.value_sums[p] += value[p]
        if node.kind == DECISION:
            mover = node.mover
            edge = tree.edges[node.first_edge + flight.paths[v, step, 1]]
            if settings.first_play_logits and edge.visits == 1:
                edge.total = 0.0
            edge.total += value[mover]
            if settings.learns_range:
                mean = edge.total / edge.visits
                tree.low[mover] = min(tree.low[mover], mean)
                tree.high[mover] = max(tree.high[mover], mean)


@not_inlined
def backup_expectation(tree: Tree, flight: InFlight, v: Any, value: Any) -> None:
    """Value the nodes of a path from their children, from the leaf to the root; ``value`` is working memory."""
    for back in range(flight.visits[v].length):
        n = count_step(tree, flight, v, flight.visits[v].length - 1 - back)
        if tree.nodes[n].kind == CHANCE:
            expected_value(tree, n, value)
            # Means are read as sum / visits, so the sum is set to match.
            for p in range(len(value)):
                tree.nodes[n].value_sums[p] = value[p] * tree.nodes[n].visits
        else:
            sum_actions(tree, n)


def count_step(tree: Tree, flight: InFlight, v: Any, step: Any) -> Any:
    """Turn a step of a visit from in flight to visited, at its node and edge. Returns the node."""
    n = flight.paths[v, step, 0]
    slot = flight.paths[v, step, 1]
    node = tree.nodes[n]
    node.visits += 1
    node.in_flight -= 1
    if slot != NO_EDGE:
        edge = tree.edges[node.first_edge + slot]
        edge.in_flight -= 1
        edge.visits += 1
    return n


def expected_value(tree: Tree, n: Any, value: Any) -> None:
    """Write the value of a chance node: the mean of its outcomes evaluated so far, weighted by probability.

    An outcome that is not stored has the mean of its transient evaluations, until it is stored and visited. The others
    have the evaluator's value of the node, or the mean of those that were evaluated if there is none.
    """
    node = tree.nodes[n]
    mass = 0.0
    for p in range(len(value)):
        value[p] = 0.0
    slot = node.first_in_list  # in the order of the list: rounding then does not depend on the order of visits
    while slot != NO_EDGE:
        edge = tree.edges[node.first_edge + slot]
        if edge.child != NO_NODE and tree.nodes[edge.child].visits > 0:
            for p in range(len(value)):
                value[p] += edge.prior * (tree.nodes[edge.child].value_sums[p] / tree.nodes[edge.child].visits)
            mass += edge.prior
        elif edge.visits > 0:  # every visit so far was transient
            for p in range(len(value)):
                value[p] += edge.prior * (tree.transient_sums[node.first_edge + slot, p] / edge.visits)
            mass += edge.prior
        slot = edge.next_in_list
    for p in range(len(value)):
        if node.evaluated:
            value[p] += (1.0 - mass) * tree.leaf_values[n, p]
        else:
            value[p] /= mass


def sum_actions(tree: Tree, n: Any) -> None:
    """Set the value sums of a decision: its own evaluation, plus the mean of each action times its visits."""
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
def learn_range(tree: Tree, flight: InFlight, v: Any) -> None:
    """Widen the range by which values are scaled to the means of the path's edges."""
    for step in range(flight.visits[v].length):
        node = tree.nodes[flight.paths[v, step, 0]]
        if node.kind == DECISION:
            edge = tree.edges[node.first_edge + flight.paths[v, step, 1]]
            mean = edge.total / edge.visits
            tree.low[node.mover] = min(tree.low[node.mover], mean)
            tree.high[node.mover] = max(tree.high[node.mover], mean)


@not_inlined
def release(tree: Tree, flight: InFlight, v: Any) -> None:
    """Remove a visit that is not backed up from all counts in flight."""
    visit = flight.visits[v]
    for step in range(visit.length):
        node = tree.nodes[flight.paths[v, step, 0]]
        node.in_flight -= 1
        slot = flight.paths[v, step, 1]
        if slot != NO_EDGE:
            tree.edges[node.first_edge + slot].in_flight -= 1
    for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
        count_outcome(tree, flight, v, i, 0)


def count_outcome(tree: Tree, flight: InFlight, v: Any, i: Any, visits: Any) -> None:
    """Turn the outcome of a leaf from in flight to visited (1) or released (0), if the path does not contain it."""
    slot = flight.leaves[i].outcome_slot
    if slot != NO_EDGE:
        above = tree.nodes[flight.paths[v, flight.visits[v].length - 1, 0]]
        edge = tree.edges[above.first_edge + slot]
        edge.in_flight -= 1
        edge.visits += visits
