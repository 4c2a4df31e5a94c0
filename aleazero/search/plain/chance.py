"""Chance in the plain search: pick an outcome, decide whether it is stored, back up values, play out."""

from __future__ import annotations

import math

from aleazero.games.base import CHANCE, TERMINAL, State
from aleazero.games.kernel import sample_listed
from aleazero.native.random import TIES, bits_at, draw_at, extend_key, stream_key
from aleazero.search.config import ChanceConfig
from aleazero.search.evaluator import Rollout
from aleazero.search.plain.nodes import Edge, Node, Values, Visit
from aleazero.search.status import UNLISTED_OUTCOMES, error_for


def make_list(node: Node, state: State, config: ChanceConfig) -> None:
    """List the outcomes of a chance node with their probabilities."""
    if not state.outcomes_listed():
        raise error_for(UNLISTED_OUTCOMES, state.game.name)
    node.edges = [Edge(outcome, probability) for outcome, probability in state.chance_outcomes()]
    node.expand_all = len(node.edges) <= config.exact_up_to


def pick_outcome(node: Node, state: State, config: ChanceConfig, seed: int, u: float) -> tuple[int, Edge | None]:
    """Return the outcome that a visit takes, and its edge if the node has a list."""
    if node.edges is None:
        return state.sample_outcome(u), None
    if node.expand_all or config.pick == "stratified":
        edge = largest_deficit(node, seed)
    else:
        edge = node.edges[sample_listed([(i, edge.prior) for i, edge in enumerate(node.edges)], u)]
    return edge.action, edge


def largest_deficit(node: Node, seed: int) -> Edge:
    """Return the outcome whose picks are furthest below its probability. Ties are broken by ranks of the node."""
    assert node.edges is not None
    key = stream_key(TIES, seed, node.number)
    picks = 1 + sum(edge.visits + edge.in_flight for edge in node.edges)
    best, best_deficit, best_rank = node.edges[0], -math.inf, 0
    for place, edge in enumerate(node.edges):
        deficit = edge.prior * picks - (edge.visits + edge.in_flight)
        if deficit < best_deficit:
            continue
        rank = bits_at(key, place)
        if deficit > best_deficit or rank > best_rank:
            best, best_deficit, best_rank = edge, deficit, rank
    return best


def may_store(node: Node, config: ChanceConfig) -> bool:
    """Return whether progressive widening allows one more stored outcome."""
    if config.widening is None or node.expand_all:
        return True
    visits = node.visits + node.in_flight  # the visit is already in flight at the node
    room = math.ceil(config.widening.c * math.pow(visits, config.widening.alpha))
    return len(node.children) < min(config.widening.max_children, room)


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


def value_by_playouts(evaluator: Rollout, start: State, key: int, first: int = 0) -> list[float]:
    """Return the mean return of playouts by player. ``first`` is the number of the first one in the stream."""
    total = [0.0] * start.game.num_players
    for playout in range(first, first + evaluator.playouts):
        final = play_out(start.clone(), extend_key(key, playout), evaluator.max_steps)
        total = [a + b for a, b in zip(total, final, strict=True)]
    return [value / evaluator.playouts for value in total]


def play_out(state: State, key: int, max_steps: int) -> list[float]:
    """Play from a state to the end of the game, or for ``max_steps``, and return the returns. Changes the state."""
    for step in range(max_steps):
        kind = state.kind()
        if kind == TERMINAL:
            break
        u = draw_at(key, step)
        state._apply(state.sample_outcome(u) if kind == CHANCE else state.playout_action(u))
    return state.returns()
