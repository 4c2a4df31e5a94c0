"""The searched tree, as JSON and as a DOT drawing, with its chance nodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import KIND_NAMES

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
