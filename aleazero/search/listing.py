"""Listed outcomes: a chance node's list, and which of it a visit meets.

A Yatzy roll has 252 outcomes, and most are never met: a list of edges would be dear to write and to walk. A node's
edges are the outcomes picked so far, in order of appearance, linked in the order of the game's list; that order is the
order of every sum. What was not picked is read from the game's own list, anew each time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits, rank_at
from aleazero.search.chance import BAD_OUTCOME, is_valid_list
from aleazero.search.tree import NO_EDGE, TIES_KEY, Scratch, Settings, Tree, new_edge, take_edges

MADE: Final = 0
UNLISTED: Final = -2
NO_EDGES_LEFT: Final = -3
FEW: Final = 4
"""Edges that a chance node first has room for."""


class Listing(NamedTuple):
    """How one game's chance nodes list their outcomes, and pick from the list."""

    make_list: Callable[..., Any]
    pick: Callable[..., Any]


def make_listing(kernels: Kernels) -> Listing:
    """The listing of one game."""
    outcomes = kernels.outcomes

    @not_inlined
    def make_list(tree: Tree, scratch: Scratch, settings: Settings, n: Any, reserve: Any) -> Any:
        """Look at the list of a chance node's outcomes, and give an exact one all its edges; MADE, or what is wrong."""
        listed = outcomes(tree.states[n], scratch.ids, scratch.probabilities)
        if listed < 0:
            return UNLISTED
        if not is_valid_list(scratch, listed):
            return BAD_OUTCOME
        node = tree.nodes[n]
        exact = listed <= settings.exact_up_to
        if exact and not make_room(tree, n, listed, reserve):
            return NO_EDGES_LEFT
        node.num_outcomes = listed
        node.num_edges = 0
        node.exact = 1 if exact else 0
        if exact:
            for place in range(listed):
                add_edge(tree, n, scratch.ids[place], scratch.probabilities[place], place, place - 1)
        return MADE

    def pick(tree: Tree, scratch: Scratch, settings: Settings, n: Any, u: Any, reserve: Any) -> Any:
        """The outcome that a visit meets, as one of the node's edges; or what is wrong."""
        node = tree.nodes[n]
        count = np.int64(node.num_outcomes)
        if node.num_edges == count:
            list_edges(tree.edges, node.first_edge, count, scratch.ids, scratch.probabilities)
        elif outcomes(tree.states[n], scratch.ids, scratch.probabilities) != count:
            return np.int64(BAD_OUTCOME)
        if node.exact or settings.stratified:
            key = extend_key_bits(tree.luck[TIES_KEY], np.uint64(n))
            place = largest_deficit(
                tree.edges, node.first_edge, node.num_edges, scratch.probabilities, scratch.picks, count, key
            )
        else:
            place = by_share(scratch.probabilities, count, u)
        return edge_of(tree, scratch, n, place, reserve)

    return Listing(make_list, pick)


@not_inlined
def list_edges(edges: Any, first: Any, count: Any, ids: Any, probabilities: Any) -> None:
    """The list of outcomes, all of which have edges."""
    for e in range(first, first + count):
        ids[edges[e].listed] = edges[e].action
        probabilities[edges[e].listed] = edges[e].prior


@not_inlined
def by_share(probabilities: Any, count: Any, u: Any) -> Any:
    """The outcome whose share of [0, 1) holds u."""
    below = 0.0
    for place in range(count):
        below += probabilities[place]
        if u < below:
            return np.int64(place)
    return np.int64(count - 1)


@not_inlined
def largest_deficit(
    edges: Any, first: Any, num_edges: Any, probabilities: Any, picks: Any, count: Any, key: Any
) -> Any:
    """The outcome whose picks fall furthest behind its probability; ties go by an order of the node's own."""
    all_picks = 1
    for e in range(first, first + num_edges):
        edge = edges[e]
        all_picks += edge.visits + edge.in_flight
        picks[edge.listed] = edge.visits + edge.in_flight
    best = 0
    best_deficit = -math.inf
    best_rank = np.uint64(0)
    for place in range(count):
        deficit = probabilities[place] * all_picks - picks[place]
        if deficit < best_deficit:
            continue
        rank = rank_at(key, place)
        if deficit > best_deficit or rank > best_rank:
            best = place
            best_deficit = deficit
            best_rank = rank
    for e in range(first, first + num_edges):
        picks[edges[e].listed] = 0.0
    return np.int64(best)


def edge_of(tree: Tree, scratch: Scratch, n: Any, place: Any, reserve: Any) -> Any:
    """The edge of the outcome at a place of the list, made if it was not picked before; or NO_EDGES_LEFT."""
    node = tree.nodes[n]
    before = np.int64(NO_EDGE)
    slot = np.int64(node.first_listed)
    while slot != NO_EDGE and tree.edges[node.first_edge + slot].listed < place:
        before = slot
        slot = np.int64(tree.edges[node.first_edge + slot].next_listed)
    if slot != NO_EDGE and tree.edges[node.first_edge + slot].listed == place:
        return slot
    if node.num_edges == node.edge_room:
        room = min(node.num_outcomes, max(FEW, 2 * node.edge_room))
        if not make_room(tree, n, room, reserve):
            return np.int64(NO_EDGES_LEFT)
    return add_edge(tree, n, scratch.ids[place], scratch.probabilities[place], place, before)


@not_inlined
def make_room(tree: Tree, n: Any, room: Any, reserve: Any) -> bool:
    """Move a chance node's edges to where there is room for more; whether there is such a place."""
    node = tree.nodes[n]
    moved = take_edges(tree, room, reserve)
    if moved == NO_EDGE:
        return False
    for slot in range(node.num_edges):
        tree.edges[moved + slot] = tree.edges[node.first_edge + slot]
        tree.edges[node.first_edge + slot].in_flight = 0
        if len(tree.transient_sums) > 0:
            for p in range(tree.transient_sums.shape[1]):
                tree.transient_sums[moved + slot, p] = tree.transient_sums[node.first_edge + slot, p]
    for slot in range(max(0, node.num_edges), room):
        tree.edges[moved + slot].in_flight = 0
    node.first_edge = moved
    node.edge_room = room
    return True


def add_edge(tree: Tree, n: Any, outcome: Any, probability: Any, place: Any, before: Any) -> Any:
    """The new edge of an outcome, behind the edge that comes before it in the list (or first)."""
    node = tree.nodes[n]
    slot = np.int64(node.num_edges)
    node.num_edges += 1
    new_edge(tree, node.first_edge + slot, outcome, probability)
    if len(tree.transient_sums) > 0:
        for p in range(tree.transient_sums.shape[1]):
            tree.transient_sums[node.first_edge + slot, p] = 0.0
    edge = tree.edges[node.first_edge + slot]
    edge.listed = place
    if before == NO_EDGE:
        edge.next_listed = node.first_listed
        node.first_listed = slot
    else:
        last = tree.edges[node.first_edge + before]
        edge.next_listed = last.next_listed
        last.next_listed = slot
    return slot
