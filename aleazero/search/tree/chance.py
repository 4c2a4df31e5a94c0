"""Chance: which outcome a visit meets where none are listed, and whether an outcome is stored."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, PROBABILITY_TOLERANCE, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits, rank_at, unit_at
from aleazero.search.status import (
    ASK_EXACT,
    ASK_NEVER,
    BAD_PROBABILITIES,
    ENDLESS_CHANCE,
    LEAF,
    MAX_CHANCE_RUN,
    NO_ROOM,
)
from aleazero.search.tree.arrays import LARGEST_ID, NO_EDGE, NO_NODE, SLACK, TIES_KEY, Batch, Scratch, Settings, Tree
from aleazero.search.tree.nodes import Children, add_leaf, new_edge, step_on, take_edges

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


def is_valid_list(scratch: Any, count: Any) -> bool:
    """Whether the outcomes listed in the scratch are valid: their number, ids and probabilities, and a sum of 1."""
    if count < 1 or count > len(scratch.ids) - SLACK:
        return False
    total = 0.0
    for i in range(count):
        if scratch.probabilities[i] < 0.0 or scratch.ids[i] < 0 or scratch.ids[i] > LARGEST_ID:
            return False
        total += scratch.probabilities[i]
    return bool(abs(total - 1.0) <= PROBABILITY_TOLERANCE)


def may_store(tree: Tree, settings: Settings, n: Any) -> Any:
    """Whether widening leaves room for one more stored outcome; the visit that asks is in flight already."""
    node = tree.nodes[n]
    if not settings.widening or node.exact:
        return True
    visits = float(node.visits + node.in_flight)
    room = math.ceil(settings.widening_c * math.pow(visits, settings.widening_alpha))
    return node.num_children < min(settings.max_children, room)


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


BESIDE: Final = 1 << 32
"""Draws beside a path: number j is read this far behind the place of the first."""


class Leaves(NamedTuple):
    """How one game's visits get leaves beside the first."""

    transient: Callable[..., Any]
    more: Callable[..., Any]
    all: Callable[..., Any]


def stops_at(tree: Tree, settings: Settings, n: Any, depth: Any) -> Any:
    """Whether a descent ends here: at the end of the game, or where the evaluator is to be asked or believed."""
    node = tree.nodes[n]
    if node.kind == TERMINAL:
        return True
    if node.kind == CHANCE:
        asked = settings.at_chance != ASK_NEVER
        return asked and (not node.evaluated or (settings.at_chance == ASK_EXACT and n != 0))
    if not node.evaluated or depth >= settings.max_depth:
        return True
    return settings.at_decisions == ASK_EXACT and n != 0


def make_leaves(kernels: Kernels, children: Children) -> Leaves:
    """The leaf makers of one game."""
    kind_of = kernels.kind
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)
    table_child = children.in_table
    stored_child = children.stored

    @not_inlined
    def draw_on(state: Any, key: Any, place: Any, scratch: Scratch, settings: Settings) -> int:
        """Draw what chance events follow, where the evaluator is not to be asked about them."""
        draws = 0
        while settings.at_chance == ASK_NEVER and kind_of(state) == CHANCE:
            draws += 1
            if draws > MAX_CHANCE_RUN:
                return ENDLESS_CHANCE
            outcome = np.int64(draw(state, unit_at(key, place), scratch))
            if outcome == BAD_OUTCOME:
                return BAD_PROBABILITIES
            apply_outcome(state, outcome)
            place += 1
        return LEAF

    @not_inlined
    def add_transient(batch: Batch, scratch: Scratch, settings: Settings, v: Any, state: Any, outcome: Any, key: Any,
                      place: Any) -> int:  # fmt: skip
        """A leaf behind an outcome that is not stored."""
        row = add_leaf(batch, settings, v, np.int64(NO_NODE), (place & (BESIDE - 1)) + 1, state)
        apply_outcome(batch.states[row], outcome)
        return draw_on(batch.states[row], key, place + 1, scratch, settings)

    def ends_below(tree: Tree, settings: Settings, n: Any, outcome: Any, after: Any, depth: Any, room: Any) -> Any:
        """Whether a visit that draws this outcome ends right below it; ``room``: a new outcome would be stored."""
        child = stored_child(tree, n, outcome, after, settings)
        if child != NO_NODE:
            return tree.nodes[child].pending == 0 and stops_at(tree, settings, child, depth)
        return not room or settings.at_chance != ASK_NEVER or kind_of(after) != CHANCE

    @not_inlined
    def sample_more(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any, n: Any, state: Any,
                    key: Any, depth: Any, room: Any) -> int:  # fmt: skip
        """Further outcomes of the last chance node above a leaf; the visit's value is the mean of all that are kept.

        An outcome is kept if the visit would have ended there too, had it drawn this one first. What is kept is then
        drawn from the same distribution as the first, so the mean has the expectation of the first alone.
        """
        visit = batch.visits[v]
        for number in range(1, settings.samples_per_visit):
            place = depth + number * np.int64(BESIDE)
            outcome = np.int64(draw(state, unit_at(key, place), scratch))
            if outcome == BAD_OUTCOME:
                return BAD_PROBABILITIES
            row = add_leaf(batch, settings, v, np.int64(NO_NODE), depth + 1, state)
            after = batch.states[row]
            apply_outcome(after, outcome)
            if not ends_below(tree, settings, n, outcome, after, depth + 1, room):
                visit.num_rows -= 1
                continue
            status = draw_on(after, key, place + 1, scratch, settings)
            if status != LEAF:
                return status
        visit.divisor = visit.num_rows
        return LEAF

    @not_inlined
    def expand_exactly(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any, n: Any, key: Any,
                       depth: Any) -> int:  # fmt: skip
        """Make a leaf of every outcome of a chance node, weighted by its probability."""
        step_on(tree, batch, v, n, NO_EDGE)
        first = np.int64(tree.nodes[n].first_edge)
        for slot in range(tree.nodes[n].num_edges):
            edge = tree.edges[first + slot]
            child = table_child(tree, n, first + slot, settings)
            if child == NO_NODE:
                return NO_ROOM
            row = add_leaf(batch, settings, v, child, depth + 1, tree.states[child])
            batch.rows[row].weight = edge.prior
            batch.rows[row].pick = slot
            edge.in_flight += 1
            if tree.nodes[child].kind == CHANCE and settings.at_chance == ASK_NEVER:
                batch.rows[row].stands_for = 0
                place = depth + 1 + (slot + 1) * np.int64(BESIDE)
                status = draw_on(batch.states[row], key, place, scratch, settings)
                if status != LEAF:
                    return status
        batch.visits[v].bars = n
        return LEAF

    return Leaves(add_transient, sample_more, expand_exactly)
