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
from aleazero.search.backup import backup_expectation, backup_sample, count_pick, learn_range, release
from aleazero.search.borrow import borrow_batch, borrow_scratch, borrow_tree, seldom
from aleazero.search.chance import (
    BAD_OUTCOME,
    MADE,
    NO_EDGES_LEFT,
    UNLISTED,
    make_draw,
    make_table_maker,
    may_store,
    pick_from_table,
)
from aleazero.search.engine import DONE, EVALUATIONS_SPENT, FULL, MAX_CHANCE_RUN, PAUSED, WAITING
from aleazero.search.select import close_slots, open_slots, select, select_open
from aleazero.search.streams import ROOT_EVALUATION, extend_key_bits, unit_at
from aleazero.search.tree import (
    ASKED,
    BLOCKED,
    COLLISIONS,
    DEPTH,
    EDGES,
    EVALUATIONS,
    EXACT_EXPANSIONS,
    EXPANSIONS,
    EXTERNAL,
    IN_BATCH,
    IS_FULL,
    NO_EDGE,
    NO_NODE,
    OUT_OF_BUDGET,
    RESUMES,
    ROWS,
    SIMULATIONS,
    STARTED,
    TALLIES,
    TALLY,
    TRANSIENT,
    UNEXPANDED,
    UNIFORM,
    Batch,
    Scratch,
    Settings,
    Tree,
    add_child,
    find,
    link_child,
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
UNLISTED_OUTCOMES: Final = 17

ASK_NEVER: Final = 0
ASK_EXACT: Final = 2
"""Evaluator's words at a kind of node, as in ``evaluator.Asked``."""

TALLY_KEY: Final = 1 << 31
BESIDE: Final = 1 << 32
"""Draws beside a path: number j is read this far behind the place of the first."""

_ROOT = np.uint64(ROOT_EVALUATION)


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
    make_table = make_table_maker(kernels)

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

    @seldom
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

    @seldom
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

    @seldom
    def root_actions(tree: Tree, scratch: Scratch) -> Any:
        """At the root an open loop always sees the same state, and may have been told to leave actions out."""
        root = tree.nodes[0]
        for slot in range(root.num_edges):
            scratch.actions[slot] = tree.edges[root.first_edge + slot].action
        return np.int64(root.num_edges)

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

    def add_leaf(batch: Batch, v: Any, n: Any, depth: Any, state: Any) -> Any:
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
        for i in range(len(state)):
            batch.states[row, i] = state[i]
        return row

    @seldom
    def draw_on(state: Any, key: Any, place: Any, scratch: Scratch, settings: Settings) -> int:
        """Draw what chance events follow, where the evaluator is not to be asked about them."""
        draws = 0
        while settings.at_chance == ASK_NEVER and kind_of(state) == CHANCE:
            draws += 1
            if draws > MAX_CHANCE_RUN:
                return ENDLESS_CHANCE
            outcome = np.int64(draw(state, unit_at(key, place), scratch))
            if outcome == BAD_OUTCOME:
                return BAD_PROBABILITIES
            apply_outcome(state, outcome)
            place += 1
        return LEAF

    @seldom
    def add_transient(batch: Batch, scratch: Scratch, settings: Settings, v: Any, state: Any, outcome: Any, key: Any,
                      place: Any) -> int:  # fmt: skip
        """A leaf behind an outcome that is not stored."""
        row = add_leaf(batch, v, np.int64(NO_NODE), (place & (BESIDE - 1)) + 1, state)
        apply_outcome(batch.states[row], outcome)
        return draw_on(batch.states[row], key, place + 1, scratch, settings)

    @seldom
    def sample_more(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any, n: Any, state: Any,
                    key: Any, depth: Any) -> int:  # fmt: skip
        """Further outcomes of the chance node right above a leaf; the visit's value is the mean of all."""
        batch.visits[v].divisor = settings.samples_per_visit
        for number in range(1, settings.samples_per_visit):
            place = depth + number * np.int64(BESIDE)
            u = unit_at(key, place)
            pick = np.int64(NO_EDGE)
            if tree.nodes[n].num_edges != UNEXPANDED:
                pick = pick_from_table(tree, settings, n, u)
                outcome = np.int64(tree.edges[tree.nodes[n].first_edge + pick].action)
                tree.edges[tree.nodes[n].first_edge + pick].in_flight += 1
            else:
                outcome = np.int64(draw(state, u, scratch))
                if outcome == BAD_OUTCOME:
                    return BAD_PROBABILITIES
            row = batch.visits[v].first_row + batch.visits[v].num_rows
            status = add_transient(batch, scratch, settings, v, state, outcome, key, place)
            batch.rows[row].pick = pick
            if status != LEAF:
                return status
        return LEAF

    @seldom
    def expand_exactly(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any, n: Any, key: Any,
                       depth: Any) -> int:  # fmt: skip
        """Make a leaf of every outcome of a chance node, weighted by its probability."""
        step_on(tree, batch, v, n, NO_EDGE)
        first = np.int64(tree.nodes[n].first_edge)
        for slot in range(tree.nodes[n].num_edges):
            edge = tree.edges[first + slot]
            child = table_child(tree, n, first + slot, settings)
            if child == NO_NODE:
                return NO_ROOM
            row = add_leaf(batch, v, child, depth + 1, tree.states[child])
            batch.rows[row].weight = edge.prior
            batch.rows[row].pick = slot
            edge.in_flight += 1
            if tree.nodes[child].kind == CHANCE and settings.at_chance == ASK_NEVER:
                batch.rows[row].stands_for = 0
                place = depth + 1 + (slot + 1) * np.int64(BESIDE)
                status = draw_on(batch.states[row], key, place, scratch, settings)
                if status != LEAF:
                    return status
        batch.visits[v].bars = n
        return LEAF

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
                link_child(tree, n, child)
        return child

    def hashed_child(tree: Tree, n: Any, outcome: Any, settings: Settings) -> Any:
        """The child behind an outcome of a chance node without a table, made if it is not there."""
        key = (np.int64(n) << 32) + outcome
        child = find(tree, key)
        if child == NO_NODE:
            child = closed_child(tree, n, outcome, settings)
            if child != NO_NODE:
                apply_outcome(tree.states[child], outcome)
                enter(tree, child, tree.states[child])
                add_child(tree, key, n, child)
        return child

    def is_stored(tree: Tree, n: Any, slot: Any, outcome: Any) -> Any:
        """Whether an outcome of a chance node has a child."""
        if slot != NO_EDGE:
            return tree.edges[tree.nodes[n].first_edge + slot].child != NO_NODE
        return find(tree, (np.int64(n) << 32) + outcome) != NO_NODE

    def stops_at(tree: Tree, settings: Settings, n: Any, depth: Any) -> Any:
        """Whether a descent ends here: at the end of the game, or where the evaluator is to be asked or believed."""
        node = tree.nodes[n]
        if node.kind == TERMINAL:
            return True
        if node.kind == CHANCE:
            asked = settings.at_chance != ASK_NEVER
            return asked and (not node.evaluated or (settings.at_chance == ASK_EXACT and n != 0))
        if not node.evaluated or depth >= settings.max_depth:
            return True
        return settings.at_decisions == ASK_EXACT and n != 0

    def descend(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any) -> int:
        """From the root to a leaf, or to several below one chance node; path and leaves go into the batch."""
        key = extend_key_bits(settings.descent_key, np.uint64(tree.counters[STARTED]))
        visit = batch.visits[v]
        visit.simulation = np.uint64(tree.counters[STARTED])
        visit.length = 0
        visit.first_row = tree.counters[ROWS]
        visit.num_rows = 0
        visit.divisor = 1.0
        visit.bars = NO_NODE
        visit.blocked = 0
        walk = scratch.walk
        if settings.open_loop:
            for i in range(len(walk)):
                walk[i] = tree.states[0, i]
        n = np.int64(0)
        depth = np.int64(0)
        chance_run = 0
        above = np.int64(NO_NODE)  # the chance node just passed
        while True:
            node = tree.nodes[n]
            if node.pending:
                return COLLISION
            if stops_at(tree, settings, n, depth):
                break
            if node.kind == CHANCE:
                chance_run += 1
                if chance_run > MAX_CHANCE_RUN:
                    return ENDLESS_CHANCE
                if settings.lists_outcomes and node.num_edges == UNEXPANDED:
                    reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                    made = make_table(tree, scratch, settings, n, reserve)
                    if made != MADE:
                        if made == NO_EDGES_LEFT:
                            return GROW_EDGES
                        return UNLISTED_OUTCOMES if made == UNLISTED else BAD_PROBABILITIES
                if node.exact:
                    first = tree.edges[node.first_edge]
                    if first.visits + first.in_flight == 0:
                        return expand_exactly(tree, batch, scratch, settings, v, n, key, depth)
                state = walk if settings.open_loop else tree.states[n]
                if settings.open_loop and settings.samples_per_visit > 1:
                    for i in range(len(walk)):
                        scratch.before[i] = walk[i]
                u = unit_at(key, depth)
                slot = np.int64(NO_EDGE)
                if settings.lists_outcomes:
                    slot = pick_from_table(tree, settings, n, u)
                    outcome = np.int64(tree.edges[node.first_edge + slot].action)
                else:
                    outcome = np.int64(draw(state, u, scratch))
                    if outcome == BAD_OUTCOME:
                        return BAD_PROBABILITIES
                step_on(tree, batch, v, n, slot)
                if settings.open_loop:
                    if n == 0:
                        counter = tally(tree, outcome, settings)
                        if counter == NO_NODE:
                            return NO_ROOM
                        step_on(tree, batch, v, counter, np.int64(NO_EDGE))
                    apply_outcome(walk, outcome)
                    child = open_child(tree, n, outcome, np.int64(0), walk, settings)
                else:
                    if settings.widening and not is_stored(tree, n, slot, outcome) and not may_store(tree, settings, n):
                        visit.blocked = 1
                        status = add_transient(batch, scratch, settings, v, tree.states[n], outcome, key, depth)
                        if status == LEAF:
                            status = sample_more(tree, batch, scratch, settings, v, n, tree.states[n], key, depth)
                        return status
                    if settings.lists_outcomes:
                        child = table_child(tree, n, node.first_edge + slot, settings)
                    else:
                        child = hashed_child(tree, n, outcome, settings)
                above = n
            else:
                chance_run = 0
                above = np.int64(NO_NODE)
                if settings.open_loop:
                    num_legal = root_actions(tree, scratch) if n == 0 else legal(walk, scratch.actions)
                    reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                    if not open_slots(tree, scratch, n, num_legal, reserve):
                        return GROW_EDGES
                    slot = np.int64(select_open(tree, scratch, settings, n, num_legal))
                    close_slots(tree, scratch, n)
                else:
                    slot = np.int64(select(tree, settings, n))
                step_on(tree, batch, v, n, slot)
                edge = tree.edges[node.first_edge + slot]
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
        add_leaf(batch, v, n, depth, walk if settings.open_loop else tree.states[n])
        if above != NO_NODE and settings.samples_per_visit > 1 and not tree.nodes[above].exact:
            start = scratch.before if settings.open_loop else tree.states[above]
            return sample_more(tree, batch, scratch, settings, v, above, start, key, depth - 1)
        return LEAF

    def begin(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any) -> None:
        """Take note of a visit: back it up at once where all its leaves are known, else let it wait."""
        visit = batch.visits[v]
        asked = 0
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            if not know(tree, batch, settings, row):
                asked += 1
                if settings.evaluator == EXTERNAL:
                    show(batch, scratch, row)
        if tree.counters[EVALUATIONS] + tree.counters[ASKED] + asked > settings.max_evaluations:
            tree.counters[OUT_OF_BUDGET] = 1  # a visit is made whole or not at all
            release(tree, batch, v)
            return
        tree.counters[STARTED] += 1
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            tree.counters[DEPTH] = max(tree.counters[DEPTH], batch.rows[row].depth)
        if asked == 0:
            finish(tree, batch, scratch, settings, v)
            return
        bar(tree, batch, v, 1)
        tree.counters[IN_BATCH] += 1
        tree.counters[ROWS] += visit.num_rows
        tree.counters[ASKED] += asked

    def know(tree: Tree, batch: Batch, settings: Settings, row: Any) -> Any:
        """Fill in the value of a leaf that need not be asked for: the end, or an exact value of this very state."""
        leaf = batch.rows[row]
        kind = kind_of(batch.states[row])
        if kind == TERMINAL:
            returns(batch.states[row], batch.values[row])
            leaf.known = 1
        elif leaf.node != NO_NODE and not settings.open_loop and tree.nodes[leaf.node].evaluated:
            word = settings.at_chance if kind == CHANCE else settings.at_decisions
            if word == ASK_EXACT:
                for p in range(batch.values.shape[1]):
                    batch.values[row, p] = tree.own[leaf.node, p]
                leaf.known = 1
        return leaf.known == 1

    @seldom
    def show(batch: Batch, scratch: Scratch, row: Any) -> None:
        """What an evaluator outside the loop wants to know of a leaf."""
        state = batch.states[row]
        observe(state, np.int64(viewer_of(state)), batch.observations[row])
        for action in range(batch.masks.shape[1]):
            batch.masks[row, action] = False
        if kind_of(state) == DECISION:
            for i in range(legal(state, scratch.actions)):
                batch.masks[row, scratch.actions[i]] = True

    def bar(tree: Tree, batch: Batch, v: Any, pending: Any) -> None:
        """Bar (or open) the way to leaves in flight; to a whole chance node's, at that node."""
        visit = batch.visits[v]
        if visit.bars != NO_NODE:
            tree.nodes[visit.bars].pending = pending
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            if batch.rows[row].node != NO_NODE:
                tree.nodes[batch.rows[row].node].pending = pending

    def spent(tree: Tree, settings: Settings) -> Any:
        """Whether the waiting leaves use up the evaluations."""
        spent_all = tree.counters[EVALUATIONS] + tree.counters[ASKED] >= settings.max_evaluations
        return spent_all or tree.counters[OUT_OF_BUDGET] == 1

    def collect(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> int:
        """Fill the batch with leaves; 0, or a status that ends the search or asks for more room."""
        counters = tree.counters
        while (
            counters[IN_BATCH] < settings.in_flight
            and counters[STARTED] < settings.num_simulations
            and not spent(tree, settings)
        ):
            v = counters[IN_BATCH]
            if counters[EDGES] + (counters[ROWS] + settings.largest_visit) * len(scratch.slot_of) > len(tree.edges):
                return GROW_EDGES
            status = descend(tree, batch, scratch, settings, v)
            if status == LEAF:
                begin(tree, batch, scratch, settings, v)
                continue
            release(tree, batch, v)
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

    @seldom
    def evaluate(batch: Batch, scratch: Scratch, settings: Settings, simulation: Any, row: Any, number: Any) -> bool:
        """The value of a leaf by an evaluator inside the loop; ``number`` is the leaf's in its visit.

        False where chance is broken.
        """
        players = batch.values.shape[1]
        if settings.evaluator == UNIFORM:
            returns(batch.states[row], batch.values[row])
            return True
        for p in range(players):
            batch.values[row, p] = 0.0
        key = extend_key_bits(settings.rollout_key, simulation)
        for playout in range(number * settings.playouts, (number + 1) * settings.playouts):
            if not play_out(batch.states[row], extend_key_bits(key, np.uint64(playout)), scratch, settings):
                return False
            for p in range(players):
                batch.values[row, p] += scratch.value[p]
        for p in range(players):
            batch.values[row, p] /= settings.playouts
        return True

    @seldom
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

    def take(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, row: Any) -> None:
        """Take a leaf's evaluation: keep it, and expand the leaf."""
        tree.counters[EVALUATIONS] += 1
        leaf = batch.rows[row]
        if leaf.stands_for == 0:
            return
        n = np.int64(leaf.node)
        node = tree.nodes[n]
        node.evaluated = 1
        for p in range(batch.values.shape[1]):
            tree.own[n, p] = batch.values[row, p]
        stands = (settings.at_decisions == ASK_EXACT and n != 0) or leaf.depth >= settings.max_depth
        if node.kind == DECISION and node.num_edges == UNEXPANDED and not stands:
            expand(tree, batch, scratch, settings, row, n)

    def finish(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any) -> None:
        """Back up a visit all of whose leaves are valued."""
        visit = batch.visits[v]
        players = batch.values.shape[1]
        value = scratch.value
        for p in range(players):
            value[p] = 0.0
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            leaf = batch.rows[row]
            for p in range(players):
                value[p] += leaf.weight * batch.values[row, p]
            count_pick(tree, batch, v, row, 1)
            if leaf.node != NO_NODE:
                tree.nodes[leaf.node].visits += 1
                for p in range(players):
                    tree.totals[leaf.node, p] += batch.values[row, p]
                continue
            tree.counters[TRANSIENT] += 1
            n = batch.paths[v, visit.length - 1, 0]
            if len(tree.unstored) > n:
                tree.unstored[n, players] += 1.0
                for p in range(players):
                    tree.unstored[n, p] += batch.values[row, p]
        if settings.expectation:
            backup_expectation(tree, batch, v, value)
        else:
            for p in range(players):
                value[p] /= visit.divisor
            backup_sample(tree, batch, v, value)
        if settings.learns_range:
            learn_range(tree, batch, v)
        tree.counters[BLOCKED] += visit.blocked
        if visit.bars != NO_NODE:
            tree.counters[EXACT_EXPANSIONS] += 1
        if visit.simulation != _ROOT:
            tree.counters[SIMULATIONS] += 1

    def absorb(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> None:
        """Take the evaluations of all that waited, and back the visits up, in order."""
        count = tree.counters[IN_BATCH]
        tree.counters[IN_BATCH] = 0
        tree.counters[ROWS] = 0
        tree.counters[ASKED] = 0
        for v in range(count):
            visit = batch.visits[v]
            for row in range(visit.first_row, visit.first_row + visit.num_rows):
                if batch.rows[row].known == 0:
                    take(tree, batch, scratch, settings, row)
            bar(tree, batch, v, 0)
            finish(tree, batch, scratch, settings, v)

    def evaluate_all(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> bool:
        """Evaluate what waits, inside the loop; False where chance is broken."""
        for v in range(tree.counters[IN_BATCH]):
            visit = batch.visits[v]
            for number in range(visit.num_rows):
                row = np.int64(visit.first_row + number)
                known = batch.rows[row].known == 1
                if not known and not evaluate(batch, scratch, settings, visit.simulation, row, number):
                    return False
        return True

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
                    if settings.evaluator != EXTERNAL and not evaluate_all(tree, batch, scratch, settings):
                        return BAD_PROBABILITIES
                    absorb(tree, batch, scratch, settings)
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
