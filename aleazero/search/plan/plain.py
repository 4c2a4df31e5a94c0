"""A plan's graph in plain Python objects: for object games, and as the twin that the compiled planner must equal.

It is written to be read. States are found in the same order and sums are taken in the same order as in the
compiled loop, so its numbers are the same to the bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, NONE, TERMINAL, State
from aleazero.native.random import ROLLOUT, stream_key
from aleazero.search.evaluator import Rollout, Uniform, asked_at_chance
from aleazero.search.group import Leaves
from aleazero.search.plain.chance import value_by_playouts
from aleazero.search.plan.arrays import ASKED, EDGE, EDGES, ENDED, INNER, NODE, NODES, NUM_COUNTERS, Graph
from aleazero.search.plan.horizon import CHANCE_RUNS, DECISIONS, MOVER, NOTHING, TURN, Horizon, may_prune, turn_of
from aleazero.search.plan.loop import BAD_ACTIONS, CYCLE, MANY_OUTCOMES, NOBODY_TO_ASK, TOO_MANY_NODES
from aleazero.search.plan.plan import PlanEdge, Tell, Vector, best_label
from aleazero.search.plan.refusal import refusal


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
        self.afterstates = asked_at_chance(evaluator) is not NONE
        self.values_any_state = isinstance(evaluator, Uniform | Rollout)
        self.nodes: list[PlainNode] = []
        self.expanded = 0
        self.order: list[PlainNode] = []
        self._places: dict[tuple[bytes, int], PlainNode] = {}
        self.root = self._enter(root.clone(), root, 0)

    # -- making ------------------------------------------------------------------------------------------------

    def _enter(self, state: State, above: State, layer: int) -> PlainNode:
        """The node of a state at a layer: the one there is, or a new one."""
        name = (state.key(), layer)
        if name in self._places:
            return self._places[name]
        if len(self.nodes) >= self.max_nodes:
            raise refusal(TOO_MANY_NODES, self.game.name, above, self.max_nodes)
        kind = state.kind()
        mover = state.current_player() if kind == DECISION else -1
        other = self.horizon.counts == MOVER and kind == DECISION and mover != self.horizon.mover
        past = layer >= self.horizon.limit or other
        further = self.values_any_state and layer > self.horizon.limit
        asked = past and kind != TERMINAL and (kind == DECISION or self.afterstates or further)
        node = PlainNode(state, layer, kind, mover, asked)
        if kind == TERMINAL:
            node.value = state.returns()
        self._places[name] = node
        self.nodes.append(node)
        return node

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
            return layer + (kind == CHANCE)
        return layer + (counts == DECISIONS)

    def _expand(self, node: PlainNode, kept: NDArray[np.bool_] | None) -> None:
        """Find what follows a node."""
        state = node.state
        if node.kind == CHANCE:
            if not state.outcomes_listed():
                raise refusal(MANY_OUTCOMES, self.game.name, state, self.max_nodes)
            follows: list[tuple[int, float | None]] = list(state.chance_outcomes())
        else:
            legal = state.legal_actions()
            if not legal or min(legal) < 0 or max(legal) >= self.game.num_actions:
                raise refusal(BAD_ACTIONS, self.game.name, state, self.max_nodes)
            follows = [(action, None) for action in legal if kept is None or kept[action]]
        for label, probability in follows:
            after = state.clone()
            after._apply(label)
            node.edges.append((label, probability, self._enter(after, state, self._new_layer(node, after))))

    def grow(self, kept: NDArray[np.bool_] | None, generation: bool) -> bool:
        """Expand to the end, or only the nodes found so far; True when all is expanded."""
        start, end = self.expanded, len(self.nodes)
        while self.expanded < (end if generation else len(self.nodes)):
            node = self.nodes[self.expanded]
            if node.kind != TERMINAL and not node.on_frontier:
                row = None if kept is None or self.expanded >= end else kept[self.expanded - start]
                self._expand(node, row)
            self.expanded += 1
        if self.expanded < len(self.nodes):
            return False
        self._put_in_order()
        self._evaluate_inside()
        return True

    def choices(self) -> list[tuple[int, State]]:
        """The decisions that pruning concerns, among those found and not yet expanded, by row of ``kept``."""
        return [
            (row, node.state)
            for row, node in enumerate(self.nodes[self.expanded :])
            if not node.on_frontier and may_prune(self.horizon, node.kind, node.layer)
        ]

    def found(self) -> int:
        """How many nodes are found and not yet expanded."""
        return len(self.nodes) - self.expanded

    def _put_in_order(self) -> None:
        """Order the nodes so that each stands behind all that lead to it."""
        for node in self.nodes:
            for _, _, child in node.edges:
                child.waits += 1
        self.order = [] if self.root.waits else [self.root]
        for node in self.order:  # which grows meanwhile
            for _, _, child in node.edges:
                child.depth = max(child.depth, node.depth + 1)
                child.waits -= 1
                if child.waits == 0:
                    self.order.append(child)
        if len(self.order) < len(self.nodes):
            raise refusal(CYCLE, self.game.name, self.root.state, self.max_nodes)

    def _asked(self) -> list[PlainNode]:
        return [node for node in self.nodes if node.on_frontier]

    def _evaluate_inside(self) -> None:
        """Value the frontier here, where the evaluator is one of ours; complain where there is none."""
        asked = self._asked()
        if self.evaluator is None and asked:
            raise refusal(NOBODY_TO_ASK, self.game.name, asked[0].state, self.max_nodes)
        if isinstance(self.evaluator, Uniform | Rollout):
            for leaf, node in enumerate(asked):
                node.value = value_inside(self.evaluator, node.state, self.seed, leaf)

    def frontier(self, with_states: bool) -> tuple[Leaves, NDArray[np.int64]]:
        """What the evaluator is to be asked, and whose view each row takes."""
        inside = self.evaluator is None or isinstance(self.evaluator, Uniform | Rollout)
        return tell([] if inside else [node.state for node in self._asked()], self.game.num_actions, with_states)

    def end(self, tell: Tell) -> None:
        """Take what ends of the game are worth by this, instead of their returns."""
        ends = [node for node in self.nodes if node.kind == TERMINAL]
        if ends:
            for node, value in zip(ends, tell([node.state for node in ends]), strict=True):
                node.value = [float(number) for number in value]

    def solve(self, values: Vector) -> None:
        """Take the frontier's values, by player, and value all the rest."""
        if len(values):
            for node, value in zip(self._asked(), values, strict=True):
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
        """The place of a state (the one of the lowest layer), or None."""
        key = state.key()
        layers = range(1 + max(node.layer for node in self.nodes))
        return next((self._places[key, layer] for layer in layers if (key, layer) in self._places), None)

    def movers(self) -> list[int]:
        """The players that decide inside the horizon, ascending."""
        return sorted({node.mover for node in self.nodes if node.kind == DECISION and not node.on_frontier})

    def state(self, place: PlainNode) -> State:
        """The state at a place."""
        return place.state.clone()

    def value(self, place: PlainNode) -> Vector:
        """The value of a place, by player."""
        return np.array(place.value, np.float64)

    def edges(self, place: PlainNode) -> list[PlanEdge]:
        """What follows a place, actions ascending; nothing on the frontier."""
        return [PlanEdge(label, probability, child) for label, probability, child in place.edges]

    def following(self, place: PlainNode) -> dict[int, Vector]:
        """The values of what follows a place, by label, actions ascending; nothing on the frontier."""
        return {label: self.value(child) for label, _, child in place.edges}

    def best(self, place: PlainNode, mover: int) -> int:
        """The mover's best action; the lowest id among equals."""
        return best_label(self.following(place), mover)

    def counts(self) -> dict[str, Any]:
        """What ``SearchStats`` tells of it."""
        outcomes = [len(node.edges) for node in self.nodes if node.kind == CHANCE and node.edges]
        return {
            "evaluations": len(self._asked()),
            "expansions": sum(node.kind == DECISION and bool(node.edges) for node in self.nodes),
            "nodes": len(self.nodes),
            "depth": max(node.depth for node in self.nodes),
            "chance_nodes": sum(node.kind == CHANCE for node in self.nodes),
            "chance_children": sum(outcomes),
            "outcome_counts": dict(sorted(Counter(outcomes).items())),
        }


def tell(states: Sequence[State], num_actions: int, with_states: bool) -> tuple[Leaves, NDArray[np.int64]]:
    """States as an evaluator is told of them, and whose view each takes."""
    masks = np.array([state.legal_actions_mask() for state in states], np.bool_).reshape(len(states), num_actions)
    viewers = np.array([state.viewer() for state in states], np.int64)
    if with_states or not states:
        leaves = Leaves(np.zeros((len(states), 0), np.float32), masks, list(states) if with_states else None)
    else:
        leaves = Leaves(np.array([state.observation_tensor() for state in states], np.float32), masks, None)
    return leaves, viewers


def value_inside(evaluator: Uniform | Rollout, state: State, seed: int, leaf: int) -> list[float]:
    """The value that one of our own evaluators gives to the state of this number on a frontier."""
    if isinstance(evaluator, Uniform):
        return state.returns()
    return value_by_playouts(evaluator, state, stream_key(ROLLOUT, seed, leaf))


def arrays_of(graph: PlainGraph) -> Graph:
    """The arrays of a graph that is grown: nodes, edges, order and their numbers; states are objects (n,)."""
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
