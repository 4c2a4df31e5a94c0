"""Chance nodes in a descent: pick an outcome, decide whether it is stored, and add leaves below outcomes.

Without a list of outcomes, ``outcomes.make_draw`` draws one. With a list, an outcome is picked by the stream of the
descent or by the largest deficit, and its edge counts the picks. Only outcomes that were picked have edges, because
some games list thousands, unless all outcomes of the node are expanded at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits, rank_at, unit_at
from aleazero.search.outcomes import by_share, make_draw, make_list_outcomes
from aleazero.search.status import (
    AT_LEAF,
    BAD_OUTCOMES,
    DONE,
    ENDLESS_CHANCE,
    GROW_EDGES,
    MAX_CHANCE_RUN,
    NO_ROOM,
    TRUST_NONE,
)
from aleazero.search.tree.arrays import (
    FIRST_OUTCOMES,
    NO_EDGE,
    NO_NODE,
    TIES_KEY,
    InFlight,
    LoopSettings,
    Scratch,
    Tree,
)
from aleazero.search.tree.nodes import add_leaf, move_edges, new_edge, step_on, stops_at

EXTRA_DRAWS: Final = 1 << 32
"""Additional draws are read from the stream of the path, each this many places after the draw before."""

# -- list and pick -----------------------------------------------------------------------------------------------------


class Listing(NamedTuple):
    """Functions of one game for chance nodes with a list of outcomes."""

    make_list: Callable[..., Any]
    pick_outcome: Callable[..., Any]


def make_listing(kernels: Kernels) -> Listing:
    """Make the functions of one game."""
    outcomes = kernels.outcomes
    list_outcomes = make_list_outcomes(kernels)

    @not_inlined
    def make_list(tree: Tree, scratch: Scratch, settings: LoopSettings, n: Any, reserve: Any) -> Any:
        """List and check the outcomes of a chance node at its first visit; DONE or a status.

        The list itself is not stored. If all outcomes are expanded at once, the node gets all its edges here.
        """
        count = list_outcomes(tree.states[n], scratch)
        if count < 0:
            return count
        node = tree.nodes[n]
        expand_all = count <= settings.exact_up_to
        if expand_all and not move_edges(tree, n, count, reserve):
            return np.int64(GROW_EDGES)
        node.num_outcomes = count
        node.num_edges = 0
        node.expand_all = 1 if expand_all else 0
        if expand_all:
            for i in range(count):
                add_edge(tree, n, scratch.ids[i], scratch.probabilities[i], i, i - 1)
        return np.int64(DONE)

    def pick_outcome(tree: Tree, scratch: Scratch, settings: LoopSettings, n: Any, u: Any, reserve: Any) -> Any:
        """Return the slot of the outcome that a visit takes at a chance node, or a status."""
        node = tree.nodes[n]
        count = np.int64(node.num_outcomes)
        if node.num_edges == count:  # all have edges: no need to call the rules
            read_list(tree.edges, node.first_edge, count, scratch.ids, scratch.probabilities)
        elif outcomes(tree.states[n], scratch.ids, scratch.probabilities) != count:  # checked at the first visit
            return np.int64(BAD_OUTCOMES)
        if node.expand_all or settings.stratified:
            key = extend_key_bits(tree.stream_keys[TIES_KEY], np.uint64(n))
            index = largest_deficit(
                tree.edges, node.first_edge, node.num_edges, scratch.probabilities, scratch.picks, count, key
            )
        else:
            index = by_share(scratch.probabilities, count, u)
        return edge_of(tree, scratch, n, index, reserve)

    return Listing(make_list, pick_outcome)


@not_inlined
def read_list(edges: Any, first: Any, count: Any, ids: Any, probabilities: Any) -> None:
    """Write the list of outcomes from the edges of a node, if all outcomes have edges."""
    for e in range(first, first + count):
        ids[edges[e].list_index] = edges[e].action
        probabilities[edges[e].list_index] = edges[e].prior


@not_inlined
def largest_deficit(
    edges: Any, first: Any, num_edges: Any, probabilities: Any, picks: Any, count: Any, key: Any
) -> Any:
    """Return the index of the outcome whose picks are furthest below its probability.

    Ties are broken by the ranks of the stream with this key, which differ between nodes.
    """
    all_picks = 1
    for e in range(first, first + num_edges):
        edge = edges[e]
        all_picks += edge.visits + edge.in_flight
        picks[edge.list_index] = edge.visits + edge.in_flight
    best = 0
    best_deficit = -math.inf
    best_rank = np.uint64(0)
    for i in range(count):
        deficit = probabilities[i] * all_picks - picks[i]
        if deficit < best_deficit:
            continue
        rank = rank_at(key, i)
        if deficit > best_deficit or rank > best_rank:
            best = i
            best_deficit = deficit
            best_rank = rank
    for e in range(first, first + num_edges):
        picks[edges[e].list_index] = 0.0
    return np.int64(best)


def edge_of(tree: Tree, scratch: Scratch, n: Any, index: Any, reserve: Any) -> Any:
    """Return the slot of the outcome at an index of the list, with a new edge if it has none; or GROW_EDGES."""
    node = tree.nodes[n]
    before = np.int64(NO_EDGE)
    slot = np.int64(node.first_in_list)
    while slot != NO_EDGE and tree.edges[node.first_edge + slot].list_index < index:
        before = slot
        slot = np.int64(tree.edges[node.first_edge + slot].next_in_list)
    if slot != NO_EDGE and tree.edges[node.first_edge + slot].list_index == index:
        return slot
    if node.num_edges == node.edge_room:
        room = min(node.num_outcomes, max(FIRST_OUTCOMES, 2 * node.edge_room))
        if not move_edges(tree, n, room, reserve):
            return np.int64(GROW_EDGES)
    return add_edge(tree, n, scratch.ids[index], scratch.probabilities[index], index, before)


def add_edge(tree: Tree, n: Any, outcome: Any, probability: Any, index: Any, before: Any) -> Any:
    """Append the edge of an outcome and return its slot. ``before`` is the slot that precedes it in the list."""
    node = tree.nodes[n]
    slot = np.int64(node.num_edges)
    node.num_edges += 1
    new_edge(tree, node.first_edge + slot, outcome, probability)
    if len(tree.transient_sums) > 0:
        for p in range(tree.transient_sums.shape[1]):
            tree.transient_sums[node.first_edge + slot, p] = 0.0
    edge = tree.edges[node.first_edge + slot]
    edge.list_index = index
    if before == NO_EDGE:
        edge.next_in_list = node.first_in_list
        node.first_in_list = slot
    else:
        last = tree.edges[node.first_edge + before]
        edge.next_in_list = last.next_in_list
        last.next_in_list = slot
    return slot


# -- store or not ------------------------------------------------------------------------------------------------------


def may_store(tree: Tree, settings: LoopSettings, n: Any) -> Any:
    """Return whether progressive widening allows one more stored outcome. The visit is already in flight here."""
    node = tree.nodes[n]
    if not settings.widening or node.expand_all:
        return True
    visits = float(node.visits + node.in_flight)
    room = math.ceil(settings.widening_c * math.pow(visits, settings.widening_alpha))
    return node.num_children < min(settings.max_children, room)


# -- leaves below outcomes ---------------------------------------------------------------------------------------------


def make_outcome_leaves(kernels: Kernels, listed_child: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """Make ``add_transient`` and ``expand_all_outcomes`` of one game."""
    apply_outcome = kernels.apply_outcome
    draw_until_decision = make_draw_until_decision(kernels)

    @not_inlined
    def add_transient(flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any, state: Any, outcome: Any,
                      key: Any, place: Any) -> Any:  # fmt: skip
        """Add a leaf below an outcome that is evaluated but not stored."""
        i = add_leaf(flight, settings, v, np.int64(NO_NODE), place + 1, state)
        apply_outcome(flight.states[i], outcome)
        return draw_until_decision(flight.states[i], key, place + 1, scratch, settings)

    @not_inlined
    def expand_all_outcomes(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any, n: Any,
                            key: Any, depth: Any) -> Any:  # fmt: skip
        """Add a leaf for every outcome of a chance node, weighted by its probability."""
        step_on(tree, flight, v, n, NO_EDGE)
        first = np.int64(tree.nodes[n].first_edge)
        for slot in range(tree.nodes[n].num_edges):
            edge = tree.edges[first + slot]
            child = listed_child(tree, n, first + slot, settings)
            if child == NO_NODE:
                return NO_ROOM
            i = add_leaf(flight, settings, v, child, depth + 1, tree.states[child])
            flight.leaves[i].weight = edge.prior
            flight.leaves[i].outcome_slot = slot
            edge.in_flight += 1
            if tree.nodes[child].kind == CHANCE and settings.at_chance == TRUST_NONE:
                # The child is valued by a state drawn below it.
                flight.leaves[i].is_node_state = 0
                place = depth + 1 + (slot + 1) * np.int64(EXTRA_DRAWS)
                status = draw_until_decision(flight.states[i], key, place, scratch, settings)
                if status != AT_LEAF:
                    return status
        flight.visits[v].expanding = n
        return AT_LEAF

    return add_transient, expand_all_outcomes


def make_sample_more(kernels: Kernels, stored_child: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``sample_more_outcomes`` of one game.

    ``stored_child(tree, n, outcome, after)`` returns the child after an outcome, whose state is ``after``, or NO_NODE.
    """
    kind_of = kernels.kind
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)
    draw_until_decision = make_draw_until_decision(kernels)

    @not_inlined
    def sample_more_outcomes(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any, n: Any,
                             state: Any, key: Any, depth: Any, room: Any) -> Any:  # fmt: skip
        """Draw further outcomes at the last chance node above a leaf. The visit's value is the mean of all kept.

        An outcome is kept if a visit that draws it first would also end there. Then all that are kept have the
        distribution of the first, and the mean has its expectation. ``room``: the node could store another outcome.
        """
        visit = flight.visits[v]
        for number in range(1, settings.samples_per_visit):
            place = depth + number * np.int64(EXTRA_DRAWS)
            outcome = np.int64(draw(state, unit_at(key, place), scratch))
            if outcome < 0:
                return BAD_OUTCOMES
            i = add_leaf(flight, settings, v, np.int64(NO_NODE), depth + 1, state)
            after = flight.states[i]
            apply_outcome(after, outcome)
            if not ends_below(tree, settings, n, outcome, after, depth + 1, room):
                visit.num_leaves -= 1
                continue
            status = draw_until_decision(after, key, place + 1, scratch, settings)
            if status != AT_LEAF:
                return status
        visit.divisor = visit.num_leaves
        return AT_LEAF

    def ends_below(tree: Tree, settings: LoopSettings, n: Any, outcome: Any, after: Any, depth: Any, room: Any) -> Any:
        """Return whether a visit that draws this outcome ends right below it, at the state ``after``."""
        child = stored_child(tree, n, outcome, after)
        if child != NO_NODE:
            return tree.nodes[child].pending == 0 and stops_at(tree, settings, child, depth)
        return not room or settings.at_chance != TRUST_NONE or kind_of(after) != CHANCE

    return sample_more_outcomes


def make_draw_until_decision(kernels: Kernels) -> Callable[..., int]:
    """Make ``draw_until_decision`` of one game."""
    kind_of = kernels.kind
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)

    @not_inlined
    def draw_until_decision(state: Any, key: Any, place: Any, scratch: Scratch, settings: LoopSettings) -> int:
        """Draw the chance events that follow, if the evaluator does not value chance nodes; AT_LEAF or an error."""
        draws = 0
        while settings.at_chance == TRUST_NONE and kind_of(state) == CHANCE:
            draws += 1
            if draws > MAX_CHANCE_RUN:
                return ENDLESS_CHANCE
            outcome = np.int64(draw(state, unit_at(key, place), scratch))
            if outcome < 0:
                return BAD_OUTCOMES
            apply_outcome(state, outcome)
            place += 1
        return AT_LEAF

    return draw_until_decision
