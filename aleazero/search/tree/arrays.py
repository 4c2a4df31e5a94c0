"""The tree as arrays: dtypes, named tuples of arrays, sentinels and counters, and how the arrays are made and grown.

Shapes: b trees, n nodes, m edges, s numbers of a state, p players, k visits in flight, r leaves in flight, a actions,
c rows of an evaluator's batch, l steps of a path, o numbers of an observation.

Arrays of a group of trees have the tree as their first axis. ``tree_at`` and ``flight_at`` take out one tree, and the
shapes below are those of one tree.

Nodes have no parent: every descent records its path, and values are backed up along it. The edges of a decision node
lie side by side, one per action. A chance node has edges only if the settings need a list of its outcomes. Its edges
are appended as outcomes are drawn, and linked in the order of the game's list, in which all sums are computed::

    game's list     index         0     1     2     3     4          (num_outcomes = 5, drawn so far: 3, 0, 1)
                    outcome       7     3    11     2    40

    edges           slot          0     1     2     ·                (first_edge + slot; room for 4)
                    action        2     7     3
                    list_index    3     0     1
                    next_in_list NO_EDGE 2    0                      first_in_list = 1:  1 → 2 → 0

If all outcomes are expanded at once (``expand_all``), all have edges from the start. A chance node without a list has a
hash table of children instead: a part of ``tables`` that holds node numbers, found by ``key``. In open loop every node
has one, decision nodes in addition to their edges.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.kernel import LIST_SLACK
from aleazero.native.compile import sized
from aleazero.search.status import MAX_CHANCE_RUN

NO_NODE: Final = -1
NO_EDGE: Final = -1
UNEXPANDED: Final = -1
"""``num_edges`` of a node that is not expanded or listed yet."""
EMPTY: Final = -1
"""An unused entry of a table of children."""
COUNTER: Final = 3
"""Kind of a node outside of the tree that counts the visits of one outcome of a chance root in open loop."""

FIRST_TABLE: Final = 4
"""Entries of a node's first table of children. One that is three quarters full is replaced by one twice as large."""
ENTRIES_PER_NODE: Final = 6
"""Length of ``tables`` per node: with those that were replaced, tables take at most 16/3 entries per child."""
FIRST_OUTCOMES: Final = 4
"""Edges that a chance node first has room for."""


# -- records -----------------------------------------------------------------------------------------------------------


