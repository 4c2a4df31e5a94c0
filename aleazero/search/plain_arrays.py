"""A plan's graph in plain Python, written out as the arrays that compiled code reads: for turns of object games."""

from __future__ import annotations

import numpy as np

from aleazero.games.base import TERMINAL
from aleazero.search.plain_planner import PlainGraph
from aleazero.search.plan_arrays import ASKED, EDGE, EDGES, ENDED, INNER, NODE, NODES, NUM_COUNTERS, Graph


def arrays_of(graph: PlainGraph) -> Graph:
    """The arrays of a graph that is grown: nodes, edges, order and their numbers; states are objects (n,)."""
    number = {id(node): n for n, node in enumerate(graph.nodes)}
    counters = np.zeros(NUM_COUNTERS, np.int64)
    counters[NODES], counters[EDGES] = len(graph.nodes), sum(len(node.edges) for node in graph.nodes)
    nodes, edges = np.zeros(counters[NODES], NODE), np.zeros(counters[EDGES], EDGE)
    states = np.empty(len(nodes), object)
    first = 0
    for n, node in enumerate(graph.nodes):
        role = ENDED if node.kind == TERMINAL else ASKED if node.on_frontier else INNER
        states[n], row = node.state, nodes[n]
        row["kind"], row["mover"], row["role"] = node.kind, node.mover, role
        row["first_edge"], row["num_edges"] = first, len(node.edges)
        for e, (label, probability, child) in enumerate(node.edges, first):
            edges[e] = (0.0 if probability is None else probability, label, number[id(child)])
        first += len(node.edges)
    nothing = np.zeros(0)
    order = np.array([number[id(node)] for node in graph.order], np.int32)
    return Graph(nodes.view(np.recarray), edges.view(np.recarray), states, nothing, order, nothing, counters)
