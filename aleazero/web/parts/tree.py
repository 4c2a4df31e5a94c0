"""A searched tree as SVG: decisions, chance nodes and ends by shape, outcomes with probability and visits.

Decisions are squares, chance nodes circles, terminal states diamonds. Their size grows with the visits, and their color
shows the value for one player. Outcomes that are not shown or not stored are dashed, so the probabilities below every
chance node add up to 1.
"""

from __future__ import annotations

import html
import math
from collections.abc import Collection, Sequence
from typing import Any, Final

NARROWEST: Final = 120.0
WIDEST: Final = 240.0
"""Limits of the width of a level, which depends on its longest text."""
LETTER: Final = 6.9
"""Mean width of a letter."""
CURVE: Final = 66
"""Width of an edge before its text."""
ROW: Final = 40
"""Height of one leaf."""
MARGIN: Final = 34
LONGEST: Final = 22
"""Characters of an action or outcome on an edge."""
LEGEND: Final = (
    "<span>■ decision</span><span>● chance</span><span>◆ end of the game</span><span>size: visits</span>"
    '<span><b style="color:var(--low)">orange</b> low, <b style="color:var(--high)">blue</b> high value</span>'
    "<span>edge: <b>action</b> or <b>outcome</b> · <b>probability</b> · visits</span>"
    "<span>dotted edge: outcome</span><span>dashed node: outcomes not shown or not stored</span>"
    "<span>+: more levels below</span>"
)
Path = tuple[int, ...]


def tree_svg(tree: dict[str, Any], player: int, collapsed: Collection[Path] = (), chosen: Path | None = None) -> str:
    """Return a tree as SVG.

    Each node is a ``<g class="node" data-path="LABELS">`` that can be clicked.

    Args:
        tree: the root, as ``searches.shown_tree`` returns it.
        player: player whose values give the colors.
        collapsed: paths of nodes whose children are not drawn.
        chosen: path of the node that is marked.
    """
    drawing = _Drawing(tree, player, frozenset(collapsed), chosen)
    drawing.measure(tree, (), 0)
    drawing.place(tree, (), 0)
    width, height = drawing.x(drawing.deepest) + MARGIN + 76, MARGIN * 2 + ROW * max(1, drawing.rows)
    return (
        f'<svg width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" role="group" '
        f'aria-label="Search tree">{"".join(drawing.edges)}{"".join(drawing.nodes)}</svg>'
    )


def value_range(tree: dict[str, Any], player: int) -> tuple[float, float]:
    """Return the lowest and the highest value of a player in a tree."""
    low = high = tree["value"][player]
    for child in tree["children"]:
        first, last = value_range(child, player)
        low, high = min(low, first), max(high, last)
    return low, high


def value_color(value: float, low: float, high: float) -> str:
    """Return the color of a value as CSS; ``low`` and ``high`` are the ends of the range of values."""
    middle, half = (low + high) / 2, (high - low) / 2
    share = 0.0 if half <= 0 else max(-1.0, min(1.0, (value - middle) / half))
    end = "--high" if share >= 0 else "--low"
    return f"color-mix(in oklab, var({end}) {100 * abs(share):.0f}%, var(--mid))"


