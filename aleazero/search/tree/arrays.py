"""The tree as arrays: what each field holds, the sentinels, and how the arrays are made and grown.

Shapes: n nodes, m edges, s numbers of a state, p players, k leaves in flight, a actions, l steps of a path.
A node does not know its visits' ways: every descent records its path, and values go up along it, so that a node
may one day have several parents. If the settings allow leaves that are not stored, leaves carry their own state.

Trees stand in groups: the arrays of a ``Tree`` and a ``Batch`` have the number of the tree as their first axis, and
``tree_at`` and ``batch_at`` take one out.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.native.compile import sized
from aleazero.search.status import MAX_CHANCE_RUN

NO_NODE: Final = -1


NO_EDGE: Final = -1


UNEXPANDED: Final = -1


EMPTY: Final = -1
"""An unused place of a table of children."""


FIRST_TABLE: Final = 4
"""Places of a node's first table of children; it is replaced by one of twice the size when three quarters are taken."""


PLACES_PER_NODE: Final = 6
"""Room for tables: with those that were replaced, they take at most 16/3 places per child."""


_NODE_FIELDS = {
    "visits": ("i4", 0),  # descents that passed or ended here, the own evaluation among them
    "in_flight": ("i4", 4),  # visits that passed here and are not backed up yet
    "first_edge": ("i4", 8),  # edges of a decision lie side by side, in order of action (open loop: of appearance);
    # of a chance node, the outcomes picked so far, in order of appearance, if the settings need a list
    "last_child": ("i4", 8),  # of a chance node in open loop, which has no edges: the child of the last visit
    "num_edges": ("i4", 12),  # UNEXPANDED before expansion
    "edge_room": ("i4", 16),  # edges that fit before they must move (open loop, chance nodes)
    "num_outcomes": ("i4", 20),  # length of the list of a chance node; nodes without a list have, in the place of this
    # and the next, a table of children that no edge leads to
    "first_listed": ("i4", 24),  # the edge of a chance node that comes first in the game's list, or NO_EDGE
    "table_size": ("i4", 20),  # places of the table: a power of two, or 0
    "first_place": ("i4", 24),  # where the table begins in ``tables``
    "num_children": ("i4", 28),  # those in the table, or of the list's edges
    "label": ("i4", 32),  # action or outcome that led here first
    "key": ("i4", 36),  # the key of this node in the table of its parent
    "kind": ("i1", 40),  # DECISION, CHANCE, TERMINAL, or TALLY
    "mover": ("i1", 41),  # player at a decision, else −1
    "evaluated": ("i1", 42),
    "pending": ("i1", 43),  # a leaf in flight: a descent that meets it collides
    "exact": ("i1", 44),  # a chance node whose outcomes are all expanded at once
}
"""Type, and the byte where it begins. Bytes 48 and up are ``value_sums``, (p,) float64: sums of values by player."""


_VALUE_SUMS: Final = 48


@cache
def node_dtype(players: int) -> np.dtype[np.void]:
    """A node of a game with this many players: 64 bytes with two, as much as a processor fetches at once."""
    fields: dict[str, tuple[Any, int]] = {**_NODE_FIELDS, "value_sums": (("f8", (players,)), _VALUE_SUMS)}
    return _record(
        {
            "names": list(fields),
            "formats": [kind for kind, _ in fields.values()],
            "offsets": [at for _, at in fields.values()],
            "itemsize": _VALUE_SUMS + 8 * players,
        }
    )


