"""Nodes of a tree: new nodes and edges, the child of an action or an outcome, and the trace that a descent leaves.

In closed loop a node is one state, and its child is found by the edge, or by the outcome if the node has no list of
outcomes. ``open_loop.py`` has the children of open loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import extend_key_bits
from aleazero.search.status import TRUST_EXACT, TRUST_NONE
from aleazero.search.tree.arrays import (
    BROKEN,
    DESCENT_KEY,
    EDGES,
    EMPTY,
    FIRST_TABLE,
    LEAVES,
    NO_EDGE,
    NO_NODE,
    NODES,
    RETRIED,
    STARTED,
    TABLE_ENTRIES,
    UNEXPANDED,
    InFlight,
    LoopSettings,
    Scratch,
    Tree,
)

# -- a descent at a node -----------------------------------------------------------------------------------------------


def start_path(tree: Tree, flight: InFlight, v: Any, simulation: Any) -> Any:
    """Start the path of visit v at the root, without leaves; return the key of its random stream."""
    visit = flight.visits[v]
    visit.simulation = simulation
    visit.length = 0
    visit.first_leaf = tree.counters[LEAVES]
    visit.num_leaves = 0
    visit.divisor = 1.0
    visit.expanding = NO_NODE
    visit.blocked = 0
    return extend_key_bits(tree.stream_keys[DESCENT_KEY], simulation)


def samples_more(tree: Tree, settings: LoopSettings) -> Any:
    """Return whether a visit draws further outcomes at the last chance node above its leaf.

    A descent that collided is repeated with the same draws. Because these led to a leaf in flight, outcomes drawn in
    addition would have another distribution.
    """
    return settings.samples_per_visit > 1 and tree.counters[RETRIED] != tree.counters[STARTED] + 1


def stops_at(tree: Tree, settings: LoopSettings, n: Any, depth: Any) -> Any:
    """Return whether a descent ends at a node: a terminal state, or one whose value comes from the evaluator."""
    node = tree.nodes[n]
    if node.kind == TERMINAL:
        return True
    if node.kind == CHANCE:
        # A search of a chance root looks below it, even if the evaluator's value is exact.
        valued = settings.at_chance != TRUST_NONE
        return valued and (not node.evaluated or ((settings.at_chance == TRUST_EXACT or node.exact) and n != 0))
    if not node.evaluated or depth >= settings.max_depth:
        return True
    return (settings.at_decisions == TRUST_EXACT or node.exact) and n != 0


def step_on(tree: Tree, flight: InFlight, v: Any, n: Any, slot: Any) -> None:
    """Record that a visit passes a node by one of its edges, or by none (NO_EDGE)."""
    visit = flight.visits[v]
    flight.paths[v, visit.length, 0] = n
    flight.paths[v, visit.length, 1] = slot
    visit.length += 1
    node = tree.nodes[n]
    node.in_flight += 1
    if slot != NO_EDGE:
        tree.edges[node.first_edge + slot].in_flight += 1


def add_leaf(flight: InFlight, settings: LoopSettings, v: Any, n: Any, depth: Any, state: Any) -> Any:
    """Add a leaf to a visit and return its index. ``n`` is NO_NODE if the leaf is transient."""
    visit = flight.visits[v]
    i = np.int64(visit.first_leaf + visit.num_leaves)
    visit.num_leaves += 1
    leaf = flight.leaves[i]
    leaf.node = n
    leaf.weight = 1.0
    leaf.outcome_slot = NO_EDGE
    leaf.depth = depth
    leaf.known = 0
    leaf.is_node_state = 1 if n != NO_NODE else 0
    if not settings.one_stored_leaf:
        for j in range(len(state)):
            flight.states[i, j] = state[j]
    return i


# -- new nodes and edges -----------------------------------------------------------------------------------------------


def new_node(tree: Tree, label: Any, max_nodes: Any) -> Any:
    """Return a new node without kind and state, or NO_NODE if there is no room."""
    n = tree.counters[NODES]
    if n >= max_nodes or n >= len(tree.nodes):
        return np.int64(NO_NODE)
    tree.counters[NODES] = n + 1
    node = tree.nodes[n]
    node.visits = 0
    node.label = label
    node.first_edge = NO_EDGE
    node.num_edges = UNEXPANDED
    node.edge_room = 0
    node.table_size = 0  # these bytes are also num_outcomes
    node.first_in_list = NO_EDGE
    node.num_children = 0
    node.in_flight = 0
    node.evaluated = 0
    node.pending = 0
    node.expand_all = 0
    node.exact = 0
    for p in range(len(tree.low)):
        node.value_sums[p] = 0.0
    return n


def take_edges(tree: Tree, count: Any, reserve: Any) -> Any:
    """Return the first of ``count`` free edges side by side; NO_EDGE if fewer than ``reserve`` would remain.

    All edges are handed out here, so no kernel writes outside of the array.
    """
    first = tree.counters[EDGES]
    if first + count + reserve > len(tree.edges):
        return np.int64(NO_EDGE)
    tree.counters[EDGES] = first + count
    return np.int64(first)


@not_inlined
def move_edges(tree: Tree, n: Any, room: Any, reserve: Any) -> bool:
    """Move the edges of a node to a place with this much room; False if there are no edges left."""
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
    for slot in range(max(0, node.num_edges), room):  # sums over all edges in flight include unused ones
        tree.edges[moved + slot].in_flight = 0
    node.first_edge = moved
    node.edge_room = room
    return True


def new_edge(tree: Tree, e: Any, action: Any, prior: Any) -> None:
    """Write a new edge at a free index."""
    edge = tree.edges[e]
    edge.total = 0.0
    edge.prior = prior
    edge.action = action
    edge.child = NO_NODE
    edge.visits = 0
    edge.in_flight = 0


def edge_reserve(tree: Tree, scratch: Scratch, settings: LoopSettings) -> Any:
    """Return the edges that must stay free, so that every leaf in flight and of one more visit can be expanded."""
    return (tree.counters[LEAVES] + settings.largest_visit) * len(scratch.slots)


def are_actions_valid(scratch: Scratch, count: Any) -> bool:
    """Return whether the rules listed at least one legal action, not too many, and only actions that exist."""
    if count < 1 or count > len(scratch.slots):
        return False
    for i in range(count):  # noqa: SIM110 -- numba compiles no generators
        if scratch.actions[i] < 0 or scratch.actions[i] >= len(scratch.slots):
            return False
    return True


# -- children ----------------------------------------------------------------------------------------------------------


class Children(NamedTuple):
    """Functions of one game that find a child or make it (closed loop). They return NO_NODE if there is no room."""

    action_child: Callable[..., Any]
    listed_child: Callable[..., Any]
    outcome_child: Callable[..., Any]


def make_children(kernels: Kernels) -> Children:
    """Make the functions of one game."""
    child_by_action = make_closed_child(kernels, kernels.apply)
    child_by_outcome = make_closed_child(kernels, kernels.apply_outcome)

    def action_child(tree: Tree, n: Any, e: Any, settings: LoopSettings) -> Any:
        """Return the child after an edge of a decision."""
        edge = tree.edges[e]
        child = np.int64(edge.child)
        if child == NO_NODE:
            child = child_by_action(tree, n, np.int64(edge.action), settings)
            if child != NO_NODE:
                edge.child = child
        return child

    def listed_child(tree: Tree, n: Any, e: Any, settings: LoopSettings) -> Any:
        """Return the child after an edge of a chance node with a list of outcomes."""
        edge = tree.edges[e]
        child = np.int64(edge.child)
        if child == NO_NODE:
            child = child_by_outcome(tree, n, np.int64(edge.action), settings)
            if child != NO_NODE:
                edge.child = child
                tree.nodes[n].num_children += 1
        return child

    def outcome_child(tree: Tree, n: Any, outcome: Any, settings: LoopSettings) -> Any:
        """Return the child after an outcome of a chance node without a list."""
        child = find_child(tree, n, outcome)
        if child == NO_NODE:
            child = child_by_outcome(tree, n, outcome, settings)
            if child != NO_NODE:
                add_child(tree, n, outcome, child)
        return child

    return Children(action_child, listed_child, outcome_child)


def make_closed_child(kernels: Kernels, apply: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``closed_child(tree, n, label, settings) -> node``; ``apply`` applies an action or an outcome to a state."""
    kind_of = kernels.kind
    to_play = kernels.to_play

    def closed_child(tree: Tree, n: Any, label: Any, settings: LoopSettings) -> Any:
        """Return a new node with the state that follows node n, or NO_NODE. Its parent does not lead to it yet."""
        child = new_node(tree, label, settings.max_nodes)
        if child != NO_NODE:
            state = tree.states[child]
            for i in range(tree.states.shape[1]):
                state[i] = tree.states[n, i]
            apply(state, label)
            kind = kind_of(state)
            set_kind(tree, child, kind, np.int64(to_play(state)) if kind == DECISION else np.int64(-1))
        return child

    return closed_child