def _record(fields: Any) -> np.dtype[np.void]:
    """Return a dtype of numpy records. Made at once, because numpy converts each array of a plain dtype slowly."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def _overlaid(fields: dict[str, tuple[Any, int]], size: int) -> np.dtype[np.void]:
    """Return a record dtype from formats and first bytes of fields, some of which share bytes."""
    formats, offsets = [kind for kind, _ in fields.values()], [first for _, first in fields.values()]
    return _record({"names": list(fields), "formats": formats, "offsets": offsets, "itemsize": size})


@cache
def node_dtype(players: int) -> np.dtype[np.void]:
    """Return the dtype of nodes. With two players a node has 64 bytes, which a processor loads at once."""
    fields: dict[str, tuple[Any, int]] = {
        "visits": ("i4", 0),  # visits that passed or ended here, including the node's own evaluation
        "in_flight": ("i4", 4),  # visits that passed here and are not backed up yet
        "first_edge": ("i4", 8),  # its edges lie side by side: by action, in open loop and at chance by appearance
        "even_child": ("i4", 8),  # chance nodes in open loop, which have no edges: last child with an even key, if > 0
        "num_edges": ("i4", 12),  # or UNEXPANDED
        "edge_room": ("i4", 16),  # edges that fit before they must be moved (open loop, chance nodes)
        "odd_child": ("i4", 16),  # chance nodes in open loop: last child with an odd key, if > 0
        "num_outcomes": ("i4", 20),  # chance nodes with a list: its length
        "first_in_list": ("i4", 24),  # chance nodes with a list: slot of the edge that comes first in it, or NO_EDGE
        "table_size": ("i4", 20),  # nodes without a list: length of the table of children, a power of two, or 0
        "first_entry": ("i4", 24),  # nodes without a list: where the table begins in ``tables``
        "num_children": ("i4", 28),  # children in the table, or of the edges of a list
        "label": ("i4", 32),  # action or outcome that led here first
        "key": ("i4", 36),  # key of this node in the table of its parent
        "kind": ("i1", 40),  # DECISION, CHANCE, TERMINAL or COUNTER
        "mover": ("i1", 41),  # player at a decision, else −1
        "evaluated": ("i1", 42),  # the evaluator has valued the node's own state
        "pending": ("i1", 43),  # a leaf in flight, or a chance node all of whose outcomes are: descents collide here
        "expand_all": ("i1", 44),  # a chance node whose outcomes are all expanded by its first visit
        "exact": ("i1", 45),  # the evaluator's value is exact: nothing is expanded below, except at the root
        "value_sums": (("f8", (players,)), 48),  # (p,) sums of backed-up values by player
    }
    return _overlaid(fields, 48 + 8 * players)


EDGE: Final = _overlaid(
    {
        "total": ("f8", 0),  # decisions: sum of the mover's values; without visits, its first-play value (logits)
        "list_index": ("i4", 0),  # chance nodes: index of the outcome in the game's list
        "next_in_list": ("i4", 4),  # chance nodes: slot of the edge that comes next in the list, or NO_EDGE
        "prior": ("f8", 8),  # probability; in open loop a weight, of which 1 is neutral
        "action": ("i4", 16),  # or outcome
        "child": ("i4", 20),  # or NO_NODE; in open loop the child of the last visit
        "visits": ("i4", 24),
        "in_flight": ("i4", 28),
    },
    32,
)

VISIT: Final = _record(
    [
        ("simulation", "u8"),  # its number, or ROOT_EVALUATION
        ("divisor", "f8"),  # the visit's value is the weighted sum of its leaves' values, divided by this
        ("length", "i4"),  # steps of the path
        ("first_leaf", "i4"),
        ("num_leaves", "i4"),
        ("expanding", "i4"),  # chance node all of whose outcomes the visit expands, pending like them, or NO_NODE
        ("blocked", "i4"),  # 1 if widening did not let the visit store an outcome
    ]
)

LEAF: Final = _record(
    [
        ("weight", "f8"),  # of its value in the visit's
        ("node", "i4"),  # NO_NODE if the leaf is transient: evaluated, not stored
        ("outcome_slot", "i4"),  # slot of its edge at the chance node above, if the path does not contain it
        ("depth", "i4"),
        ("row", "i4"),  # its row in the evaluator's batch
        ("known", "i1"),  # its value is known without an evaluation
        ("is_node_state", "i1"),  # its state is the node's own, not one drawn below it
    ]
)


# -- arrays ------------------------------------------------------------------------------------------------------------


class Tree(NamedTuple):
    """One tree. Node 0 is the root."""

    nodes: Any  # (n,) node_dtype(p)
    edges: Any  # (m,) EDGE
    states: Any  # (n, s) state of each node; in open loop that of the first visit
    leaf_values: Any  # (n, p) float64, the evaluator's values by player; no rows if the settings never read them
    transient_sums: Any  # (m, p) float64, sums of values of outcomes that are not stored; no rows if not needed
    tables: Any  # (ENTRIES_PER_NODE · n,) int32, tables of children: node numbers or EMPTY
    low: Any  # (p,) float64, lower end of the range by which values are scaled
    high: Any  # (p,) float64, upper end
    stream_keys: Any  # (NUM_KEYS,) uint64, keys of the random streams and the seed, by the names below
    counters: Any  # (NUM_COUNTERS,) int64, by the names below


DESCENT_KEY, ROLLOUT_KEY, TIES_KEY, SEED, NUM_KEYS = range(5)

(
    NODES,  # nodes in use
    EDGES,  # edges in use
    TABLE_ENTRIES,  # entries of ``tables`` in use
    STARTED,  # simulations started: number of the next one
    SIMULATIONS,  # simulations backed up
    EVALUATIONS,  # leaves evaluated
    EXPANSIONS,  # decision nodes that got edges
    COLLISIONS,  # descents that ended at a pending node
    DEPTH,  # deepest leaf
    IN_FLIGHT,  # visits that wait
    LEAVES,  # leaves of these visits
    REQUESTED,  # those of them that wait for an evaluation
    IS_FULL,  # 1 if there is no room for a node, and max_nodes is reached
    OUT_OF_BUDGET,  # 1 if a visit needed more evaluations than are left
    COLLIDED,  # 1 if no further visit joins those that wait
    RETRIED,  # number of the simulation that last collided, plus 1
    OUTCOME_COUNTERS,  # nodes of kind COUNTER
    TRANSIENT,  # leaves evaluated without being stored
    BLOCKED,  # visits that widening did not let store an outcome
    EXPANDED_ALL,  # chance nodes whose outcomes were all expanded at once
    BROKEN,  # 1 if the rules returned something impossible
    PLACE,  # index of the tree in its group
    NUM_COUNTERS,
) = range(23)


class InFlight(NamedTuple):
    """Visits of one tree that are not backed up yet, and their leaves."""

    visits: Any  # (k,) VISIT
    paths: Any  # (k, l, 2) int32, node and slot of its edge (NO_EDGE if no edge is counted)
    leaves: Any  # (r,) LEAF
    states: Any  # (r, s) states of the leaves; not set if ``one_stored_leaf``
    values: Any  # (r, p) float64, values of the leaves by player


class EvalBatch(NamedTuple):
    """Requests to an evaluator outside of the loop and its answers, for a group of trees."""

    used: Any  # (1,) int64, rows in use
    owners: Any  # (c,) int32, the tree of each row
    states: Any  # (c, s)
    observations: Any  # (c, o) float32
    masks: Any  # (c, a) bool, legal actions
    logits: Any  # (c, a) float64, answer: logits of the actions
    values: Any  # (c, p) float64, answer: values by seat relative to the viewer
    exact: Any  # (c,) bool, answer: the values are exact


class RootResults(NamedTuple):
    """Results at the roots of a group of trees, each written when its tree last stopped."""

    counts: Any  # (b,) int64, number of actions
    actions: Any  # (b, a) int64, ascending
    visits: Any  # (b, a) int64
    q: Any  # (b, a) float64, the mover's mean; NaN for actions without visits
    priors: Any  # (b, a) float64
    values: Any  # (b, p) float64, means by player


class Scratch(NamedTuple):
    """Working memory, so that the loop allocates nothing. Contents have no meaning between uses, if not noted."""

    walk: Any  # (s,) state of an open-loop descent or a playout
    actions: Any  # (a + LIST_SLACK,) int64, legal actions
    slots: Any  # (a,) int32, open loop: slot of each legal action
    ids: Any  # (outcomes + LIST_SLACK,) int64, list of outcomes
    probabilities: Any  # (outcomes + LIST_SLACK,) float64
    picks: Any  # (outcomes + LIST_SLACK,) float64, visits by outcome; 0 between uses
    value: Any  # (p,) float64, value of a visit or a playout
    before: Any  # (s,) state of the chance node right above a leaf (open loop)


class LoopSettings(NamedTuple):
    """The numbers of a SearchConfig and of an evaluator that the loop reads."""

    c: float  # exploration constant
    first_play: float  # first-play urgency: value of an action without visits
    first_play_parent: bool  # instead, the value of the node
    first_play_logits: bool  # instead, the value by the logit of the action
    logit_unit: float  # difference of values that one unit of a logit stands for
    uct: bool  # else PUCT
    virtual_loss: bool  # visits in flight count as lost
    open_loop: bool
    at_chance: int  # Trust in the evaluator's values of chance nodes
    at_decisions: int  # Trust in its values of decision nodes
    values_ends: bool  # the evaluator also values terminal states
    max_depth: int
    in_flight: int  # visits that may wait at the same time
    max_nodes: int
    max_evaluations: int
    evaluator: int  # EXTERNAL, UNIFORM or ROLLOUT
    playouts: int  # per evaluation
    max_steps: int  # of a playout
    learns_range: bool  # the game has no range of returns: values are scaled by the range of means found
    low: float  # range of the returns
    high: float
    lists_outcomes: bool  # chance nodes have lists of outcomes
    stratified: bool  # outcomes are picked by the largest deficit, not at random
    exact_up_to: int  # all outcomes of chance nodes with at most this many are expanded at once
    widening: bool  # progressive widening limits the stored outcomes of a chance node
    widening_c: float
    widening_alpha: float
    max_children: int
    samples_per_visit: int
    expectation: bool  # values are backed up as expectations, not as sampled
    largest_visit: int  # leaves of one visit, at most
    one_stored_leaf: bool  # every visit ends at one stored node, whose state is the leaf's


class Sizes(NamedTuple):
    """Lengths of rows that are constants of a game's compiled loop."""

    state: int
    players: int
    actions: int


