"""The arrays of a tree: its hash table, and growing."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aleazero.search.tree import (
    EDGE,
    EDGES,
    EMPTY,
    NO_NODE,
    NODE,
    NODES,
    add_child,
    find,
    grow_edges,
    grow_nodes,
    make_trees,
    new_node,
    tree_at,
    tree_bytes,
)


@given(st.sets(st.integers(0, 2**62), min_size=1, max_size=60), st.sets(st.integers(0, 2**62), max_size=60))
def test_what_was_stored_is_found_and_nothing_else(keys: set[int], others: set[int]) -> None:
    with np.errstate(over="ignore"):
        trees = make_trees(3, 64, 8, 2, "int32", 1)
        tree = tree_at(trees, 1)
        new_node(tree, NO_NODE, -1, 64)
        stored = {}
        for key in keys:
            stored[key] = int(new_node(tree, 0, 0, 64))
            add_child(tree, key, 0, stored[key])
        for group in (trees, grow_nodes(trees, 65), grow_nodes(trees, 1000)):
            grown = tree_at(group, 1)
            assert {key: int(find(grown, key)) for key in keys} == stored
            assert all(find(grown, key) == NO_NODE for key in others - keys)
            assert np.count_nonzero(grown.keys != EMPTY) == np.count_nonzero(group.keys != EMPTY) == len(keys)
        assert tree.nodes[0].num_children == len(keys)


def test_room_is_checked() -> None:
    tree = tree_at(make_trees(1, 3, 8, 2, "int32", 1), 0)
    assert [int(new_node(tree, NO_NODE, -1, 2)) for _ in range(3)] == [0, 1, NO_NODE]
    assert [int(new_node(tree, NO_NODE, -1, 99)) for _ in range(2)] == [2, NO_NODE]


def test_growing_keeps_everything() -> None:
    trees = make_trees(2, 4, 4, 3, "int16", 2)
    tree = tree_at(trees, 1)
    for n in range(4):
        new_node(tree, NO_NODE, n, 4)
        tree.states[n] = n
        tree.totals[n] = n / 2
    tree.edges.action = [5, 6, 7, 8]
    bigger = tree_at(grow_edges(grow_nodes(trees, 50), 60), 1)
    assert (len(bigger.nodes), len(bigger.edges)) == (50, 60)
    assert bigger.nodes.label[:4].tolist() == [0, 1, 2, 3]
    assert bigger.edges.action[:4].tolist() == [5, 6, 7, 8]
    np.testing.assert_array_equal(bigger.states[:4], tree.states)
    np.testing.assert_array_equal(bigger.totals[:4], tree.totals)


def test_bytes_in_use_are_counted() -> None:
    tree = tree_at(make_trees(1, 100, 100, 5, "int16", 2), 0)
    tree.counters[NODES], tree.counters[EDGES] = 10, 20
    assert (
        tree_bytes(tree.states, tree.totals, tree.counters) == 10 * (NODE.itemsize + 5 * 2 + 4 * 8) + 20 * EDGE.itemsize
    )
    assert (NODE.itemsize, EDGE.itemsize) == (56, 32)
