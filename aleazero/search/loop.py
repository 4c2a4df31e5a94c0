"""The loop that is compiled: descend (select, draw), evaluate, expand, back up; one text for every game.

``make_loop`` closes it over a game's functions. The functions neither raise nor allocate; they return a status.
Uncompiled they are ordinary Python over the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aleazero.games.kernel import Kernels
from aleazero.search.absorb import make_absorb, make_begin
from aleazero.search.backup import release
from aleazero.search.borrow import borrow_batch, borrow_scratch, borrow_tree
from aleazero.search.descend import make_descend
from aleazero.search.engine import DONE, EVALUATIONS_SPENT, FULL, PAUSED, WAITING
from aleazero.search.evaluate import make_evaluate
from aleazero.search.status import BAD_PROBABILITIES, BROKEN_RULES, COLLISION, GROW_EDGES, GROW_NODES, LEAF, NO_ROOM
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
    ROWS,
    SIMULATIONS,
    STARTED,
    Batch,
    Scratch,
    Settings,
    Tree,
)


def spent(tree: Tree, settings: Settings) -> Any:
    """Whether the waiting leaves use up the evaluations."""
    spent_all = tree.counters[EVALUATIONS] + tree.counters[ASKED] >= settings.max_evaluations
    return spent_all or tree.counters[OUT_OF_BUDGET] == 1


def may_start(tree: Tree, settings: Settings) -> Any:
    """Whether one more visit may join the batch."""
    counters = tree.counters
    room = counters[IN_BATCH] < settings.in_flight and counters[STARTED] < settings.num_simulations
    return room and counters[COLLIDED] == 0 and counters[IS_FULL] == 0 and not spent(tree, settings)


def make_loop(kernels: Kernels) -> Callable[..., int]:
    """The loop of one game: ``advance(tree, batch, scratch, settings, pause, answered) -> status``."""
    descend = make_descend(kernels)
    begin = make_begin(kernels)
    evaluate_all = make_evaluate(kernels)
    absorb = make_absorb(kernels)

    def advance(tree_: Tree, batch_: Batch, scratch_: Scratch, settings: Settings, pause: int, answered: bool) -> int:
        """Absorb what was answered, then go on until ``pause`` simulations are done or something else must happen."""
        tree, batch, scratch = borrow_tree(tree_), borrow_batch(batch_), borrow_scratch(scratch_)
        counters = tree.counters
        while True:
            if counters[BROKEN] == 1:
                return BROKEN_RULES
            if counters[IN_BATCH] == 0:
                if counters[IS_FULL] == 1:
                    return FULL
                if counters[STARTED] >= settings.num_simulations:
                    return DONE
                if spent(tree, settings):
                    return EVALUATIONS_SPENT
                if counters[SIMULATIONS] >= pause:
                    return PAUSED
            if may_start(tree, settings):
                leaves = counters[ROWS] + settings.largest_visit
                if counters[EDGES] + leaves * len(scratch.slot_of) > len(tree.edges):
                    return GROW_EDGES
                status = descend(tree, batch, scratch, settings, counters[IN_BATCH])
                if status == LEAF:
                    begin(tree, batch, scratch, settings, counters[IN_BATCH])
                    continue
                release(tree, batch, counters[IN_BATCH])
                if status == COLLISION:
                    counters[COLLISIONS] += 1
                    counters[COLLIDED] = 1
                elif status != NO_ROOM:
                    return status
                elif len(tree.nodes) < settings.max_nodes:
                    return GROW_NODES
                else:
                    counters[IS_FULL] = 1
                continue
            if settings.evaluator == EXTERNAL:
                if not answered:
                    return WAITING
                answered = False
            elif not evaluate_all(tree, batch, scratch, settings):
                return BAD_PROBABILITIES
            absorb(tree, batch, scratch, settings)
            counters[COLLIDED] = 0

    return advance
