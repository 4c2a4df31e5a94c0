"""The graph of a plan as arrays: what each field holds, and how the arrays are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k states on the frontier, a actions.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.search.tree.arrays import SLACK

EMPTY: Final = -1
"""An unused place of the hash table."""


NODE = np.dtype(
    [
        ("code", "u8"),  # hash of state and layer
        ("first_edge", "i4"),  # edges lie side by side: actions ascending, outcomes in the game's order
        ("num_edges", "i4"),  # 0 on the frontier
        ("waits", "i4"),  # edges into it whose beginning is not yet in order
        ("depth", "i4"),  # steps of the longest way from the root
        ("layer", "i4"),
        ("kind", "i1"),
        ("mover", "i1"),  # player at a decision, else −1
        ("role", "i1"),  # INNER, ASKED or ENDED
    ],
    align=True,
)


INNER: Final = 0
"""Inside the horizon (or a chance node past it that nobody is asked about)."""


ASKED: Final = 1
"""On the frontier: its value is the evaluator's."""


ENDED: Final = 2
"""On the frontier: a terminal state, whose value is its returns."""


EDGE = np.dtype([("probability", "f8"), ("label", "i4"), ("child", "i4")], align=True)


class Graph(NamedTuple):
    """The graph of one plan; node 0 is the root, and nodes are numbered as they are found, breadth first."""

    nodes: Any  # (n,) NODE
    edges: Any  # (m,) EDGE
    states: Any  # (n, s)
    values: Any  # (n, p) float64, by player
    order: Any  # (n,) int32: every node behind all that lead to it
    table: Any  # (power of two,) int32: nodes by hash, or EMPTY
    counters: Any  # int64, by the names below


NODES, EDGES, EXPANDED, LEAVES, DEPTH, NUM_COUNTERS = range(6)


class Frontier(NamedTuple):
    """What an evaluator is told of the states it is asked about, a row each, in order of discovery."""

    observations: Any  # (k, o) float32
    masks: Any  # (k, a) bool
    viewers: Any  # (k,) int64
    nodes: Any  # (k,) int64


class PlanScratch(NamedTuple):
    """Room to work in."""

    walk: Any  # (s,)
    actions: Any  # (a + SLACK,) int64
    ids: Any  # (outcomes + SLACK,) int64
    probabilities: Any  # (outcomes + SLACK,) float64
    value: Any  # (p,) float64


class PlanSettings(NamedTuple):
    """What the loop reads of horizon and evaluator."""

    counts: int
    limit: int
    mover: int
    turn: int
    afterstates: bool  # whether the evaluator is asked at chance nodes
    evaluator: int  # NOBODY, or as in the search
    max_nodes: int
    playouts: int
    max_steps: int
    rollout_key: Any


NOBODY: Final = -1
"""No evaluator: only terminal states may lie on the frontier."""


def make_graph(nodes: int, edges: int, state_size: int, dtype: Any, players: int, hashed: int | None = None) -> Graph:
    """An empty graph with room for so many nodes and edges; ``hashed``: nodes that the table is for, if not all."""
    return Graph(
        np.empty(nodes, NODE).view(np.recarray),
        np.empty(edges, EDGE).view(np.recarray),
        np.empty((nodes, state_size), dtype),
        np.empty((nodes, players)),
        np.empty(nodes, np.int32),
        np.full(table_size(nodes if hashed is None else hashed), EMPTY, np.int32),
        np.zeros(NUM_COUNTERS, np.int64),
    )


def table_size(nodes: int) -> int:
    """A power of two, at least twice the nodes."""
    return 1 << max(4, (2 * nodes - 1).bit_length())


def grow_graph(graph: Graph, nodes: int, edges: int) -> Graph:
    """The same graph with room for more; the table is empty and must be filled anew."""
    return Graph(
        _longer(graph.nodes, nodes).view(np.recarray),
        _longer(graph.edges, edges).view(np.recarray),
        _longer(graph.states, nodes),
        _longer(graph.values, nodes),
        np.empty(nodes, np.int32),
        np.full(table_size(nodes), EMPTY, np.int32),
        graph.counters,
    )


def _longer(array: Any, length: int) -> Any:
    longer = np.empty((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def make_plan_scratch(state_size: int, dtype: Any, actions: int, outcomes: int, players: int) -> PlanScratch:
    """Room for one plan at work."""
    return PlanScratch(
        np.zeros(state_size, dtype),
        np.zeros(actions + SLACK, np.int64),
        np.zeros(outcomes + SLACK, np.int64),
        np.zeros(outcomes + SLACK),
        np.zeros(players),
    )


def make_frontier(rows: int, observation_size: int, actions: int) -> Frontier:
    """Room for a frontier; observations of size 0 are not made."""
    return Frontier(
        np.zeros((rows, observation_size), np.float32),
        np.zeros((rows, actions), np.bool_),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )


def graph_bytes(graph: Graph) -> int:
    """Bytes in use: nodes with their states and values, and edges."""
    nodes, edges = int(graph.counters[NODES]), int(graph.counters[EDGES])
    a_node = NODE.itemsize + graph.states.itemsize * graph.states.shape[1] + 8 * graph.values.shape[1] + 4
    return nodes * int(a_node) + edges * EDGE.itemsize
