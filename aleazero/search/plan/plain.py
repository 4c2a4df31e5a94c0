"""The graph of a plan in plain Python: for object games, and as the reference implementation of the compiled loop.

States are found and sums are computed in the same order as in the compiled loop, so values are bit-identical.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import AleaZeroError
from aleazero.games.base import CHANCE, DECISION, NONE, TERMINAL, State
from aleazero.search.evaluator import Rollout, Uniform, trust_at_chance
from aleazero.search.group import LeafBatch
from aleazero.search.plain.playout import evaluate_inside
from aleazero.search.plan.arrays import ASKED, EDGE, EDGES, ENDED, INNER, NODE, NODES, NUM_COUNTERS, Graph
from aleazero.search.plan.horizon import CHANCE_RUNS, DECISIONS, MOVER, NOTHING, TURN, Horizon, may_prune, turn_of
from aleazero.search.plan.plan import PlanEdge, StateNumbers, Vector, best_label
from aleazero.search.status import BAD_ACTIONS, CYCLE, NO_EVALUATOR, TOO_MANY_NODES, UNLISTED_OUTCOMES, error_for


@dataclass(eq=False)
class PlainNode:
    """A state at a layer."""

    state: State
    layer: int
    kind: int
    mover: int
    on_frontier: bool
    value: list[float] = field(default_factory=list)
    edges: list[tuple[int, float | None, PlainNode]] = field(default_factory=list)
    """Label, probability, child."""
    waits: int = 0
    depth: int = 0


class PlainGraph:
    """The graph of one plan over any game."""

    def __init__(self, root: State, horizon: Horizon, evaluator: Any, max_nodes: int, seed: int) -> None:
        self.game, self.horizon, self.evaluator = root.game, horizon, evaluator
        self.max_nodes, self.seed = max_nodes, seed
        self.afterstates = trust_at_chance(evaluator) is not NONE
        self.values_any_state = isinstance(evaluator, Uniform | Rollout)
        self.nodes: list[PlainNode] = []
        self.expanded = 0
        self.order: list[PlainNode] = []
        self._by_state: dict[tuple[bytes, int], PlainNode] = {}
        self.root = self._enter(root.clone(), root, 0)

    # -- making ------------------------------------------------------------------------------------------------

    def _enter(self, state: State, above: State, layer: int) -> PlainNode:
        """Return the node of a state at a layer, which is added if it is new."""
        name = (state.key(), layer)
        if name in self._by_state:
            return self._by_state[name]
        if len(self.nodes) >= self.max_nodes:
            raise self._error(TOO_MANY_NODES, above)
        kind = state.kind()
        mover = state.current_player() if kind == DECISION else -1
        other = self.horizon.counts == MOVER and kind == DECISION and mover != self.horizon.mover
        past = layer >= self.horizon.limit or other
        further = self.values_any_state and layer > self.horizon.limit
        on_frontier = past and kind != TERMINAL and (kind == DECISION or self.afterstates or further)
        node = PlainNode(state, layer, kind, mover, on_frontier)
        if kind == TERMINAL:
            node.value = state.returns()
        self._by_state[name] = node
        self.nodes.append(node)
        return node

    def _error(self, status: int, where: State) -> AleaZeroError:
        return error_for(status, self.game.name, where.to_text(), self.max_nodes)

    def _new_layer(self, node: PlainNode, state: State) -> int:
        """Return the layer of a state that follows a node, by the rule of the horizon."""
        counts, layer, kind = self.horizon.counts, node.layer, state.kind()
        if counts == NOTHING:
            return layer
        if counts == TURN and layer == 0:
            return layer + (kind != TERMINAL and turn_of(state) != self.horizon.turn)
        if node.kind == CHANCE:  # chance events in a row count once per turn
            inside = layer < self.horizon.limit or self.values_any_state
            return layer + (inside and kind == CHANCE and turn_of(state) != turn_of(node.state))
        if counts == CHANCE_RUNS:
            return layer + (kind == CHANCE or (kind == DECISION and turn_of(state) != turn_of(node.state)))
        return layer + (counts == DECISIONS)

    def _expand(self, node: PlainNode, kept: NDArray[np.bool_] | None) -> None:
        """Add the edges and children of a node."""
        state = node.state
        if node.kind == CHANCE:
            if not state.outcomes_listed():
                raise self._error(UNLISTED_OUTCOMES, state)
            follows: list[tuple[int, float | None]] = list(state.chance_outcomes())
        else:
            legal = state.legal_actions()
            if not legal or min(legal) < 0 or max(legal) >= self.game.num_actions:
                raise self._error(BAD_ACTIONS, state)
            follows = [(action, None) for action in legal if kept is None or kept[action]]
        for label, probability in follows:
            after = state.clone()
            after._apply(label)
            node.edges.append((label, probability, self._enter(after, state, self._new_layer(node, after))))

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Expand to the end, or only the nodes found so far; return whether all is expanded."""
        start, end = self.expanded, len(self.nodes)
        while self.expanded < (end if generation else len(self.nodes)):
            node = self.nodes[self.expanded]
            if node.kind != TERMINAL and not node.on_frontier:
                row = None if kept is None or self.expanded >= end else kept[self.expanded - start]
                self._expand(node, row)
            self.expanded += 1
        if self.expanded < len(self.nodes):
            return False
        leaves = self._leaves()
        if self.evaluator is None and leaves:
            raise self._error(NO_EVALUATOR, leaves[0].state)
        self._order_nodes()
        if self.values_any_state:
            for number, node in enumerate(leaves):
                node.value = evaluate_inside(self.evaluator, node.state, self.seed, number)
        return True

    def choices(self) -> list[tuple[int, State]]:
        """Return the decisions that pruning applies to, among nodes not yet expanded, by row of ``kept``."""
        return [
            (row, node.state)
            for row, node in enumerate(self.nodes[self.expanded :])
            if not node.on_frontier and may_prune(self.horizon, node.kind, node.layer)
        ]

    def found(self) -> int:
        """Return the number of nodes that are found and not yet expanded."""
        return len(self.nodes) - self.expanded

    def _order_nodes(self) -> None:
        """Order the nodes topologically, parents first; raise an error if the graph has a cycle."""
        for node in self.nodes:
            for _, _, child in node.edges:
                child.waits += 1
        self.order = [] if self.root.waits else [self.root]
        for node in self.order:  # the list grows meanwhile
            for _, _, child in node.edges:
                child.depth = max(child.depth, node.depth + 1)
                child.waits -= 1
                if child.waits == 0:
                    self.order.append(child)
        if len(self.order) < len(self.nodes):
            raise self._error(CYCLE, self.root.state)

    def _leaves(self) -> list[PlainNode]:
        return [node for node in self.nodes if node.on_frontier]

    def frontier(self, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
        """Return the leaves to evaluate, and the viewer of each row."""
        inside = self.evaluator is None or self.values_any_state
        return leaf_batch([] if inside else [node.state for node in self._leaves()], self.game.num_actions, with_states)

    def end(self, values_of: StateNumbers) -> None:
        """Replace the returns of terminal states by these numbers."""
        ends = [node for node in self.nodes if node.kind == TERMINAL]
        if ends:
            for node, value in zip(ends, values_of([node.state for node in ends]), strict=True):
                node.value = [float(number) for number in value]

    def solve(self, values: Vector) -> None:
        """Store the values of the frontier, by player, and value all other nodes."""
        if len(values):
            for node, value in zip(self._leaves(), values, strict=True):
                node.value = [float(number) for number in value]
        for node in reversed(self.order):
            if not node.edges:
                continue
            if node.kind == CHANCE:
                node.value = [0.0] * self.game.num_players
                for _, probability, child in node.edges:
                    assert probability is not None
                    node.value = [a + probability * b for a, b in zip(node.value, child.value, strict=True)]
            else:
                best = node.edges[0][2]
                for _, _, child in node.edges[1:]:
                    if child.value[node.mover] > best.value[node.mover]:
                        best = child
                node.value = list(best.value)

    # -- reading -----------------------------------------------------------------------------------------------

    def find(self, state: State) -> PlainNode | None:
        """Return the place of a state (the one of the lowest layer), or None."""
        key = state.key()
        layers = range(1 + max(node.layer for node in self.nodes))
        return next((self._by_state[key, layer] for layer in layers if (key, layer) in self._by_state), None)

    def movers(self) -> list[int]:
        """Return the players that decide inside the horizon, ascending."""
        return sorted({node.mover for node in self.nodes if node.kind == DECISION and not node.on_frontier})

    def state(self, place: PlainNode) -> State:
        """Return the state at a place."""
        return place.state.clone()

    def value(self, place: PlainNode) -> Vector:
        """Return the value of a place by player."""
        return np.array(place.value, np.float64)

    def edges(self, place: PlainNode) -> list[PlanEdge]:
        """Return the edges of a place, actions ascending; none on the frontier."""
        return [PlanEdge(label, probability, child) for label, probability, child in place.edges]

    def following(self, place: PlainNode) -> dict[int, Vector]:
        """Return the values of the children of a place by label, actions ascending; none on the frontier."""
        return {label: self.value(child) for label, _, child in place.edges}

    def best(self, place: PlainNode, mover: int) -> int:
        """Return the mover's best action; the lowest id among equals."""
        return best_label(self.following(place), mover)

    def counts(self) -> dict[str, Any]:
        """Return the counts of ``SearchStats``."""
        outcomes = [len(node.edges) for node in self.nodes if node.kind == CHANCE and node.edges]
        return {
            "evaluations": len(self._leaves()),
            "expansions": sum(node.kind == DECISION and bool(node.edges) for node in self.nodes),
            "nodes": len(self.nodes),
            "depth": max(node.depth for node in self.nodes),
            "chance_nodes": sum(node.kind == CHANCE for node in self.nodes),
            "chance_children": sum(outcomes),
            "outcome_counts": dict(sorted(Counter(outcomes).items())),
        }


def leaf_batch(states: Sequence[State], num_actions: int, with_states: bool) -> tuple[LeafBatch, NDArray[np.int64]]:
    """Return states as a batch for an evaluator, and the viewer of each row."""
    masks = np.array([state.legal_actions_mask() for state in states], np.bool_).reshape(len(states), num_actions)
    viewers = np.array([state.viewer() for state in states], np.int64)
    if with_states or not states:
        leaves = LeafBatch(np.zeros((len(states), 0), np.float32), masks, list(states) if with_states else None)
    else:
        leaves = LeafBatch(np.array([state.observation_tensor() for state in states], np.float32), masks, None)
    return leaves, viewers


def arrays_of(graph: PlainGraph) -> Graph:
    """Return the arrays of a complete graph: nodes, edges, order, counters; states are objects, (n,)."""
    number = {id(node): n for n, node in enumerate(graph.nodes)}
    counters = np.zeros(NUM_COUNTERS, np.int64)
    counters[NODES], counters[EDGES] = len(graph.nodes), sum(len(node.edges) for node in graph.nodes)
    nodes, edges = np.zeros(counters[NODES], NODE), np.zeros(counters[EDGES], EDGE)
    states = np.empty(len(nodes), object)
    first = 0
    for n, node in enumerate(graph.nodes):
        role = ENDED if node.kind == TERMINAL else ASKED if node.on_frontier else INNER
        states[n], row = node.state, nodes[n]
        row["kind"], row["mover"], row["role"] = node.kind, node.mover, role
        row["first_edge"], row["num_edges"] = first, len(node.edges)
        for e, (label, probability, child) in enumerate(node.edges, first):
            edges[e] = (0.0 if probability is None else probability, label, number[id(child)])
        first += len(node.edges)
    nothing = np.zeros(0)
    order = np.array([number[id(node)] for node in graph.order], np.int32)
    return Graph(nodes.view(np.recarray), edges.view(np.recarray), states, nothing, order, nothing, counters)
