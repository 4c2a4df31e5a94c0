"""The compiled tree search, from top to bottom. One source for every game: ``make_loop`` closes it over a game's rules.

1. ``advance`` handles each tree of a group that may continue: ``start_tree`` at first, then ``grow_tree``.
2. ``grow_tree`` checks why the tree must stop. If it need not, it starts visits until no more may wait.
3. ``descend`` goes from the root to a leaf: ``select`` at decisions, ``pick_outcome`` or ``draw`` at chance nodes.
   Open loop has its own ``descend``, in ``open_loop.py``.
4. ``start_visit`` fills in known values, requests evaluations of the other leaves, and lets the visit wait.
5. ``evaluate_inside`` values waiting leaves, or the caller of ``advance`` does so between two calls.
6. ``absorb`` ends the waiting visits in order: ``store_evaluation``, ``expand`` and ``finish_visit``, which backs up.

Kernels neither raise nor allocate; they return a status. Without compilation they are Python over the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import Kernels
from aleazero.native.compile import borrow, not_inlined
from aleazero.native.random import DESCENT, ROLLOUT, ROOT_EVALUATION, TIES, extend_key_bits, unit_at
from aleazero.search.outcomes import make_draw
from aleazero.search.playout import make_playouts
from aleazero.search.status import (
    ANSWERED,
    AT_LEAF,
    BROKEN_RULES,
    COLLISION,
    DONE,
    ENDLESS_CHANCE,
    EVALUATIONS_SPENT,
    EXTERNAL,
    FAILED,
    FULL,
    GAME_OVER,
    GROW_EDGES,
    GROW_NODES,
    MAX_CHANCE_RUN,
    NO_ROOM,
    PAUSED,
    READY,
    TO_START,
    TRUST_EXACT,
    TRUST_NONE,
    UNIFORM,
    WAITING,
)
from aleazero.search.status import ROLLOUT as ROLLOUT_INSIDE
from aleazero.search.tree.arrays import (
    BLOCKED,
    BROKEN,
    COLLIDED,
    COLLISIONS,
    DEPTH,
    DESCENT_KEY,
    EDGES,
    EVALUATIONS,
    EXPANDED_ALL,
    EXPANSIONS,
    IN_FLIGHT,
    IS_FULL,
    LEAVES,
    NO_EDGE,
    NO_NODE,
    OUT_OF_BUDGET,
    PLACE,
    REQUESTED,
    RETRIED,
    ROLLOUT_KEY,
    SEED,
    SIMULATIONS,
    STARTED,
    TIES_KEY,
    TRANSIENT,
    UNEXPANDED,
    EvalBatch,
    InFlight,
    LoopSettings,
    RootResults,
    Scratch,
    Sizes,
    Tree,
    flight_at,
    size_flight,
    size_scratch,
    size_tree,
    tree_at,
)
from aleazero.search.tree.backup import backup_expectation, backup_sample, count_outcome, learn_range, release
from aleazero.search.tree.chance import make_listing, make_outcome_leaves, make_sample_more, may_store
from aleazero.search.tree.nodes import (
    add_leaf,
    are_actions_valid,
    edge_reserve,
    find_child,
    is_stored,
    make_children,
    new_edge,
    new_node,
    samples_more,
    set_kind,
    start_path,
    step_on,
    stops_at,
    take_edges,
)
from aleazero.search.tree.open_loop import make_open_descend
from aleazero.search.tree.prefetch import prefetch_next
from aleazero.search.tree.select import select


def make_loop(kernels: Kernels, sizes: Sizes, open_loop: bool) -> Callable[..., int]:
    """Make the loop of one game, ``advance``."""
    request_evaluation = make_request_evaluation(kernels)
    start_tree = make_start_tree(kernels, request_evaluation)
    descend = make_open_descend(kernels) if open_loop else make_descend(kernels)
    start_visit = make_start_visit(kernels, request_evaluation)
    evaluate_inside = make_evaluate_inside(kernels)
    absorb = make_absorb(kernels)

    def advance(trees_: Tree, flights_: InFlight, batch_: EvalBatch, results_: RootResults, scratch_: Scratch,
                settings: LoopSettings, pauses: Any, limits: Any, statuses: Any, first: int) -> int:  # fmt: skip
        """Let every tree that may continue do so, beginning with tree ``first``.

        Returns GROW_NODES or GROW_EDGES if a tree needs more room, else the set of all statuses as bits. A tree that
        finds the evaluator's batch full stays READY. A tree that needs room ends the call, and is the first that
        continues: a later tree could use up the rows of the batch that are reserved for its visit.
        """
        trees, flights, batch = borrow(trees_), borrow(flights_), borrow(batch_)
        results, scratch = borrow(results_), size_scratch(borrow(scratch_), sizes)
        for turn in range(len(statuses)):
            prefetch_next(trees, flights, statuses, first, turn)
            b = (first + turn) % len(statuses)
            status = statuses[b]
            if status != TO_START and status != READY and status != ANSWERED:
                continue
            tree, flight = size_tree(tree_at(trees, b), sizes), size_flight(flight_at(flights, b), sizes)
            if status == TO_START:
                if settings.evaluator == EXTERNAL and batch.used[0] >= len(batch.owners):
                    continue
                if len(scratch.slots) > len(tree.edges):  # the root's evaluation may need an edge for every action
                    return GROW_EDGES
                start_tree(tree, flight, batch, scratch, settings)
                if tree.nodes[0].kind == TERMINAL:
                    statuses[b] = BROKEN_RULES if tree.counters[BROKEN] == 1 else GAME_OVER
                    continue
            status = grow_tree(tree, flight, batch, scratch, settings, pauses[b], limits[b], status == ANSWERED)
            if status in (GROW_NODES, GROW_EDGES):
                statuses[b] = READY
                return status
            if status != WAITING and status != READY:
                write_root_results(tree, results, settings, b)
            statuses[b] = status
        found = 0
        for b in range(len(statuses)):
            found |= 1 << (statuses[b] if statuses[b] >= 0 else FAILED)
        return found

    def grow_tree(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings,
                  pause: int, limit: int, answered: bool) -> int:  # fmt: skip
        """Run simulations until ``pause`` or ``limit`` are done or the tree must stop; return its status.

        ``answered``: the evaluations of the waiting leaves are in the batch.
        """
        counters = tree.counters
        while True:
            if counters[BROKEN] == 1:
                return BROKEN_RULES
            if counters[IN_FLIGHT] == 0:  # trees stop and pause between visits, so that pauses do not change results
                if counters[STARTED] == 0 and pause == 0:
                    return PAUSED  # the root is evaluated, and is changed before the first simulation
                if counters[IS_FULL] == 1:
                    return FULL
                if counters[STARTED] >= limit:
                    return DONE
                if is_budget_spent(tree, settings):
                    return EVALUATIONS_SPENT
                if counters[SIMULATIONS] >= pause:
                    return PAUSED
                if settings.evaluator == EXTERNAL and batch.used[0] + len(flight.leaves) > len(batch.owners):
                    return READY  # the batch is full: wait for the next
            if may_start(tree, settings, limit):
                if counters[EDGES] + edge_reserve(tree, scratch, settings) > len(tree.edges):
                    return GROW_EDGES
                first = counters[IN_FLIGHT]
                stop = first + 1
                status = descend(tree, flight, scratch, settings, first)
                if status != AT_LEAF:
                    release(tree, flight, first)
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
                if not start_visit(tree, flight, batch, scratch, settings, first):
                    continue
            else:
                if settings.evaluator == EXTERNAL:
                    if not answered:
                        return WAITING
                    answered = False
                else:
                    status = evaluate_inside(tree, flight, scratch, settings)
                    if status != DONE:
                        return status
                first = np.int64(0)
                stop = counters[IN_FLIGHT]
                counters[IN_FLIGHT] = 0
                counters[LEAVES] = 0
                counters[REQUESTED] = 0
                counters[COLLIDED] = 0
            # One call for a visit whose values are all known and for those that waited: it is compiled once.
            absorb(tree, flight, batch, scratch, settings, first, stop)

    return advance


def may_start(tree: Tree, settings: LoopSettings, limit: int) -> Any:
    """Return whether one more visit may join those in flight, if ``limit`` simulations are wanted."""
    counters = tree.counters
    room = counters[IN_FLIGHT] < settings.in_flight and counters[STARTED] < limit
    return room and counters[COLLIDED] == 0 and counters[IS_FULL] == 0 and not is_budget_spent(tree, settings)


def is_budget_spent(tree: Tree, settings: LoopSettings) -> Any:
    """Return whether no evaluation is left, if those that wait are counted."""
    spent = tree.counters[EVALUATIONS] + tree.counters[REQUESTED] >= settings.max_evaluations
    return spent or tree.counters[OUT_OF_BUDGET] == 1


# -- start a tree ------------------------------------------------------------------------------------------------------

_ROOT = np.uint64(ROOT_EVALUATION)
_ZERO, _DESCENT, _ROLLOUT, _TIES = (np.uint64(number) for number in (0, DESCENT, ROLLOUT, TIES))


def make_start_tree(kernels: Kernels, request_evaluation: Callable[..., None]) -> Callable[..., None]:
    """Make ``start_tree(tree, flight, batch, scratch, settings)`` of one game."""
    kind_of = kernels.kind
    to_play = kernels.to_play

    @not_inlined
    def start_tree(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings) -> None:
        """Start a tree at the state that its first row of ``states`` holds. The root's own evaluation waits first."""
        place = tree.counters[PLACE]
        for i in range(len(tree.counters)):
            tree.counters[i] = 0
        tree.counters[PLACE] = place
        seed = tree.stream_keys[SEED]
        tree.stream_keys[DESCENT_KEY] = extend_key_bits(extend_key_bits(_ZERO, _DESCENT), seed)
        tree.stream_keys[ROLLOUT_KEY] = extend_key_bits(extend_key_bits(_ZERO, _ROLLOUT), seed)
        tree.stream_keys[TIES_KEY] = extend_key_bits(extend_key_bits(_ZERO, _TIES), seed)
        for p in range(len(tree.low)):
            tree.low[p] = settings.low
            tree.high[p] = settings.high
        new_node(tree, np.int64(-1), 1)
        root = tree.nodes[0]
        kind = kind_of(tree.states[0])
        set_kind(tree, np.int64(0), kind, np.int64(to_play(tree.states[0])) if kind == DECISION else np.int64(-1))
        if root.kind == TERMINAL or (root.kind == CHANCE and settings.at_chance == TRUST_NONE):
            return
        root.pending = 1
        start_path(tree, flight, np.int64(0), _ROOT)
        i = add_leaf(flight, settings, np.int64(0), np.int64(0), np.int64(0), tree.states[0])
        if settings.evaluator == EXTERNAL:
            request_evaluation(tree, flight, batch, scratch, settings, i)
        tree.counters[IN_FLIGHT] = 1
        tree.counters[LEAVES] = 1
        tree.counters[REQUESTED] = 1
        tree.counters[COLLIDED] = 1  # no visit joins the root's own evaluation

    return start_tree


