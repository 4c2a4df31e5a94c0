"""Lists of outcomes of chance nodes: only picked outcomes have edges, and the order of the game is kept."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from aleazero.search.status import DONE, GROW_EDGES
from aleazero.search.tree.arrays import EDGES, FIRST_OUTCOMES, NO_EDGE, make_scratch, make_trees, tree_at
from aleazero.search.tree.chance import edge_of, make_listing
from aleazero.search.tree.nodes import new_node

SHARES = np.array([0.1, 0.3, 0.05, 0.2, 0.15, 0.2])
IDS = np.array([7, 3, 11, 2, 40, 5])


def planted(edges: int = 64, exact_up_to: int = 0) -> tuple[Any, Any, Any, Any]:
    """A tree of one chance node, its scratch, its settings, and how it lists."""
    tree, scratch = tree_at(make_trees(1, 4, edges, 1, "int64", 1), 0), make_scratch(1, "int64", 3, len(IDS), 1)
    new_node(tree, -1, 4)

    def outcomes(state: Any, ids: Any, probabilities: Any) -> int:
        ids[: len(IDS)], probabilities[: len(IDS)] = IDS, SHARES
        return len(IDS)

    settings = SimpleNamespace(stratified=True, exact_up_to=exact_up_to)
    return tree, scratch, settings, make_listing(SimpleNamespace(outcomes=outcomes))  # type: ignore[arg-type]


def in_order(tree: Any) -> list[int]:
    """The outcomes that have edges, as they are linked."""
    node, found = tree.nodes[0], []
    slot = node.first_in_list
    while slot != NO_EDGE:
        found.append(int(tree.edges[node.first_edge + slot].action))
        slot = tree.edges[node.first_edge + slot].next_in_list
    return found


def test_only_picked_outcomes_have_edges() -> None:
    tree, scratch, settings, listing = planted()
    assert listing.make_list(tree, scratch, settings, 0, 0) == DONE
    assert tree.counters[EDGES] == 0
    met = []
    with np.errstate(over="ignore"):
        for _ in range(20):
            slot = listing.pick_outcome(tree, scratch, settings, 0, 0.5, 0)
            edge = tree.edges[tree.nodes[0].first_edge + slot]
            edge.visits += 1
            met.append(int(edge.action))
            assert in_order(tree) == [int(outcome) for outcome in IDS if outcome in met]
            assert not scratch.picks.any()
    # By hand: the largest share first; after 20 picks each outcome was picked in proportion to its probability.
    assert met[0] == 3
    assert [met.count(outcome) for outcome in IDS] == [2, 6, 1, 4, 3, 4]


def test_moved_edges_keep_their_counts() -> None:
    tree, scratch, settings, listing = planted()
    listing.make_list(tree, scratch, settings, 0, 0)
    for place in (4, 1, 5, 0):
        slot = edge_of(tree, scratch, 0, place, 0)
        tree.edges[tree.nodes[0].first_edge + slot].in_flight = place + 1
    before = int(tree.nodes[0].first_edge)
    assert edge_of(tree, scratch, 0, 2, 0) == FIRST_OUTCOMES
    node = tree.nodes[0]
    assert node.first_edge != before
    assert tree.edges.in_flight[before : before + FIRST_OUTCOMES].sum() == 0
    assert tree.edges.in_flight[node.first_edge : node.first_edge + 5].tolist() == [5, 2, 6, 1, 0]
    assert in_order(tree) == [7, 3, 11, 40, 5]
    assert [edge_of(tree, scratch, 0, place, 0) for place in (4, 1, 5, 0, 2)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("edges", "reserve", "made"),
    [(FIRST_OUTCOMES, 0, 0), (FIRST_OUTCOMES, 1, GROW_EDGES), (FIRST_OUTCOMES - 1, 0, GROW_EDGES)],
)
def test_missing_room_is_reported_before_any_change(edges: int, reserve: int, made: int) -> None:
    tree, scratch, settings, listing = planted(edges)
    assert listing.make_list(tree, scratch, settings, 0, reserve) == DONE
    assert edge_of(tree, scratch, 0, 3, reserve) == made
    assert in_order(tree) == ([2] if made == 0 else [])


def test_node_with_expand_all_has_all_edges_from_the_start() -> None:
    tree, scratch, settings, listing = planted(exact_up_to=len(IDS))
    assert listing.make_list(tree, scratch, settings, 0, 64) == GROW_EDGES
    assert listing.make_list(tree, scratch, settings, 0, 0) == DONE
    assert in_order(tree) == IDS.tolist()
    assert tree.nodes[0].expand_all == 1
