"""Children: the node behind an action or an outcome, found or made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.search.tree import (
    BROKEN,
    NO_EDGE,
    NO_NODE,
    TALLIES,
    TALLY,
    Settings,
    Tree,
    add_child,
    find,
    new_node,
)

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