def _record(fields: Any) -> np.dtype[np.void]:
    """A type of records; as such from the start, or numpy would turn each array's type into one, which takes long."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


TALLY: Final = 3
"""A counter beside the tree: an outcome of a chance root in open loop."""


_EDGE_FIELDS = {
    "total": ("f8", 0),  # sum of the mover's values; chance nodes have the next two in its place
    "listed": ("i4", 0),  # the outcome's place in the game's list
    "next_listed": ("i4", 4),  # the edge that comes next in the game's list, or NO_EDGE
    "prior": ("f8", 8),  # probability; in open loop a weight, 1 being neutral
    "action": ("i4", 16),
    "child": ("i4", 20),  # NO_NODE before the first visit; in open loop, which may have several, that of the last visit
    "visits": ("i4", 24),
    "in_flight": ("i4", 28),
}
"""Kind, and the byte where it begins."""


EDGE: np.dtype[np.void] = _record(
    {
        "names": list(_EDGE_FIELDS),
        "formats": [kind for kind, _ in _EDGE_FIELDS.values()],
        "offsets": [at for _, at in _EDGE_FIELDS.values()],
    }
)


class Tree(NamedTuple):
    """One tree."""

    nodes: Any  # (n,) node_dtype(p)
    edges: Any  # (m,) EDGE
    states: Any  # (n, s)
    leaf_values: Any  # (n, p) float64: the evaluator's values; no rows if settings never read them again
    transient_sums: Any  # (m, p) float64: sums of values of outcomes that are not stored; no rows if settings need none
    tables: Any  # (PLACES_PER_NODE · n,) int32: tables of children, hashed by key, with EMPTY between
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
    TABLE_PLACES,  # places of ``tables`` that are taken
    RETRIED,  # number of the simulation that last collided, plus 1
    NUM_COUNTERS,
) = range(23)


VISIT = _record(
    [
        ("simulation", "u8"),
        ("divisor", "f8"),  # the visit's value is the weighted sum of its leaves' values divided by this
        ("length", "i4"),  # steps of the path
        ("first_row", "i4"),
        ("num_rows", "i4"),  # its leaves
        ("bars", "i4"),  # the chance node that it expands whole, pending with its leaves, or NO_NODE
        ("blocked", "i4"),  # whether it met an outcome that widening did not let be stored
    ]
)


ROW = _record(
    [
        ("weight", "f8"),
        ("node", "i4"),  # NO_NODE where the leaf is not stored
        ("pick", "i4"),  # the outcome's place in the table of the chance node above, where the path does not have it
        ("depth", "i4"),
        ("slot", "i4"),  # its place on the tray
        ("known", "i1"),  # its value need not be asked for
        ("stands_for", "i1"),  # the state is the node's own, not one drawn below it
    ]
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
    one_stored_leaf: bool  # every visit ends at one stored node, whose state is the leaf's: rows need no states


_LINE: Final = 64
"""Bytes that a processor fetches at once."""


SLACK: Final = 256
"""Room behind what rules may list, so that rules which list too much are found out and not followed."""


LARGEST_ID: Final = 2**31 - 1
"""Outcome ids are at most this."""


def make_trees(
    count: int,
    num_nodes: int,
    num_edges: int,
    state_size: int,
    state_dtype: str,
    players: int,
    keeps_transient: bool = False,
    keeps_leaf_values: bool = True,
) -> Tree:
    """Make empty trees, each with room for this many nodes and edges. What is in that room is not defined."""
    trees = Tree(
        nodes=_unset((count, num_nodes), node_dtype(players)).view(np.recarray),
        edges=_unset((count, num_edges), EDGE).view(np.recarray),
        states=_unset((count, num_nodes, state_size), np.dtype(state_dtype)),
        leaf_values=_unset((count, num_nodes if keeps_leaf_values else 0, players), np.dtype(np.float64)),
        transient_sums=_unset((count, num_edges if keeps_transient else 0, players), np.dtype(np.float64)),
        tables=_unset((count, PLACES_PER_NODE * num_nodes), np.dtype(np.int32)),
        low=np.zeros((count, players)),
        high=np.zeros((count, players)),
        luck=np.zeros((count, NUM_KEYS), np.uint64),
        counters=np.zeros((count, NUM_COUNTERS), np.int64),
    )
    trees.counters[:, PLACE] = np.arange(count)
    return trees


def _unset(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """An array that begins at a cache line, so that a node of 64 bytes is fetched at once. Its numbers are not set:
    memory that is never used then costs nothing."""
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + _LINE, np.uint8)
    first = -memory.ctypes.data % _LINE
    return memory[first : first + size].view(dtype).reshape(shape)


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
    used = int(trees.counters[:, NODES].max())
    keeps_leaf_values = trees.leaf_values.shape[1] > 0
    return trees._replace(
        nodes=_longer(trees.nodes, room, used).view(np.recarray),
        states=_longer(trees.states, room, max(1, used)),  # the state of a root stands there before its node
        leaf_values=_longer(trees.leaf_values, room, used) if keeps_leaf_values else trees.leaf_values,
        tables=_longer(trees.tables, PLACES_PER_NODE * room, int(trees.counters[:, TABLE_PLACES].max())),
    )


def grow_edges(trees: Tree, room: int) -> Tree:
    """The same trees with room for more edges."""
    used = int(trees.counters[:, EDGES].max())
    keeps_transient = trees.transient_sums.shape[1] > 0
    return trees._replace(
        edges=_longer(trees.edges, room, used).view(np.recarray),
        transient_sums=_longer(trees.transient_sums, room, used) if keeps_transient else trees.transient_sums,
    )


def _longer(array: Any, length: int, used: int) -> Any:
    longer = _unset((len(array), length, *array.shape[2:]), array.dtype)
    _bytes(longer)[:, :used] = _bytes(array)[:, :used]
    return longer


def _bytes(array: Any) -> Any:
    """Records as bytes, (tree, record, byte), which numpy copies faster than field by field; others as they are."""
    if array.dtype.names is None:
        return array
    return array.view(np.ndarray).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def tree_bytes(nodes: Any, states: Any, counters: Any) -> int:
    """Bytes in use of one tree: nodes with their states and sums of values, edges, and tables of children."""
    per_node = nodes.dtype.itemsize + states.itemsize * states.shape[1]
    per_place = np.dtype(np.int32).itemsize
    return int(counters[NODES] * per_node + counters[EDGES] * EDGE.itemsize + counters[TABLE_PLACES] * per_place)


# -- the functions below run inside the compiled loop ----------------------------------------------------------


def tree_at(trees: Tree, b: Any) -> Tree:
    """One tree of a group."""
    return Tree(
        trees.nodes[b],
        trees.edges[b],
        trees.states[b],
        trees.leaf_values[b],
        trees.transient_sums[b],
        trees.tables[b],
        trees.low[b],
        trees.high[b],
        trees.luck[b],
        trees.counters[b],
    )


def batch_at(batches: Batch, b: Any) -> Batch:
    """What one tree of a group has in flight."""
    return Batch(batches.visits[b], batches.paths[b], batches.rows[b], batches.states[b], batches.values[b])


class Sizes(NamedTuple):
    """Lengths of rows that are part of a game's compiled loop."""

    state: int
    players: int
    actions: int


def size_tree(t: Tree, sizes: Sizes) -> Tree:
    """One tree, with rows of known lengths."""
    return Tree(
        t.nodes,
        t.edges,
        sized(t.states, sizes.state),
        sized(t.leaf_values, sizes.players),
        sized(t.transient_sums, sizes.players),
        t.tables,
        sized(t.low, sizes.players),
        sized(t.high, sizes.players),
        t.luck,
        t.counters,
    )


def size_batch(b: Batch, sizes: Sizes) -> Batch:
    """One tree's batch, with rows of known lengths."""
    return Batch(b.visits, b.paths, b.rows, sized(b.states, sizes.state), sized(b.values, sizes.players))


def size_scratch(s: Scratch, sizes: Sizes) -> Scratch:
    """The scratch arrays, those of a game's sizes with known lengths."""
    return Scratch(
        sized(s.walk, sizes.state),
        sized(s.actions, sizes.actions + SLACK),
        sized(s.slot_of, sizes.actions),
        s.ids,
        s.probabilities,
        s.picks,
        sized(s.value, sizes.players),
        sized(s.before, sizes.state),
    )
