"""A tree of Python objects, and how people read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from aleazero.games.base import CHANCE, CHANCE_PLAYER, DECISION, TERMINAL_PLAYER, State
from aleazero.search.export import ANY_OUTCOME, TreeNode

Values = list[float]
"""One number a player."""


@dataclass(eq=False)
class Edge:
    """An action of a decision node; ``total`` is the mover's."""

    action: int
    prior: float
    visits: int = 0
    in_flight: int = 0
    total: float = 0.0
    children: dict[Any, Node] = field(default_factory=dict)


@dataclass(eq=False)
class Node:
    """A node; in open loop its state is that of the first visit, kept for display alone."""

    state: State
    kind: int
    mover: int
    label: int
    visits: int = 0
    total: Values = field(default_factory=list)
    own: Values | None = None
    pending: bool = False
    edges: list[Edge] | None = None
    children: dict[Any, Node] = field(default_factory=dict)


@dataclass(eq=False)
class Leaf:
    """The end of a descent: its path, and the state to be evaluated."""

    path: list[tuple[Node, Edge | None]]
    node: Node
    state: State
    simulation: int
    depth: int


def sum_priors(edges: list[Edge]) -> float:
    """A plain running sum, as in the compiled search (the built-in ``sum`` compensates in newer Pythons)."""
    total = 0.0
    for edge in edges:
        total += edge.prior
    return total


def release(path: list[tuple[Node, Edge | None]]) -> None:
    """Take back the in-flight counts of a descent that came to nothing."""
    for _, edge in path:
        if edge is not None:
            edge.in_flight -= 1


def walk(root: Node) -> list[Node]:
    """All nodes of a tree."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children.values())
        for edge in node.edges or []:
            stack.extend(edge.children.values())
    return found


class PlainView:
    """A tree of Python objects, to be read by people."""

    def __init__(self, root: Node, closed: bool) -> None:
        self._root, self.closed = root, closed

    def root(self) -> TreeNode:
        """The root, as a node of the exported tree."""
        return self._export(self._root, "", None, None)

    def _export(self, node: Node, text: str, prior: float | None, probability: float | None) -> TreeNode:
        value = np.array(node.total) / max(1, node.visits)
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
