"""Turns of a kernel game, planned in one compiled loop over all lanes. Results are those of ``PlannedLanes``.

The graphs of all lanes share one set of arrays. A round makes two compiled calls instead of hundreds of Python calls
per lane, so threads do not wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.games.states import Rows, rows_of
from aleazero.native.compile import borrow, kernel_dtype, loop_of
from aleazero.native.random import extend_key, unit
from aleazero.search.plan.arrays import (
    EDGES,
    EMPTY,
    INNER,
    NODES,
    NUM_COUNTERS,
    Graph,
    PlanScratch,
    PlanSettings,
    make_graph,
    make_plan_scratch,
)
from aleazero.search.plan.graph import plan_settings
from aleazero.search.plan.horizon import NO_LIMIT, horizon_at
from aleazero.search.plan.loop import make_expansion, one_turn
from aleazero.search.playout import make_play_chance
from aleazero.search.status import DONE, GROW_EDGES, GROW_NODES, error_for
from aleazero.training import turns
from aleazero.training.turns import (
    AnyEvaluator,
    Ints,
    PlannedLanes,
    Played,
    TurnPlayer,
    Values,
    make_results,
    play_lanes,
)

LANE, NODE, EDGE, LEAF, NUM_PLACES = range(5)
"""Position of the loop: the lane, and its first node, edge and leaf."""


def turn_player_of(game: Game, plies: int | None = None) -> TurnPlayer:
    """Return the game's own turn player, or the one that plans its turns."""
    if not isinstance(game, KernelGame):
        return PlannedLanes(game, plies)
    if game.kernels.turn_lanes is None:
        return CompiledLanes(game, plies)
    if plies is not None:
        raise ConfigError(f"plies is {plies}, expected none: {game.name} plays its own turns, which are complete")
    own: TurnPlayer = game.kernels.turn_lanes(game)
    return own


class SampledChance:
    """Samples chance events of many games, for turns that are planned for one outcome only."""

    def __init__(self, game: Game) -> None:
        if not game.info.max_outcomes:
            raise ConfigError(f"plies is 0, expected at least 1: {game.name} has no chance events to sample")
        self.game = game
        self._loop = loop_of(game, "sampled", make_sampling_loop) if isinstance(game, KernelGame) else None

    def play(self, states: Rows, keys: NDArray[np.uint64]) -> Rows:
        """Return the states after their chance events: decisions or terminal states.

        Args:
            states: states of the lanes.
            keys: the key of the random numbers of each lane.
        """
        if self._loop is None:
            return rows_of(self.game, [self._after(row, int(key)) for row, key in zip(states, keys, strict=True)])
        info = self.game.info
        dtype = np.dtype(kernel_dtype(info.state_dtype))
        scratch = make_plan_scratch(info.state_size, dtype, info.num_actions, info.max_outcomes, info.num_players)
        rows = np.array(states, np.int64)
        with np.errstate(over="ignore"):
            status = self._loop(rows, keys, scratch)
        if status != DONE:
            raise error_for(status, info.name)
        return rows

    def _after(self, state: State, key: int) -> State:
        state, events = state.clone(), 0
        while state.is_chance_node():
            state.apply_action(state.sample_outcome(unit(extend_key(key, events))))
            events += 1
        return state


def make_sampling_loop(kernels: Kernels) -> Callable[..., int]:
    """Make ``sample_chance(rows, keys, scratch)`` of a game."""
    play_chance = make_play_chance(kernels)

    def sample_chance(rows_: Any, keys_: Any, scratch_: PlanScratch) -> int:
        """Play the chance events of each row in place; return a status."""
        rows, keys, scratch = borrow(rows_), borrow(keys_), borrow(scratch_)
        for lane in range(len(rows)):
            status = play_chance(rows[lane], keys[lane], np.int64(0), scratch)
            if status < 0:
                return int(status)
        return DONE

    return sample_chance


