"""Turns of many games at once: where each can end, the best play on the way, and where it came to.

A *lane* is a game that stands between turns. A kernel game's module may define ``turn_lanes(game) -> TurnPlayer`` with
native code of its own. Turns of other kernel games are planned by a loop that is compiled over all lanes
(``turns_compiled``), those of object games in plain Python. All must agree with ``PlannedLanes``, which plans graph by
graph with the exact planner: whoever writes one tests it so.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError
from aleazero.games.base import CHANCE, ESTIMATE, Game, State
from aleazero.games.kernel import KernelGame
from aleazero.games.states import Rows, state_of
from aleazero.native.compile import cached_njit
from aleazero.search.plan.arrays import INNER, NODES, Graph
from aleazero.search.plan.graph import CompiledGraph, plan_loop_of
from aleazero.search.plan.horizon import TURN, horizon_at, turn_of
from aleazero.search.plan.plain import PlainGraph, arrays_of

Ints = NDArray[np.int64]
Values = NDArray[np.float64]
MOST_NODES: Final = 200_000
"""Of one turn's graph; a game with more needs fewer plies."""
ALPHAZERO: Final = "`aleazero train` with `recipe: alphazero` in the config"
ONE_PLY: Final = "plies=1 (`train --set afterstate.plies=1`)"
Played = tuple[Ints, Values, Values, Ints, NDArray[np.bool_]]
"""Of each lane: who has the turn; what is expected for them under the best play (lanes,), and of the other numbers
(lanes, c); the leaf that the turn came to; and whether actions were random on the way."""


