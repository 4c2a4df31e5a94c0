"""The loop that is compiled: descend (select, draw), evaluate, expand, back up; one text for every game.

It grows a group of trees, one after the other; a search alone is a group of one.

``make_loop`` closes it over a game's functions. The functions neither raise nor allocate; they return a status.
Uncompiled they are ordinary Python over the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import borrow, not_inlined
from aleazero.native.random import DESCENT, ROLLOUT, ROOT_EVALUATION, TIES, extend_key_bits, unit_at
from aleazero.search.playout import PLAYED, UNDRAWN, make_playouts
from aleazero.search.status import (
    ANSWERED,
    ASK_EXACT,
    ASK_NEVER,
    BAD_PROBABILITIES,
    BROKEN_RULES,
    COLLISION,
    DONE,
    ENDLESS_CHANCE,
    EVALUATIONS_SPENT,
    EXTERNAL,
    FULL,
    GAME_OVER,
    GROW_EDGES,
    GROW_NODES,
    LEAF,
    MAX_CHANCE_RUN,
    NO_ROOM,
    PAUSED,
    PLANTED,
    READY,
    UNIFORM,
    UNLISTED_OUTCOMES,
    WAITING,
)
from aleazero.search.tree.arrays import (
    ASKED,
    BLOCKED,
    BROKEN,
    COLLIDED,
    COLLISIONS,
    DEPTH,
    DESCENT_KEY,
    EDGES,
    EVALUATIONS,
    EXACT_EXPANSIONS,
    EXPANSIONS,
    IN_BATCH,
    IS_FULL,
    NO_EDGE,
    NO_NODE,
    OUT_OF_BUDGET,
    PLACE,
    RETRIED,
    ROLLOUT_KEY,
    ROWS,
    SEED,
    SIMULATIONS,
    STARTED,
    TIES_KEY,
    TRANSIENT,
    UNEXPANDED,
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
from aleazero.search.tree.backup import backup_expectation, backup_sample, count_pick, learn_range, release
from aleazero.search.tree.chance import (
    BAD_OUTCOME,
    MADE,
    NO_EDGES_LEFT,
    UNLISTED,
    make_draw,
    make_leaves,
    make_listing,
    may_store,
    stops_at,
)
from aleazero.search.tree.nodes import (
    add_leaf,
    is_stored,
    make_children,
    new_edge,
    new_node,
    step_on,
    take_edges,
    tally,
)
from aleazero.search.tree.select import close_slots, open_slots, select, select_open

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


def root_actions(tree: Tree, scratch: Scratch) -> Any:
    """At the root an open loop always sees the same state, and may have been told to leave actions out."""
    root = tree.nodes[0]
    for slot in range(root.num_edges):
        scratch.actions[slot] = tree.edges[root.first_edge + slot].action
    return np.int64(root.num_edges)


def make_descend(kernels: Kernels) -> Callable[..., int]:
    """The descent of one game: ``descend(tree, batch, scratch, settings, visit) -> status``."""
    legal = kernels.legal
    apply = kernels.apply
    apply_outcome = kernels.apply_outcome
    draw = make_draw(kernels)
    make_list, pick = make_listing(kernels)
    children = make_children(kernels)
    action_child, table_child, hashed_child, open_child, _ = children
    add_transient, sample_more, expand_exactly = make_leaves(kernels, children)

    def descend(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings, v: Any) -> Any:
        """From the root to a leaf, or to several below one chance node; path and leaves go into the batch."""
        key = extend_key_bits(tree.luck[DESCENT_KEY], np.uint64(tree.counters[STARTED]))
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
        # A descent that collided is made again with the same draws: as these led to a leaf in flight, further outcomes
        # drawn in addition would have another distribution.
        samples_more = settings.samples_per_visit > 1 and tree.counters[RETRIED] != tree.counters[STARTED] + 1
        above = np.int64(NO_NODE)  # the chance node just passed
        room = True  # whether it could store another outcome then
        label = np.int64(-1)  # open loop: the action or outcome taken
        child = np.int64(NO_NODE)
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
                reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                if settings.lists_outcomes and node.num_edges == UNEXPANDED:
                    made = make_list(tree, scratch, settings, n, reserve)
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
                    slot = pick(tree, scratch, settings, n, u, reserve)
                    if slot < 0:
                        return GROW_EDGES if slot == NO_EDGES_LEFT else BAD_PROBABILITIES
                    outcome = np.int64(tree.edges[node.first_edge + slot].action)
                else:
                    outcome = np.int64(draw(state, u, scratch))
                    if outcome == BAD_OUTCOME:
                        return BAD_PROBABILITIES
                step_on(tree, batch, v, n, slot)
                room = samples_more and may_store(tree, settings, n)
                if settings.open_loop:
                    if n == 0:
                        counter = tally(tree, outcome, settings)
                        if counter == NO_NODE:
                            return NO_ROOM
                        step_on(tree, batch, v, counter, np.int64(NO_EDGE))
                    apply_outcome(walk, outcome)
                    label = outcome
                else:
                    if settings.widening and not is_stored(tree, n, slot, outcome) and not may_store(tree, settings, n):
                        visit.blocked = 1
                        status = add_transient(batch, scratch, settings, v, state, outcome, key, depth)
                        if status == LEAF and samples_more:
                            status = sample_more(tree, batch, scratch, settings, v, n, state, key, depth, False)
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
                    if not sound_actions(scratch, num_legal):
                        return BROKEN_RULES
                    reserve = (tree.counters[ROWS] + settings.largest_visit) * len(scratch.slot_of)
                    if not open_slots(tree, scratch, n, num_legal, reserve):
                        return GROW_EDGES
                    slot = np.int64(select_open(tree, scratch, settings, n, num_legal))
                    close_slots(tree, scratch, n)
                else:
                    slot = np.int64(select(tree, settings, n))
                step_on(tree, batch, v, n, slot)
                if settings.open_loop:
                    label = np.int64(tree.edges[node.first_edge + slot].action)
                    apply(walk, label)
                else:
                    child = action_child(tree, n, node.first_edge + slot, settings)
            if settings.open_loop:
                child = open_child(tree, n, slot, label, walk, settings)
            if child == NO_NODE:
                return NO_ROOM
            n = child
            depth += 1
        add_leaf(batch, settings, v, n, depth, walk if settings.open_loop else tree.states[n])
        if above != NO_NODE and samples_more:
            start = scratch.before if settings.open_loop else tree.states[above]
            return sample_more(tree, batch, scratch, settings, v, above, start, key, depth - 1, room)
        return LEAF

    return descend


_ROOT = np.uint64(ROOT_EVALUATION)


_ZERO, _DESCENT, _ROLLOUT, _TIES = (np.uint64(number) for number in (0, DESCENT, ROLLOUT, TIES))


def bar(tree: Tree, batch: Batch, v: Any, pending: Any) -> None:
    """Bar (or open) the way to leaves in flight; to a whole chance node's, at that node."""
    visit = batch.visits[v]
    if visit.bars != NO_NODE:
        tree.nodes[visit.bars].pending = pending
    for row in range(visit.first_row, visit.first_row + visit.num_rows):
        if batch.rows[row].node != NO_NODE:
            tree.nodes[batch.rows[row].node].pending = pending


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
            if not math.isfinite(batch.values[row, p]):
                tree.counters[BROKEN] = 1
        count_pick(tree, batch, v, row, 1)
        if leaf.node != NO_NODE:
            node = tree.nodes[leaf.node]
            node.visits += 1
            for p in range(players):
                node.value_sums[p] += batch.values[row, p]
            continue
        tree.counters[TRANSIENT] += 1
        if len(tree.transient_sums) > 0:
            above = tree.nodes[batch.paths[v, visit.length - 1, 0]]
            e = above.first_edge + batch.paths[v, visit.length - 1, 1]
            for p in range(players):
                tree.transient_sums[e, p] += batch.values[row, p]
    if settings.expectation:
        backup_expectation(tree, batch, v, value)
        if settings.learns_range:
            learn_range(tree, batch, v)
    else:
        for p in range(players):
            value[p] /= visit.divisor
        backup_sample(tree, batch, settings, v, value)
    tree.counters[BLOCKED] += visit.blocked
    if visit.bars != NO_NODE:
        tree.counters[EXACT_EXPANSIONS] += 1
    if visit.simulation != _ROOT:
        tree.counters[SIMULATIONS] += 1


