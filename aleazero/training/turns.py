"""Turns of many games at once: list the states where each turn can end, plan the turn exactly, and play it.

A *lane* is a game between turns. There are three implementations:

- A kernel game's module may define ``turn_lanes(game) -> TurnPlayer`` with its own compiled code.
- Other kernel games use one compiled loop over all lanes (``turns_compiled``).
- Object games use ``PlannedLanes``, which plans one graph per lane. It is the reference implementation: tests compare
  the others with it.
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
"""Maximum size of the graph of one turn. A game with larger ones must limit ``plies``."""
ALPHAZERO: Final = "`aleazero train` with `recipe: alphazero` in the config"
ONE_PLY: Final = "plies=1 (`train --set afterstate.plies=1`)"
Played = tuple[Ints, Values, Values, Ints, NDArray[np.bool_]]
"""For each lane: the player to move; its expected value under best play (lanes,); the expectations of the carried
columns (lanes, c); the leaf where the turn ended; and whether the turn was played with random actions."""


class TurnPlayer(Protocol):
    """Plans and plays the turns of many games at once."""

    draws: int
    """Random numbers per turn."""

    def list_turn_ends(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """List the states where turns from these states can end.

        Returns:
            The end states of all lanes (leaves); the first leaf of each lane, shape (lanes + 1,); and data for
            ``play_turns``.
        """

    def play_turns(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it.

        Args:
            states: the states of the lanes.
            starts: second result of ``list_turn_ends``.
            known: third result of ``list_turn_ends``.
            worth: value of each leaf to each player, shape (leaves, players).
            carried: further columns of each leaf, shape (leaves, c).
            draws: random numbers in [0, 1), shape (lanes, ``draws``).
            explore: fraction of turns that are played with random actions. This is drawn per turn and not per action,
                so that the results of all other turns are results of good play.
        """


class PlannedLanes:
    """Plans and plays turns (or ``plies`` plies) of any game that lists its outcomes, with one graph per lane."""

    draws = 2

    def __init__(self, game: Game, plies: int | None = None) -> None:
        self.game, self.plies = game, plies
        self._room: tuple[int, int] | None = None
        if isinstance(game, KernelGame):
            plan_loop_of(game)  # compiled here, before threads need it

    def list_turn_ends(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """List the states where turns can end; the third result holds the graphs."""
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
        """Return the graph of one turn as arrays."""
        settings = (root, horizon_at(root, "turn", self.plies), AnyEvaluator(), MOST_NODES, 0)
        compiled = isinstance(self.game, KernelGame)
        graph = CompiledGraph(*settings, self._room) if compiled else PlainGraph(*settings)
        try:
            graph.grow(None, generation=False)
        except GameError as error:
            raise self._error(error, graph) from None
        if isinstance(graph, PlainGraph):
            return arrays_of(graph)
        self._room = graph.room()
        return graph.arrays

    def _error(self, error: GameError, graph: CompiledGraph | PlainGraph) -> GameError:
        """Return the planner's error, or one that names the setting of training that helps."""
        nodes, found = graph.counts()["nodes"], graph.found()
        name, plan = self.game.name, "a turn" if self.plies is None else f"a plan of plies={self.plies}"
        movers = graph.movers()
        if graph.horizon.counts == TURN and len(movers) > 1 and (nodes >= MOST_NODES or not found):
            return GameError(
                f"{name}: turn(state) is equal for decisions of players {movers[0]} and {movers[1]}, expected "
                f"another number when the player to move changes: `aleazero check` shows where"
            )
        if nodes >= MOST_NODES:
            return GameError(f"{name}: {plan} has more than {MOST_NODES} states, expected {self._instead()}")
        if not found:  # the graph is complete but has a cycle
            defines_turn = turn_of(self.game.new_initial_state()) is not None
            define = "" if defines_turn else "turn(state) in the rules, if a turn can end by chance; or "
            return GameError(f"{name}: {plan} can return to a state it was in, expected {define}{self._instead()}")
        if isinstance(graph, CompiledGraph) and not graph.state(nodes - found).outcomes_listed():
            return GameError(f"{name}: a chance node has too many outcomes to list, expected {ALPHAZERO}")
        return error

    def _instead(self) -> str:
        """Return what to set if plans are too large."""
        if self.plies is None:
            return f"{ONE_PLY}, or {ALPHAZERO}"
        return ALPHAZERO if self.plies == 1 else f"fewer plies, or {ALPHAZERO}"

    def play_turns(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it."""
        movers, expected, others, chosen, explored = make_results(len(states), carried.shape[1])
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
    """Compute the expectations of all columns under best play, and the probability to reach each node.

    The probabilities are those of best play or, with ``random``, of random actions. Returns the player to move, and
    whether there is a choice in the turn.
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


def _pick(shares: Values, u: float) -> int:
    """Return the index that ``u`` in [0, 1) selects from a distribution."""
    sums = np.cumsum(shares)
    return int(min(np.searchsorted(sums, u * sums[-1], side="right"), len(shares) - 1))


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
    """Do ``PlannedLanes.play_turns`` for graphs in shared arrays; a lane's nodes begin at ``first_nodes[lane]``."""
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
        total = 0.0
        for leaf in range(starts[lane], starts[lane + 1]):
            total += mass[ends[leaf] - node]
        target, below = draws[lane, 0] * total, 0.0
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


def make_results(lanes: int, carried: int) -> Played:
    """Return arrays for the results of ``play_turns``."""
    chosen, explored = np.empty(lanes, np.int64), np.zeros(lanes, np.bool_)
    return np.empty(lanes, np.int64), np.empty(lanes), np.empty((lanes, carried)), chosen, explored


class AnyEvaluator:
    """Placeholder for an evaluator that can evaluate all states at the end of a turn."""

    afterstates = ESTIMATE