# -- descend -----------------------------------------------------------------------------------------------------------


def make_descend(kernels: Kernels) -> Callable[..., int]:
    """Make ``descend(tree, flight, scratch, settings, v) -> status`` of one game. ``open_loop.py`` has another one."""
    draw = make_draw(kernels)
    make_list, pick_outcome = make_listing(kernels)
    action_child, listed_child, outcome_child = make_children(kernels)
    add_transient, expand_all_outcomes = make_outcome_leaves(kernels, listed_child)

    def descend(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any) -> Any:
        """Go from the root to a leaf, or to several below one chance node. Path and leaves are those of visit v.

        Returns AT_LEAF, COLLISION, NO_ROOM, GROW_EDGES or an error. The caller releases a visit that did not end well.
        """
        key = start_path(tree, flight, v, np.uint64(tree.counters[STARTED]))
        reserve = edge_reserve(tree, scratch, settings)
        more = samples_more(tree, settings)
        n = np.int64(0)
        depth = np.int64(0)
        chance_run = 0
        above = np.int64(NO_NODE)  # the chance node just passed
        room = True  # whether it could store another outcome then
        while True:
            node = tree.nodes[n]
            if node.pending:
                return COLLISION
            if stops_at(tree, settings, n, depth):
                break
            if node.kind == DECISION:
                chance_run = 0
                above = np.int64(NO_NODE)
                slot = np.int64(select(tree, settings, n))
                step_on(tree, flight, v, n, slot)
                child = action_child(tree, n, node.first_edge + slot, settings)
            else:
                chance_run += 1
                if chance_run > MAX_CHANCE_RUN:
                    return ENDLESS_CHANCE
                if settings.lists_outcomes and node.num_edges == UNEXPANDED:
                    status = make_list(tree, scratch, settings, n, reserve)
                    if status != DONE:
                        return status
                if node.expand_all:
                    first = tree.edges[node.first_edge]
                    if first.visits + first.in_flight == 0:  # all outcomes get their first visit together
                        return expand_all_outcomes(tree, flight, scratch, settings, v, n, key, depth)
                u = unit_at(key, depth)
                slot = np.int64(NO_EDGE)
                if settings.lists_outcomes:
                    slot = pick_outcome(tree, scratch, settings, n, u, reserve)
                    if slot < 0:
                        return slot
                    outcome = np.int64(tree.edges[node.first_edge + slot].action)
                else:
                    outcome = np.int64(draw(tree.states[n], u, scratch))
                    if outcome < 0:
                        return outcome
                step_on(tree, flight, v, n, slot)
                room = more and may_store(tree, settings, n)
                if settings.widening and not is_stored(tree, n, slot, outcome) and not may_store(tree, settings, n):
                    flight.visits[v].blocked = 1
                    status = add_transient(flight, scratch, settings, v, tree.states[n], outcome, key, depth)
                    if status != AT_LEAF:
                        return status
                    above, room, n = n, False, np.int64(NO_NODE)
                    depth += 1
                    break
                if settings.lists_outcomes:
                    child = listed_child(tree, n, node.first_edge + slot, settings)
                else:
                    child = outcome_child(tree, n, outcome, settings)
                above = n
            if child == NO_NODE:
                return NO_ROOM
            n = child
            depth += 1
        if n != NO_NODE:
            add_leaf(flight, settings, v, n, depth, tree.states[n])
        if above != NO_NODE and more:
            state = tree.states[above]
            return sample_more_outcomes(tree, flight, scratch, settings, v, above, state, key, depth - 1, room)
        return AT_LEAF

    def stored_child(tree: Tree, n: Any, outcome: Any, after: Any) -> Any:
        """Return the child after an outcome of a chance node, or NO_NODE."""
        return find_child(tree, n, outcome)

    sample_more_outcomes = make_sample_more(kernels, stored_child)
    return descend