class Begin(NamedTuple):
    """How one game's visits begin."""

    at_root: Callable[..., None]
    at_leaf: Callable[..., bool]


def make_begin(kernels: Kernels) -> Begin:
    """The beginning of one game's searches and visits."""
    kind_of = kernels.kind
    to_play = kernels.to_play
    returns = kernels.returns
    show = make_show(kernels)

    def present(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, row: Any) -> None:
        """Put a leaf on the tray."""
        slot = tray.taken[0]
        tray.taken[0] += 1
        tray.owners[slot] = tree.counters[PLACE]
        batch.rows[row].slot = slot
        state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
        if not show(state, slot, tray, scratch.actions):
            tree.counters[BROKEN] = 1

    @not_inlined
    def plant(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings) -> None:
        """Begin a tree at the state that stands in its first place; its own evaluation waits first."""
        place = tree.counters[PLACE]
        for i in range(len(tree.counters)):
            tree.counters[i] = 0
        tree.counters[PLACE] = place
        seed = tree.luck[SEED]
        tree.luck[DESCENT_KEY] = extend_key_bits(extend_key_bits(_ZERO, _DESCENT), seed)
        tree.luck[ROLLOUT_KEY] = extend_key_bits(extend_key_bits(_ZERO, _ROLLOUT), seed)
        tree.luck[TIES_KEY] = extend_key_bits(extend_key_bits(_ZERO, _TIES), seed)
        for p in range(len(tree.low)):
            tree.low[p] = settings.low
            tree.high[p] = settings.high
        new_node(tree, np.int64(-1), 1)
        root = tree.nodes[0]
        root.kind = kind_of(tree.states[0])
        root.mover = to_play(tree.states[0]) if root.kind == DECISION else -1
        if root.kind == TERMINAL or (root.kind == CHANCE and settings.at_chance == ASK_NEVER):
            return
        root.pending = 1
        visit = batch.visits[0]
        visit.simulation = _ROOT
        visit.divisor = 1.0
        visit.length = 0
        visit.first_row = 0
        visit.num_rows = 0
        visit.bars = NO_NODE
        visit.blocked = 0
        row = add_leaf(batch, settings, np.int64(0), np.int64(0), np.int64(0), tree.states[0])
        if settings.evaluator == EXTERNAL:
            present(tree, batch, tray, scratch, settings, row)
        tree.counters[IN_BATCH] = 1
        tree.counters[ROWS] = 1
        tree.counters[ASKED] = 1
        tree.counters[COLLIDED] = 1  # nothing joins the root's own evaluation

    def know(tree: Tree, batch: Batch, settings: Settings, row: Any) -> Any:
        """Fill in the value of a leaf that is not passed to the evaluator: an end, or an exact value of this state."""
        leaf = batch.rows[row]
        state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
        kind = kind_of(state)
        if kind == TERMINAL and not settings.values_ends:
            returns(state, batch.values[row])
            leaf.known = 1
        elif len(tree.leaf_values) == 0 or leaf.node == NO_NODE or settings.open_loop:
            return False
        elif tree.nodes[leaf.node].evaluated:
            word = settings.at_chance if kind == CHANCE else settings.at_decisions
            if kind == TERMINAL or word == ASK_EXACT:
                for p in range(batch.values.shape[1]):
                    batch.values[row, p] = tree.leaf_values[leaf.node, p]
                leaf.known = 1
        return leaf.known == 1

    def begin(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, v: Any) -> bool:
        """Take note of a visit: let it wait, unless all its leaves are known. Whether it is ready to be backed up."""
        visit = batch.visits[v]
        asked = 0
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            if not know(tree, batch, settings, row):
                asked += 1
                if settings.evaluator == EXTERNAL:
                    present(tree, batch, tray, scratch, settings, row)
        if tree.counters[EVALUATIONS] + tree.counters[ASKED] + asked > settings.max_evaluations:
            tree.counters[OUT_OF_BUDGET] = 1  # a visit is made whole or not at all
            if settings.evaluator == EXTERNAL:
                tray.taken[0] -= asked
            release(tree, batch, v)
            return False
        tree.counters[STARTED] += 1
        for row in range(visit.first_row, visit.first_row + visit.num_rows):
            tree.counters[DEPTH] = max(tree.counters[DEPTH], batch.rows[row].depth)
        if asked == 0:
            return True
        bar(tree, batch, v, 1)
        tree.counters[IN_BATCH] += 1
        tree.counters[ROWS] += visit.num_rows
        tree.counters[ASKED] += asked
        return False

    return Begin(plant, begin)


