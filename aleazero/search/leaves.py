"""Leaves: where descents end, and the further ones that a chance node may add to a visit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import unit_at
from aleazero.search.chance import BAD_OUTCOME, make_draw
from aleazero.search.children import Children
from aleazero.search.engine import MAX_CHANCE_RUN
from aleazero.search.status import ASK_EXACT, ASK_NEVER, BAD_PROBABILITIES, ENDLESS_CHANCE, LEAF, NO_ROOM
from aleazero.search.tree import NO_EDGE, NO_NODE, Batch, Scratch, Settings, Tree

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


def add_leaf(batch: Batch, settings: Settings, v: Any, n: Any, depth: Any, state: Any) -> Any:
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
    if not settings.one_stored_leaf:
        for i in range(len(state)):
            batch.states[row, i] = state[i]
    return row


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
