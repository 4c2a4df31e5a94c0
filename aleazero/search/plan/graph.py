"""The graph of a plan, built by the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, NONE, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.states import KernelStates
from aleazero.native.compile import kernel_dtype, loop_of
from aleazero.native.random import ROLLOUT, stream_key
from aleazero.search.evaluator import Rollout, Uniform, trust_at_chance
from aleazero.search.group import LeafBatch
from aleazero.search.plan.arrays import (
    ASKED,
    DEPTH,
    EDGES,
    ENDED,
    EXPANDED,
    INNER,
    LEAVES,
    NODES,
    Graph,
    PlanSettings,
    graph_bytes,
    grow_graph,
    make_frontier,
    make_graph,
    make_plan_scratch,
)
from aleazero.search.plan.horizon import Horizon, may_prune
from aleazero.search.plan.loop import ADD_ROOT, EXPAND, FILL_TABLE, SOLVE, WRITE_FRONTIER, make_plan_loop
from aleazero.search.plan.plan import PlanEdge, StateNumbers, Vector, best_label
from aleazero.search.status import (
    CYCLE,
    EXTERNAL,
    GROW_EDGES,
    GROW_NODES,
    NO_EVALUATOR,
    NO_KIND,
    PAUSED,
    UNIFORM,
    error_for,
)
from aleazero.search.status import ROLLOUT as ROLLOUT_INSIDE

CHUNK = 100_000
"""Number of nodes that one call expands, because compiled code does not react to Ctrl-C."""


FIRST_NODES = 256


class CompiledGraph:
    """The graph of one plan over a kernel game."""

    def __init__(
        self,
        root: State,
        horizon: Horizon,
        evaluator: Any,
        max_nodes: int,
        seed: int,
        room: tuple[int, int] | None = None,
    ) -> None:
        assert isinstance(root, KernelState)
        self.game, self.horizon = root.game, horizon
        self._loop = plan_loop_of(root.game)
        self._settings = plan_settings(horizon, evaluator, max_nodes, seed)
        info = root.game.info
        dtype = np.dtype(kernel_dtype(info.state_dtype))
        nodes, edges = room or (FIRST_NODES, 2 * FIRST_NODES + info.num_actions + info.max_outcomes)
        self._graph = make_graph(min(nodes, max_nodes), edges, info.state_size, dtype, info.num_players)
        self._scratch = make_plan_scratch(info.state_size, dtype, info.num_actions, info.max_outcomes, info.num_players)
        self._frontier = make_frontier(0, 0, info.num_actions)
        self._all_kept = np.zeros((0, info.num_actions), np.bool_)
        self._scratch.walk[:] = root.vector  # the loop reads the root there

    # -- making ------------------------------------------------------------------------------------------------

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Expand to the end, or only the nodes found so far; return whether all is expanded."""
        counters = self._graph.counters
        start = int(counters[EXPANDED])
        end = start + self.found() if generation else None
        while True:
            until = int(counters[EXPANDED]) + CHUNK if end is None else end
            rest = self._all_kept if kept is None else kept[int(counters[EXPANDED]) - start :]
            status = self._run(EXPAND, rest, until)
            if status in (GROW_NODES, GROW_EDGES):
                self._make_room()
            elif status == PAUSED and counters[EXPANDED] != end:
                continue
            elif status < 0:
                where = int(counters[EXPANDED]) if status != CYCLE else 0
                if status == CYCLE and self._settings.evaluator == NO_KIND and counters[LEAVES]:
                    # Without an evaluator, chance nodes past the horizon are expanded, which may find the cycle.
                    status, where = NO_EVALUATOR, int(np.argmax(_plain(self._graph.nodes)["role"] == ASKED))
                raise error_for(status, self.game.name, self.state(where).to_text(), self._settings.max_nodes)
            else:
                return status != PAUSED

    def _run(self, stage: int, kept: NDArray[np.bool_], until: int = 0) -> int:
        with np.errstate(over="ignore"):
            status: int = self._loop(self._graph, self._frontier, self._scratch, self._settings, kept, stage, until)
        return status

    def _make_room(self) -> None:
        graph = self._graph
        nodes, edges = len(graph.nodes), len(graph.edges)
        nodes = min(2 * nodes, self._settings.max_nodes) if graph.counters[NODES] >= nodes else nodes
        if graph.counters[EDGES] + self.game.num_actions + self.game.info.max_outcomes > edges:
            edges = 2 * edges + self.game.num_actions + self.game.info.max_outcomes
        self._graph = grow_graph(graph, nodes, edges)
        self._run(FILL_TABLE, self._all_kept)

    def choices(self) -> list[tuple[int, State]]:
        """Return the decisions that pruning applies to, among nodes not yet expanded, by row of ``kept``."""
        start = int(self._graph.counters[EXPANDED])
        waiting = _plain(self._graph.nodes)[start : start + self.found()]
        rows = np.flatnonzero((waiting["role"] == INNER) & (waiting["kind"] == DECISION))
        layers = waiting["layer"][rows].tolist()
        return [
            (row, self.state(start + row))
            for row, layer in zip(rows.tolist(), layers, strict=True)
            if may_prune(self.horizon, DECISION, layer)
        ]

    def found(self) -> int:
        """Return the number of nodes that are found and not yet expanded."""
        if self._graph.counters[NODES] == 0:
            self._run(ADD_ROOT, self._all_kept)
        return int(self._graph.counters[NODES] - self._graph.counters[EXPANDED])

    def frontier(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
        """Return the leaves to evaluate, and the viewer of each row."""
        rows = int(self._graph.counters[LEAVES]) if self._settings.evaluator == EXTERNAL else 0
        if rows:
            size = 0 if with_states else self.game.observation_size
            self._frontier = make_frontier(rows, size, self.game.num_actions)
            self._run(WRITE_FRONTIER, self._all_kept)
        vectors = self._graph.states[self._frontier.nodes].astype(np.int64) if with_states else None
        states = None if vectors is None else KernelStates(self.game, vectors)
        return LeafBatch(self._frontier.observations, self._frontier.masks, states), self._frontier.viewers

    def end(self, values_of: StateNumbers) -> None:
        """Replace the returns of terminal states by these numbers."""
        ends = np.flatnonzero(_plain(self._graph.nodes)["role"][: self._graph.counters[NODES]] == ENDED)
        if len(ends):
            self._graph.values[ends] = values_of(KernelStates(self.game, self._graph.states[ends].astype(np.int64)))
            if not self._graph.counters[LEAVES]:  # all was solved inside the loop
                self._run(SOLVE, self._all_kept)

    def solve(self, values: Vector) -> None:
        """Store the values of the frontier, by player, and value all other nodes."""
        if len(values):
            self._graph.values[self._frontier.nodes] = values
            self._run(SOLVE, self._all_kept)
            nothing = np.zeros((0, 0), np.float32)  # a plan does not read observations again
            self._frontier = self._frontier._replace(observations=nothing)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def arrays(self) -> Graph:
        """The arrays of the graph."""
        return self._graph

    def room(self) -> tuple[int, int]:
        """Return room for another graph like this one, as nodes and edges."""
        nodes, edges = int(self._graph.counters[NODES]), int(self._graph.counters[EDGES])
        more = self.game.num_actions + self.game.info.max_outcomes
        return nodes + nodes // 4 + 16, edges + edges // 4 + more

    def find(self, state: State) -> int | None:
        """Return the place of a state (the one of the lowest layer), or None."""
        assert isinstance(state, KernelState)
        states = self._graph.states[: self._graph.counters[NODES]]
        if np.array_equal(states[0], state.vector):
            return 0
        places = np.flatnonzero((states == state.vector).all(axis=1))
        return int(places[np.argmin(_plain(self._graph.nodes)["layer"][places])]) if len(places) else None

    def movers(self) -> list[int]:
        """Return the players that decide inside the horizon, ascending."""
        nodes = _plain(self._graph.nodes)[: self._graph.counters[NODES]]
        found: list[int] = np.unique(nodes["mover"][(nodes["role"] == INNER) & (nodes["kind"] == DECISION)]).tolist()
        return found

    def state(self, place: int) -> State:
        """Return the state at a place."""
        return KernelState(self.game, self._graph.states[place].astype(np.int64))

    def value(self, place: int) -> Vector:
        """Return the value of a place by player."""
        value: Vector = self._graph.values[place].copy()
        return value

    def edges(self, place: int) -> list[PlanEdge]:
        """Return the edges of a place, actions ascending; none on the frontier."""
        edges = self._edges_of(place)
        labels, children = edges["label"].tolist(), edges["child"].tolist()
        chance = _plain(self._graph.nodes)[place]["kind"] == CHANCE
        probabilities = edges["probability"].tolist() if chance else [None] * len(labels)
        return list(map(PlanEdge, labels, probabilities, children))

    def following(self, place: int) -> dict[int, Vector]:
        """Return the values of the children of a place by label, actions ascending; none on the frontier."""
        edges = self._edges_of(place)
        return dict(zip(edges["label"].tolist(), self._graph.values[edges["child"]], strict=True))

    def _edges_of(self, place: int) -> Any:
        node = _plain(self._graph.nodes)[place]
        first = int(node["first_edge"])
        return _plain(self._graph.edges)[first : first + int(node["num_edges"])]

    def best(self, place: int, mover: int) -> int:
        """Return the mover's best action; the lowest id among equals."""
        return best_label(self.following(place), mover)

    def counts(self) -> dict[str, Any]:
        """Return the counts of ``SearchStats``."""
        counters = self._graph.counters
        nodes = _plain(self._graph.nodes)[: counters[NODES]]
        inner, kinds = nodes["role"] == INNER, nodes["kind"]
        outcomes = nodes["num_edges"][inner & (kinds == CHANCE)]
        times = np.bincount(outcomes)
        return {
            "evaluations": int(counters[LEAVES]),
            "expansions": int(np.count_nonzero(inner & (kinds == DECISION))),
            "nodes": len(nodes),
            "depth": int(counters[DEPTH]),
            "chance_nodes": int(np.count_nonzero(kinds == CHANCE)),
            "chance_children": int(outcomes.sum()),
            "outcome_counts": {count: int(times[count]) for count in np.flatnonzero(times).tolist()},
            "tree_bytes": graph_bytes(self._graph),
        }


def _plain(records: Any) -> Any:
    """Return the same array without attributes for its fields, which are slow from Python."""
    return records.view(np.ndarray)


def plan_loop_of(game: KernelGame) -> Any:
    """Return a game's compiled planning loop, made once per game."""
    return loop_of(game, "plan", make_plan_loop)


def plan_settings(horizon: Horizon, evaluator: Any, max_nodes: int, seed: int) -> PlanSettings:
    """Return the numbers of horizon and evaluator that the loop reads."""
    rollout = isinstance(evaluator, Rollout)
    inside = ROLLOUT_INSIDE if rollout else UNIFORM if isinstance(evaluator, Uniform) else EXTERNAL
    return PlanSettings(
        counts=horizon.counts,
        limit=horizon.limit,
        mover=horizon.mover,
        turn=horizon.turn,
        afterstates=trust_at_chance(evaluator) is not NONE,
        evaluator=NO_KIND if evaluator is None else inside,
        max_nodes=max_nodes,
        playouts=evaluator.playouts if rollout else 1,
        max_steps=evaluator.max_steps if rollout else 1,
        rollout_key=np.uint64(stream_key(ROLLOUT, seed)),
    )
