"""The tree as arrays: what each field holds, the sentinels, and how the arrays are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k leaves in flight, a actions, l steps of a path.
A node does not know its visits' ways: every descent records its path, and values go up along it, so that a node
may one day have several parents. Leaves carry their own state, so that one need not be a stored node.

Trees stand in groups: the arrays of a ``Tree`` and a ``Batch`` have the number of the tree as their first axis, and
``tree_at`` and ``batch_at`` take one out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.search.tree.arrays import (
    BROKEN,
    EDGES,
    EMPTY,
    FIRST_TABLE,
    NO_EDGE,
    NO_NODE,
    NODES,
    TABLE_PLACES,
    TALLIES,
    TALLY,
    UNEXPANDED,
    Batch,
    Settings,
    Tree,
)


def first_place_of(key: Any, mask: Any) -> Any:
    """Where the search for a key begins in a table."""
    bits = np.uint64(np.int64(key) & np.int64(0xFFFFFFFF))
    return np.int64((bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


def find(tree: Tree, n: Any, key: Any) -> Any:
    """The child in a node's table that has a key, or NO_NODE."""
    node = tree.nodes[n]
    if node.table_size == 0:
        return np.int64(NO_NODE)
    first, mask = np.int64(node.first_place), np.int64(node.table_size) - 1
    i = first_place_of(key, mask)
    child = np.int64(tree.tables[first + i])
    while child != EMPTY and tree.nodes[child].key != key:
        i = (i + 1) & mask
        child = np.int64(tree.tables[first + i])
    return child


def add_child(tree: Tree, n: Any, key: Any, child: Any) -> None:
    """Put a child into a node's table, under a key that is new there."""
    node = tree.nodes[n]
    tree.nodes[child].key = key
    if 4 * (node.num_children + 1) > 3 * node.table_size:
        enlarge_table(tree.nodes, tree.tables, tree.counters, n)
    put_child(tree.nodes, tree.tables, n, child)
    node.num_children += 1


@not_inlined
def enlarge_table(nodes: Any, tables: Any, counters: Any, n: Any) -> None:
    """Give a node a table of twice the size, with the same children."""
    node = nodes[n]
    old, old_size = np.int64(node.first_place), np.int64(node.table_size)
    size = max(np.int64(FIRST_TABLE), 2 * old_size)
    first = counters[TABLE_PLACES]
    counters[TABLE_PLACES] = first + size
    for i in range(first, first + size):
        tables[i] = EMPTY
    node.first_place = first
    node.table_size = size
    for i in range(old, old + old_size):
        if tables[i] != EMPTY:
            put_child(nodes, tables, n, np.int64(tables[i]))


def put_child(nodes: Any, tables: Any, n: Any, child: Any) -> None:
    """Write a child at the first free place from where its key belongs."""
    node = nodes[n]
    first, mask = np.int64(node.first_place), np.int64(node.table_size) - 1
    i = first_place_of(nodes[child].key, mask)
    while tables[first + i] != EMPTY:
        i = (i + 1) & mask
    tables[first + i] = child


def new_node(tree: Tree, label: Any, most: Any) -> Any:
    """A blank node, or NO_NODE where there is no room (the limit or the arena)."""
    n = tree.counters[NODES]
    if n >= most or n >= len(tree.nodes):
        return np.int64(NO_NODE)
    tree.counters[NODES] = n + 1
    node = tree.nodes[n]
    node.visits = 0
    node.label = label
    node.first_edge = NO_EDGE
    node.num_edges = UNEXPANDED
    node.edge_room = 0
    node.table_size = 0
    node.first_listed = NO_EDGE
    node.num_children = 0
    node.in_flight = 0
    node.evaluated = 0
    node.pending = 0
    node.exact = 0
    for p in range(len(tree.low)):
        node.value_sums[p] = 0.0
    return n


def take_edges(tree: Tree, count: Any, reserve: Any) -> Any:
    """The first of ``count`` free edges that lie side by side; NO_EDGE if fewer than ``reserve`` would remain.

    All edges are handed out here, so no kernel writes past the end of the array.
    """
    first = tree.counters[EDGES]
    if first + count + reserve > len(tree.edges):
        return np.int64(NO_EDGE)
    tree.counters[EDGES] = first + count
    return np.int64(first)


def new_edge(tree: Tree, e: Any, action: Any, prior: Any) -> None:
    """A blank edge at a place that is free."""
    edge = tree.edges[e]
    edge.total = 0.0
    edge.prior = prior
    edge.action = action
    edge.child = NO_NODE
    edge.visits = 0
    edge.in_flight = 0


Finder = Callable[..., Any]


class Children(NamedTuple):
    """How one game's nodes find their children."""

    behind_action: Finder
    in_table: Finder
    by_hash: Finder
    shared: Finder
    stored: Finder