def set_kind(tree: Tree, n: Any, kind: Any, mover: Any) -> None:
    """Set kind and player of a new node. If the rules return impossible ones, the search ends with an error."""
    node = tree.nodes[n]
    if kind < DECISION or kind > TERMINAL or mover >= len(tree.low) or (kind == DECISION and mover < 0):
        tree.counters[BROKEN] = 1
        kind, mover = TERMINAL, np.int64(-1)
    node.kind = kind
    node.mover = mover


def is_stored(tree: Tree, n: Any, slot: Any, outcome: Any) -> Any:
    """Return whether an outcome of a chance node has a child."""
    if slot != NO_EDGE:
        return tree.edges[tree.nodes[n].first_edge + slot].child != NO_NODE
    return find_child(tree, n, outcome) != NO_NODE


# -- tables of children ------------------------------------------------------------------------------------------------


def find_child(tree: Tree, n: Any, key: Any) -> Any:
    """Return the child with this key in a node's table, or NO_NODE."""
    node = tree.nodes[n]
    if node.table_size == 0:
        return np.int64(NO_NODE)
    first, mask = np.int64(node.first_entry), np.int64(node.table_size) - 1
    i = hash_key(key, mask)
    child = np.int64(tree.tables[first + i])
    while child != EMPTY and tree.nodes[child].key != key:  # EMPTY is NO_NODE; a table always has an empty entry
        i = (i + 1) & mask
        child = np.int64(tree.tables[first + i])
    return child


