"""Nodes, edges and visits of a plain tree as Python objects, and a readable view of the tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, CHANCE_PLAYER, DECISION, TERMINAL_PLAYER, State
from aleazero.search.result import ANY_OUTCOME, SearchStats, TreeNode

Values = list[float]
"""One number per player."""


@dataclass(eq=False)
class Edge:
    """An action of a decision node, whose ``total`` is the mover's; or a listed outcome of a chance node."""

    action: int
    prior: float
    visits: int = 0
    in_flight: int = 0
    total: float = 0.0
    first_play: float | None = None
    """Value of an action before its first visit, by its logit; None for the setting of the search."""
    children: dict[Any, Node] = field(default_factory=dict)
    transient: Values = field(default_factory=list)
    """Of an outcome: sums of its values by player while it was evaluated but not stored."""

    def add_transient(self, value: Values) -> None:
        """Count an evaluation of an outcome that is not stored."""
        self.transient = [a + b for a, b in zip(self.transient or [0.0] * len(value), value, strict=True)]


@dataclass(eq=False)
class Node:
    """A node. In open loop its state is that of the first visit, and is only displayed."""

    state: State
    kind: int
    mover: int
    label: int
    number: int
    """Order of creation; the root is 0."""
    visits: int = 0
    in_flight: int = 0
    value_sums: Values = field(default_factory=list)
    leaf_values: Values | None = None
    """The evaluator's values by player, if it was evaluated."""
    exact: bool = False
    """The value of the node's own state is exact: nothing is expanded below, except at the root."""
    pending: bool = False
    """A leaf in flight, or a chance node all of whose outcomes are: descents collide here."""
    edges: list[Edge] | None = None
    """The actions of a decision; of a chance node the list of its outcomes, if it has one."""
    children: dict[Any, Node] = field(default_factory=dict)
    """Of a chance node, by outcome; in open loop by kind and mover of the state that follows."""
    expand_all: bool = False
    """A chance node whose outcomes are all expanded by its first visit."""

    def mean(self) -> Values:
        """Return the value by player."""
        return [value / self.visits for value in self.value_sums]


@dataclass(eq=False)
class Leaf:
    """A state to be evaluated, and its node; None if the leaf is transient: evaluated, not stored."""

    node: Node | None
    state: State
    depth: int
    weight: float = 1.0
    value: Values | None = None
    """Set before the evaluation if it is known."""


@dataclass(eq=False)
class Visit:
    """One simulation: the path of its descent, without the leaves, and the leaves."""

    simulation: int
    path: list[tuple[Node, Edge | None]] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    divisor: float = 1.0
    """The visit's value is the weighted sum of its leaves' values, divided by this."""
    picks: list[Edge] = field(default_factory=list)
    """Outcomes picked in addition to the one on the path."""
    expanding: bool = False
    """It expands all outcomes of the last chance node of the path."""
    blocked: bool = False
    """Progressive widening did not let it store an outcome."""

    def step(self, node: Node, edge: Edge | None) -> None:
        """Pass a node by one of its edges (or by none)."""
        node.in_flight += 1
        if edge is not None:
            edge.in_flight += 1
        self.path.append((node, edge))

    def pick(self, edge: Edge) -> None:
        """Count an outcome that is not on the path."""
        edge.in_flight += 1
        self.picks.append(edge)

    def release(self) -> None:
        """Remove the visit from all counts in flight."""
        for node, edge in self.path:
            node.in_flight -= 1
            if edge is not None:
                edge.in_flight -= 1
        for edge in self.picks:
            edge.in_flight -= 1


def sum_priors(edges: list[Edge]) -> float:
    """Return a running sum, as in the compiled search. The built-in ``sum`` compensates in newer Pythons."""
    total = 0.0
    for edge in edges:
        total += edge.prior
    return total


def walk(root: Node) -> list[Node]:
    """Return all nodes of a tree."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children.values())
        for edge in node.edges or []:
            stack.extend(edge.children.values())
    return found


@dataclass
class Cost:
    """Counts of a search that its tree does not show."""

    simulations: int = 0
    evaluations: int = 0
    expansions: int = 0
    nodes: int = 0
    depth: int = 0
    collisions: int = 0
    transient: int = 0
    blocked: int = 0
    exact_expansions: int = 0


class PlainView:
    """A view of a plain tree."""

    def __init__(self, root: Node, closed: bool, cost: Cost) -> None:
        self._root, self.closed, self._cost = root, closed, cost

    def stats(self) -> SearchStats:
        """Return counts of the search and of its tree."""
        chance = [node for node in walk(self._root) if node.kind == CHANCE]
        sizes = Counter(len(node.children) for node in chance)
        return SearchStats(
            chance_nodes=len(chance),
            chance_visits=sum(node.visits for node in chance),
            chance_children=sum(len(node.children) for node in chance),
            outcome_counts=dict(sorted(sizes.items())),
            tree_bytes=0,
            **vars(self._cost),
        )

    def evaluations(self) -> int:
        """Return the number of leaves that were evaluated."""
        return self._cost.evaluations

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the mean by player after an action of the root; None if it has no visits, and in open loop."""
        edges = [edge for edge in self._root.edges or [] if edge.action == action] if self.closed else []
        tried = [child for edge in edges for child in edge.children.values() if child.visits]
        return np.array(tried[0].value_sums) / tried[0].visits if tried else None

    def root(self) -> TreeNode:
        """Return the root as a node of the exported tree."""
        return self._export(self._root, "", None, None)

    def _export(self, node: Node, text: str, prior: float | None, probability: float | None) -> TreeNode:
        value = np.array(node.value_sums) / max(1, node.visits)
        player = node.mover if node.kind == DECISION else CHANCE_PLAYER if node.kind == CHANCE else TERMINAL_PLAYER
        children = partial(self._export_outcomes if node.kind == CHANCE else self._export_actions, node)
        return TreeNode(node.label, text, node.kind, player, node.visits, value, prior, probability, children)

    def _export_outcomes(self, node: Node) -> list[TreeNode]:
        if not self.closed:
            return [self._export(child, ANY_OUTCOME, None, None) for child in node.children.values()]
        chances = dict(node.state.chance_outcomes()) if node.state.outcomes_listed() else {}
        return [
            self._export(child, node.state.action_to_string(child.label), None, chances.get(child.label))
            for child in node.children.values()
        ]

    def _export_actions(self, node: Node) -> list[TreeNode]:
        edges = node.edges or []
        weight = 1.0 if self.closed else sum_priors(edges) or 1.0
        return [
            self._export(child, node.state.action_to_string(edge.action), edge.prior / weight, None)
            for edge in edges
            for child in edge.children.values()
        ]
