"""The tree as arrays: what each field holds, the sentinels, and how the arrays are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k leaves in flight, a actions, l steps of a path.
A node does not know its visits' ways: every descent records its path, and values go up along it, so that a node
may one day have several parents. Leaves carry their own state, so that one need not be a stored node.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.search.engine import MAX_CHANCE_RUN

NO_NODE: Final = -1
NO_EDGE: Final = -1
UNEXPANDED: Final = -1
EMPTY: Final = -1
"""An unused place of the hash table."""

NODE = np.dtype(
    [
        ("visits", "i4"),  # descents that passed or ended here, the own evaluation among them
        ("parent", "i4"),  # NO_NODE at the root
        ("label", "i4"),  # action or outcome that led here first
        ("first_edge", "i4"),  # edges of a decision lie side by side, in order of action (open loop: of appearance)
        ("num_edges", "i4"),  # UNEXPANDED before expansion
        ("edge_room", "i4"),  # edges that fit before they must move (open loop)
        ("first_child", "i4"),  # children found by hash, as a list for whoever wants to see them all
        ("next_child", "i4"),
        ("num_children", "i4"),
        ("kind", "i1"),  # DECISION, CHANCE, TERMINAL, or TALLY
        ("mover", "i1"),  # player at a decision, else −1
        ("evaluated", "i1"),
        ("pending", "i1"),  # a leaf in flight: whoever meets it collides
    ],
    align=True,
)
TALLY: Final = 3
"""A counter beside the tree: an outcome of a chance root in open loop."""

EDGE = np.dtype(
    [
        ("total", "f8"),  # sum of the mover's values
        ("prior", "f8"),  # probability; in open loop a weight, 1 being neutral
        ("action", "i4"),
        ("child", "i4"),  # closed loop only
        ("visits", "i4"),
        ("in_flight", "i4"),
    ],
    align=True,
)


class Tree(NamedTuple):
    """One tree."""

    nodes: Any  # (n,) NODE
    edges: Any  # (m,) EDGE
    states: Any  # (n, s)
    totals: Any  # (n, p) float64: sums of values
    own: Any  # (n, p) float64: the evaluator's word
    keys: Any  # (power of two,) int64: (node, outcome) of the hash table, or EMPTY
    places: Any  # the node at each key
    low: Any  # (p,) float64: range by which values are scaled
    high: Any
    counters: Any  # int64, by the names below


(
    NODES,
    EDGES,
    STARTED,
    SIMULATIONS,
    EVALUATIONS,
    EXPANSIONS,
    COLLISIONS,
    DEPTH,
    IN_BATCH,
    IS_FULL,
    RESUMES,
    TALLIES,
    NUM_COUNTERS,
) = range(13)


class Batch(NamedTuple):
    """Leaves in flight, a row each."""

    path_nodes: Any  # (k, l) int32
    path_slots: Any  # (k, l) int32: which edge of the node, NO_EDGE at chance nodes and leaves
    lengths: Any  # (k,) int32
    depths: Any  # (k,) int32
    simulations: Any  # (k,) uint64
    states: Any  # (k, s)
    observations: Any  # (k, o) float32
    masks: Any  # (k, a) bool
    logits: Any  # (k, a) float64
    values: Any  # (k, p) float64, by player


class Scratch(NamedTuple):
    """Room to work in, so that the loop allocates nothing."""

    walk: Any  # (s,) the state of an open-loop descent or a playout
    actions: Any  # (a,) int64
    slot_of: Any  # (a,) int32, NO_EDGE between uses
    ids: Any  # (outcomes,) int64
    probabilities: Any  # (outcomes,) float64
    value: Any  # (p,) float64


class Settings(NamedTuple):
    """The numbers of a SearchConfig and an evaluator that the loop reads."""

    c: float
    first_play: float
    first_play_parent: bool
    uct: bool
    virtual_loss: bool
    open_loop: bool
    at_chance: int
    at_decisions: int
    max_depth: int
    in_flight: int
    num_simulations: int
    max_nodes: int
    max_evaluations: int
    evaluator: int  # EXTERNAL, UNIFORM or ROLLOUT
    playouts: int
    max_steps: int
    learns_range: bool
    descent_key: Any  # uint64
    rollout_key: Any


EXTERNAL: Final = 0
UNIFORM: Final = 1
ROLLOUT: Final = 2


def make_tree(num_nodes: int, num_edges: int, state_size: int, state_dtype: str, players: int) -> Tree:
    """An empty tree with room for so many nodes and edges."""
    hash_size = 1 << max(4, (2 * num_nodes - 1).bit_length())
    return Tree(
        nodes=np.zeros(num_nodes, NODE).view(np.recarray),
        edges=np.zeros(num_edges, EDGE).view(np.recarray),
        states=np.zeros((num_nodes, state_size), state_dtype),
        totals=np.zeros((num_nodes, players)),
        own=np.zeros((num_nodes, players)),
        keys=np.full(hash_size, EMPTY, np.int64),
        places=np.zeros(hash_size, np.int32),
        low=np.zeros(players),
        high=np.zeros(players),
        counters=np.zeros(NUM_COUNTERS, np.int64),
    )


def make_batch(size: int, max_depth: int, state_size: int, state_dtype: str, observation: int, actions: int,
               players: int) -> Batch:  # fmt: skip
    """Room for the leaves in flight."""
    steps = max_depth + MAX_CHANCE_RUN + 3
    return Batch(
        path_nodes=np.zeros((size, steps), np.int32),
        path_slots=np.zeros((size, steps), np.int32),
        lengths=np.zeros(size, np.int32),
        depths=np.zeros(size, np.int32),
        simulations=np.zeros(size, np.uint64),
        states=np.zeros((size, state_size), state_dtype),
        observations=np.zeros((size, observation), np.float32),
        masks=np.zeros((size, actions), np.bool_),
        logits=np.zeros((size, actions)),
        values=np.zeros((size, players)),
    )


def make_scratch(state_size: int, state_dtype: str, actions: int, outcomes: int, players: int) -> Scratch:
    """Room to work in."""
    return Scratch(
        walk=np.zeros(state_size, state_dtype),
        actions=np.zeros(actions, np.int64),
        slot_of=np.full(actions, NO_EDGE, np.int32),
        ids=np.zeros(max(1, outcomes), np.int64),
        probabilities=np.zeros(max(1, outcomes)),
        value=np.zeros(players),
    )


def grow_nodes(tree: Tree, room: int) -> Tree:
    """The same tree with room for more nodes."""
    hash_size = 1 << max(4, (2 * room - 1).bit_length())
    bigger = tree._replace(
        nodes=_longer(tree.nodes, room).view(np.recarray),
        states=_longer(tree.states, room),
        totals=_longer(tree.totals, room),
        own=_longer(tree.own, room),
    )
    if hash_size == len(tree.keys):
        return bigger
    keys, places = np.full(hash_size, EMPTY, np.int64), np.zeros(hash_size, np.int32)
    used = np.flatnonzero(tree.keys != EMPTY)
    wanted = hash_place(tree.keys[used], hash_size - 1)
    while len(used):  # all at once: of those that want a free place the first gets it, the others look one further
        first = np.unique(wanted, return_index=True)[1]
        settled = first[keys[wanted[first]] == EMPTY]
        keys[wanted[settled]], places[wanted[settled]] = tree.keys[used[settled]], tree.places[used[settled]]
        used, wanted = np.delete(used, settled), (np.delete(wanted, settled) + 1) & (hash_size - 1)
    return bigger._replace(keys=keys, places=places)


def grow_edges(tree: Tree, room: int) -> Tree:
    """The same tree with room for more edges."""
    return tree._replace(edges=_longer(tree.edges, room).view(np.recarray))


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def tree_bytes(tree: Tree) -> int:
    """Bytes in use: nodes with their states and values, edges, and the hash table's entries."""
    nodes, edges = int(tree.counters[NODES]), int(tree.counters[EDGES])
    a_node: int = sum(array.itemsize * array[0].size for array in (tree.states, tree.totals, tree.own)) + NODE.itemsize
    hashed: int = int(np.count_nonzero(tree.keys != EMPTY))
    total: int = nodes * a_node + edges * EDGE.itemsize + hashed * (tree.keys.itemsize + tree.places.itemsize)
    return total


