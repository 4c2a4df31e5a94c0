"""Leaves: where descents end, and the further ones that a chance node may add to a visit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE
from aleazero.games.kernel import Kernels
from aleazero.search.borrow import seldom
from aleazero.search.chance import BAD_OUTCOME, make_draw
from aleazero.search.children import Children
from aleazero.search.engine import MAX_CHANCE_RUN
from aleazero.search.listing import NO_EDGES_LEFT, make_listing
from aleazero.search.status import ASK_NEVER, BAD_PROBABILITIES, ENDLESS_CHANCE, GROW_EDGES, LEAF, NO_ROOM
from aleazero.search.streams import unit_at
from aleazero.search.tree import NO_EDGE, NO_NODE, ROWS, UNEXPANDED, Batch, Scratch, Settings, Tree

BESIDE: Final = 1 << 32
"""Draws beside a path: number j is read this far behind the place of the first."""


class Leaves(NamedTuple):
    """How one game's visits get leaves beside the first."""

    transient: Callable[..., Any]
    more: Callable[..., Any]
    all: Callable[..., Any]


def step_on(tree: Tree, batch: Batch, v: Any, n: Any, slot: Any) -> None:
    """Record that a visit passes a node by one of its edges (or by none)."""
    visit = batch.visits[v]
    batch.paths[v, visit.length, 0] = n
    batch.paths[v, visit.length, 1] = slot
    visit.length += 1
    node = tree.nodes[n]
    node.in_flight += 1
    if slot != NO_EDGE:
        tree.edges[node.first_edge + slot].in_flight += 1


def add_leaf(batch: Batch, v: Any, n: Any, depth: Any, state: Any) -> Any:
    """One more leaf of a visit; its row."""
    visit = batch.visits[v]
    row = np.int64(visit.first_row + visit.num_rows)
    visit.num_rows += 1
    leaf = batch.rows[row]
    leaf.node = n
    leaf.weight = 1.0
    leaf.pick = NO_EDGE
    leaf.depth = depth
    leaf.known = 0
    leaf.stands_for = 1 if n != NO_NODE else 0
    for i in range(len(state)):
        batch.states[row, i] = state[i]
    return row


def make_leaves(kernels: Kernels, children: Children) -> Leaves:
    """The leaf makers of one game."""
    kind_of = kernels.kind
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)
    pick_from_list = make_listing(kernels).pick
    table_child = children.in_table

    @seldom
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

    @seldom
    def add_transient(batch: Batch, scratch: Scratch, settings: Settings, v: Any, state: Any, outcome: Any, key: Any,
                      place: Any) -> int:  # fmt: skip
        """A leaf behind an outcome that is not stored."""
        row = add_leaf(batch, v, np.int64(NO_NODE), (place & (BESIDE - 1)) + 1, state)
        apply_outcome(batch.states[row], outcome)
        return draw_on(batch.states[row], key, place + 1, scratch, settings)

    @seldom
    def sample_more(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any, n: Any, state: Any,
                    key: Any, depth: Any) -> int:  # fmt: skip
        """Further outcomes of the chance node right above a leaf; the visit's value is the mean of all."""
        batch.visits[v].divisor = settings.samples_per_visit
        for number in range(1, settings.samples_per_visit):
            place = depth + number * np.int64(BESIDE)
            u = unit_at(key, place)
            pick = np.int64(NO_EDGE)
            if tree.nodes[n].num_edges != UNEXPANDED:
                reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                pick = pick_from_list(tree, scratch, settings, n, u, reserve)
                if pick < 0:
                    return GROW_EDGES if pick == NO_EDGES_LEFT else BAD_PROBABILITIES
                outcome = np.int64(tree.edges[tree.nodes[n].first_edge + pick].action)
                tree.edges[tree.nodes[n].first_edge + pick].in_flight += 1
            else:
                outcome = np.int64(draw(state, u, scratch))
                if outcome == BAD_OUTCOME:
                    return BAD_PROBABILITIES
            row = batch.visits[v].first_row + batch.visits[v].num_rows
            status = add_transient(batch, scratch, settings, v, state, outcome, key, place)
            batch.rows[row].pick = pick
            if status != LEAF:
                return status
        return LEAF

    @seldom
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
            row = add_leaf(batch, v, child, depth + 1, tree.states[child])
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
