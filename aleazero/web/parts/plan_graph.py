"""The plan of a turn as a graph: positions that are reached in several ways, such as afterstates, are drawn once."""

from __future__ import annotations

import html
from typing import Any, Final

from aleazero.web.parts.tree import value_color

COLUMN: Final = 250
ROW: Final = 40
MARGIN: Final = 30


def plan_svg(graph: dict[str, Any], player: int) -> str:
    """Return the graph of the task ``plan_graph`` as SVG, with the values of a player."""
    columns = graph["columns"]
    values = [node["value"][player] for column in columns for node in column]
    low, high = min(values), max(values)
    rows = max(len(column) for column in columns)
    width, height = MARGIN * 2 + COLUMN * (len(columns) - 1) + 170, MARGIN * 2 + ROW * rows
    edges, nodes = [], []
    for level, column in enumerate(columns):
        for place, node in enumerate(column):
            x, y = MARGIN + level * COLUMN, MARGIN + ROW * (place + 0.5)
            nodes.append(_node(x, y, node, node["value"][player], low, high))
            for edge in node["edges"]:
                y2 = MARGIN + ROW * (edge["to"] + 0.5)
                edges.append(_edge(x, y, x + COLUMN, y2, edge))
    return (
        f'<svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Plan of the turn">{"".join(edges)}{"".join(nodes)}</svg>'
    )


def _node(x: float, y: float, node: dict[str, Any], value: float, low: float, high: float) -> str:
    style = f'style="fill:{value_color(value, low, high)};stroke:var(--ink)"'
    shape = {
        "chance": f'<circle cx="{x}" cy="{y}" r="7" {style}/>',
        "decision": f'<rect x="{x - 7}" y="{y - 7}" width="14" height="14" rx="2" {style}/>',
    }.get(node["kind"], f'<polygon points="{x},{y - 8} {x + 8},{y} {x},{y + 8} {x - 8},{y}" {style}/>')
    ways = f" ({node['ways']} ways)" if node["ways"] > 1 else ""
    name = html.escape(f"{node['text']}{ways}")
    return (
        f'<g data-kind="{node["kind"]}" data-ways="{node["ways"]}">{shape}'
        f'<text class="name" x="{x + 12}" y="{y - 3:.1f}">{name}</text>'
        f'<text class="edge" x="{x + 12}" y="{y + 11:.1f}">{value:.3f}</text></g>'
    )


def _edge(x: float, y: float, x2: float, y2: float, edge: dict[str, Any]) -> str:
    width = 1 + 6 * (edge["probability"] or 0.0) if not edge["best"] else 2.5
    classes = "edge last" if edge["best"] else "edge planned"
    share = "" if edge["probability"] is None else f", probability {edge['probability']:.4f}"
    middle = x + 150
    return (
        f'<path class="{classes}" d="M{x},{y} C{middle},{y} {middle},{y2} {x2},{y2}" style="stroke-width:{width:.1f}">'
        f"<title>{html.escape(edge['text'])}{share}</title></path>"
    )