# -- make --------------------------------------------------------------------------------------------------------------

CACHE_LINE: Final = 64
"""Bytes that a processor loads at a time."""
HUGE_PAGE: Final = 1 << 21
LARGE: Final = HUGE_PAGE // 4
"""Minimum size in bytes of an array of many trees that begins at a huge page."""
ADVISED: Final = 2 * HUGE_PAGE
"""Minimum size in bytes of an allocation for which numpy requests huge pages."""


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
    """Return empty trees, each with room for this many nodes and edges, whose contents are not defined."""
    trees = Tree(
        nodes=_unset((count, num_nodes), node_dtype(players)).view(np.recarray),
        edges=_unset((count, num_edges), EDGE).view(np.recarray),
        states=_unset((count, num_nodes, state_size), np.dtype(state_dtype)),
        leaf_values=_unset((count, num_nodes if keeps_leaf_values else 0, players), np.dtype(np.float64)),
        transient_sums=_unset((count, num_edges if keeps_transient else 0, players), np.dtype(np.float64)),
        tables=_unset((count, ENTRIES_PER_NODE * num_nodes), np.dtype(np.int32)),
        low=np.zeros((count, players)),
        high=np.zeros((count, players)),
        stream_keys=np.zeros((count, NUM_KEYS), np.uint64),
        counters=np.zeros((count, NUM_COUNTERS), np.int64),
    )
    trees.counters[:, PLACE] = np.arange(count)
    return trees


