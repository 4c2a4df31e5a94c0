"""Tables of numbers, and curves with colors and dashes that stay apart for the colour-blind."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from aleazero.serving.scale import Scale

COLORS: Final = ("#1769aa", "#c65d12", "#2a8a6b", "#9a4f8c")
"""Colours of players, which stay apart for the colour-blind; lines also differ by their dashes. ``theme.css`` has
lighter ones for dark pages."""
DASHES: Final = ("solid", "dashed", "dotted", "dashed")


def numbers_table(heads: Any, rows: Any, best: int | None = None, bars: int | None = None) -> str:
    """Return a table of numbers as HTML.

    Args:
        heads: names of the columns.
        rows: the cells of each row.
        best: number of the row that is marked.
        bars: number of a column of percentages that are also drawn as bars.
    """
    head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
    lines = ["".join(_cell(str(cell), number == bars) for number, cell in enumerate(row)) for row in rows]
    body = "".join(f"<tr{' class=best' if place == best else ''}>{line}</tr>" for place, line in enumerate(lines))
    return f'<table class="numbers"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _cell(text: str, bar: bool) -> str:
    width = float(text.rstrip("%")) * 0.05 if bar else 0.0
    drawn = f'<i class="bar" style="width:{width:.2f}em" aria-hidden="true"></i>' if bar else ""
    return f"<td>{drawn}{html.escape(text)}</td>"


def facts_table(facts: Mapping[str, Any]) -> str:
    """Return names and values as an HTML table whose values are texts."""
    rows = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>'
        for name, value in facts.items()
    )
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def scale_title(scale: Scale, player: str = "") -> str:
    """Return the title of a curve of values: ``Win chance of player 0 (%)``."""
    percent = " (%)" if scale.is_win_chance else ""
    return f"{scale.name[:1].upper()}{scale.name[1:]}{f' of {player}' if player else ''}{percent}"


class Curve(NamedTuple):
    """A line of a plot."""

    name: str
    points: Sequence[Sequence[float]]
    number: int
    """Number of its color and dashes."""


def chart_options(lines: Sequence[Curve], scale: Scale | None) -> dict[str, Any]:
    """Return the options of a plot of values over a game; the range of win chances is 0 to 100."""
    percent = scale is not None and scale.is_win_chance
    return {
        "animation": False,
        "grid": {"left": 44, "right": 16, "top": 30 if len(lines) > 1 else 12, "bottom": 26},
        "tooltip": {"trigger": "axis"},
        "legend": {"show": len(lines) > 1, "top": 0},
        "xAxis": {"type": "value", "min": 0, "minInterval": 1, "splitLine": {"show": False}},
        "yAxis": {"type": "value", "scale": not percent, **({"min": 0, "max": 100} if percent else {}),
                  "splitLine": {"lineStyle": {"opacity": 0.25}}},
        "series": [
            {"type": "line", "name": line.name, "data": line.points,
             "symbol": "none" if len(line.points) > 40 else "circle", "symbolSize": 5,
             "color": COLORS[line.number % 4],
             "lineStyle": {"type": DASHES[line.number % 4] if len(lines) > 1 else "solid", "width": 2}}
            for line in lines
        ],
    }  # fmt: skip
