"""Back up in the plain search: add the value of a visit to the nodes and edges of its path."""

from __future__ import annotations

from aleazero.games.base import CHANCE
from aleazero.search.plain.nodes import Edge, Node, Values, Visit


def backup_sample(visit: Visit, value: Values) -> None:
    """Add a value to the nodes of a path, and the mover's part of it to the edges of decisions."""
    for node, edge in visit.path:
        _count(node, edge)
        for player, x in enumerate(value):
            node.value_sums[player] += x
        if edge is not None and node.kind != CHANCE:
            edge.total += value[node.mover]
    _count_picks(visit)


def backup_expectation(visit: Visit) -> None:
    """Value the nodes of a path from their children, from the leaf to the root."""
    for node, edge in reversed(visit.path):
        _count(node, edge)
        if node.kind == CHANCE:
            node.value_sums = [value * node.visits for value in expected_value(node)]
        else:
            node.value_sums = sum_actions(node)
    _count_picks(visit)


def expected_value(node: Node) -> Values:
    """Return the value of a chance node: the mean of its outcomes evaluated so far, weighted by probability.

    An outcome that is not stored has the mean of its transient evaluations, until it is stored and visited. The others
    have the evaluator's value of the node, or the mean of those that were evaluated if there is none.
    """
    assert node.edges is not None
    players = len(node.value_sums)
    value, mass = [0.0] * players, 0.0
    for edge in node.edges:
        child = node.children.get(edge.action)
        if child is not None and child.visits:
            mean = child.mean()
        elif edge.visits:  # every visit so far was transient
            mean = [total / edge.visits for total in edge.transient]
        else:
            continue
        for player in range(players):
            value[player] += edge.prior * mean[player]
        mass += edge.prior
    if node.leaf_values is None:
        return [value[player] / mass for player in range(players)]
    return [value[player] + (1.0 - mass) * node.leaf_values[player] for player in range(players)]


def sum_actions(node: Node) -> Values:
    """Return the own evaluation of a decision plus the mean of each action times its visits; set the edges' totals."""
    assert node.leaf_values is not None
    total = list(node.leaf_values)
    for edge in node.edges or []:
        if edge.visits:
            (child,) = edge.children.values()
            mean = child.mean()
            for player, x in enumerate(mean):
                total[player] += edge.visits * x
            edge.total = edge.visits * mean[node.mover]
    return total


def _count(node: Node, edge: Edge | None) -> None:
    node.visits += 1
    node.in_flight -= 1
    if edge is not None:
        edge.visits += 1
        edge.in_flight -= 1


def _count_picks(visit: Visit) -> None:
    for edge in visit.picks:
        edge.in_flight -= 1
        edge.visits += 1