class TurnPlayer(Protocol):
    """Plans and plays the turns of many games at once."""

    draws: int
    """Random numbers that a turn takes."""

    def list_turn_ends(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """Where turns from these states can end.

        Rows of states; where each lane's begin among them (lanes + 1); and what ``play_turns`` wants to know again.
        """

    def play_turns(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it, given what each leaf is worth (leaves, players) and c more numbers of it.

        Actions are random in a share ``explore`` of turns. Whether they are is drawn before the dice: what the other
        turns came to is then what good play comes to, however many decisions it took.
        """


def blank(lanes: int, carried: int) -> Played:
    """Room for what turns come to."""
    chosen, explored = np.empty(lanes, np.int64), np.zeros(lanes, np.bool_)
    return np.empty(lanes, np.int64), np.empty(lanes), np.empty((lanes, carried)), chosen, explored


class AnyEvaluator:
    """Stands for an evaluator that values all that lies at the end of a turn."""

    afterstates = ESTIMATE


class PlannedLanes:
    """Turns (or some plies) of any game whose chance can be listed, by the planner's graphs."""

    draws = 2

    def __init__(self, game: Game, plies: int | None = None) -> None:
        self.game, self.plies = game, plies
        self._room: tuple[int, int] | None = None
        if isinstance(game, KernelGame):
            plan_loop_of(game)  # before threads ask for it

    def list_turn_ends(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """Where turns from these states can end; the graphs are kept for ``play_turns``."""
        leaves, starts, graphs = [], [0], []
        for row in states:
            arrays = self._graph(state_of(self.game, row))
            ends = np.flatnonzero(arrays.nodes.view(np.ndarray)["role"][: arrays.counters[NODES]] != INNER)
            leaves.append(arrays.states[ends])
            starts.append(starts[-1] + len(ends))
            graphs.append((arrays, ends))
        rows = np.concatenate(leaves)
        return rows if rows.dtype == object else rows.astype(np.int64), np.array(starts, np.int64), graphs

    def _graph(self, root: State) -> Graph:
        """The arrays of the graph of one turn."""
        settings = (root, horizon_at(root, "turn", self.plies), AnyEvaluator(), MOST_NODES, 0)
        compiled = isinstance(self.game, KernelGame)
        graph = CompiledGraph(*settings, self._room) if compiled else PlainGraph(*settings)
        try:
            graph.grow(None, generation=False)
        except GameError as error:
            raise self._refusal(error, graph) from None
        if isinstance(graph, PlainGraph):
            return arrays_of(graph)
        self._room = graph.room()
        return graph.arrays

    def _refusal(self, error: GameError, graph: CompiledGraph | PlainGraph) -> GameError:
        """The planner's error, in words of learning where a setting helps."""
        nodes, found = graph.counts()["nodes"], graph.found()
        name, plan = self.game.name, "a turn" if self.plies is None else f"a plan of plies={self.plies}"
        movers = graph.movers()
        if graph.horizon.counts == TURN and len(movers) > 1 and (nodes >= MOST_NODES or not found):
            return GameError(
                f"{name}: turn(state) is the same for decisions of players {movers[0]} and {movers[1]}, expected "
                f"another number when the mover changes: `aleazero check` shows where"
            )
        if nodes >= MOST_NODES:
            return GameError(f"{name}: {plan} has more than {MOST_NODES} states, expected {self._instead()}")
        if not found:  # all is expanded, and could not be put in order
            tells = turn_of(self.game.new_initial_state()) is not None
            define = "" if tells else "turn(state) in the rules, if a turn can end by chance; or "
            return GameError(f"{name}: {plan} can return to a state it was in, expected {define}{self._instead()}")
        if isinstance(graph, CompiledGraph) and not graph.state(nodes - found).outcomes_listed():
            return GameError(f"{name}: chance has outcomes too many to list, expected {ALPHAZERO}")
        return error

    def _instead(self) -> str:
        """What to set where plans are too large."""
        if self.plies is None:
            return f"{ONE_PLY}, or {ALPHAZERO}"
        return ALPHAZERO if self.plies == 1 else f"fewer plies, or {ALPHAZERO}"

    def play_turns(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it."""
        movers, expected, others, chosen, explored = blank(len(states), carried.shape[1])
        for lane, (arrays, ends) in enumerate(known):
            first, last = int(starts[lane]), int(starts[lane + 1])
            offered = np.concatenate((worth[first:last], carried[first:last]), axis=1)
            nodes = int(arrays.counters[NODES])
            values = np.empty((nodes, offered.shape[1]))
            values[ends] = offered
            mass = np.zeros(nodes)
            random = bool(draws[lane, 1] < explore)
            mover, free = _expect(arrays.nodes, arrays.edges, arrays.order, random, values, mass)
            chosen[lane] = first + _pick(mass[ends], draws[lane, 0])
            explored[lane] = random and free
            movers[lane], expected[lane], others[lane] = mover, values[0, mover], values[0, worth.shape[1] :]
        return movers, expected, others, chosen, explored


@cached_njit(nogil=True, error_model="numpy")
def _expect(nodes: Any, edges: Any, order: Any, random: bool, values: Any, mass: Any) -> tuple[int, bool]:
    """Expectations of all columns under the best play, and the chances to come to each node (by random actions).

    Who is the first to decide, and whether anybody has a choice.
    """
    count, columns = values.shape
    best = np.zeros(count, np.int64)
    mover, free = 0, False
    for back in range(1, count + 1):
        n = order[count - back]
        node = nodes[n]
        if node.role != INNER:
            continue
        first, end = node.first_edge, node.first_edge + node.num_edges
        if node.kind == CHANCE:
            for column in range(columns):
                mean = 0.0
                for e in range(first, end):
                    mean += edges[e].probability * values[edges[e].child, column]
                values[n, column] = mean
        else:
            mover = node.mover
            free = free or node.num_edges > 1
            best[n] = edges[first].child
            for e in range(first + 1, end):
                if values[edges[e].child, node.mover] > values[best[n], node.mover]:
                    best[n] = edges[e].child
            for column in range(columns):
                values[n, column] = values[best[n], column]
    mass[0] = 1.0
    for at in range(count):
        n = order[at]
        node = nodes[n]
        if node.role != INNER:
            continue
        if node.kind != CHANCE and not random:
            mass[best[n]] += mass[n]
            continue
        for e in range(node.first_edge, node.first_edge + node.num_edges):
            share = edges[e].probability if node.kind == CHANCE else 1.0 / node.num_edges
            mass[edges[e].child] += share * mass[n]
    return mover, free


@cached_njit(nogil=True, error_model="numpy")
def play_lanes(
    nodes: Any,
    edges: Any,
    order: Any,
    first_nodes: Any,
    first_edges: Any,
    starts: Any,
    ends: Any,
    worth: Any,
    carried: Any,
    draws: Any,
    explore: float,
    movers: Any,
    expected: Any,
    others: Any,
    chosen: Any,
    explored: Any,
) -> None:
    """Do what ``PlannedLanes.play_turns`` does, over graphs side by side: a lane's begin at ``first_nodes[lane]``."""
    players, more = worth.shape[1], carried.shape[1]
    for lane in range(len(movers)):
        node, end, edge = first_nodes[lane], first_nodes[lane + 1], first_edges[lane]
        values, mass = np.empty((end - node, players + more)), np.zeros(end - node)
        for leaf in range(starts[lane], starts[lane + 1]):
            for column in range(players):
                values[ends[leaf] - node, column] = worth[leaf, column]
            for column in range(more):
                values[ends[leaf] - node, players + column] = carried[leaf, column]
        random = draws[lane, 1] < explore
        mover, free = _expect(nodes[node:end], edges[edge:], order[node:end], random, values, mass)
        heap = 0.0
        for leaf in range(starts[lane], starts[lane + 1]):
            heap += mass[ends[leaf] - node]
        target, below = draws[lane, 0] * heap, 0.0
        chosen[lane] = starts[lane + 1] - 1
        for leaf in range(starts[lane], starts[lane + 1]):
            below += mass[ends[leaf] - node]
            if below > target:
                chosen[lane] = leaf
                break
        explored[lane] = random and free
        movers[lane], expected[lane] = mover, values[0, mover]
        for column in range(more):
            others[lane, column] = values[0, players + column]


def _pick(shares: Values, u: float) -> int:
    """The place that a number in [0, 1) stands for."""
    heap = np.cumsum(shares)
    return int(min(np.searchsorted(heap, u * heap[-1], side="right"), len(shares) - 1))
