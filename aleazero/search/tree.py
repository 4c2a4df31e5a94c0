"""The tree as arrays: what each field holds, the sentinels, and how the arrays are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k leaves in flight, a actions, l steps of a path.
A node does not know its visits' ways: every descent records its path, and values go up along it, so that a node
may one day have several parents. Leaves carry their own state, so that one need not be a stored node.

Trees stand in groups: the arrays of a ``Tree`` and a ``Batch`` have the number of the tree as their first axis, and
``tree_at`` and ``batch_at`` take one out.
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
        ("first_edge", "i4"),  # edges of a decision lie side by side, in order of action (open loop: of appearance);
        # of a chance node, the outcomes picked so far, in order of appearance, where the settings ask for a list
        ("num_edges", "i4"),  # UNEXPANDED before expansion
        ("edge_room", "i4"),  # edges that fit before they must move (open loop, chance nodes)
        ("num_outcomes", "i4"),  # how many a chance node with a list has
        ("first_listed", "i4"),  # the edge of a chance node that comes first in the game's list, or NO_EDGE
        ("first_child", "i4"),  # children found by hash, as a list for whoever wants to see them all
        ("next_child", "i4"),
        ("num_children", "i4"),
        ("in_flight", "i4"),  # visits that passed here and are not backed up yet
        ("kind", "i1"),  # DECISION, CHANCE, TERMINAL, or TALLY
        ("mover", "i1"),  # player at a decision, else −1
        ("evaluated", "i1"),
        ("pending", "i1"),  # a leaf in flight: whoever meets it collides
        ("exact", "i1"),  # a chance node whose outcomes are all expanded at once
    ],
    align=True,
)
TALLY: Final = 3
"""A counter beside the tree: an outcome of a chance root in open loop."""

_EDGE_FIELDS = {
    "total": ("f8", 0),  # sum of the mover's values; chance nodes have the next two in its place
    "listed": ("i4", 0),  # the outcome's place in the game's list
    "next_listed": ("i4", 4),  # the edge that comes next in the game's list, or NO_EDGE
    "prior": ("f8", 8),  # probability; in open loop a weight, 1 being neutral
    "action": ("i4", 16),
    "child": ("i4", 20),  # closed loop only
    "visits": ("i4", 24),
    "in_flight": ("i4", 28),
}
"""Kind, and the byte where it begins."""
EDGE: np.dtype[np.void] = np.dtype(
    {
        "names": list(_EDGE_FIELDS),
        "formats": [kind for kind, _ in _EDGE_FIELDS.values()],
        "offsets": [at for _, at in _EDGE_FIELDS.values()],
    },
    align=True,
)


class Tree(NamedTuple):
    """One tree."""

    nodes: Any  # (n,) NODE
    edges: Any  # (m,) EDGE
    states: Any  # (n, s)
    totals: Any  # (n, p) float64: sums of values
    own: Any  # (n, p) float64: the evaluator's word
    transient: Any  # (m, p) float64: sums of the values of outcomes that are not stored; no rows if settings need none
    keys: Any  # (power of two,) int64: (node, outcome) of the hash table, or EMPTY
    places: Any  # the node at each key
    low: Any  # (p,) float64: range by which values are scaled
    high: Any
    luck: Any  # (4,) uint64: keys of the streams, and the seed they come from, by the names below
    counters: Any  # int64, by the names below


DESCENT_KEY, ROLLOUT_KEY, TIES_KEY, SEED, NUM_KEYS = range(5)


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
    ROWS,
    ASKED,
    IS_FULL,
    OUT_OF_BUDGET,
    COLLIDED,
    TALLIES,
    TRANSIENT,
    BLOCKED,
    EXACT_EXPANSIONS,
    BROKEN,
    PLACE,
    HASHED,
    RETRIED,  # number of the simulation that last collided, plus 1
    NUM_COUNTERS,
) = range(23)

VISIT = np.dtype(
    [
        ("simulation", "u8"),
        ("divisor", "f8"),  # the visit's value is the weighted sum of its leaves' values divided by this
        ("length", "i4"),  # steps of the path
        ("first_row", "i4"),
        ("num_rows", "i4"),  # its leaves
        ("bars", "i4"),  # the chance node that it expands whole, pending with its leaves, or NO_NODE
        ("blocked", "i4"),  # whether it met an outcome that widening did not let be stored
    ],
    align=True,
)
ROW = np.dtype(
    [
        ("weight", "f8"),
        ("node", "i4"),  # NO_NODE where the leaf is not stored
        ("pick", "i4"),  # the outcome's place in the table of the chance node above, where the path does not have it
        ("depth", "i4"),
        ("slot", "i4"),  # its place on the tray
        ("known", "i1"),  # its value need not be asked for
        ("stands_for", "i1"),  # the state is the node's own, not one drawn below it
    ],
    align=True,
)


class Batch(NamedTuple):
    """Visits in flight, and their leaves, a row each. k visits, r leaves."""

    visits: Any  # (k,) VISIT
    paths: Any  # (k, l, 2) int32: node, and which of its edges (NO_EDGE where none is counted)
    rows: Any  # (r,) ROW
    states: Any  # (r, s)
    values: Any  # (r, p) float64, by player


class Tray(NamedTuple):
    """What goes to an evaluator outside the loop and comes back, for a whole group. c places."""

    taken: Any  # (1,) int64: places in use
    owners: Any  # (c,) int32: the tree that asks
    states: Any  # (c, s)
    observations: Any  # (c, o) float32
    masks: Any  # (c, a) bool
    logits: Any  # (c, a) float64
    values: Any  # (c, p) float64, by seat relative to the viewer


class Roots(NamedTuple):
    """What the trees of a group have found at their roots, when they last stopped. b trees."""

    counts: Any  # (b,) int64: actions
    actions: Any  # (b, a) int64, ascending
    visits: Any  # (b, a) int64
    q: Any  # (b, a) float64: the mover's mean; NaN where an action was not tried
    priors: Any  # (b, a) float64
    values: Any  # (b, p) float64: means by player


class Scratch(NamedTuple):
    """Room to work in, so that the loop allocates nothing."""

    walk: Any  # (s,) the state of an open-loop descent or a playout
    actions: Any  # (a + SLACK,) int64
    slot_of: Any  # (a,) int32, NO_EDGE between uses
    ids: Any  # (outcomes + SLACK,) int64
    probabilities: Any  # (outcomes + SLACK,) float64
    picks: Any  # (outcomes + SLACK,) float64, 0 between uses
    value: Any  # (p,) float64
    before: Any  # (s,) the state of the chance node right above a leaf (open loop)


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
    values_ends: bool  # the evaluator values ends of the game too
    max_depth: int
    in_flight: int
    max_nodes: int
    max_evaluations: int
    evaluator: int  # EXTERNAL, UNIFORM or ROLLOUT
    playouts: int
    max_steps: int
    learns_range: bool
    low: float  # range of the returns
    high: float
    lists_outcomes: bool  # chance nodes have tables
    stratified: bool
    exact_up_to: int
    widening: bool
    widening_c: float
    widening_alpha: float
    max_children: int
    samples_per_visit: int
    expectation: bool
    largest_visit: int  # leaves that one visit may have


SLACK: Final = 256
"""Room behind what rules may list, so that rules which list too much are found out and not followed."""

LARGEST_ID: Final = 2**31 - 1
"""Outcome ids are at most this."""

EXTERNAL: Final = 0
UNIFORM: Final = 1
ROLLOUT: Final = 2


def make_trees(
    count: int,
    num_nodes: int,
    num_edges: int,
    state_size: int,
    state_dtype: str,
    players: int,
    keeps_transient: bool = False,
) -> Tree:
    """So many empty trees, each with room for so many nodes and edges."""
    hash_size = hash_size_for(num_nodes)
    trees = Tree(
        nodes=np.zeros((count, num_nodes), NODE).view(np.recarray),
        edges=np.zeros((count, num_edges), EDGE).view(np.recarray),
        states=np.zeros((count, num_nodes, state_size), state_dtype),
        totals=np.zeros((count, num_nodes, players)),
        own=np.zeros((count, num_nodes, players)),
        transient=np.zeros((count, num_edges if keeps_transient else 0, players)),
        keys=np.full((count, hash_size), EMPTY, np.int64),
        places=np.zeros((count, hash_size), np.int32),
        low=np.zeros((count, players)),
        high=np.zeros((count, players)),
        luck=np.zeros((count, NUM_KEYS), np.uint64),
        counters=np.zeros((count, NUM_COUNTERS), np.int64),
    )
    trees.counters[:, PLACE] = np.arange(count)
    return trees


def hash_size_for(num_nodes: int) -> int:
    """Places of the hash table of a tree with so many nodes."""
    return 1 << max(4, (2 * num_nodes - 1).bit_length())


def make_batch(
    count: int, visits: int, rows: int, max_depth: int, state_size: int, state_dtype: str, players: int
) -> Batch:
    """Room for the visits in flight of so many trees."""
    return Batch(
        visits=np.zeros((count, visits), VISIT).view(np.recarray),
        paths=np.zeros((count, visits, max_depth + MAX_CHANCE_RUN + 3, 2), np.int32),
        rows=np.zeros((count, rows), ROW).view(np.recarray),
        states=np.zeros((count, rows, state_size), state_dtype),
        values=np.zeros((count, rows, players)),
    )


def make_tray(places: int, state_size: int, state_dtype: str, observation: int, actions: int, players: int) -> Tray:
    """Room for what an evaluator is asked at once."""
    return Tray(
        taken=np.zeros(1, np.int64),
        owners=np.zeros(places, np.int32),
        states=np.zeros((places, state_size), state_dtype),
        observations=np.zeros((places, observation), np.float32),
        masks=np.zeros((places, actions), np.bool_),
        logits=np.zeros((places, actions)),
        values=np.zeros((places, players)),
    )


def make_roots(count: int, actions: int, players: int) -> Roots:
    """Room for what so many trees find."""
    return Roots(
        counts=np.zeros(count, np.int64),
        actions=np.zeros((count, actions), np.int64),
        visits=np.zeros((count, actions), np.int64),
        q=np.zeros((count, actions)),
        priors=np.zeros((count, actions)),
        values=np.zeros((count, players)),
    )


def make_scratch(state_size: int, state_dtype: str, actions: int, outcomes: int, players: int) -> Scratch:
    """Room to work in."""
    return Scratch(
        walk=np.zeros(state_size, state_dtype),
        actions=np.zeros(actions + SLACK, np.int64),
        slot_of=np.full(actions, NO_EDGE, np.int32),
        ids=np.zeros(outcomes + SLACK, np.int64),
        probabilities=np.zeros(outcomes + SLACK),
        picks=np.zeros(outcomes + SLACK),
        value=np.zeros(players),
        before=np.zeros(state_size, state_dtype),
    )


def grow_nodes(trees: Tree, room: int) -> Tree:
    """The same trees with room for more nodes."""
    hash_size = hash_size_for(room)
    bigger = trees._replace(
        nodes=_longer(trees.nodes, room).view(np.recarray),
        states=_longer(trees.states, room),
        totals=_longer(trees.totals, room),
        own=_longer(trees.own, room),
    )
    count, old_size = trees.keys.shape
    if hash_size == old_size:
        return bigger
    keys, places = np.full((count, hash_size), EMPTY, np.int64), np.zeros((count, hash_size), np.int32)
    for b in np.flatnonzero(trees.counters[:, HASHED]):
        _hash_anew(trees.keys[b], trees.places[b], keys[b], places[b])
    return bigger._replace(keys=keys, places=places)


def _hash_anew(old_keys: Any, old_places: Any, keys: Any, places: Any) -> None:
    used = np.flatnonzero(old_keys != EMPTY)
    wanted = hash_place(old_keys[used], len(keys) - 1)
    while len(used):  # all at once: of those that want a free place the first gets it, the others look one further
        first = np.unique(wanted, return_index=True)[1]
        settled = first[keys[wanted[first]] == EMPTY]
        keys[wanted[settled]], places[wanted[settled]] = old_keys[used[settled]], old_places[used[settled]]
        used, wanted = np.delete(used, settled), (np.delete(wanted, settled) + 1) & (len(keys) - 1)


def grow_edges(trees: Tree, room: int) -> Tree:
    """The same trees with room for more edges."""
    keeps_transient = trees.transient.shape[1] > 0
    return trees._replace(
        edges=_longer(trees.edges, room).view(np.recarray),
        transient=_longer(trees.transient, room) if keeps_transient else trees.transient,
    )


def _longer(array: Any, length: int) -> Any:
    longer = np.zeros((len(array), length, *array.shape[2:]), array.dtype)
    _bytes(longer)[:, : array.shape[1]] = _bytes(array)
    return longer


def _bytes(array: Any) -> Any:
    """Records as bytes, (tree, record, byte), which numpy copies faster than field by field; others as they are."""
    if array.dtype.names is None:
        return array
    return array.view(np.ndarray).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def tree_bytes(states: Any, totals: Any, counters: Any) -> int:
    """Bytes in use of one tree: nodes with their states and values, edges, and the hash table's entries."""
    a_node = NODE.itemsize + states.itemsize * states.shape[1] + 2 * totals.itemsize * totals.shape[1]
    an_entry = np.dtype(np.int64).itemsize + np.dtype(np.int32).itemsize
    total: int = int(counters[NODES]) * a_node + int(counters[EDGES]) * EDGE.itemsize + int(counters[HASHED]) * an_entry
    return total