def add_child(tree: Tree, n: Any, key: Any, child: Any) -> None:
    """Add a child to a node's table, with a key that is new there."""
    node = tree.nodes[n]
    tree.nodes[child].key = key
    if 4 * (node.num_children + 1) > 3 * node.table_size:
        enlarge_table(tree.nodes, tree.tables, tree.counters, n)
    put_child(tree.nodes, tree.tables, n, child)
    node.num_children += 1


@not_inlined
def enlarge_table(nodes: Any, tables: Any, counters: Any, n: Any) -> None:
    """Give a node a table of twice the size, with the same children. The old table stays unused."""
    node = nodes[n]
    old, old_size = np.int64(node.first_entry), np.int64(node.table_size)
    size = max(np.int64(FIRST_TABLE), 2 * old_size)
    first = counters[TABLE_ENTRIES]
    counters[TABLE_ENTRIES] = first + size
    for i in range(first, first + size):
        tables[i] = EMPTY
    node.first_entry = first
    node.table_size = size
    for i in range(old, old + old_size):
        if tables[i] != EMPTY:
            put_child(nodes, tables, n, np.int64(tables[i]))


def put_child(nodes: Any, tables: Any, n: Any, child: Any) -> None:
    """Write a child at the first empty entry from its hash on."""
    node = nodes[n]
    first, mask = np.int64(node.first_entry), np.int64(node.table_size) - 1
    i = hash_key(nodes[child].key, mask)
    while tables[first + i] != EMPTY:
        i = (i + 1) & mask
    tables[first + i] = child


def hash_key(key: Any, mask: Any) -> Any:
    """Return the entry at which the search for a key begins. Multiplication spreads keys that lie close together."""
    bits = np.uint64(np.int64(key) & np.int64(0xFFFFFFFF))
    return np.int64((bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask
