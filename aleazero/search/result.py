"""The result of a search: actions, values, statistics, and the searched tree as JSON and as a DOT drawing."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import KIND_NAMES
from aleazero.native.random import EXECUTED_MOVE, stream_key
from aleazero.search.config import SearchConfig

ANY_OUTCOME = "(any outcome)"
"""What leads out of a chance node in open loop, where outcomes share statistics."""


_SHAPES = {"decision": "box", "chance": "ellipse", "terminal": "plaintext"}


@dataclass(frozen=True)
class TreeNode:
    """A node and the action or outcome that leads to it; children are read when asked for."""

    label: int
    """Action or outcome id; −1 at the root."""
    text: str
    kind: int
    player: int
    """Who moves here; −1 at a chance node, −4 at the end."""
    visits: int
    value: NDArray[np.float64]
    """Mean by player."""
    prior: float | None
    """Of the action that leads here; None behind an outcome."""
    probability: float | None
    """Of the outcome that leads here; None behind an action, or where outcomes cannot be listed."""
    children: Callable[[], list[TreeNode]] = field(repr=False)


@dataclass(frozen=True)
class SearchTree:
    """A cut of the tree: nested dictionaries of plain values."""

    root: dict[str, Any]

    @classmethod
    def cut(cls, root: TreeNode, depth: int, top: int | None) -> SearchTree:
        """The tree down to ``depth`` levels, with the ``top`` most visited children of each node (None: all)."""
        return cls(_cut(root, depth, top))

    def to_json(self, indent: int | None = 2) -> str:
        """The cut as JSON."""
        return json.dumps(self.root, indent=indent, ensure_ascii=False)

    def to_dot(self) -> str:
        """The cut as a DOT graph: boxes decide, ellipses are chance, plain text is the end."""
        lines = ["digraph search {", '  node [fontname="Helvetica", fontsize=10];', "  edge [fontsize=9];"]
        _draw(self.root, "n", lines)
        return "\n".join([*lines, "}"])


def _cut(node: TreeNode, depth: int, top: int | None) -> dict[str, Any]:
    children = [child for child in node.children() if child.visits] if depth > 0 else []
    children.sort(key=lambda child: (-child.visits, child.label))
    return {
        "label": node.label,
        "text": node.text,
        "kind": KIND_NAMES[node.kind],
        "player": node.player,
        "visits": node.visits,
        "value": [float(value) for value in node.value],
        "prior": node.prior,
        "probability": node.probability,
        "children": [_cut(child, depth - 1, top) for child in children[:top]],
    }


def _draw(node: dict[str, Any], name: str, lines: list[str]) -> None:
    mover = f"player {node['player']}\\n" if node["kind"] == "decision" else ""
    values = ", ".join(f"{value:.3g}" for value in node["value"])
    label = f"{mover}{values}\\n{node['visits']} visits"
    lines.append(f'  {name} [shape={_SHAPES[node["kind"]]}, label="{label}"];')
    for i, child in enumerate(node["children"]):
        _draw(child, f"{name}_{i}", lines)
        share = child["prior"] if child["prior"] is not None else child["probability"]
        text = child["text"].replace("\\", "\\\\").replace('"', '\\"')
        weight = "" if share is None else f"\\n{share:.3g}"
        lines.append(f'  {name} -> {name}_{i} [label="{text}{weight}"];')


DEEPEST_EXPORT = 300
"""Levels that ``tree`` exports at most."""


@dataclass(frozen=True)
class OutcomeStats:
    """An outcome of a chance root."""

    outcome: int
    probability: float | None
    """None where outcomes are too many to list."""
    visits: int
    value: NDArray[np.float64] | None
    """Mean by player; None where it was not visited."""


@dataclass(frozen=True)
class Step:
    """A step of the principal variation: an action at a decision, the most visited outcome at a chance node."""

    kind: int
    player: int
    """Who moves; −1 for chance."""
    action: int
    text: str
    visits: int
    value: NDArray[np.float64]


@dataclass(frozen=True)
class SearchStats:
    """What the search cost, and how its tree looks."""

    simulations: int
    evaluations: int
    expansions: int
    nodes: int
    depth: int
    chance_nodes: int
    chance_visits: int
    chance_children: int
    outcome_counts: dict[int, int]
    """How many chance nodes store how many outcomes."""
    collisions: int
    """Descents that met a leaf still in flight, and were done again."""
    transient: int
    """Leaves that were valued without being stored."""
    blocked: int
    """Picks of an outcome that widening did not let be stored."""
    exact_expansions: int
    """Chance nodes whose outcomes were all expanded at once."""
    tree_bytes: int
    """Bytes of the tree that are in use; 0 for the plain search, which does not count them."""


class TreeView(Protocol):
    """A searched tree, to be read by people."""

    def root(self) -> TreeNode:
        """The root, as a node of the exported tree."""

    def stats(self) -> SearchStats:
        """What the search cost, and how its tree looks."""

    def evaluations(self) -> int:
        """Leaves that the evaluator was asked about."""

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the mean by player after an action of the root; None if it has no visits, and in open loop."""


@dataclass(frozen=True)
class SearchResult:
    """Result of a search or plan. Values are in units of return; ``q`` is the mover's view, NaN if not visited."""

    actions: NDArray[np.int64]
    visits: NDArray[np.int64]
    q: NDArray[np.float64]
    priors: NDArray[np.float64]
    value: NDArray[np.float64]
    """Mean by player."""
    outcomes: list[OutcomeStats]
    """Filled at a chance root, where there are no actions."""
    stopped: str | None
    """Why the search ended before ``num_simulations``: interrupted, nodes, evaluations or seconds."""
    config: SearchConfig
    seed: int
    """Of this run."""
    position: int
    """A digest of the root's state: what is drawn for it is not drawn again at the next ply."""
    view: TreeView = field(repr=False)

    @cached_property
    def stats(self) -> SearchStats:
        """What the search cost, and how its tree looks."""
        return self.view.stats()

    @property
    def evaluations(self) -> int:
        """Leaves that the evaluator was asked about; ``stats`` tells it too, but looks at the whole tree."""
        return self.view.evaluations()

    def value_after(self, action: int) -> NDArray[np.float64] | None:
        """Return the mean by player after an action; if chance follows, that is the value of the afterstate.

        Returns None if the action has no visits, and in open loop, where the next state has no node of its own.
        """
        return self.view.value_after(int(action))

    @property
    def policy(self) -> NDArray[np.float64]:
        """Visit shares, without temperature."""
        total = self.visits.sum()
        return self.visits / total if total else self.priors.copy()

    @property
    def best_action(self) -> int | None:
        """The most visited action (then the higher value, prior, lower id); None at a chance root."""
        if not len(self.actions):
            return None
        q = np.where(np.isnan(self.q), -np.inf, self.q)
        return int(self.actions[np.lexsort((-self.actions, self.priors, q, self.visits))[-1]])

    def sample_action(self, temperature: float | None = None, seed: int | None = None) -> int:
        """An action by visits^(1/temperature), as executed in play; 0 takes the best."""
        temperature = self.config.temperature if temperature is None else temperature
        best = self.best_action
        if best is None:
            raise PositionError("a chance root has no action to execute")
        if not 0 <= temperature < math.inf:
            raise ConfigError(f"temperature is {temperature}, expected a number of at least 0")
        if temperature == 0:
            return best
        weights = (self.policy / self.policy.max()) ** (1.0 / temperature)
        key = stream_key(EXECUTED_MOVE, self.seed if seed is None else seed, self.position)
        return int(np.random.Generator(np.random.Philox(key=key)).choice(self.actions, p=weights / weights.sum()))

    def tree(self, depth: int = 3, top: int | None = None) -> SearchTree:
        """What was searched, ``depth`` levels deep, with the ``top`` most visited children of each node."""
        if not 0 <= depth <= DEEPEST_EXPORT:
            raise ConfigError(f"depth is {depth}, expected 0 to {DEEPEST_EXPORT}")
        return SearchTree.cut(self.view.root(), depth, top)

    def principal_variation(self) -> list[Step]:
        """The most visited line, from the root through chance nodes to where visits end."""
        steps: list[Step] = []
        node: TreeNode | None = self.view.root()
        while node is not None:
            visited = [child for child in node.children() if child.visits]
            if not visited:
                break
            if not steps and self.best_action is not None:
                visited = [child for child in visited if child.label == self.best_action]
            best = max(visited, key=lambda child: (child.visits, child.probability or child.prior or 0.0, -child.label))
            steps.append(Step(node.kind, node.player, best.label, best.text, best.visits, best.value))
            node = best
        return steps

    def to_dict(self) -> dict[str, Any]:
        """The result as plain numbers and lists, for JSON."""
        return {
            "actions": self.actions.tolist(),
            "visits": self.visits.tolist(),
            "q": [None if np.isnan(value) else float(value) for value in self.q],
            "priors": self.priors.tolist(),
            "policy": self.policy.tolist(),
            "value": self.value.tolist(),
            "best_action": self.best_action,
            "outcomes": [
                {
                    "outcome": o.outcome,
                    "probability": o.probability,
                    "visits": o.visits,
                    "value": None if o.value is None else o.value.tolist(),
                }
                for o in self.outcomes
            ],
            "principal_variation": [
                {
                    "kind": s.kind,
                    "player": s.player,
                    "action": s.action,
                    "text": s.text,
                    "visits": s.visits,
                    "value": s.value.tolist(),
                }
                for s in self.principal_variation()
            ],
            "stopped": self.stopped,
            "stats": vars(self.stats),
            "config": self.config.model_dump(),
        }