# -- the functions below run inside the compiled loop ----------------------------------------------------------


def hash_place(key: Any, mask: Any) -> Any:
    """Where the search for a key begins."""
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


def find(tree: Tree, key: Any) -> Any:
    """The node stored under a key, or NO_NODE."""
    mask = len(tree.keys) - 1
    i = hash_place(key, mask)
    while tree.keys[i] != EMPTY:
        if tree.keys[i] == key:
            return np.int64(tree.places[i])
        i = (i + 1) & mask
    return np.int64(NO_NODE)


def add_child(tree: Tree, key: Any, parent: Any, child: Any) -> None:
    """Store a child under a key, and in its parent's list."""
    mask = len(tree.keys) - 1
    i = hash_place(key, mask)
    while tree.keys[i] != EMPTY:
        i = (i + 1) & mask
    tree.keys[i] = key
    tree.places[i] = child
    above = tree.nodes[parent]
    tree.nodes[child].next_child = above.first_child
    above.first_child = child
    above.num_children += 1


def new_node(tree: Tree, parent: Any, label: Any, most: Any) -> Any:
    """A blank node, or NO_NODE where there is no room (the limit or the arena)."""
    n = tree.counters[NODES]
    if n >= most or n >= len(tree.nodes):
        return np.int64(NO_NODE)
    tree.counters[NODES] = n + 1
    node = tree.nodes[n]
    node.visits = 0
    node.parent = parent
    node.label = label
    node.first_edge = NO_EDGE
    node.num_edges = UNEXPANDED
    node.edge_room = 0
    node.first_child = NO_NODE
    node.next_child = NO_NODE
    node.num_children = 0
    node.evaluated = 0
    node.pending = 0
    for p in range(tree.totals.shape[1]):
        tree.totals[n, p] = 0.0
    return n


def new_edge(tree: Tree, e: Any, action: Any, prior: Any) -> None:
    """A blank edge at a place that is free."""
    edge = tree.edges[e]
    edge.total = 0.0
    edge.prior = prior
    edge.action = action
    edge.child = NO_NODE
    edge.visits = 0
    edge.in_flight = 0
