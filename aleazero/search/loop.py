"""The loop that is compiled: descend (select, draw), evaluate, expand, back up; one text for every game.

It grows a group of trees, one after the other; a search alone is a group of one.

``make_loop`` closes it over a game's functions. The functions neither raise nor allocate; they return a status.
Uncompiled they are ordinary Python over the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import borrow
from aleazero.search.absorb import make_absorb, make_begin
from aleazero.search.backup import release
from aleazero.search.descend import make_descend
from aleazero.search.engine import ANSWERED, DONE, EVALUATIONS_SPENT, FULL, PAUSED, PLANTED, READY, WAITING
from aleazero.search.evaluate import make_evaluate
from aleazero.search.playout import PLAYED, UNDRAWN
from aleazero.search.report import report
from aleazero.search.status import (
    BAD_PROBABILITIES,
    BROKEN_RULES,
    COLLISION,
    GAME_OVER,
    GROW_EDGES,
    GROW_NODES,
    LEAF,
    NO_ROOM,
)
from aleazero.search.tree import (
    ASKED,
    BROKEN,
    COLLIDED,
    COLLISIONS,
    EDGES,
    EVALUATIONS,
    EXTERNAL,
    IN_BATCH,
    IS_FULL,
    OUT_OF_BUDGET,
    RETRIED,
    ROWS,
    SIMULATIONS,
    STARTED,
    Batch,
    Roots,
    Scratch,
    Settings,
    Sizes,
    Tray,
    Tree,
    batch_at,
    size_batch,
    size_scratch,
    size_tree,
    tree_at,
)

GROW_MORE_NODES: Final = 1 << 32
GROW_MORE_EDGES: Final = 1 << 33


def spent(tree: Tree, settings: Settings) -> Any:
    """Whether the waiting leaves use up the evaluations."""
    spent_all = tree.counters[EVALUATIONS] + tree.counters[ASKED] >= settings.max_evaluations
    return spent_all or tree.counters[OUT_OF_BUDGET] == 1


def may_start(tree: Tree, settings: Settings, limit: int) -> Any:
    """Whether one more visit may join the batch, of so many simulations."""
    counters = tree.counters
    room = counters[IN_BATCH] < settings.in_flight and counters[STARTED] < limit
    return room and counters[COLLIDED] == 0 and counters[IS_FULL] == 0 and not spent(tree, settings)


def make_loop(kernels: Kernels, sizes: Sizes) -> Callable[..., int]:
    """The loop of one game: ``advance(trees, batches, tray, ...)``, as below."""
    descend = make_descend(kernels)
    plant, begin = make_begin(kernels)
    evaluate_all = make_evaluate(kernels)
    absorb = make_absorb(kernels)

    def go_on(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, pause: int,
              limit: int, answered: bool) -> int:  # fmt: skip
        """Absorb what was answered, then go on until ``pause`` simulations are done or something else must happen."""
        counters = tree.counters
        while True:
            if counters[BROKEN] == 1:
                return BROKEN_RULES
            if counters[IN_BATCH] == 0:
                if counters[STARTED] == 0 and pause == 0:
                    return PAUSED  # something is to be done at the root first
                if counters[IS_FULL] == 1:
                    return FULL
                if counters[STARTED] >= limit:
                    return DONE
                if spent(tree, settings):
                    return EVALUATIONS_SPENT
                if counters[SIMULATIONS] >= pause:
                    return PAUSED
                if settings.evaluator == EXTERNAL and tray.taken[0] + len(batch.rows) > len(tray.owners):
                    return READY  # the tray is full: wait for the next
            if may_start(tree, settings, limit):
                leaves = counters[ROWS] + settings.largest_visit
                if counters[EDGES] + leaves * len(scratch.slot_of) > len(tree.edges):
                    return GROW_EDGES
                first = counters[IN_BATCH]
                stop = first + 1
                status = descend(tree, batch, scratch, settings, first)
                if status != LEAF:
                    release(tree, batch, first)
                    if status == COLLISION:
                        counters[COLLISIONS] += 1
                        counters[COLLIDED] = 1
                        counters[RETRIED] = counters[STARTED] + 1
                    elif status != NO_ROOM:
                        return status
                    elif len(tree.nodes) < settings.max_nodes:
                        return GROW_NODES
                    else:
                        counters[IS_FULL] = 1
                    continue
                if not begin(tree, batch, tray, scratch, settings, first):
                    continue
            else:
                if settings.evaluator == EXTERNAL:
                    if not answered:
                        return WAITING
                    answered = False
                else:
                    played = evaluate_all(tree, batch, scratch, settings)
                    if played != PLAYED:
                        return BAD_PROBABILITIES if played == UNDRAWN else BROKEN_RULES
                first = np.int64(0)
                stop = counters[IN_BATCH]
                counters[IN_BATCH] = 0
                counters[ROWS] = 0
                counters[ASKED] = 0
                counters[COLLIDED] = 0
            # One call for a visit whose values are all known and for those that waited: it is compiled once.
            absorb(tree, batch, tray, scratch, settings, first, stop)

    def advance(trees_: Tree, batches_: Batch, tray_: Tray, roots_: Roots, scratch_: Scratch, settings: Settings,
                pauses: Any, limits: Any, statuses: Any, first: int) -> int:  # fmt: skip
        """Let every tree that may go on do so, beginning with ``first``; the bits returned say what must grow,
        and what statuses there are then.

        A tree that finds the tray full stays READY. A tree that needs more room ends the pass: the next one comes to it
        before any later tree, which could take the places of the tray that its waiting visit counts on.
        """
        trees, batches, tray = borrow(trees_), borrow(batches_), borrow(tray_)
        roots, scratch = borrow(roots_), size_scratch(borrow(scratch_), sizes)
        for turn in range(len(statuses)):
            b = (first + turn) % len(statuses)
            status = statuses[b]
            if status != PLANTED and status != READY and status != ANSWERED:
                continue
            tree, batch = size_tree(tree_at(trees, b), sizes), size_batch(batch_at(batches, b), sizes)
            if status == PLANTED:
                if settings.evaluator == EXTERNAL and tray.taken[0] >= len(tray.owners):
                    continue
                if len(scratch.slot_of) > len(tree.edges):  # the root's evaluation may need an edge for every action
                    return GROW_MORE_EDGES
                plant(tree, batch, tray, scratch, settings)
                if tree.nodes[0].kind == TERMINAL:
                    statuses[b] = GAME_OVER
                    continue
            status = go_on(tree, batch, tray, scratch, settings, pauses[b], limits[b], status == ANSWERED)
            if status in (GROW_NODES, GROW_EDGES):
                statuses[b] = READY
                return GROW_MORE_NODES if status == GROW_NODES else GROW_MORE_EDGES
            if status != WAITING and status != READY:
                report(tree, roots, settings, b)
            statuses[b] = status
        found = 0
        for b in range(len(statuses)):
            found |= 1 << statuses[b]
        return found

    return advance