def make_absorb(kernels: Kernels) -> Callable[..., None]:
    """The end of one game's waiting visits: ``absorb(tree, batch, tray, scratch, settings, first, stop)``."""
    legal = kernels.legal
    viewer_of = kernels.viewer

    def expand(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, row: Any, n: Any) -> None:
        """Give a decision node its edges, with priors from the logits of its legal actions (or equal ones)."""
        node = tree.nodes[n]
        slot = batch.rows[row].slot
        state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
        count = legal(state, scratch.actions)  # the tray's masks are the next leaves' by now
        if not sound_actions(scratch, count):
            tree.counters[BROKEN] = 1
            return
        first = take_edges(tree, count, 0)
        if first == NO_EDGE:  # cannot happen: room is checked before a visit starts
            tree.counters[BROKEN] = 1
            return
        node.first_edge = first
        node.num_edges = count
        node.edge_room = count
        tree.counters[EXPANSIONS] += 1
        total = float(count)
        highest = -math.inf
        if settings.evaluator == EXTERNAL:
            total = 0.0
            for i in range(count):
                highest = max(highest, tray.logits[slot, scratch.actions[i]])
        for i in range(count):
            action = scratch.actions[i]
            weight = 1.0
            if settings.evaluator == EXTERNAL:
                weight = math.exp(tray.logits[slot, action] - highest)
                total += weight
            new_edge(tree, node.first_edge + i, action, weight)
        for e in range(node.first_edge, node.first_edge + count):
            prior = tree.edges[e].prior / total
            tree.edges[e].prior = prior * count if settings.open_loop else prior

    def take(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, row: Any) -> None:
        """Take a leaf's evaluation: keep it, and expand the leaf."""
        tree.counters[EVALUATIONS] += 1
        leaf = batch.rows[row]
        if settings.evaluator == EXTERNAL:
            players = batch.values.shape[1]
            state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
            viewer = np.int64(viewer_of(state))
            for seat in range(players):
                batch.values[row, (viewer + seat) % players] = tray.values[leaf.slot, seat]
        if leaf.stands_for == 0:
            return
        n = np.int64(leaf.node)
        node = tree.nodes[n]
        node.evaluated = 1
        if len(tree.leaf_values) > 0:
            for p in range(batch.values.shape[1]):
                tree.leaf_values[n, p] = batch.values[row, p]
        stands = (settings.at_decisions == ASK_EXACT and n != 0) or leaf.depth >= settings.max_depth
        if node.kind == DECISION and node.num_edges == UNEXPANDED and not stands:
            expand(tree, batch, tray, scratch, settings, row, n)

    def absorb(tree: Tree, batch: Batch, tray: Tray, scratch: Scratch, settings: Settings, first: Any,
               stop: Any) -> None:  # fmt: skip
        """Take the evaluations of the visits from ``first`` on, and back them up, in order."""
        for v in range(first, stop):
            visit = batch.visits[v]
            for row in range(visit.first_row, visit.first_row + visit.num_rows):
                if batch.rows[row].known == 0:
                    take(tree, batch, tray, scratch, settings, row)
            bar(tree, batch, v, 0)
            finish(tree, batch, scratch, settings, v)

    return absorb


