"""The loop that is compiled: descend (select, draw), evaluate, expand, back up; one text for every game.

``make_loop`` closes it over a game's functions. The functions neither raise nor allocate; they return a status.
Uncompiled they are ordinary Python over the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.search.backup import backup, release
from aleazero.search.borrow import borrow_batch, borrow_scratch, borrow_tree
from aleazero.search.chance import BAD_OUTCOME, make_draw
from aleazero.search.engine import DONE, EVALUATIONS_SPENT, FULL, MAX_CHANCE_RUN, PAUSED, WAITING
from aleazero.search.select import close_slots, open_slots, select, select_open
from aleazero.search.streams import extend_key_bits, unit_at
from aleazero.search.tree import (
    COLLISIONS,
    DEPTH,
    EDGES,
    EVALUATIONS,
    EXPANSIONS,
    EXTERNAL,
    IN_BATCH,
    IS_FULL,
    NO_EDGE,
    NO_NODE,
    RESUMES,
    SIMULATIONS,
    STARTED,
    TALLIES,
    TALLY,
    UNEXPANDED,
    UNIFORM,
    Batch,
    Scratch,
    Settings,
    Tree,
    add_child,
    find,
    new_edge,
    new_node,
)

# What a descent came to, beside the statuses of the engine.
LEAF: Final = 10
COLLISION: Final = 11
NO_ROOM: Final = 12
GROW_NODES: Final = 13
GROW_EDGES: Final = 14
BAD_PROBABILITIES: Final = 15
ENDLESS_CHANCE: Final = 16

ASK_NEVER: Final = 0
ASK_EXACT: Final = 2
"""Evaluator's words at a kind of node, as in ``evaluator.Asked``."""

TALLY_KEY: Final = 1 << 31