@not_inlined
def tally(tree: Tree, outcome: Any, settings: Settings) -> Any:
    """The counter of an outcome of a chance root in open loop."""
    key = -1 - outcome  # no other key is below 0
    n = find(tree, np.int64(0), key)
    if n == NO_NODE:
        n = new_node(tree, outcome, settings.max_nodes)
        if n != NO_NODE:
            tree.nodes[n].kind = TALLY
            tree.nodes[n].mover = -1
            add_child(tree, np.int64(0), key, n)
            tree.counters[TALLIES] += 1
    return n


def is_stored(tree: Tree, n: Any, slot: Any, outcome: Any) -> Any:
    """Whether an outcome of a chance node has a child."""
    if slot != NO_EDGE:
        return tree.edges[tree.nodes[n].first_edge + slot].child != NO_NODE
    return find(tree, n, outcome) != NO_NODE


def make_children(kernels: Kernels) -> Children:
    """The finders of one game."""
    kind_of = kernels.kind
    to_play = kernels.to_play
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome

    def enter(tree: Tree, n: Any, state: Any) -> None:
        """Note what kind of state a new node stands for."""
        node = tree.nodes[n]
        kind = kind_of(state)
        mover = np.int64(to_play(state)) if kind == DECISION else np.int64(-1)
        if kind < DECISION or kind > TERMINAL or mover >= len(tree.low) or (kind == DECISION and mover < 0):
            tree.counters[BROKEN] = 1
            kind, mover = TERMINAL, np.int64(-1)
        node.kind = kind
        node.mover = mover

    def closed_child(tree: Tree, n: Any, label: Any, settings: Settings) -> Any:
        """A new node whose state is that of node n, not yet moved on."""
        child = new_node(tree, label, settings.max_nodes)
        if child != NO_NODE:
            for i in range(tree.states.shape[1]):
                tree.states[child, i] = tree.states[n, i]
        return child

    def action_child(tree: Tree, n: Any, e: Any, settings: Settings) -> Any:
        """Closed loop: the child behind an edge of a decision."""
        edge = tree.edges[e]
        child = np.int64(edge.child)
        if child == NO_NODE:
            child = closed_child(tree, n, np.int64(edge.action), settings)
            if child != NO_NODE:
                apply(tree.states[child], np.int64(edge.action))
                enter(tree, child, tree.states[child])
                edge.child = child
        return child

    def table_child(tree: Tree, n: Any, e: Any, settings: Settings) -> Any:
        """The child behind an outcome of a chance node's table, made if it is not there."""
        edge = tree.edges[e]
        child = np.int64(edge.child)
        if child == NO_NODE:
            child = closed_child(tree, n, np.int64(edge.action), settings)
            if child != NO_NODE:
                apply_outcome(tree.states[child], np.int64(edge.action))
                enter(tree, child, tree.states[child])
                edge.child = child
                tree.nodes[n].num_children += 1
        return child

    def hashed_child(tree: Tree, n: Any, outcome: Any, settings: Settings) -> Any:
        """The child behind an outcome of a chance node without a table, made if it is not there."""
        child = find(tree, n, outcome)
        if child == NO_NODE:
            child = closed_child(tree, n, outcome, settings)
            if child != NO_NODE:
                apply_outcome(tree.states[child], outcome)
                enter(tree, child, tree.states[child])
                add_child(tree, n, outcome, child)
        return child

    def open_key(place: Any, state: Any) -> Any:
        """The key that all states of this kind and mover share below an action (or below chance)."""
        kind = kind_of(state)
        code = 2 + np.int64(to_play(state)) if kind == DECISION else (0 if kind == CHANCE else 1)
        return place * 64 + code

    def stored_child(tree: Tree, n: Any, outcome: Any, after: Any, settings: Settings) -> Any:
        """The child below an outcome of a chance node without a table, or NO_NODE; ``after`` is the state there."""
        return find(tree, n, open_key(np.int64(0), after) if settings.open_loop else outcome)

    def open_child(tree: Tree, n: Any, slot: Any, label: Any, state: Any, settings: Settings) -> Any:
        """The node that all states of this kind and mover share below an action (or below chance: no slot).

        The child of the last visit is looked at before the table: it is the right one most of the time.
        """
        node = tree.nodes[n]
        below_chance = slot == NO_EDGE
        key = open_key(np.int64(0) if below_chance else 1 + label, state)
        last = np.int64(node.last_child if below_chance else tree.edges[node.first_edge + slot].child)
        if last != NO_NODE and tree.nodes[last].key == key:
            return last
        child = find(tree, n, key)
        if child == NO_NODE:
            child = new_node(tree, label, settings.max_nodes)
            if child == NO_NODE:
                return child
            for i in range(tree.states.shape[1]):
                tree.states[child, i] = state[i]
            enter(tree, child, state)
            add_child(tree, n, key, child)
        if below_chance:
            node.last_child = child
        else:
            tree.edges[node.first_edge + slot].child = child
        return child

    return Children(action_child, table_child, hashed_child, open_child, stored_child)


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