def _unset(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Return an array that begins at a cache line, so that a node of 64 bytes is loaded at once.

    Its contents are not set, so memory that is never used costs nothing. Large arrays of many trees use huge pages,
    because the descents of the trees read far apart, and small pages would need too many address lookups.
    """
    size = math.prod(shape) * dtype.itemsize
    if size == 0:
        return np.empty(shape, dtype)
    huge = shape[0] > 1 and size >= LARGE
    start = HUGE_PAGE if huge else CACHE_LINE
    memory = np.empty(max(size + start, ADVISED if huge else 0), np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % start)


def make_in_flight(
    count: int, visits: int, leaves: int, max_depth: int, state_size: int, state_dtype: str, players: int
) -> InFlight:
    """Return room for the visits in flight of this many trees."""
    # Only decisions end a descent at max_depth, so a run of chance events may follow. A counter is one step more.
    steps = max_depth + MAX_CHANCE_RUN + 3
    return InFlight(
        visits=np.zeros((count, visits), VISIT).view(np.recarray),
        paths=np.zeros((count, visits, steps, 2), np.int32),
        leaves=np.zeros((count, leaves), LEAF).view(np.recarray),
        states=np.zeros((count, leaves, state_size), state_dtype),
        values=np.zeros((count, leaves, players)),
    )


def make_eval_batch(
    rows: int, state_size: int, state_dtype: str, observation: int, actions: int, players: int
) -> EvalBatch:
    """Return room for one batch of an evaluator."""
    return EvalBatch(
        used=np.zeros(1, np.int64),
        owners=np.zeros(rows, np.int32),
        states=np.zeros((rows, state_size), state_dtype),
        observations=np.zeros((rows, observation), np.float32),
        masks=np.zeros((rows, actions), np.bool_),
        logits=np.zeros((rows, actions)),
        values=np.zeros((rows, players)),
        exact=np.zeros(rows, np.bool_),
    )


def make_root_results(count: int, actions: int, players: int) -> RootResults:
    """Return room for the results of this many trees."""
    return RootResults(
        counts=np.zeros(count, np.int64),
        actions=np.zeros((count, actions), np.int64),
        visits=np.zeros((count, actions), np.int64),
        q=np.zeros((count, actions)),
        priors=np.zeros((count, actions)),
        values=np.zeros((count, players)),
    )


def make_scratch(state_size: int, state_dtype: str, actions: int, outcomes: int, players: int) -> Scratch:
    """Return working memory for one loop."""
    return Scratch(
        walk=np.zeros(state_size, state_dtype),
        actions=np.zeros(actions + LIST_SLACK, np.int64),
        slots=np.zeros(actions, np.int32),
        ids=np.zeros(outcomes + LIST_SLACK, np.int64),
        probabilities=np.zeros(outcomes + LIST_SLACK),
        picks=np.zeros(outcomes + LIST_SLACK),
        value=np.zeros(players),
        before=np.zeros(state_size, state_dtype),
    )


# -- grow --------------------------------------------------------------------------------------------------------------


def grow_nodes(trees: Tree, room: int) -> Tree:
    """Return the same trees with room for more nodes."""
    used = int(trees.counters[:, NODES].max())
    keeps_leaf_values = trees.leaf_values.shape[1] > 0
    return trees._replace(
        nodes=_longer(trees.nodes, room, used).view(np.recarray),
        states=_longer(trees.states, room, max(1, used)),  # a root has a state before it has a node
        leaf_values=_longer(trees.leaf_values, room, used) if keeps_leaf_values else trees.leaf_values,
        tables=_longer(trees.tables, ENTRIES_PER_NODE * room, int(trees.counters[:, TABLE_ENTRIES].max())),
    )


def grow_edges(trees: Tree, room: int) -> Tree:
    """Return the same trees with room for more edges."""
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
    """Return records as bytes (tree, record, byte), which numpy copies faster than fields; other arrays as they are."""
    if array.dtype.names is None:
        return array
    return array.view(np.ndarray).view(np.uint8).reshape(*array.shape, array.dtype.itemsize)


def row_bytes(trees: Tree) -> tuple[int, int, int]:
    """Return the bytes per node, per edge and per entry of a table of children, in all arrays of a tree."""

    def per_row(*arrays: Any) -> int:
        return sum([array.strides[1] for array in arrays if array.shape[1]])

    per_node = per_row(trees.nodes, trees.states, trees.leaf_values)
    return per_node, per_row(trees.edges, trees.transient_sums), per_row(trees.tables)


# -- one tree of a group, inside compiled code -------------------------------------------------------------------------


def tree_at(trees: Tree, b: Any) -> Tree:
    """Return one tree of a group."""
    return Tree(
        trees.nodes[b],
        trees.edges[b],
        trees.states[b],
        trees.leaf_values[b],
        trees.transient_sums[b],
        trees.tables[b],
        trees.low[b],
        trees.high[b],
        trees.stream_keys[b],
        trees.counters[b],
    )


def flight_at(flights: InFlight, b: Any) -> InFlight:
    """Return the visits in flight of one tree of a group."""
    return InFlight(flights.visits[b], flights.paths[b], flights.leaves[b], flights.states[b], flights.values[b])


def size_tree(tree: Tree, sizes: Sizes) -> Tree:
    """Return the same tree with rows of constant length."""
    return Tree(
        tree.nodes,
        tree.edges,
        sized(tree.states, sizes.state),
        sized(tree.leaf_values, sizes.players),
        sized(tree.transient_sums, sizes.players),
        tree.tables,
        sized(tree.low, sizes.players),
        sized(tree.high, sizes.players),
        tree.stream_keys,
        tree.counters,
    )


def size_flight(flight: InFlight, sizes: Sizes) -> InFlight:
    """Return the same visits in flight with rows of constant length."""
    return InFlight(
        flight.visits,
        flight.paths,
        flight.leaves,
        sized(flight.states, sizes.state),
        sized(flight.values, sizes.players),
    )


def size_scratch(scratch: Scratch, sizes: Sizes) -> Scratch:
    """Return the same working memory with rows of constant length, if the game's sizes determine them."""
    return Scratch(
        sized(scratch.walk, sizes.state),
        sized(scratch.actions, sizes.actions + LIST_SLACK),
        sized(scratch.slots, sizes.actions),
        scratch.ids,
        scratch.probabilities,
        scratch.picks,
        sized(scratch.value, sizes.players),
        sized(scratch.before, sizes.state),
    )