class _Drawing:
    def __init__(self, tree: dict[str, Any], player: int, collapsed: frozenset[Path], chosen: Path | None) -> None:
        self.player, self.collapsed, self.chosen = player, collapsed, chosen
        self.low, self.high = value_range(tree, player)
        self.most = max(1, tree["visits"])
        self.rows, self.deepest = 0, 0
        self.widths: list[float] = []
        self.edges: list[str] = []
        self.nodes: list[str] = []

    def measure(self, node: dict[str, Any], path: Path, level: int) -> None:
        """Find the width of each level: that of the longest text of its edges."""
        if path in self.collapsed:
            return
        texts = ["".join(text for text, _ in _edge_text(node, child)) for child in node["children"]]
        for text in [*texts, *(text for text, _ in self._rest(node))]:
            if level == len(self.widths):
                self.widths.append(NARROWEST)
            self.widths[level] = max(self.widths[level], min(WIDEST, CURVE + LETTER * len(text)))
        for child in node["children"]:
            self.measure(child, (*path, child["label"]), level + 1)

    def x(self, level: int) -> float:
        """Return the x of the nodes of a level."""
        return MARGIN + sum(self.widths[:level])

    def place(self, node: dict[str, Any], path: Path, level: int) -> float:
        """Draw a node and all below it; return its y."""
        self.deepest = max(self.deepest, level)
        x, below = self.x(level), []
        open_ = path not in self.collapsed
        if open_:
            for child in node["children"]:
                place = (*path, child["label"])
                below.append((self.place(child, place, level + 1), child, place))
        rest = self._rest(node) if open_ else []
        places = [y for y, _, _ in below]
        for text, attributes in rest:
            self.deepest = max(self.deepest, level + 1)
            places.append(self._next_row())
            below_path = f'data-below="{",".join(map(str, path))}"'
            self._draw_rest(self.x(level + 1), places[-1], text, f"{attributes} {below_path}")
        y = places[0] if places else self._next_row()
        for child_y, child, _ in below:
            self._draw_edge(x, y, self.x(level + 1), child_y, node, child)
        if rest:
            for child_y in places[len(below) :]:
                self.edges.append(_curve(x, y, self.x(level + 1), child_y, "rest"))
        self._draw_node(x, y, node, path)
        return y

    def _next_row(self) -> float:
        self.rows += 1
        return MARGIN + (self.rows - 0.5) * ROW

    def _rest(self, node: dict[str, Any]) -> list[tuple[str, str]]:
        """Return the texts of what is not drawn below a node, each with its attributes."""
        found = []
        others, unstored = node.get("others"), node.get("unstored")
        if others and others["number"]:
            kind = "outcomes" if node["kind"] == "chance" else "actions"
            share = f" · {_percent(others['probability'])}" if node["kind"] == "chance" else ""
            found.append((
                f"{others['number']} more {kind}{share} · {others['visits']:,}",
                f'data-others="{others["probability"]!r}"',
            ))  # fmt: skip
        if unstored and (unstored["probability"] > 1e-12 or unstored["visits"]):
            text = f"not stored · {_percent(unstored['probability'])} · {unstored['visits']:,}"
            found.append((text, f'data-unstored="{unstored["probability"]!r}"'))
        return found

    def _draw_rest(self, at: float, y: float, text: str, attributes: str) -> None:
        self.nodes.append(
            f'<g {attributes}><circle class="rest" cx="{at}" cy="{y:.1f}" r="5"/>'
            f'<text class="edge" x="{at - 9}" y="{y - 5:.1f}" text-anchor="end">{html.escape(text)}</text></g>'
        )

    def _draw_edge(self, x: float, y: float, x2: float, y2: float, node: dict[str, Any], child: dict[str, Any]) -> None:
        width = 1 + 5 * math.sqrt(child["visits"] / self.most)
        last = " last" if child.get("last") else ""
        self.edges.append(_curve(x, y, x2, y2, f"edge{last} below-{node['kind']}", width))
        text = "".join(
            f'<tspan class="{kind}">{html.escape(part)}</tspan>' if kind else html.escape(part)
            for part, kind in _edge_text(node, child)
        )
        self.nodes.append(
            f'<text class="edge" x="{x2 - _radius(child["visits"], self.most) - 5:.1f}" y="{y2 - 5:.1f}" '
            f'text-anchor="end">{text}<title>{html.escape(child["text"])}</title></text>'
        )

    def _draw_node(self, x: float, y: float, node: dict[str, Any], path: Path) -> None:
        value = node["value"][self.player]
        r = _radius(node["visits"], self.most)
        hidden = bool(node["children"]) and path in self.collapsed
        classes = ["node", node["kind"], *["last"] * bool(node.get("last")), *["chosen"] * (path == self.chosen)]
        values = ", ".join(f"{one:.3f}" for one in node["value"])
        name = f"{node['kind']} {node['text']}, {node['visits']} visits, value {values}"
        more = " +" if hidden or node.get("cut") else ""
        inner = bool(node["children"]) and not hidden
        shape = _shape(node["kind"], x, y, r, value_color(value, self.low, self.high))
        self.nodes.append(
            f'<g class="{" ".join(classes)}" data-path="{",".join(map(str, path))}" data-visits="{node["visits"]}" '
            f'data-value="{" ".join(repr(one) for one in node["value"])}" '
            f'data-probability="{"" if node["probability"] is None else repr(node["probability"])}" role="button" '
            f'tabindex="0" aria-label="{html.escape(name)}">{shape}'
            f'<text x="{x if inner else x + r + 4:.1f}" y="{y + r + 12 if inner else y + 4:.1f}" '
            f'text-anchor="{"middle" if inner else "start"}">{value:.3f}{more}</text>'
            f"<title>{html.escape(name)}</title></g>"
        )


def _edge_text(node: dict[str, Any], child: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the parts of the text of an edge with their classes: name, probability of an outcome, visits."""
    share = child["probability"] if node["kind"] == "chance" else None
    shown = [] if share is None else [(" · ", ""), (_percent(share), "share")]
    return [(_short(child["text"]), "name"), *shown, (f" · {child['visits']:,}", "")]


def _radius(visits: int, most: int) -> float:
    return 5 + 9 * math.sqrt(visits / most)


def _shape(kind: str, x: float, y: float, r: float, color: str) -> str:
    style = f'style="fill:{color}"'
    if kind == "chance":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" {style}/>'
    if kind == "decision":
        side = 1.8 * r
        corner = f'x="{x - side / 2:.1f}" y="{y - side / 2:.1f}"'
        return f'<rect {corner} width="{side:.1f}" height="{side:.1f}" rx="2" {style}/>'
    points = f"{x:.1f},{y - r * 1.2:.1f} {x + r * 1.2:.1f},{y:.1f} {x:.1f},{y + r * 1.2:.1f} {x - r * 1.2:.1f},{y:.1f}"
    return f'<polygon points="{points}" {style}/>'


def _curve(x: float, y: float, x2: float, y2: float, classes: str, width: float = 1.0) -> str:
    turn = x + 46
    line = f"M{x:.1f},{y:.1f} C{turn:.1f},{y:.1f} {x + 22:.1f},{y2:.1f} {turn + 14:.1f},{y2:.1f} L{x2:.1f},{y2:.1f}"
    return f'<path class="{classes}" d="{line}" style="stroke-width:{width:.1f}"/>'


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.00095 or share == 0 else f"{100 * share:.2g} %"


def find_node(tree: dict[str, Any], path: Sequence[int]) -> dict[str, Any] | None:
    """Return the node at a path; None if the tree has no such node."""
    for label in path:
        found = [child for child in tree["children"] if child["label"] == label]
        if not found:
            return None
        tree = found[0]
    return tree