def sound_actions(scratch: Scratch, count: Any) -> bool:
    """Whether the legal actions that the rules listed are some, not too many, and exist."""
    if count < 1 or count > len(scratch.slot_of):
        return False
    for i in range(count):  # noqa: SIM110 -- numba compiles no generators
        if scratch.actions[i] < 0 or scratch.actions[i] >= len(scratch.slot_of):
            return False
    return True


def make_show(kernels: Kernels) -> Callable[..., bool]:
    """What one game's leaves look like to an evaluator: ``show(state, slot, tray, actions) -> whether rules hold``."""
    kind_of = kernels.kind
    legal = kernels.legal
    viewer_of = kernels.viewer
    observe = kernels.observe

    @not_inlined
    def show(state: Any, slot: Any, tray: Tray, actions: Any) -> bool:
        """Put on the tray what an evaluator outside the loop wants to know of a leaf.

        It is given few arrays, and not whole trees, because every leaf of a network comes by.
        """
        for i in range(len(state)):
            tray.states[slot, i] = state[i]
        observe(state, np.int64(viewer_of(state)), tray.observations[slot])
        for action in range(tray.masks.shape[1]):
            tray.masks[slot, action] = False
        if kind_of(state) != DECISION:
            return True
        count = legal(state, actions)
        if count < 1 or count > tray.masks.shape[1]:
            return False
        for i in range(count):
            if actions[i] < 0 or actions[i] >= tray.masks.shape[1]:
                return False
            tray.masks[slot, actions[i]] = True
        return True

    return show


