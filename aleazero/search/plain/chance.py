"""Chance nodes of the plain search: list and pick outcomes, and decide whether an outcome is stored."""

from __future__ import annotations

import math

from aleazero.games.base import State
from aleazero.games.kernel import sample_listed
from aleazero.native.random import TIES, bits_at, stream_key
from aleazero.search.config import ChanceConfig
from aleazero.search.plain.nodes import Edge, Node
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