# -- start a visit -----------------------------------------------------------------------------------------------------


def make_start_visit(kernels: Kernels, request_evaluation: Callable[..., None]) -> Callable[..., bool]:
    """Make ``start_visit(tree, flight, batch, scratch, settings, v) -> whether all values are known`` of one game."""
    kind_of = kernels.kind
    returns = kernels.returns

    def start_visit(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings,
                    v: Any) -> bool:  # fmt: skip
        """Count a visit whose descent ended well, and let it wait if a leaf needs an evaluation.

        Returns whether it can be backed up at once. A visit that needs more evaluations than are left is released.
        """
        visit = flight.visits[v]
        requested = 0
        for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
            if not known_value(tree, flight, settings, i):
                requested += 1
                if settings.evaluator == EXTERNAL:
                    request_evaluation(tree, flight, batch, scratch, settings, i)
        if tree.counters[EVALUATIONS] + tree.counters[REQUESTED] + requested > settings.max_evaluations:
            tree.counters[OUT_OF_BUDGET] = 1
            if settings.evaluator == EXTERNAL:
                batch.used[0] -= requested
            release(tree, flight, v)
            return False
        tree.counters[STARTED] += 1
        for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
            tree.counters[DEPTH] = max(tree.counters[DEPTH], flight.leaves[i].depth)
        if requested == 0:
            return True
        set_pending(tree, flight, v, 1)
        tree.counters[IN_FLIGHT] += 1
        tree.counters[LEAVES] += visit.num_leaves
        tree.counters[REQUESTED] += requested
        return False

    def known_value(tree: Tree, flight: InFlight, settings: LoopSettings, i: Any) -> Any:
        """Fill in the value of a leaf that needs no evaluation: a terminal state, or an exact value found before."""
        leaf = flight.leaves[i]
        # States of stored nodes are not copied if all leaves are such. (Compiled, no function may return a row.)
        state = tree.states[leaf.node] if settings.one_stored_leaf else flight.states[i]
        kind = np.int64(tree.nodes[leaf.node].kind) if leaf.is_node_state == 1 else np.int64(kind_of(state))
        if kind == TERMINAL and not settings.values_ends:
            returns(state, flight.values[i])
            leaf.known = 1
        elif len(tree.leaf_values) == 0 or leaf.node == NO_NODE or settings.open_loop:
            return False
        elif tree.nodes[leaf.node].evaluated:
            trust = settings.at_chance if kind == CHANCE else settings.at_decisions
            if kind == TERMINAL or trust == TRUST_EXACT or tree.nodes[leaf.node].exact:
                for p in range(flight.values.shape[1]):
                    flight.values[i, p] = tree.leaf_values[leaf.node, p]
                leaf.known = 1
        return leaf.known == 1

    return start_visit


