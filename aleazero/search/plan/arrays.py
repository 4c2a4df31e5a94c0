"""The graph of a plan as arrays: their contents, and how they are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k states on the frontier, a actions.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.kernel import LIST_SLACK

EMPTY: Final = -1
"""An unused entry of the hash table."""


NODE = np.dtype(
    [
        ("code", "u8"),  # hash of state and layer
        ("first_edge", "i4"),  # edges lie side by side: actions ascending, outcomes in the game's order
        ("num_edges", "i4"),  # 0 on the frontier
        ("waits", "i4"),  # edges that lead to it from nodes which are not ordered yet
        ("depth", "i4"),  # length of the longest path from the root
        ("layer", "i4"),
        ("kind", "i1"),
        ("mover", "i1"),  # player at a decision, else −1
        ("role", "i1"),  # INNER, ASKED or ENDED
    ],
    align=True,
)


INNER: Final = 0
"""Inside the horizon, or a chance node past it that the evaluator does not value."""


ASKED: Final = 1
"""On the frontier: valued by the evaluator."""


ENDED: Final = 2
"""On the frontier: a terminal state, whose value is its returns."""


EDGE = np.dtype([("probability", "f8"), ("label", "i4"), ("child", "i4")], align=True)


class Graph(NamedTuple):
    """The graph of one plan. Node 0 is the root, and nodes are numbered breadth first."""

    nodes: Any  # (n,) NODE
    edges: Any  # (m,) EDGE
    states: Any  # (n, s)
    values: Any  # (n, p) float64, by player
    order: Any  # (n,) int32: nodes in topological order
    table: Any  # (power of two,) int32: nodes by hash, or EMPTY
    counters: Any  # int64, by the names below


NODES, EDGES, EXPANDED, LEAVES, DEPTH, NUM_COUNTERS = range(6)


class Frontier(NamedTuple):
    """The evaluator's batch: states on the frontier, one row each, in the order of nodes."""

    observations: Any  # (k, o) float32
    masks: Any  # (k, a) bool
    viewers: Any  # (k,) int64
    nodes: Any  # (k,) int64


class PlanScratch(NamedTuple):
    """Working memory."""

    walk: Any  # (s,)
    actions: Any  # (a + LIST_SLACK,) int64
    ids: Any  # (outcomes + LIST_SLACK,) int64
    probabilities: Any  # (outcomes + LIST_SLACK,) float64
    value: Any  # (p,) float64


class PlanSettings(NamedTuple):
    """The numbers of horizon and evaluator that the loop reads."""

    counts: int
    limit: int
    mover: int
    turn: int
    afterstates: bool  # the evaluator values chance nodes
    evaluator: int  # EXTERNAL, UNIFORM, ROLLOUT or NO_KIND
    max_nodes: int
    playouts: int
    max_steps: int
    rollout_key: Any


def make_graph(nodes: int, edges: int, state_size: int, dtype: Any, players: int, hashed: int | None = None) -> Graph:
    """Return an empty graph with this much room. ``hashed``: nodes that the table has room for, if not all."""
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
    """Return a power of two, at least twice the nodes."""
    return 1 << max(4, (2 * nodes - 1).bit_length())


def grow_graph(graph: Graph, nodes: int, edges: int) -> Graph:
    """Return the same graph with more room. Its table is empty and must be filled again."""
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
    """Return working memory for one plan."""
    return PlanScratch(
        np.zeros(state_size, dtype),
        np.zeros(actions + LIST_SLACK, np.int64),
        np.zeros(outcomes + LIST_SLACK, np.int64),
        np.zeros(outcomes + LIST_SLACK),
        np.zeros(players),
    )


def make_frontier(rows: int, observation_size: int, actions: int) -> Frontier:
    """Return room for a frontier; observations of size 0 are not written."""
    return Frontier(
        np.zeros((rows, observation_size), np.float32),
        np.zeros((rows, actions), np.bool_),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )


def graph_bytes(graph: Graph) -> int:
    """Return the bytes in use: nodes with their states and values, and edges."""
    nodes, edges = int(graph.counters[NODES]), int(graph.counters[EDGES])
    per_node = NODE.itemsize + graph.states.itemsize * graph.states.shape[1] + 8 * graph.values.shape[1] + 4
    return nodes * int(per_node) + edges * EDGE.itemsize
