"""Arrays without an owner: the compiled loop then counts no references (15-20 % of its time); the caller keeps them."""

from __future__ import annotations

from typing import Any, NamedTuple

from aleazero.search.tree import SLACK, Batch, Roots, Scratch, Tray, Tree
from aleazero.search.tree import seldom as seldom


def borrow(array: Any) -> Any:
    """The same array; compiled, without an owner, so that the loop counts no references (the caller keeps it)."""
    return array


def sized(array: Any, size: int) -> Any:
    """The same array, whose last axis has ``size`` entries; compiled, loops along it have a length that is known."""
    return array


def borrow_tree(t: Tree) -> Tree:
    """The tree's arrays, borrowed."""
    return Tree(
        borrow(t.nodes),
        borrow(t.edges),
        borrow(t.states),
        borrow(t.leaf_values),
        borrow(t.transient_sums),
        borrow(t.tables),
        borrow(t.low),
        borrow(t.high),
        borrow(t.luck),
        borrow(t.counters),
    )


def borrow_batch(b: Batch) -> Batch:
    """The batch's arrays, borrowed."""
    return Batch(
        borrow(b.visits),
        borrow(b.paths),
        borrow(b.rows),
        borrow(b.states),
        borrow(b.values),
    )


def borrow_tray(t: Tray) -> Tray:
    """The tray's arrays, borrowed."""
    return Tray(
        borrow(t.taken),
        borrow(t.owners),
        borrow(t.states),
        borrow(t.observations),
        borrow(t.masks),
        borrow(t.logits),
        borrow(t.values),
    )


def borrow_roots(r: Roots) -> Roots:
    """The arrays of the roots, borrowed."""
    return Roots(borrow(r.counts), borrow(r.actions), borrow(r.visits), borrow(r.q), borrow(r.priors), borrow(r.values))


def borrow_scratch(s: Scratch) -> Scratch:
    """The scratch arrays, borrowed."""
    return Scratch(
        borrow(s.walk),
        borrow(s.actions),
        borrow(s.slot_of),
        borrow(s.ids),
        borrow(s.probabilities),
        borrow(s.picks),
        borrow(s.value),
        borrow(s.before),
    )


class Sizes(NamedTuple):
    """Lengths of rows that are part of a game's compiled loop."""

    state: int
    players: int
    actions: int


def size_tree(t: Tree, sizes: Sizes) -> Tree:
    """One tree, with rows of known lengths."""
    return Tree(
        t.nodes,
        t.edges,
        sized(t.states, sizes.state),
        sized(t.leaf_values, sizes.players),
        sized(t.transient_sums, sizes.players),
        t.tables,
        sized(t.low, sizes.players),
        sized(t.high, sizes.players),
        t.luck,
        t.counters,
    )


def size_batch(b: Batch, sizes: Sizes) -> Batch:
    """One tree's batch, with rows of known lengths."""
    return Batch(b.visits, b.paths, b.rows, sized(b.states, sizes.state), sized(b.values, sizes.players))


def size_scratch(s: Scratch, sizes: Sizes) -> Scratch:
    """The scratch arrays, those of a game's sizes with known lengths."""
    return Scratch(
        sized(s.walk, sizes.state),
        sized(s.actions, sizes.actions + SLACK),
        sized(s.slot_of, sizes.actions),
        s.ids,
        s.probabilities,
        s.picks,
        sized(s.value, sizes.players),
        sized(s.before, sizes.state),
    )