def set_pending(tree: Tree, flight: InFlight, v: Any, pending: Any) -> None:
    """Let descents collide with the leaves of a visit (1) or not (0), and with a chance node that it expands."""
    visit = flight.visits[v]
    if visit.expanding != NO_NODE:
        tree.nodes[visit.expanding].pending = pending
    for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
        if flight.leaves[i].node != NO_NODE:
            tree.nodes[flight.leaves[i].node].pending = pending


def make_request_evaluation(kernels: Kernels) -> Callable[..., None]:
    """Make ``request_evaluation(tree, flight, batch, scratch, settings, i)`` of one game."""
    kind_of = kernels.kind
    legal = kernels.legal
    viewer_of = kernels.viewer
    observe = kernels.observe

    def request_evaluation(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings,
                           i: Any) -> None:  # fmt: skip
        """Add a leaf to the evaluator's batch."""
        row = batch.used[0]
        batch.used[0] += 1
        batch.owners[row] = tree.counters[PLACE]
        leaf = flight.leaves[i]
        leaf.row = row
        state = tree.states[leaf.node] if settings.one_stored_leaf else flight.states[i]
        if not write_request(state, row, batch, scratch.actions):
            tree.counters[BROKEN] = 1

    @not_inlined
    def write_request(state: Any, row: Any, batch: EvalBatch, actions: Any) -> bool:
        """Write state, observation and legal actions of a leaf into the evaluator's batch.

        It is called for every leaf of a network, so it gets few arrays, not complete trees.
        """
        for i in range(len(state)):
            batch.states[row, i] = state[i]
        observe(state, np.int64(viewer_of(state)), batch.observations[row])
        for action in range(batch.masks.shape[1]):
            batch.masks[row, action] = False
        if kind_of(state) != DECISION:
            return True
        count = legal(state, actions)
        if count < 1 or count > batch.masks.shape[1]:
            return False
        for i in range(count):
            if actions[i] < 0 or actions[i] >= batch.masks.shape[1]:
                return False
            batch.masks[row, actions[i]] = True
        return True

    return request_evaluation


