"""Arrays without an owner: the compiled loop then counts no references (15-20 % of its time); the caller keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from aleazero.search.tree import Batch, Roots, Scratch, Tray, Tree

Function = TypeVar("Function", bound=Callable[..., Any])


def seldom(function: Function) -> Function:
    """Mark a function of the loop that stays a call: it costs less time to compile, and is given few arrays if hot."""
    function.seldom = True  # type: ignore[attr-defined]
    return function


def borrow(array: Any) -> Any:
    """The same array; compiled, without an owner, so that the loop counts no references (the caller keeps it)."""
    return array


def borrow_tree(t: Tree) -> Tree:
    """The tree's arrays, borrowed."""
    return Tree(
        borrow(t.nodes),
        borrow(t.edges),
        borrow(t.states),
        borrow(t.totals),
        borrow(t.own),
        borrow(t.transient),
        borrow(t.keys),
        borrow(t.places),
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
