"""Absorb: a visit begins, waits or not, its leaves are expanded, and its value is backed up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import not_inlined
from aleazero.native.random import DESCENT, ROLLOUT, ROOT_EVALUATION, TIES, extend_key_bits
from aleazero.search.backup import backup_expectation, backup_sample, count_pick, learn_range, release
from aleazero.search.evaluate import make_show, sound_actions
from aleazero.search.leaves import add_leaf
from aleazero.search.status import ASK_EXACT, ASK_NEVER
from aleazero.search.tree import (
    ASKED,
    BLOCKED,
    BROKEN,
    COLLIDED,
    DEPTH,
    DESCENT_KEY,
    EVALUATIONS,
    EXACT_EXPANSIONS,
    EXPANSIONS,
    EXTERNAL,
    IN_BATCH,
    NO_EDGE,
    NO_NODE,
    OUT_OF_BUDGET,
    PLACE,
    ROLLOUT_KEY,
    ROWS,
    SEED,
    SIMULATIONS,
    STARTED,
    TIES_KEY,
    TRANSIENT,
    UNEXPANDED,
    Batch,
    Scratch,
    Settings,
    Tray,
    Tree,
    new_edge,
    new_node,
    take_edges,
)

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