def make_loop(kernels: Kernels) -> Callable[..., int]:
    """The loop of one game: ``advance(tree, batch, scratch, settings, pause, answered) -> status``."""
    kind_of = kernels.kind
    to_play = kernels.to_play
    legal = kernels.legal
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    returns = kernels.returns
    viewer_of = kernels.viewer
    observe = kernels.observe
    draw = make_draw(kernels)

    def enter(tree: Tree, n: Any, state: Any) -> None:
        """Note what kind of state a new node stands for."""
        node = tree.nodes[n]
        node.kind = kind_of(state)
        node.mover = to_play(state) if node.kind == DECISION else -1

    def closed_child(tree: Tree, n: Any, label: Any, settings: Settings) -> Any:
        """A new node whose state is that of node n, not yet moved on."""
        child = new_node(tree, n, label, settings.max_nodes)
        if child != NO_NODE:
            for i in range(tree.states.shape[1]):
                tree.states[child, i] = tree.states[n, i]
        return child

    def open_child(tree: Tree, n: Any, label: Any, place: Any, state: Any, settings: Settings) -> Any:
        """The node that all states of this kind and mover share behind an action (or behind chance)."""
        kind = kind_of(state)
        code = 2 + np.int64(to_play(state)) if kind == DECISION else (0 if kind == CHANCE else 1)
        key = (np.int64(n) << 32) + place * 64 + code
        child = find(tree, key)
        if child == NO_NODE:
            child = new_node(tree, n, label, settings.max_nodes)
            if child != NO_NODE:
                for i in range(tree.states.shape[1]):
                    tree.states[child, i] = state[i]
                enter(tree, child, state)
                add_child(tree, key, n, child)
        return child

    def tally(tree: Tree, outcome: Any, settings: Settings) -> Any:
        """The counter of an outcome of a chance root in open loop."""
        key = np.int64(TALLY_KEY) + outcome
        n = find(tree, key)
        if n == NO_NODE:
            n = new_node(tree, np.int64(0), outcome, settings.max_nodes)
            if n != NO_NODE:
                tree.nodes[n].kind = TALLY
                tree.nodes[n].mover = -1
                add_child(tree, key, np.int64(0), n)
                tree.counters[TALLIES] += 1
        return n

    def root_actions(tree: Tree, scratch: Scratch) -> Any:
        """At the root an open loop always sees the same state, and may have been told to leave actions out."""
        root = tree.nodes[0]
        for slot in range(root.num_edges):
            scratch.actions[slot] = tree.edges[root.first_edge + slot].action
        return np.int64(root.num_edges)

    def descend(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any) -> int:
        """From the root to a leaf, whose path and state go into a row of the batch."""
        key = extend_key_bits(settings.descent_key, np.uint64(tree.counters[STARTED]))
        batch.simulations[row] = np.uint64(tree.counters[STARTED])
        batch.lengths[row] = 0
        walk = scratch.walk
        if settings.open_loop:
            for i in range(len(walk)):
                walk[i] = tree.states[0, i]
        n = np.int64(0)
        depth = np.int64(0)
        chance_run = 0
        while True:
            node = tree.nodes[n]
            step = batch.lengths[row]
            batch.path_nodes[row, step] = n
            batch.path_slots[row, step] = NO_EDGE
            if node.pending:
                return COLLISION
            if node.kind == TERMINAL:
                break
            if node.kind == CHANCE:
                asked = settings.at_chance != ASK_NEVER
                if asked and (not node.evaluated or (settings.at_chance == ASK_EXACT and n != 0)):
                    break
                chance_run += 1
                if chance_run > MAX_CHANCE_RUN:
                    return ENDLESS_CHANCE
                u = unit_at(key, depth)
                outcome = np.int64(draw(walk if settings.open_loop else tree.states[n], u, scratch))
                if outcome == BAD_OUTCOME:
                    return BAD_PROBABILITIES
                batch.lengths[row] = step + 1
                if settings.open_loop:
                    if n == 0:
                        counter = tally(tree, outcome, settings)
                        if counter == NO_NODE:
                            return NO_ROOM
                        batch.path_nodes[row, step + 1] = counter
                        batch.path_slots[row, step + 1] = NO_EDGE
                        batch.lengths[row] = step + 2
                    apply_outcome(walk, outcome)
                    child = open_child(tree, n, outcome, np.int64(0), walk, settings)
                else:
                    child_key = (np.int64(n) << 32) + outcome
                    child = find(tree, child_key)
                    if child == NO_NODE:
                        child = closed_child(tree, n, outcome, settings)
                        if child != NO_NODE:
                            apply_outcome(tree.states[child], outcome)
                            enter(tree, child, tree.states[child])
                            add_child(tree, child_key, n, child)
            else:
                if not node.evaluated or depth >= settings.max_depth:
                    break
                if settings.at_decisions == ASK_EXACT and n != 0:
                    break
                chance_run = 0
                if settings.open_loop:
                    num_legal = root_actions(tree, scratch) if n == 0 else legal(walk, scratch.actions)
                    reserve = (tree.counters[IN_BATCH] + 1) * len(scratch.slot_of)
                    if not open_slots(tree, scratch, n, num_legal, reserve):
                        return GROW_EDGES
                    slot = np.int64(select_open(tree, scratch, settings, n, num_legal))
                    close_slots(tree, scratch, n)
                else:
                    slot = np.int64(select(tree, settings, n))
                edge = tree.edges[node.first_edge + slot]
                edge.in_flight += 1
                batch.path_slots[row, step] = slot
                batch.lengths[row] = step + 1
                action = np.int64(edge.action)
                if settings.open_loop:
                    apply(walk, action)
                    child = open_child(tree, n, action, 1 + action, walk, settings)
                else:
                    child = np.int64(edge.child)
                    if child == NO_NODE:
                        child = closed_child(tree, n, action, settings)
                        if child != NO_NODE:
                            apply(tree.states[child], action)
                            enter(tree, child, tree.states[child])
                            edge.child = child
            if child == NO_NODE:
                return NO_ROOM
            n = child
            depth += 1
        batch.lengths[row] += 1
        batch.depths[row] = depth
        for i in range(len(walk)):
            batch.states[row, i] = walk[i] if settings.open_loop else tree.states[n, i]
        return LEAF

    def finish(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any) -> None:
        """Back a leaf up at once where its value is known; else let it wait for the evaluator."""
        n = batch.path_nodes[row, batch.lengths[row] - 1]
        node = tree.nodes[n]
        tree.counters[STARTED] += 1
        tree.counters[DEPTH] = max(tree.counters[DEPTH], batch.depths[row])
        if node.kind == TERMINAL:
            returns(batch.states[row], scratch.value)
            backup(tree, batch, settings, row, scratch.value)
            return
        word = settings.at_chance if node.kind == CHANCE else settings.at_decisions
        if word == ASK_EXACT and node.evaluated and not settings.open_loop:
            backup(tree, batch, settings, row, tree.own[n])
            return
        wait(tree, batch, scratch, settings, row, n)

    def wait(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any, n: Any) -> None:
        """Put a leaf in flight, with what an evaluator outside the loop wants to know of it."""
        tree.nodes[n].pending = 1
        tree.counters[IN_BATCH] += 1
        if settings.evaluator == EXTERNAL:
            state = batch.states[row]
            observe(state, np.int64(viewer_of(state)), batch.observations[row])
            for action in range(batch.masks.shape[1]):
                batch.masks[row, action] = False
            if tree.nodes[n].kind == DECISION:
                for i in range(legal(state, scratch.actions)):
                    batch.masks[row, scratch.actions[i]] = True

    def spent(tree: Tree, settings: Settings) -> Any:
        """Whether the waiting leaves use up the evaluations."""
        return tree.counters[EVALUATIONS] + tree.counters[IN_BATCH] >= settings.max_evaluations

    def collect(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> int:
        """Fill the batch with leaves; 0, or a status that ends the search or asks for more room."""
        counters = tree.counters
        while (
            counters[IN_BATCH] < settings.in_flight
            and counters[STARTED] < settings.num_simulations
            and not spent(tree, settings)
        ):
            row = counters[IN_BATCH]
            if counters[EDGES] + (row + 1) * len(scratch.slot_of) > len(tree.edges):
                return GROW_EDGES
            status = descend(tree, batch, scratch, settings, row)
            if status == LEAF:
                finish(tree, batch, scratch, settings, row)
                continue
            release(tree, batch, row)
            if status == COLLISION:
                counters[COLLISIONS] += 1
                return 0
            if status == NO_ROOM:
                if len(tree.nodes) < settings.max_nodes:
                    return GROW_NODES
                counters[IS_FULL] = 1
                return 0
            return status
        return 0

    def evaluate(batch: Batch, scratch: Scratch, settings: Settings, row: Any) -> bool:
        """The value of a leaf by an evaluator inside the loop, into the batch; False where chance is broken."""
        players = batch.values.shape[1]
        if settings.evaluator == UNIFORM:
            returns(batch.states[row], batch.values[row])
            return True
        for p in range(players):
            batch.values[row, p] = 0.0
        key = extend_key_bits(settings.rollout_key, batch.simulations[row])
        for playout in range(settings.playouts):
            if not play_out(batch.states[row], extend_key_bits(key, np.uint64(playout)), scratch, settings):
                return False
            for p in range(players):
                batch.values[row, p] += scratch.value[p]
        for p in range(players):
            batch.values[row, p] /= settings.playouts
        return True

    def play_out(start: Any, key: Any, scratch: Scratch, settings: Settings) -> bool:
        """A random playout from a state; its returns go into the scratch value."""
        state = scratch.walk
        for i in range(len(state)):
            state[i] = start[i]
        for step in range(settings.max_steps):
            kind = kind_of(state)
            if kind == TERMINAL:
                break
            u = unit_at(key, step)
            if kind == CHANCE:
                outcome = np.int64(draw(state, u, scratch))
                if outcome == BAD_OUTCOME:
                    return False
                apply_outcome(state, outcome)
            else:
                apply(state, scratch.actions[int(u * legal(state, scratch.actions))])
        returns(state, scratch.value)
        return True

    def expand(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any, n: Any) -> None:
        """Give a decision node its edges, with priors from the logits of its legal actions (or equal ones)."""
        count = legal(batch.states[row], scratch.actions)
        node = tree.nodes[n]
        node.first_edge = tree.counters[EDGES]
        node.num_edges = count
        node.edge_room = count
        tree.counters[EDGES] += count
        tree.counters[EXPANSIONS] += 1
        total = 0.0
        highest = -math.inf
        if settings.evaluator == EXTERNAL:
            for i in range(count):
                highest = max(highest, batch.logits[row, scratch.actions[i]])
            for i in range(count):
                total += math.exp(batch.logits[row, scratch.actions[i]] - highest)
        for i in range(count):
            action = scratch.actions[i]
            prior = 1.0 / count
            if settings.evaluator == EXTERNAL:
                prior = math.exp(batch.logits[row, action] - highest) / total
            new_edge(tree, node.first_edge + i, action, prior * count if settings.open_loop else prior)

    def absorb(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any) -> None:
        """Take a leaf's evaluation: keep it, expand the leaf, back its value up."""
        n = batch.path_nodes[row, batch.lengths[row] - 1]
        node = tree.nodes[n]
        node.pending = 0
        node.evaluated = 1
        tree.counters[EVALUATIONS] += 1
        for p in range(batch.values.shape[1]):
            tree.own[n, p] = batch.values[row, p]
        stands = (settings.at_decisions == ASK_EXACT and n != 0) or batch.depths[row] >= settings.max_depth
        if node.kind == DECISION and node.num_edges == UNEXPANDED and not stands:
            expand(tree, batch, scratch, settings, row, n)
        backup(tree, batch, settings, row, batch.values[row])

    def advance(tree_: Tree, batch_: Batch, scratch_: Scratch, settings: Settings, pause: int, answered: bool) -> int:
        """Absorb what was answered, then go on until ``pause`` simulations are done or something else must happen."""
        tree, batch, scratch = borrow_tree(tree_), borrow_batch(batch_), borrow_scratch(scratch_)
        counters = tree.counters
        resumes = counters[RESUMES] == 1
        counters[RESUMES] = 0
        while True:
            if not resumes:
                if counters[IN_BATCH] > 0:
                    if settings.evaluator == EXTERNAL and not answered:
                        return WAITING
                    count = counters[IN_BATCH]
                    if settings.evaluator != EXTERNAL:
                        for row in range(count):
                            if not evaluate(batch, scratch, settings, row):
                                return BAD_PROBABILITIES
                    for row in range(count):
                        absorb(tree, batch, scratch, settings, row)
                    counters[IN_BATCH] = 0
                    answered = False
                if counters[IS_FULL] == 1:
                    return FULL
                if counters[STARTED] >= settings.num_simulations:
                    return DONE
                if spent(tree, settings):
                    return EVALUATIONS_SPENT
                if counters[SIMULATIONS] >= pause:
                    return PAUSED
            resumes = False
            status = collect(tree, batch, scratch, settings)
            if status != 0:
                counters[RESUMES] = 1
                return status

    return advance
