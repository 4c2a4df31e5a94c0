"""Open loop: the descent of a search whose nodes are histories of actions, not states.

A node stands for all states with the same history of actions, kind and player to move. A descent therefore carries a
state of its own, in which legal actions are listed at every decision. A child is found by the action (or by chance),
kind and mover of the state that the descent has reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, DECISION
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined, prefetch
from aleazero.native.random import unit_at
from aleazero.search.outcomes import make_draw
from aleazero.search.status import (
    AT_LEAF,
    BROKEN_RULES,
    COLLISION,
    DONE,
    ENDLESS_CHANCE,
    GROW_EDGES,
    MAX_CHANCE_RUN,
    NO_ROOM,
)
from aleazero.search.tree.arrays import (
    COUNTER,
    NO_EDGE,
    NO_NODE,
    OUTCOME_COUNTERS,
    STARTED,
    InFlight,
    LoopSettings,
    Scratch,
    Tree,
)
from aleazero.search.tree.chance import make_sample_more
from aleazero.search.tree.nodes import (
    add_child,
    add_leaf,
    are_actions_valid,
    edge_reserve,
    find_child,
    move_edges,
    new_edge,
    new_node,
    samples_more,
    set_kind,
    start_path,
    step_on,
    stops_at,
)
from aleazero.search.tree.select import first_play_value, score


def make_open_descend(kernels: Kernels) -> Callable[..., int]:
    """Make ``descend(tree, flight, scratch, settings, v) -> status`` of one game, for open loop."""
    kind_of = kernels.kind
    to_play = kernels.to_play
    legal = kernels.legal
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)

    def descend(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any) -> Any:
        """Go from the root to a leaf, or to several below one chance node. Path and leaves are those of visit v.

        Returns AT_LEAF, COLLISION, NO_ROOM, GROW_EDGES or an error. The caller releases a visit that did not end well.
        """
        key = start_path(tree, flight, v, np.uint64(tree.counters[STARTED]))
        state = scratch.walk  # (s,) the state of this descent
        for i in range(len(state)):
            state[i] = tree.states[0, i]
        reserve = edge_reserve(tree, scratch, settings)
        n = np.int64(0)
        depth = np.int64(0)
        chance_run = 0
        above = np.int64(NO_NODE)  # the chance node just passed
        while True:
            node = tree.nodes[n]
            if node.pending:
                return COLLISION
            if stops_at(tree, settings, n, depth):
                break
            slot = np.int64(NO_EDGE)
            if node.kind == DECISION:
                prefetch(tree.edges, node.first_edge)
                prefetch(tree.edges, node.first_edge + node.num_edges - 1)
                chance_run = 0
                above = np.int64(NO_NODE)
                num_legal = np.int64(root_actions(tree, scratch) if n == 0 else legal(state, scratch.actions))
                status = find_slots(tree, scratch, n, num_legal, reserve)
                if status != DONE:
                    return status
                slot = select_legal(tree, scratch, settings, n, num_legal)
                step_on(tree, flight, v, n, slot)
                label = np.int64(tree.edges[node.first_edge + slot].action)
                apply(state, label)
            else:
                prefetch(tree.nodes, node.even_child)
                prefetch(tree.nodes, node.odd_child)
                chance_run += 1
                if chance_run > MAX_CHANCE_RUN:
                    return ENDLESS_CHANCE
                if settings.samples_per_visit > 1:
                    for i in range(len(state)):
                        scratch.before[i] = state[i]
                label = np.int64(draw(state, unit_at(key, depth), scratch))
                if label < 0:
                    return label
                step_on(tree, flight, v, n, slot)
                if n == 0:
                    counter = root_outcome_counter(tree, label, settings)
                    if counter == NO_NODE:
                        return NO_ROOM
                    step_on(tree, flight, v, counter, slot)
                apply_outcome(state, label)
                above = n
            n = child_of(tree, n, slot, label, state, settings)
            if n == NO_NODE:
                return NO_ROOM
            depth += 1
        add_leaf(flight, settings, v, n, depth, state)
        if above != NO_NODE and samples_more(tree, settings):
            return sample_more_outcomes(tree, flight, scratch, settings, v, above, scratch.before, key, depth - 1, True)
        return AT_LEAF

    def child_of(tree: Tree, n: Any, slot: Any, label: Any, state: Any, settings: LoopSettings) -> Any:
        """Return the child that all states like ``state`` share after an action, or after chance (NO_EDGE).

        A child of an earlier visit is tried before the table, because it usually matches.
        """
        node = tree.nodes[n]
        kind = kind_of(state)
        mover = np.int64(to_play(state)) if kind == DECISION else np.int64(-1)
        if slot != NO_EDGE:
            key = child_key(tree, 1 + label, kind, mover)
            last = np.int64(tree.edges[node.first_edge + slot].child)
        else:
            key = child_key(tree, np.int64(0), kind, mover)
            last = np.int64(node.odd_child if key & 1 else node.even_child)
        if last > 0 and tree.nodes[last].key == key:  # the root is nobody's child
            return last
        child = find_child(tree, n, key)
        if child == NO_NODE:
            child = new_node(tree, label, settings.max_nodes)
            if child == NO_NODE:
                return child
            for i in range(len(state)):
                tree.states[child, i] = state[i]
            set_kind(tree, child, kind, mover)
            add_child(tree, n, key, child)
        if slot != NO_EDGE:
            tree.edges[node.first_edge + slot].child = child
        elif key & 1:
            node.odd_child = child
        else:
            node.even_child = child
        return child

    def stored_child(tree: Tree, n: Any, outcome: Any, after: Any) -> Any:
        """Return the child of a chance node whose state is ``after``, or NO_NODE."""
        kind = kind_of(after)
        mover = np.int64(to_play(after)) if kind == DECISION else np.int64(-1)
        return find_child(tree, n, child_key(tree, np.int64(0), kind, mover))

    sample_more_outcomes = make_sample_more(kernels, stored_child)
    return descend


def child_key(tree: Tree, code: Any, kind: Any, mover: Any) -> Any:
    """Return the key that all states of this kind and mover share after an action (code 1 + action) or chance (0)."""
    players = len(tree.low)
    place: Any = 0 if kind == CHANCE else 1
    if kind == DECISION:
        place = 2 + (mover if 0 <= mover < players else players)  # the last one for players that do not exist
    return code * (3 + players) + place


def root_actions(tree: Tree, scratch: Scratch) -> Any:
    """Write the root's actions from its edges: its state is always the same, and actions may be excluded there."""
    root = tree.nodes[0]
    for slot in range(root.num_edges):
        scratch.actions[slot] = tree.edges[root.first_edge + slot].action
    return np.int64(root.num_edges)


