"""The arrays of a tree: tables of children, and growing."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.search.tree.arrays import (
    EDGE,
    EDGES,
    EMPTY,
    NO_NODE,
    TABLE_ENTRIES,
    grow_edges,
    grow_nodes,
    make_trees,
    node_dtype,
    row_bytes,
    tree_at,
)
from aleazero.search.tree.nodes import add_child, find_child, new_node
from aleazero.search.tree.open_loop import child_key

KEYS = st.integers(-(2**31), 2**31 - 1)


@settings(deadline=None)
@given(st.sets(KEYS, min_size=1, max_size=60), st.sets(KEYS, max_size=60))
def test_only_stored_children_are_found(keys: set[int], others: set[int]) -> None:
    with np.errstate(over="ignore"):
        trees = make_trees(3, 64, 8, 2, "int32", 1)
        tree = tree_at(trees, 1)
        new_node(tree, -1, 64)
        stored = {}
        for key in keys:
            stored[key] = int(new_node(tree, 0, 64))
            add_child(tree, 0, key, stored[key])
        for group in (trees, grow_nodes(trees, 65), grow_nodes(trees, 1000)):
            grown = tree_at(group, 1)
            assert {key: int(find_child(grown, 0, key)) for key in keys} == stored
            assert all(find_child(grown, 0, key) == NO_NODE for key in others - keys)
            root = grown.nodes[0]
            table = grown.tables[root.first_entry : root.first_entry + root.table_size]
            assert sorted(table[table != EMPTY]) == sorted(stored.values())
            assert find_child(grown, 1, next(iter(keys))) == NO_NODE  # its own table is empty
        assert tree.nodes[0].num_children == len(keys)


@settings(deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_tables_of_all_nodes_fit(children: list[int]) -> None:
    """However the children are spread over parents, their tables fit into the room that nodes come with."""
    with np.errstate(over="ignore"):
        num_nodes = 1 + sum(children)
        tree = tree_at(make_trees(1, num_nodes, 1, 1, "int32", 1), 0)
        new_node(tree, -1, num_nodes)
        for parent, count in enumerate(children):
            for key in range(count):
                add_child(tree, parent, key, int(new_node(tree, 0, num_nodes)))
        assert tree.counters[TABLE_ENTRIES] <= 16 / 3 * sum(children) <= len(tree.tables)
        for parent, count in enumerate(children):
            assert len({int(find_child(tree, parent, key)) for key in range(count)} - {NO_NODE}) == count


def test_room_is_checked() -> None:
    tree = tree_at(make_trees(1, 3, 8, 2, "int32", 1), 0)
    assert [int(new_node(tree, -1, 2)) for _ in range(3)] == [0, 1, NO_NODE]
    assert [int(new_node(tree, -1, 99)) for _ in range(2)] == [2, NO_NODE]


def test_growing_keeps_everything() -> None:
    trees = make_trees(2, 4, 4, 3, "int16", 2)
    tree = tree_at(trees, 1)
    for n in range(4):
        new_node(tree, n, 4)
        tree.states[n] = n
        tree.nodes[n].value_sums[:] = n / 2
        tree.leaf_values[n] = n / 4
    tree.edges.action = [5, 6, 7, 8]
    tree.counters[EDGES] = 4
    bigger = tree_at(grow_edges(grow_nodes(trees, 50), 60), 1)
    assert (len(bigger.nodes), len(bigger.edges)) == (50, 60)
    assert bigger.nodes.label[:4].tolist() == [0, 1, 2, 3]
    assert bigger.edges.action[:4].tolist() == [5, 6, 7, 8]
    np.testing.assert_array_equal(bigger.states[:4], tree.states)
    np.testing.assert_array_equal(bigger.nodes.value_sums[:4], tree.nodes.value_sums)
    np.testing.assert_array_equal(bigger.leaf_values[:4], tree.leaf_values)


def test_bytes_per_node_and_edge_include_all_arrays() -> None:
    smallest = make_trees(1, 100, 100, 5, "int16", 2, keeps_leaf_values=False)
    largest = make_trees(1, 100, 100, 5, "int16", 2, keeps_transient=True)
    assert row_bytes(smallest) == (64 + 5 * 2, 32, 4)
    assert row_bytes(largest) == (64 + 5 * 2 + 2 * 8, 32 + 2 * 8, 4)
    assert (node_dtype(2).itemsize, node_dtype(1).itemsize, EDGE.itemsize) == (64, 56, 32)


def test_nodes_begin_at_a_cache_line() -> None:
    for count, nodes in ((1, 1), (3, 7), (1, 100_000)):
        assert make_trees(count, nodes, 3, 5, "int16", 2).nodes.ctypes.data % 64 == 0


def test_children_of_open_loop_have_different_keys() -> None:
    """Also with many players: each action or chance, kind and mover has its own key."""
    players = 127
    tree = tree_at(make_trees(1, 2, 1, 1, "int32", players), 0)
    follow = [(CHANCE, -1), (TERMINAL, -1), *((DECISION, mover) for mover in range(players))]
    keys = [int(child_key(tree, code, kind, mover)) for code in range(50) for kind, mover in follow]
    assert min(keys) >= 0
    assert len(set(keys)) == len(keys)
    # A player that does not exist never shares a node with one that does, so that the error is found.
    assert int(child_key(tree, 3, DECISION, players + 1)) not in keys
    assert int(child_key(tree, 3, DECISION, -1)) not in keys