class CompiledLanes:
    """Plans and plays turns (or ``plies`` plies) of a kernel game that lists its outcomes."""

    draws = 2

    def __init__(self, game: KernelGame, plies: int | None = None) -> None:
        self.game, self.plies = game, plies
        info = game.info
        self._loop = loop_of(game, "lanes", make_lane_loop)
        self._horizon = horizon_at(game.new_initial_state(), "turn", plies)  # the loop sets the turn of each lane
        self._dtype = np.dtype(kernel_dtype(info.state_dtype))
        self._more = info.num_actions + info.max_outcomes
        self._room, self._nodes, self._edges = 64, 64, 64 + self._more
        """Array sizes to begin with: nodes of the largest lane so far, mean nodes and mean edges per lane."""

    def list_turn_ends(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """List the states where turns can end; the third result holds the graphs."""
        info, lanes = self.game.info, len(states)
        settings = plan_settings(self._horizon, AnyEvaluator(), turns.MOST_NODES, 0)
        scratch = make_plan_scratch(info.state_size, self._dtype, info.num_actions, info.max_outcomes, info.num_players)
        room, rows = self._room, np.ascontiguousarray(states, np.int64)
        graph = self._graph(lanes * self._nodes + room, lanes * self._edges + self._more, room)
        ends = np.empty(len(graph.nodes), np.int64)
        spans, at = np.zeros((lanes + 1, NUM_PLACES), np.int64), np.zeros(NUM_PLACES, np.int64)
        kept = np.zeros((0, info.num_actions), np.bool_)
        while True:
            with np.errstate(over="ignore"):
                status = self._loop(rows, graph, spans, ends, scratch, settings, kept, at, room)
            if status == DONE:
                break
            if status not in (GROW_NODES, GROW_EDGES):
                self._raise(rows[at[LANE]])
            room = 2 * room if graph.counters[NODES] >= room else room
            graph = self._larger(graph, at, room)
            ends = np.concatenate((ends[: at[LEAF]], np.empty(len(graph.nodes) - at[LEAF], np.int64)))
        self._remember(spans, room)
        ends = ends[: at[LEAF]]
        leaves: NDArray[np.int64] = graph.states[ends].astype(np.int64)
        return leaves, spans[:, LEAF].copy(), Turns(graph, spans, ends)

    def play_turns(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it."""
        graph, played = known.graph, make_results(len(states), carried.shape[1])
        play_lanes(
            graph.nodes, graph.edges, graph.order, known.spans[:, NODE].copy(), known.spans[:, EDGE].copy(), starts,
            known.ends, worth, carried, draws, explore, *played,
        )  # fmt: skip
        return played

    def _graph(self, nodes: int, edges: int, room: int) -> Graph:
        info = self.game.info
        return make_graph(nodes, edges, info.state_size, self._dtype, info.num_players, hashed=room)

    def _larger(self, graph: Graph, at: Ints, room: int) -> Graph:
        """Return a larger copy without the nodes of the unfinished lane, which is expanded again."""
        nodes, edges = int(at[NODE]), int(at[EDGE])
        larger = self._graph(2 * len(graph.nodes) + room, 2 * len(graph.edges) + self._more, room)
        for old, new in zip(graph[:5], larger[:5], strict=True):
            used = edges if old is graph.edges else nodes
            new[:used] = old[:used]
        return larger

    def _remember(self, spans: Ints, room: int) -> None:
        """Update the array sizes for the next round. Threads may overwrite each other's, which costs only time."""
        lanes = len(spans) - 1
        nodes, edges = int(spans[-1, NODE]), int(spans[-1, EDGE])
        self._nodes = max(self._nodes, -(-5 * nodes // (4 * lanes)))
        self._edges = max(self._edges, -(-5 * edges // (4 * lanes)))
        self._room = max(self._room, room)

    def _raise(self, row: Any) -> None:
        """Raise the planner's error for a turn that cannot be planned."""
        PlannedLanes(self.game, self.plies).list_turn_ends(row[None])
        raise AssertionError("the planner accepted a turn that the compiled loop rejected")


def make_lane_loop(kernels: Kernels) -> Callable[..., int]:
    """Make ``list_turn_ends(rows, graph, spans, ends, scratch, settings, kept, at, room)`` of a game."""
    begin, expand_all = make_expansion(kernels)
    viewer_of = kernels.viewer
    turn_of = kernels.turn or one_turn

    def list_turn_ends(
        rows_: Any,
        graph_: Graph,
        spans_: Any,
        ends_: Any,
        scratch_: PlanScratch,
        settings: PlanSettings,
        kept_: Any,
        at_: Any,
        room: int,
    ) -> int:
        """Expand the turns of the lanes from ``at`` on; return a status, with the position in ``at``."""
        graph, scratch = borrow(graph_), borrow(scratch_)
        rows, spans, ends, kept, at = borrow(rows_), borrow(spans_), borrow(ends_), borrow(kept_), borrow(at_)
        while at[LANE] < len(rows):
            first, edge, leaf = at[NODE], at[EDGE], at[LEAF]
            last = min(first + room, len(graph.nodes))
            lane = Graph(
                graph.nodes[first:last],
                graph.edges[edge:],
                graph.states[first:last],
                graph.values[first:last],
                graph.order[first:last],
                graph.table,
                graph.counters,
            )
            for place in range(len(lane.table)):
                lane.table[place] = EMPTY
            for counter in range(NUM_COUNTERS):
                lane.counters[counter] = 0
            for i in range(rows.shape[1]):
                scratch.walk[i] = rows[at[LANE], i]
            own = PlanSettings(
                settings.counts,
                settings.limit,
                int(viewer_of(scratch.walk)),
                int(turn_of(scratch.walk)),
                settings.afterstates,
                settings.evaluator,
                settings.max_nodes,
                settings.playouts,
                settings.max_steps,
                settings.rollout_key,
            )
            if len(lane.nodes) == 0:
                return GROW_NODES
            begin(lane, scratch, own)
            status = expand_all(lane, scratch, own, kept, np.int64(NO_LIMIT))
            if status != DONE:
                return int(status)
            for n in range(lane.counters[NODES]):
                if lane.nodes[n].role != INNER:
                    ends[leaf] = first + n
                    leaf += 1
            at[LANE] += 1
            at[NODE], at[EDGE], at[LEAF] = first + lane.counters[NODES], edge + lane.counters[EDGES], leaf
            for i in range(NUM_PLACES):
                spans[at[LANE], i] = at[i]
        return DONE

    return list_turn_ends


class Turns(NamedTuple):
    """The graphs of all lanes in shared arrays."""

    graph: Graph
    spans: Any  # (lanes + 1, NUM_PLACES) int64: start of each lane; its nodes and edges are numbered from there
    ends: Any  # (n,) int64: the leaves, as indices into the nodes of all lanes
