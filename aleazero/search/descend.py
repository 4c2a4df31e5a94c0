"""Descend: from the root to a leaf, choosing at decisions and meeting chance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE
from aleazero.games.kernel import Kernels
from aleazero.native.random import extend_key_bits, unit_at
from aleazero.search.chance import BAD_OUTCOME, make_draw, may_store
from aleazero.search.children import is_stored, make_children, tally
from aleazero.search.engine import MAX_CHANCE_RUN
from aleazero.search.evaluate import sound_actions
from aleazero.search.leaves import add_leaf, make_leaves, step_on, stops_at
from aleazero.search.listing import MADE, NO_EDGES_LEFT, UNLISTED, make_listing
from aleazero.search.select import close_slots, open_slots, select, select_open
from aleazero.search.status import (
    BAD_PROBABILITIES,
    BROKEN_RULES,
    COLLISION,
    ENDLESS_CHANCE,
    GROW_EDGES,
    LEAF,
    NO_ROOM,
    UNLISTED_OUTCOMES,
)
from aleazero.search.tree import (
    DESCENT_KEY,
    NO_EDGE,
    NO_NODE,
    RETRIED,
    ROWS,
    STARTED,
    UNEXPANDED,
    Batch,
    Scratch,
    Settings,
    Tree,
)


def root_actions(tree: Tree, scratch: Scratch) -> Any:
    """At the root an open loop always sees the same state, and may have been told to leave actions out."""
    root = tree.nodes[0]
    for slot in range(root.num_edges):
        scratch.actions[slot] = tree.edges[root.first_edge + slot].action
    return np.int64(root.num_edges)


def make_descend(kernels: Kernels) -> Callable[..., int]:
    """The descent of one game: ``descend(tree, batch, scratch, settings, visit) -> status``."""
    legal = kernels.legal
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)
    make_list, pick = make_listing(kernels)
    children = make_children(kernels)
    action_child, table_child, hashed_child, open_child, _ = children
    add_transient, sample_more, expand_exactly = make_leaves(kernels, children)

    def descend(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any) -> Any:
        """From the root to a leaf, or to several below one chance node; path and leaves go into the batch."""
        key = extend_key_bits(tree.luck[DESCENT_KEY], np.uint64(tree.counters[STARTED]))
        visit = batch.visits[v]
        visit.simulation = np.uint64(tree.counters[STARTED])
        visit.length = 0
        visit.first_row = tree.counters[ROWS]
        visit.num_rows = 0
        visit.divisor = 1.0
        visit.bars = NO_NODE
        visit.blocked = 0
        walk = scratch.walk
        if settings.open_loop:
            for i in range(len(walk)):
                walk[i] = tree.states[0, i]
        n = np.int64(0)
        depth = np.int64(0)
        chance_run = 0
        # A descent that collided is made again with the same draws: as these led to a leaf in flight, further outcomes
        # drawn in addition would have another distribution.
        samples_more = settings.samples_per_visit > 1 and tree.counters[RETRIED] != tree.counters[STARTED] + 1
        above = np.int64(NO_NODE)  # the chance node just passed
        room = True  # whether it could store another outcome then
        label = np.int64(-1)  # open loop: the action or outcome taken
        child = np.int64(NO_NODE)
        while True:
            node = tree.nodes[n]
            if node.pending:
                return COLLISION
            if stops_at(tree, settings, n, depth):
                break
            if node.kind == CHANCE:
                chance_run += 1
                if chance_run > MAX_CHANCE_RUN:
                    return ENDLESS_CHANCE
                reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                if settings.lists_outcomes and node.num_edges == UNEXPANDED:
                    made = make_list(tree, scratch, settings, n, reserve)
                    if made != MADE:
                        if made == NO_EDGES_LEFT:
                            return GROW_EDGES
                        return UNLISTED_OUTCOMES if made == UNLISTED else BAD_PROBABILITIES
                if node.exact:
                    first = tree.edges[node.first_edge]
                    if first.visits + first.in_flight == 0:
                        return expand_exactly(tree, batch, scratch, settings, v, n, key, depth)
                state = walk if settings.open_loop else tree.states[n]
                if settings.open_loop and settings.samples_per_visit > 1:
                    for i in range(len(walk)):
                        scratch.before[i] = walk[i]
                u = unit_at(key, depth)
                slot = np.int64(NO_EDGE)
                if settings.lists_outcomes:
                    slot = pick(tree, scratch, settings, n, u, reserve)
                    if slot < 0:
                        return GROW_EDGES if slot == NO_EDGES_LEFT else BAD_PROBABILITIES
                    outcome = np.int64(tree.edges[node.first_edge + slot].action)
                else:
                    outcome = np.int64(draw(state, u, scratch))
                    if outcome == BAD_OUTCOME:
                        return BAD_PROBABILITIES
                step_on(tree, batch, v, n, slot)
                room = samples_more and may_store(tree, settings, n)
                if settings.open_loop:
                    if n == 0:
                        counter = tally(tree, outcome, settings)
                        if counter == NO_NODE:
                            return NO_ROOM
                        step_on(tree, batch, v, counter, np.int64(NO_EDGE))
                    apply_outcome(walk, outcome)
                    label = outcome
                else:
                    if settings.widening and not is_stored(tree, n, slot, outcome) and not may_store(tree, settings, n):
                        visit.blocked = 1
                        status = add_transient(batch, scratch, settings, v, state, outcome, key, depth)
                        if status == LEAF and samples_more:
                            status = sample_more(tree, batch, scratch, settings, v, n, state, key, depth, False)
                        return status
                    if settings.lists_outcomes:
                        child = table_child(tree, n, node.first_edge + slot, settings)
                    else:
                        child = hashed_child(tree, n, outcome, settings)
                above = n
            else:
                chance_run = 0
                above = np.int64(NO_NODE)
                if settings.open_loop:
                    num_legal = root_actions(tree, scratch) if n == 0 else legal(walk, scratch.actions)
                    if not sound_actions(scratch, num_legal):
                        return BROKEN_RULES
                    reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                    if not open_slots(tree, scratch, n, num_legal, reserve):
                        return GROW_EDGES
                    slot = np.int64(select_open(tree, scratch, settings, n, num_legal))
                    close_slots(tree, scratch, n)
                else:
                    slot = np.int64(select(tree, settings, n))
                step_on(tree, batch, v, n, slot)
                if settings.open_loop:
                    label = np.int64(tree.edges[node.first_edge + slot].action)
                    apply(walk, label)
                else:
                    child = action_child(tree, n, node.first_edge + slot, settings)
            if settings.open_loop:
                child = open_child(tree, n, slot, label, walk, settings)
            if child == NO_NODE:
                return NO_ROOM
            n = child
            depth += 1
        add_leaf(batch, settings, v, n, depth, walk if settings.open_loop else tree.states[n])
        if above != NO_NODE and samples_more:
            start = scratch.before if settings.open_loop else tree.states[above]
            return sample_more(tree, batch, scratch, settings, v, above, start, key, depth - 1, room)
        return LEAF

    return descend
