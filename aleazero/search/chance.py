"""Chance: which outcome a visit meets, and whether it is stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import PROBABILITY_TOLERANCE
from aleazero.games.kernel import Kernels
from aleazero.search.borrow import seldom
from aleazero.search.streams import extend_key_bits, rank_at
from aleazero.search.tree import EDGES, LARGEST_ID, SLACK, TIES_KEY, Scratch, Settings, Tree, new_edge

BAD_OUTCOME: Final = -1
"""Probabilities that do not sum to 1, or outcomes that a game without ``sample`` cannot list."""


def make_draw(kernels: Kernels) -> Callable[[Any, float, Scratch], Any]:
    """How this game turns a number in [0, 1) into an outcome: by its own ``sample``, or by its list."""
    if kernels.sample is not None:
        sample = kernels.sample

        def draw(state: Any, u: float, scratch: Scratch) -> Any:
            outcome = np.int64(sample(state, u))
            return outcome if 0 <= outcome <= LARGEST_ID else np.int64(BAD_OUTCOME)

        return draw

    outcomes = kernels.outcomes

    def draw_listed(state: Any, u: float, scratch: Scratch) -> Any:
        count = outcomes(state, scratch.ids, scratch.probabilities)
        if count < 1 or count > len(scratch.ids) - SLACK:
            return np.int64(BAD_OUTCOME)
        total = 0.0
        drawn = np.int64(BAD_OUTCOME)
        for i in range(count):
            if scratch.probabilities[i] < 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
                return np.int64(BAD_OUTCOME)
            total += scratch.probabilities[i]
            if drawn == BAD_OUTCOME and u < total:
                drawn = scratch.ids[i]
        if abs(total - 1.0) > PROBABILITY_TOLERANCE:
            return np.int64(BAD_OUTCOME)
        return scratch.ids[count - 1] if drawn == BAD_OUTCOME else drawn

    return draw_listed


def make_table_maker(kernels: Kernels) -> Callable[[Tree, Scratch, Settings, Any, Any], Any]:
    """How this game lists a chance node's outcomes in the tree."""
    outcomes = kernels.outcomes

    @seldom
    def make_table(tree: Tree, scratch: Scratch, settings: Settings, n: Any, reserve: Any) -> Any:
        """Give a chance node the table of its outcomes; MADE, or what is in the way."""
        listed = outcomes(tree.states[n], scratch.ids, scratch.probabilities)
        if listed < 0:
            return UNLISTED
        if listed > len(scratch.ids) - SLACK:
            return BAD_OUTCOME
        first = tree.counters[EDGES]
        if first + listed + reserve > len(tree.edges):
            return NO_EDGES_LEFT
        total = 0.0
        for i in range(listed):
            if scratch.probabilities[i] < 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
                return BAD_OUTCOME
            new_edge(tree, first + i, scratch.ids[i], scratch.probabilities[i])
            total += scratch.probabilities[i]
        if listed < 1 or abs(total - 1.0) > PROBABILITY_TOLERANCE:
            return BAD_OUTCOME
        tree.counters[EDGES] = first + listed
        node = tree.nodes[n]
        node.first_edge = first
        node.num_edges = listed
        node.exact = 1 if listed <= settings.exact_up_to else 0
        return MADE

    return make_table


MADE: Final = 0
UNLISTED: Final = -2
NO_EDGES_LEFT: Final = -3


def pick_from_table(tree: Tree, settings: Settings, n: Any, u: Any) -> Any:
    """The outcome that a visit meets, as a place in the table."""
    node = tree.nodes[n]
    if node.exact or settings.stratified:
        key = extend_key_bits(tree.luck[TIES_KEY], np.uint64(n))
        return largest_deficit(tree.edges, node.first_edge, node.num_edges, key)
    return by_share(tree.edges, node.first_edge, node.num_edges, u)


@seldom
def by_share(edges: Any, first: Any, count: Any, u: Any) -> Any:
    """The outcome whose share of [0, 1) holds u."""
    below = 0.0
    for slot in range(count):
        below += edges[first + slot].prior
        if u < below:
            return np.int64(slot)
    return np.int64(count - 1)


@seldom
def largest_deficit(edges: Any, first: Any, count: Any, key: Any) -> Any:
    """The outcome whose picks fall furthest behind its probability; ties go by an order of the node's own."""
    picks = 1
    for e in range(first, first + count):
        picks += edges[e].visits + edges[e].in_flight
    best = 0
    best_deficit = -math.inf
    best_rank = np.uint64(0)
    for slot in range(count):
        edge = edges[first + slot]
        deficit = edge.prior * picks - (edge.visits + edge.in_flight)
        if deficit < best_deficit:
            continue
        rank = rank_at(key, slot)
        if deficit > best_deficit or rank > best_rank:
            best = slot
            best_deficit = deficit
            best_rank = rank
    return np.int64(best)


def may_store(tree: Tree, settings: Settings, n: Any) -> Any:
    """Whether widening leaves room for one more stored outcome; the visit that asks is in flight already."""
    node = tree.nodes[n]
    if not settings.widening or node.exact:
        return True
    visits = float(node.visits + node.in_flight)
    room = math.ceil(settings.widening_c * math.pow(visits, settings.widening_alpha))
    return node.num_children < min(settings.max_children, room)