# -- evaluate ----------------------------------------------------------------------------------------------------------


def make_evaluate_inside(kernels: Kernels) -> Callable[..., int]:
    """Make ``evaluate_inside(tree, flight, scratch, settings) -> DONE or an error`` of one game."""
    returns = kernels.returns
    value_by_playouts = make_playouts(kernels)

    def evaluate_inside(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings) -> Any:
        """Evaluate the waiting leaves inside the loop: by the returns so far, or by playouts."""
        for v in range(tree.counters[IN_FLIGHT]):
            visit = flight.visits[v]
            for number in range(visit.num_leaves):
                i = np.int64(visit.first_leaf + number)
                leaf = flight.leaves[i]
                if leaf.known == 1:
                    continue
                value = flight.values[i]
                state = tree.states[leaf.node] if settings.one_stored_leaf else flight.states[i]
                if settings.evaluator == UNIFORM:
                    returns(state, value)
                    continue
                # Numbered by simulation and leaf, so playouts do not depend on the order of evaluations.
                key = extend_key_bits(tree.stream_keys[ROLLOUT_KEY], visit.simulation)
                status = value_by_playouts(state, key, number * settings.playouts, scratch, settings, value)
                if status != DONE:
                    return status
        return np.int64(DONE)

    return evaluate_inside