@not_inlined
def root_outcome_counter(tree: Tree, outcome: Any, settings: LoopSettings) -> Any:
    """Return the node that counts an outcome of a chance root, or NO_NODE if there is no room.

    Outcomes share their statistics in open loop. At the root they are counted one by one, for the result.
    """
    key = -1 - outcome  # all other keys are at least 0
    n = find_child(tree, np.int64(0), key)
    if n == NO_NODE:
        n = new_node(tree, outcome, settings.max_nodes)
        if n != NO_NODE:
            tree.nodes[n].kind = COUNTER
            tree.nodes[n].mover = -1
            add_child(tree, np.int64(0), key, n)
            tree.counters[OUTCOME_COUNTERS] += 1
    return n


# -- select among the actions that are legal now -----------------------------------------------------------------------


def find_slots(tree: Tree, scratch: Scratch, n: Any, num_legal: Any, reserve: Any) -> Any:
    """Write the slot of every legal action into ``slots``, with new edges if needed; DONE, GROW_EDGES or an error."""
    if num_legal < 1 or num_legal > len(scratch.slots):
        return np.int64(BROKEN_RULES)
    missing = 0
    slot = np.int64(0)
    for i in range(num_legal):
        slot = find_slot(tree, n, scratch.actions[i], slot)
        scratch.slots[i] = slot
        missing += slot == NO_EDGE
        slot += 1
    return np.int64(DONE) if missing == 0 else add_actions(tree, scratch, n, num_legal, missing, reserve)


def find_slot(tree: Tree, n: Any, action: Any, start: Any) -> Any:
    """Return the slot of an action, or NO_EDGE. The search begins at slot ``start``.

    Most edges have the order of the legal actions, so ``start`` is the slot after that of the action before.
    """
    node = tree.nodes[n]
    for slot in range(start, node.num_edges):
        if tree.edges[node.first_edge + slot].action == action:
            return np.int64(slot)
    for slot in range(min(start, node.num_edges)):
        if tree.edges[node.first_edge + slot].action == action:
            return np.int64(slot)
    return np.int64(NO_EDGE)


@not_inlined
def add_actions(tree: Tree, scratch: Scratch, n: Any, num_legal: Any, missing: Any, reserve: Any) -> Any:
    """Add edges for the legal actions that have none, and write their slots.

    Returns DONE; or GROW_EDGES, with nothing changed, if there are no edges left; or BROKEN_RULES.
    """
    if not are_actions_valid(scratch, num_legal):  # those that have edges are valid
        return np.int64(BROKEN_RULES)
    node = tree.nodes[n]
    if node.num_edges + missing > node.edge_room:
        # Edges of a node lie side by side, so all move. Twice the room bounds the copies per edge.
        room = max(node.num_edges + missing, min(len(scratch.slots), 2 * (node.num_edges + missing)))
        if not move_edges(tree, n, room, reserve):
            return np.int64(GROW_EDGES)
    for i in range(num_legal):
        if scratch.slots[i] == NO_EDGE:
            scratch.slots[i] = node.num_edges
            new_edge(tree, node.first_edge + node.num_edges, scratch.actions[i], 1.0)
            node.num_edges += 1
    return np.int64(DONE)


def select_legal(tree: Tree, scratch: Scratch, settings: LoopSettings, n: Any, num_legal: Any) -> Any:
    """Return the slot of the best legal action."""
    best = np.int64(scratch.slots[0])
    if num_legal == 1:
        return best
    node = tree.nodes[n]
    tried = 1
    weight = 0.0
    untried = False
    for i in range(num_legal):
        edge = tree.edges[node.first_edge + scratch.slots[i]]
        tried += edge.visits + edge.in_flight
        weight += edge.prior
        untried |= edge.visits == 0
        prefetch(tree.nodes, edge.child)
    first_play = first_play_value(tree, settings, n) if untried else 0.0
    explore = settings.c * math.sqrt(tried)
    log_tried = math.log(tried) if settings.uct else 0.0
    best_score = -math.inf
    prior = -1.0
    share = 1.0 / num_legal
    for i in range(num_legal):
        edge = tree.edges[node.first_edge + scratch.slots[i]]
        # Priors are weights here: those of the actions that are legal now are scaled to sum to 1. Without a network
        # they are equal, and are divided once.
        if weight > 0.0 and edge.prior != prior:
            prior = edge.prior
            share = prior / weight
        s = score(tree, settings, edge, node.mover, share, first_play, explore, log_tried)
        if s > best_score:
            best_score = s
            best = np.int64(scratch.slots[i])
    return best
