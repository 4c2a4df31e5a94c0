"""The compiled loop of the planner: expand breadth first, order the nodes, value the frontier, solve backwards.

``make_plan_loop`` closes it over a game's rules. Like the loop of the tree search it neither raises nor allocates nor
recurses, and returns a status. Without compilation it is Python over the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import LIST_SLACK, Kernels
from aleazero.native.compile import borrow
from aleazero.native.random import extend_key_bits, mix_bits
from aleazero.search.outcomes import make_list_outcomes
from aleazero.search.plan.arrays import (
    ASKED,
    DEPTH,
    EDGES,
    EMPTY,
    ENDED,
    EXPANDED,
    INNER,
    LEAVES,
    NODES,
    Frontier,
    Graph,
    PlanScratch,
    PlanSettings,
)
from aleazero.search.plan.horizon import CHANCE_RUNS, DECISIONS, MOVER, NOTHING, TURN
from aleazero.search.playout import make_playouts
from aleazero.search.status import (
    BAD_ACTIONS,
    CYCLE,
    DONE,
    EXTERNAL,
    GROW_EDGES,
    GROW_NODES,
    NO_EVALUATOR,
    NO_KIND,
    PAUSED,
    ROLLOUT,
    TOO_MANY_NODES,
    UNIFORM,
    WAITING,
)

# Stages of a plan:
EXPAND: Final = 0  # expand to the end (or to the node ``until``), order, and solve if the evaluator is not external
WRITE_FRONTIER: Final = 1  # write the evaluator's batch
SOLVE: Final = 2  # sweep backwards from the values of the frontier
FILL_TABLE: Final = 3  # fill the hash table of a graph that has grown
ADD_ROOT: Final = 4  # add the root, whose state is in the scratch; a first EXPAND also does so


def make_plan_loop(kernels: Kernels) -> Callable[..., int]:
    """Make the loop of one game: ``advance(graph, frontier, scratch, settings, kept, stage, until) -> status``."""
    legal = kernels.legal
    returns = kernels.returns
    viewer_of = kernels.viewer
    observe = kernels.observe
    add_root, expand_graph = make_expansion(kernels)
    value_by_playouts = make_playouts(kernels)

    def evaluate_inside(graph: Graph, scratch: PlanScratch, settings: PlanSettings) -> Any:
        """Value the frontier inside the loop; DONE or an error."""
        leaf = np.int64(0)
        for n in range(graph.counters[NODES]):
            if graph.nodes[n].role == ASKED:
                graph.counters[EXPANDED] = n
                if settings.evaluator == NO_KIND:
                    return np.int64(NO_EVALUATOR)
                if settings.evaluator == UNIFORM:
                    returns(graph.states[n], graph.values[n])
                    continue
                key = extend_key_bits(settings.rollout_key, np.uint64(leaf))
                status = value_by_playouts(graph.states[n], key, 0, scratch, settings, graph.values[n])
                if status != DONE:
                    return np.int64(status)
                leaf += 1
        graph.counters[EXPANDED] = graph.counters[NODES]
        return np.int64(DONE)

    def write_frontier(graph: Graph, frontier: Frontier, scratch: PlanScratch) -> None:
        """Write node, viewer, observation and legal actions of each state that the evaluator values."""
        leaf = np.int64(0)
        for n in range(graph.counters[NODES]):
            node = graph.nodes[n]
            if node.role != ASKED:
                continue
            state = graph.states[n]
            viewer = np.int64(viewer_of(state))
            frontier.nodes[leaf] = n
            frontier.viewers[leaf] = viewer
            if frontier.observations.shape[1] > 0:
                observe(state, viewer, frontier.observations[leaf])
            if node.kind == DECISION:
                for i in range(legal(state, scratch.actions)):
                    frontier.masks[leaf, scratch.actions[i]] = True
            leaf += 1

    def advance(
        graph_: Graph,
        frontier: Frontier,
        scratch_: PlanScratch,
        settings: PlanSettings,
        kept: Any,
        stage: int,
        until: int,
    ) -> int:
        """Run one stage of a plan. ``kept`` (rows, actions) masks the actions of the nodes that are expanded next."""
        graph, scratch = borrow(graph_), borrow(scratch_)
        if stage == FILL_TABLE:
            fill_table(graph)
            return DONE
        if stage == WRITE_FRONTIER:
            write_frontier(graph, frontier, scratch)
            return DONE
        if graph.counters[NODES] == 0:
            add_root(graph, scratch, settings)
        if stage == ADD_ROOT:
            return DONE
        if stage == EXPAND:
            status = expand_graph(graph, scratch, settings, kept, until)
            if status != DONE:
                return int(status)
            if settings.evaluator == EXTERNAL and graph.counters[LEAVES] > 0:
                return WAITING
            if settings.evaluator != EXTERNAL:
                status = evaluate_inside(graph, scratch, settings)
                if status < 0:
                    return int(status)
        sweep(graph)
        return DONE

    return advance


def fill_table(graph: Graph) -> None:
    """Add every node to an empty table."""
    mask = len(graph.table) - 1
    for n in range(graph.counters[NODES]):
        place = np.int64(graph.nodes[n].code & np.uint64(mask))
        while graph.table[place] != EMPTY:
            place = (place + 1) & mask
        graph.table[place] = n


def sweep(graph: Graph) -> None:
    """Value every node from its children: the mover's best, or the expectation, by player."""
    players = graph.values.shape[1]
    for back in range(1, graph.counters[NODES] + 1):
        n = np.int64(graph.order[graph.counters[NODES] - back])
        node = graph.nodes[n]
        if node.role != INNER:
            continue
        first, end = np.int64(node.first_edge), np.int64(node.first_edge + node.num_edges)
        if node.kind == CHANCE:
            for p in range(players):
                mean = 0.0
                for e in range(first, end):
                    mean += graph.edges[e].probability * graph.values[graph.edges[e].child, p]
                graph.values[n, p] = mean
        else:
            best = np.int64(graph.edges[first].child)
            for e in range(first + 1, end):
                child = np.int64(graph.edges[e].child)
                if graph.values[child, node.mover] > graph.values[best, node.mover]:
                    best = child
            for p in range(players):
                graph.values[n, p] = graph.values[best, p]