# -- absorb: store, expand, back up ------------------------------------------------------------------------------------


def make_absorb(kernels: Kernels) -> Callable[..., None]:
    """Make ``absorb(tree, flight, batch, scratch, settings, first, stop)`` of one game."""
    legal = kernels.legal
    viewer_of = kernels.viewer
    prior_logit = kernels.prior_logit or equal_logit
    has_priors = kernels.prior_logit is not None

    def absorb(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings, first: Any,
               stop: Any) -> None:  # fmt: skip
        """End the visits from ``first`` to ``stop`` - 1, in order."""
        for v in range(first, stop):
            visit = flight.visits[v]
            for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
                if flight.leaves[i].known == 0:
                    store_evaluation(tree, flight, batch, scratch, settings, i)
            set_pending(tree, flight, v, 0)
            finish_visit(tree, flight, scratch, settings, v)

    def store_evaluation(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings,
                         i: Any) -> None:  # fmt: skip
        """Store the evaluation of a leaf at its node, and expand the node."""
        tree.counters[EVALUATIONS] += 1
        leaf = flight.leaves[i]
        if settings.evaluator == EXTERNAL:
            # The evaluator's values are by seat relative to the viewer.
            players = flight.values.shape[1]
            state = tree.states[leaf.node] if settings.one_stored_leaf else flight.states[i]
            viewer = np.int64(viewer_of(state))
            for seat in range(players):
                flight.values[i, (viewer + seat) % players] = batch.values[leaf.row, seat]
        if leaf.is_node_state == 0:
            return
        n = np.int64(leaf.node)
        node = tree.nodes[n]
        node.evaluated = 1
        node.exact = 1 if settings.evaluator == EXTERNAL and batch.exact[leaf.row] else 0
        if len(tree.leaf_values) > 0:
            for p in range(flight.values.shape[1]):
                tree.leaf_values[n, p] = flight.values[i, p]
        exact = settings.at_decisions == TRUST_EXACT or node.exact
        stays_leaf = (exact and n != 0) or leaf.depth >= settings.max_depth
        if node.kind == DECISION and node.num_edges == UNEXPANDED and not stays_leaf:
            expand(tree, flight, batch, scratch, settings, i, n)

    def expand(tree: Tree, flight: InFlight, batch: EvalBatch, scratch: Scratch, settings: LoopSettings, i: Any,
               n: Any) -> None:  # fmt: skip
        """Give a decision node its edges, with priors by softmax of the logits of its legal actions, or equal ones.

        Logits are the evaluator's; in a search with playouts those of the game's ``prior_logit``, if it has one.
        """
        node = tree.nodes[n]
        leaf = flight.leaves[i]
        row = leaf.row
        state = tree.states[leaf.node] if settings.one_stored_leaf else flight.states[i]
        count = legal(state, scratch.actions)  # again: the masks of the batch may already be those of other leaves
        if not are_actions_valid(scratch, count):
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
            for j in range(count):
                highest = max(highest, batch.logits[row, scratch.actions[j]])
        for j in range(count):
            action = scratch.actions[j]
            weight = 1.0
            if settings.evaluator == EXTERNAL:
                weight = math.exp(batch.logits[row, action] - highest)
                total += weight
            new_edge(tree, node.first_edge + j, action, weight)
            if settings.first_play_logits:
                loss = settings.logit_unit * (batch.logits[row, action] - highest)
                tree.edges[node.first_edge + j].total = flight.values[i, node.mover] + loss
        if has_priors and settings.evaluator == ROLLOUT_INSIDE:
            total = weigh_edges(tree, state, node.first_edge, count)
        for e in range(node.first_edge, node.first_edge + count):
            prior = tree.edges[e].prior / total
            # Open loop: weights with mean 1, so that actions which appear later fit in with weight 1.
            tree.edges[e].prior = prior * count if settings.open_loop else prior

    def weigh_edges(tree: Tree, state: Any, first: Any, count: Any) -> Any:
        """Set the priors of new edges to exp(logit − highest logit) by the game's ``prior_logit``; return their sum."""
        highest = -math.inf
        for e in range(first, first + count):
            logit = float(prior_logit(state, np.int64(tree.edges[e].action)))
            if not math.isfinite(logit):
                tree.counters[BROKEN] = 1
                logit = 0.0
            tree.edges[e].prior = logit
            highest = max(highest, logit)
        total = 0.0
        for e in range(first, first + count):
            tree.edges[e].prior = math.exp(tree.edges[e].prior - highest)
            total += tree.edges[e].prior
        return total

    return absorb


