"""Chance in the plain search: which outcome a visit meets, whether it is stored, and what chance nodes are worth."""

from __future__ import annotations

import math

from aleazero.errors import ConfigError
from aleazero.games.base import CHANCE, TERMINAL, State
from aleazero.native.random import TIES, bits_at, draw_at, extend_key, stream_key
from aleazero.search.config import ChanceConfig
from aleazero.search.evaluator import Rollout
from aleazero.search.plain.nodes import Edge, Node, Values, Visit


def make_table(node: Node, state: State, config: ChanceConfig) -> None:
    """List a chance node's outcomes with their probabilities, if the settings ask for it."""
    if not state.outcomes_listed():
        raise ConfigError(
            f"{state.game.name}: outcomes here are too many to list, expected chance settings without "
            f"pick=stratified, exact_up_to and backup=expectation (a game says so by lists_outcomes=False)"
        )
    node.edges = [Edge(outcome, probability) for outcome, probability in state.chance_outcomes()]
    node.exact = len(node.edges) <= config.exact_up_to


def pick_outcome(node: Node, state: State, config: ChanceConfig, seed: int, u: float) -> tuple[int, Edge | None]:
    """The outcome that a visit meets, and its place in the node's table, if there is one."""
    if node.edges is None:
        return state.sample_outcome(u), None
    if node.exact or config.pick == "stratified":
        edge = largest_deficit(node, seed)
    else:
        edge = node.edges[-1]
        below = 0.0
        for candidate in node.edges:
            below += candidate.prior
            if u < below:
                edge = candidate
                break
    return edge.action, edge


def largest_deficit(node: Node, seed: int) -> Edge:
    """The outcome whose picks fall furthest behind its probability; ties go by an order of the node's own."""
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
    """Whether widening leaves room for one more stored outcome."""
    if config.widening is None or node.exact:
        return True
    visits = node.visits + node.in_flight  # the visit that asks is in flight already
    room = math.ceil(config.widening.c * math.pow(visits, config.widening.alpha))
    return len(node.children) < min(config.widening.max_children, room)


def backup_sample(visit: Visit, value: Values) -> None:
    """Every node of the path takes the value as it came."""
    for node, edge in visit.path:
        _count(node, edge)
        for player, x in enumerate(value):
            node.total[player] += x
        if edge is not None and node.kind != CHANCE:
            edge.total += value[node.mover]
    _count_picks(visit)


def backup_expectation(visit: Visit) -> None:
    """Every node of the path is valued anew, from the bottom up, from what lies below it."""
    for node, edge in reversed(visit.path):
        _count(node, edge)
        if node.kind == CHANCE:
            node.total = [value * node.visits for value in expected_value(node)]
        else:
            node.total = decision_total(node)
    _count_picks(visit)


def expected_value(node: Node) -> Values:
    """The mean of the outcomes evaluated so far, weighted by probability.

    An outcome that is not stored has the mean of its own transient evaluations, until it is stored and visited. The
    others have the evaluator's estimate of the node, or without one the mean of those that were evaluated.
    """
    assert node.edges is not None
    players = len(node.total)
    value, mass = [0.0] * players, 0.0
    for edge in node.edges:
        child = node.children.get(edge.action)
        if child is not None and child.visits:
            mean = child.mean()
        elif edge.visits:  # every pick so far was transient
            mean = [total / edge.visits for total in edge.transient]
        else:
            continue
        for player in range(players):
            value[player] += edge.prior * mean[player]
        mass += edge.prior
    if node.own is None:
        return [value[player] / mass for player in range(players)]
    return [value[player] + (1.0 - mass) * node.own[player] for player in range(players)]


def decision_total(node: Node) -> Values:
    """The own evaluation, and the actions' values as often as they were visited; sets the edges' totals too."""
    assert node.own is not None
    total = list(node.own)
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
    """The mean return of playouts, the first of which has this number, by player."""
    total = [0.0] * start.game.num_players
    for playout in range(first, first + evaluator.playouts):
        final = play_out(start.clone(), extend_key(key, playout), evaluator.max_steps)
        total = [a + b for a, b in zip(total, final, strict=True)]
    return [value / evaluator.playouts for value in total]


def play_out(state: State, key: int, max_steps: int) -> list[float]:
    """The returns of a playout, which changes the state."""
    for step in range(max_steps):
        kind = state.kind()
        if kind == TERMINAL:
            break
        u = draw_at(key, step)
        state._apply(state.sample_outcome(u) if kind == CHANCE else state.playout_action(u))
    return state.returns()