_PRIME = np.uint64(0x9E3779B97F4A7C15)


def make_expansion(kernels: Kernels) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Make ``add_root(graph, scratch, settings)`` and ``expand_graph(graph, scratch, settings, kept, until)``."""
    kind_of = kernels.kind
    to_play = kernels.to_play
    legal = kernels.legal
    apply = kernels.apply
    list_outcomes = make_list_outcomes(kernels)
    apply_outcome = kernels.apply_outcome
    returns = kernels.returns
    turn_of = kernels.turn or one_turn

    def new_layer(graph: Graph, n: Any, state: Any, kind: Any, settings: PlanSettings) -> Any:
        """Return the layer of a state that follows node n, by the rule of the horizon."""
        node = graph.nodes[n]
        layer = np.int64(node.layer)
        if settings.counts == NOTHING:
            return layer
        if settings.counts == TURN and layer == 0:
            return layer + (1 if kind != TERMINAL and turn_of(state) != settings.turn else 0)
        if node.kind == CHANCE:  # chance events in a row count once per turn
            inside = layer < settings.limit or values_any_state(settings)
            passed = inside and kind == CHANCE and turn_of(state) != turn_of(graph.states[n])
            return layer + (1 if passed else 0)
        if settings.counts == CHANCE_RUNS:
            passed = kind == CHANCE or (kind == DECISION and turn_of(state) != turn_of(graph.states[n]))
            return layer + (1 if passed else 0)
        return layer + (1 if settings.counts == DECISIONS else 0)

    def add(graph: Graph, state: Any, kind: Any, layer: Any, code: Any, place: Any, settings: PlanSettings) -> Any:
        """Return a new node for a state, at an empty entry of the table, or a status if there is no room."""
        n = graph.counters[NODES]
        if n >= settings.max_nodes:
            return np.int64(TOO_MANY_NODES)
        if n >= len(graph.nodes):
            return np.int64(GROW_NODES)
        graph.counters[NODES] = n + 1
        graph.table[place] = n
        for i in range(graph.states.shape[1]):
            graph.states[n, i] = state[i]
        node = graph.nodes[n]
        node.code = code
        node.first_edge = 0
        node.num_edges = 0
        node.waits = 0
        node.depth = 0
        node.layer = layer
        node.kind = kind
        node.mover = to_play(state) if kind == DECISION else -1
        past = layer >= settings.limit or (
            settings.counts == MOVER and kind == DECISION and node.mover != settings.mover
        )
        node.role = INNER
        if kind == TERMINAL:
            node.role = ENDED
            returns(graph.states[n], graph.values[n])
        elif past and (
            kind == DECISION or settings.afterstates or (layer > settings.limit and values_any_state(settings))
        ):
            node.role = ASKED
            graph.counters[LEAVES] += 1
        return n

    def choices(graph: Graph, scratch: PlanScratch, kept: Any, start: Any, n: Any) -> Any:
        """Write the actions or outcomes of a node into the scratch; return their number or a status."""
        state = graph.states[n]
        if graph.nodes[n].kind == CHANCE:
            return list_outcomes(state, scratch)
        count = np.int64(legal(state, scratch.actions))
        num_actions = len(scratch.actions) - LIST_SLACK
        if count < 1 or count > num_actions:
            return np.int64(BAD_ACTIONS)
        for i in range(count):
            if scratch.actions[i] < 0 or scratch.actions[i] >= num_actions:
                return np.int64(BAD_ACTIONS)
        if n - start < len(kept):
            left = np.int64(0)
            for i in range(count):
                if kept[n - start, scratch.actions[i]]:
                    scratch.actions[left] = scratch.actions[i]
                    left += 1
            count = left
        return count if count > 0 else np.int64(BAD_ACTIONS)

    def expand(graph: Graph, scratch: PlanScratch, settings: PlanSettings, kept: Any, start: Any, n: Any) -> Any:
        """Add the edges and children of a node. Edges count only when all fit, so it can be repeated after growing."""
        node = graph.nodes[n]
        count = choices(graph, scratch, kept, start, n)
        if count < 0:
            return count
        first = graph.counters[EDGES]
        if first + count > len(graph.edges):
            return np.int64(GROW_EDGES)
        walk = scratch.walk
        for i in range(count):
            for j in range(len(walk)):
                walk[j] = graph.states[n, j]
            label = scratch.ids[i] if node.kind == CHANCE else scratch.actions[i]
            if node.kind == CHANCE:
                apply_outcome(walk, label)
            else:
                apply(walk, label)
            kind = np.int64(kind_of(walk))
            layer = new_layer(graph, n, walk, kind, settings)
            code = hash_state(walk, layer)
            child = find(graph, walk, layer, code)
            if child < 0:
                child = add(graph, walk, kind, layer, code, ~child, settings)
                if child < 0:
                    return child
            edge = graph.edges[first + i]
            edge.probability = scratch.probabilities[i] if node.kind == CHANCE else 0.0
            edge.label = label
            edge.child = child
        node.first_edge = first
        node.num_edges = count
        graph.counters[EDGES] = first + count
        return np.int64(DONE)

    def add_root(graph: Graph, scratch: PlanScratch, settings: PlanSettings) -> None:
        """Add the root, whose state is in the scratch."""
        root = np.int64(0)
        code = hash_state(scratch.walk, root)
        place = ~find(graph, scratch.walk, root, code)
        add(graph, scratch.walk, np.int64(kind_of(scratch.walk)), root, code, place, settings)

    def expand_graph(graph: Graph, scratch: PlanScratch, settings: PlanSettings, kept: Any, until: Any) -> Any:
        """Expand to the end, or to the node ``until``, and order the nodes; return a status."""
        counters = graph.counters
        start = counters[EXPANDED]
        while counters[EXPANDED] < counters[NODES]:
            n = counters[EXPANDED]
            if n >= until:
                return np.int64(PAUSED)
            if graph.nodes[n].role == INNER:
                status = expand(graph, scratch, settings, kept, start, n)
                if status < 0:
                    return status
            counters[EXPANDED] = n + 1
        return np.int64(DONE if order_nodes(graph) else CYCLE)

    return add_root, expand_graph


def values_any_state(settings: PlanSettings) -> bool:
    """Return whether the evaluator runs inside the loop, and so can value chance nodes if it must."""
    return settings.evaluator == UNIFORM or settings.evaluator == ROLLOUT


def one_turn(state: Any) -> int:
    """Return the turn of a game that does not count turns."""
    return 0


def hash_state(state: Any, layer: Any) -> Any:
    """Return 64 hash bits of a state at a layer."""
    code = np.uint64(layer) + _PRIME
    for i in range(len(state)):
        code = (code ^ np.uint64(state[i])) * _PRIME
    return mix_bits(code)


def find(graph: Graph, state: Any, layer: Any, code: Any) -> Any:
    """Return the node of a state at a layer; if there is none, ~entry of the empty entry for it, which is negative."""
    mask = len(graph.table) - 1
    place = np.int64(code & np.uint64(mask))
    while graph.table[place] != EMPTY:
        n = np.int64(graph.table[place])
        node = graph.nodes[n]
        if node.code == code and node.layer == layer:
            same = True
            for i in range(len(state)):
                if graph.states[n, i] != state[i]:
                    same = False
                    break
            if same:
                return n
        place = (place + 1) & mask
    return ~place


def order_nodes(graph: Graph) -> bool:
    """Order the nodes topologically, parents first; False if the graph has a cycle."""
    nodes, edges, order = graph.nodes, graph.edges, graph.order
    for e in range(graph.counters[EDGES]):
        nodes[edges[e].child].waits += 1
    if nodes[0].waits > 0:
        return False
    order[0] = 0
    ordered = np.int64(1)
    at = np.int64(0)
    deepest = np.int64(0)
    while at < ordered:
        node = nodes[order[at]]
        at += 1
        deepest = max(deepest, np.int64(node.depth))
        for e in range(node.first_edge, node.first_edge + node.num_edges):
            child = nodes[edges[e].child]
            child.depth = max(child.depth, node.depth + 1)
            child.waits -= 1
            if child.waits == 0:
                order[ordered] = edges[e].child
                ordered += 1
    graph.counters[DEPTH] = deepest
    return bool(ordered == graph.counters[NODES])