def equal_logit(state: Any, action: Any) -> Any:
    """Return 0: a stand-in for the ``prior_logit`` of games that have none. It is not called."""
    return 0.0


def finish_visit(tree: Tree, flight: InFlight, scratch: Scratch, settings: LoopSettings, v: Any) -> None:
    """Back up a visit all of whose leaves have values."""
    visit = flight.visits[v]
    players = flight.values.shape[1]
    value = scratch.value  # (p,) value of the visit
    for p in range(players):
        value[p] = 0.0
    for i in range(visit.first_leaf, visit.first_leaf + visit.num_leaves):
        leaf = flight.leaves[i]
        for p in range(players):
            value[p] += leaf.weight * flight.values[i, p]
            if not math.isfinite(flight.values[i, p]):
                tree.counters[BROKEN] = 1
        count_outcome(tree, flight, v, i, 1)
        if leaf.node != NO_NODE:  # leaves are not part of the path
            node = tree.nodes[leaf.node]
            node.visits += 1
            for p in range(players):
                node.value_sums[p] += flight.values[i, p]
            continue
        tree.counters[TRANSIENT] += 1
        if len(tree.transient_sums) > 0:
            above = tree.nodes[flight.paths[v, visit.length - 1, 0]]
            e = above.first_edge + flight.paths[v, visit.length - 1, 1]
            for p in range(players):
                tree.transient_sums[e, p] += flight.values[i, p]
    if settings.expectation:
        backup_expectation(tree, flight, v, value)
        if settings.learns_range:
            learn_range(tree, flight, v)
    else:
        for p in range(players):
            value[p] /= visit.divisor
        backup_sample(tree, flight, settings, v, value)
    tree.counters[BLOCKED] += visit.blocked
    if visit.expanding != NO_NODE:
        tree.counters[EXPANDED_ALL] += 1
    if visit.simulation != _ROOT:
        tree.counters[SIMULATIONS] += 1


# -- results at the root -----------------------------------------------------------------------------------------------


def write_root_results(tree: Tree, results: RootResults, settings: LoopSettings, b: Any) -> None:
    """Write the root's value and its actions."""
    root = tree.nodes[0]
    for p in range(len(tree.low)):
        results.values[b, p] = root.value_sums[p] / max(1, root.visits)
    count = root.num_edges if root.kind == DECISION and root.num_edges > 0 else 0
    write_root_actions(tree.edges, root.first_edge, count, settings.open_loop, results, b)


@not_inlined
def write_root_actions(edges: Any, first: Any, count: Any, open_loop: Any, results: RootResults, b: Any) -> None:
    """Write the root's actions in ascending order. In open loop edges have another order, and priors are weights."""
    weight = 0.0
    for slot in range(count):
        weight += edges[first + slot].prior
    if not open_loop or weight == 0.0:
        weight = 1.0
    for slot in range(count):  # insertion sort
        edge = edges[first + slot]
        i = slot
        while i > 0 and results.actions[b, i - 1] > edge.action:
            results.actions[b, i] = results.actions[b, i - 1]
            results.visits[b, i] = results.visits[b, i - 1]
            results.q[b, i] = results.q[b, i - 1]
            results.priors[b, i] = results.priors[b, i - 1]
            i -= 1
        results.actions[b, i] = edge.action
        results.visits[b, i] = edge.visits
        results.q[b, i] = edge.total / edge.visits if edge.visits > 0 else math.nan
        results.priors[b, i] = edge.prior / weight
    results.counts[b] = count