def make_evaluate(kernels: Kernels) -> Callable[..., Any]:
    """The evaluation of one game's waiting leaves inside the loop."""
    returns = kernels.returns
    value_by_playouts = make_playouts(kernels)

    def evaluate_all(tree: Tree, batch: Batch, scratch: Scratch, settings: Settings) -> Any:
        """Evaluate what waits, inside the loop; PLAYED, or what is broken."""
        for v in range(tree.counters[IN_BATCH]):
            visit = batch.visits[v]
            luck = extend_key_bits(tree.luck[ROLLOUT_KEY], visit.simulation)
            for number in range(visit.num_rows):
                row = np.int64(visit.first_row + number)
                if batch.rows[row].known == 1:
                    continue
                value = batch.values[row]
                state = tree.states[batch.rows[row].node] if settings.one_stored_leaf else batch.states[row]
                if settings.evaluator == UNIFORM:
                    returns(state, value)
                    continue
                status = value_by_playouts(state, luck, number * settings.playouts, scratch, settings, value)
                if status != PLAYED:
                    return status
        return PLAYED

    return evaluate_all


def report(tree: Tree, roots: Roots, settings: Settings, b: Any) -> None:
    """Note the root's value and its actions."""
    root = tree.nodes[0]
    for p in range(len(tree.low)):
        roots.values[b, p] = root.value_sums[p] / max(1, root.visits)
    count = root.num_edges if root.kind == DECISION and root.num_edges > 0 else 0
    list_actions(tree.edges, root.first_edge, count, settings.open_loop, roots, b)


@not_inlined
def list_actions(edges: Any, first: Any, count: Any, open_loop: Any, roots: Roots, b: Any) -> None:
    """The root's actions, ascending: in open loop they appeared in another order, and their priors are weights."""
    weight = 0.0
    for slot in range(count):
        weight += edges[first + slot].prior
    if not open_loop or weight == 0.0:
        weight = 1.0
    for slot in range(count):
        edge = edges[first + slot]
        i = slot
        while i > 0 and roots.actions[b, i - 1] > edge.action:
            roots.actions[b, i] = roots.actions[b, i - 1]
            roots.visits[b, i] = roots.visits[b, i - 1]
            roots.q[b, i] = roots.q[b, i - 1]
            roots.priors[b, i] = roots.priors[b, i - 1]
            i -= 1
        roots.actions[b, i] = edge.action
        roots.visits[b, i] = edge.visits
        roots.q[b, i] = edge.total / edge.visits if edge.visits > 0 else math.nan
        roots.priors[b, i] = edge.prior / weight
    roots.counts[b] = count