# -- the functions below run inside the compiled loop ----------------------------------------------------------


def tree_at(trees: Tree, b: Any) -> Tree:
    """One tree of a group."""
    return Tree(
        trees.nodes[b],
        trees.edges[b],
        trees.states[b],
        trees.totals[b],
        trees.own[b],
        trees.transient[b],
        trees.keys[b],
        trees.places[b],
        trees.low[b],
        trees.high[b],
        trees.luck[b],
        trees.counters[b],
    )


def batch_at(batches: Batch, b: Any) -> Batch:
    """What one tree of a group has in flight."""
    return Batch(batches.visits[b], batches.paths[b], batches.rows[b], batches.states[b], batches.values[b])


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
    tree.counters[HASHED] += 1
    link_child(tree, parent, child)


def link_child(tree: Tree, parent: Any, child: Any) -> None:
    """Put a child into its parent's list."""
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
    node.first_listed = NO_EDGE
    node.first_child = NO_NODE
    node.next_child = NO_NODE
    node.num_children = 0
    node.in_flight = 0
    node.evaluated = 0
    node.pending = 0
    node.exact = 0
    for p in range(tree.totals.shape[1]):
        tree.totals[n, p] = 0.0
    return n


def take_edges(tree: Tree, count: Any, reserve: Any) -> Any:
    """The first of ``count`` free edges that lie side by side; NO_EDGE if fewer than ``reserve`` would remain.

    All edges are handed out here, so no kernel writes past the end of the array.
    """
    first = tree.counters[EDGES]
    if first + count + reserve > len(tree.edges):
        return np.int64(NO_EDGE)
    tree.counters[EDGES] = first + count
    return np.int64(first)


def new_edge(tree: Tree, e: Any, action: Any, prior: Any) -> None:
    """A blank edge at a place that is free."""
    edge = tree.edges[e]
    edge.total = 0.0
    edge.prior = prior
    edge.action = action
    edge.child = NO_NODE
    edge.visits = 0
    edge.in_flight = 0
