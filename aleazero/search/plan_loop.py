"""The planner's loop that is compiled: expand breadth first, put in order, value the frontier, sweep backwards.

``make_plan_loop`` closes it over a game's functions. Like the search's loop it neither raises nor allocates nor
recurses, returns a status, and uncompiled is ordinary Python over the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from aleazero.games.base import CHANCE, DECISION
from aleazero.games.kernel import Kernels
from aleazero.native.compile import borrow
from aleazero.native.random import extend_key_bits
from aleazero.search.plan_arrays import (
    ASKED,
    EMPTY,
    EXPANDED,
    INNER,
    LEAVES,
    NOBODY,
    NODES,
    Frontier,
    Graph,
    PlanScratch,
    PlanSettings,
)
from aleazero.search.plan_expand import (
    BAD_PLAYOUT,
    BAD_PROBABILITIES,
    NOBODY_TO_ASK,
    SOLVED,
    WAITING,
    make_expansion,
)
from aleazero.search.playout import PLAYED, UNDRAWN, make_playouts
from aleazero.search.tree import EXTERNAL, UNIFORM

# What the loop is to do.
EXPAND: Final = 0
"""Expand to the end (or to the node ``until``), order, and where no evaluator outside is needed, solve."""
ASK: Final = 1
"""Write down what the evaluator is told of the frontier."""
SOLVE: Final = 2
"""Sweep backwards over the frontier's values."""
FILL_TABLE: Final = 3
"""Fill the hash table of a graph that has grown."""
BEGIN: Final = 4
"""Enter the root, whose state stands in the scratch; a first EXPAND does so too."""


def make_plan_loop(kernels: Kernels) -> Callable[..., int]:
    """The loop of one game: ``advance(graph, frontier, scratch, settings, kept, stage, until) -> status``."""
    legal = kernels.legal
    returns = kernels.returns
    viewer_of = kernels.viewer
    observe = kernels.observe
    begin, expand_all = make_expansion(kernels)
    value_by_playouts = make_playouts(kernels)

    def evaluate_all(graph: Graph, scratch: PlanScratch, settings: PlanSettings) -> Any:
        """Value the frontier inside the loop."""
        leaf = np.int64(0)
        for n in range(graph.counters[NODES]):
            if graph.nodes[n].role == ASKED:
                graph.counters[EXPANDED] = n
                if settings.evaluator == NOBODY:
                    return np.int64(NOBODY_TO_ASK)
                if settings.evaluator == UNIFORM:
                    returns(graph.states[n], graph.values[n])
                    continue
                key = extend_key_bits(settings.rollout_key, np.uint64(leaf))
                status = value_by_playouts(graph.states[n], key, 0, scratch, settings, graph.values[n])
                if status != PLAYED:
                    return np.int64(BAD_PROBABILITIES if status == UNDRAWN else BAD_PLAYOUT)
                leaf += 1
        graph.counters[EXPANDED] = graph.counters[NODES]
        return np.int64(0)

    def write_frontier(graph: Graph, frontier: Frontier, scratch: PlanScratch) -> None:
        """Tell of each state that the evaluator is asked about."""
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
        """One stage of a plan. ``kept`` (rows, actions) tells which actions the nodes to come next may take."""
        graph, scratch = borrow(graph_), borrow(scratch_)
        if stage == FILL_TABLE:
            fill_table(graph)
            return SOLVED
        if stage == ASK:
            write_frontier(graph, frontier, scratch)
            return SOLVED
        if graph.counters[NODES] == 0:
            begin(graph, scratch, settings)
        if stage == BEGIN:
            return SOLVED
        if stage == EXPAND:
            status = expand_all(graph, scratch, settings, kept, until)
            if status != SOLVED:
                return int(status)
            if settings.evaluator == EXTERNAL and graph.counters[LEAVES] > 0:
                return WAITING
            if settings.evaluator != EXTERNAL:
                status = evaluate_all(graph, scratch, settings)
                if status < 0:
                    return int(status)
        sweep(graph)
        return SOLVED

    return advance


def fill_table(graph: Graph) -> None:
    """Enter every node into a table that is empty."""
    mask = len(graph.table) - 1
    for n in range(graph.counters[NODES]):
        place = np.int64(graph.nodes[n].code & np.uint64(mask))
        while graph.table[place] != EMPTY:
            place = (place + 1) & mask
        graph.table[place] = n


def sweep(graph: Graph) -> None:
    """Value every node from what follows it: the mover's best, or the expectation, player by player."""
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
