"""SVG of pictures: ``to_svg`` writes a ``Scene`` as text that a browser shows by itself or inside a page.

Colors are CSS variables such as ``--scene-board``, which a page may replace. Their defaults follow the CSS property
``color-scheme``: of the page, or of the system if the file is opened by itself. Text on a shape has the variable
``--scene-on-board``: black or white, whichever has the higher contrast, which is always above 4.5.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import singledispatch
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from aleazero.errors import ContractError, nearest
from aleazero.games.scene import Button, Circle, Die, Group, Label, Line, Piece, Polygon, Rect, Scene, Shape, Tile

PALETTE: Final = {
    # text, surfaces and marks
    "ink": ("#1b1f24", "#e8eaed"),
    "faint": ("#57606c", "#a9b2be"),
    "paper": ("#ffffff", "#343b46"),
    "board": ("#eef1f4", "#22272e"),
    "field": ("#dce2e8", "#2f3741"),
    "line": ("#7d8894", "#76818e"),
    "accent": ("#0b5fc0", "#7ab2ff"),
    "mark": ("#b34d00", "#ffb066"),
    # squares or points of two kinds
    "light": ("#efe4d2", "#4b453a"),
    "dark": ("#cdb592", "#67593f"),
    # players
    "player0": ("#0072b2", "#5cb8ee"),
    "player1": ("#c04f0a", "#f29a4b"),
    "player2": ("#00735a", "#3fcf9f"),
    "player3": ("#8a3f7b", "#e39bcb"),
    # named colors, for pieces that have one by the rules
    "blue": ("#1d63c1", "#3f86e0"),
    "yellow": ("#f2c230", "#e8b923"),
    "red": ("#c3342b", "#d9534a"),
    "green": ("#1e7d4f", "#3fa873"),
    "black": ("#23282f", "#0b0d10"),
    "white": ("#ffffff", "#eef1f4"),
    # steps from low to high
    "scale0": ("#e9eef3", "#39424d"),
    "scale1": ("#d9e8f2", "#35506a"),
    "scale2": ("#bfe0ee", "#2f6384"),
    "scale3": ("#9fd8e0", "#2a7893"),
    "scale4": ("#86d1bf", "#2b8f93"),
    "scale5": ("#96cf8a", "#3ca582"),
    "scale6": ("#c2cf5d", "#6fb95f"),
    "scale7": ("#e9c341", "#a9c748"),
    "scale8": ("#f3a73b", "#ddc838"),
    "scale9": ("#ee8340", "#f4b43f"),
    "scale10": ("#d95b4b", "#f88f4d"),
    "scale11": ("#b23a5e", "#f2706f"),
}
"""Colors by name, each for light and for dark pages. ``none`` is transparent and can be clicked."""

SCALE: Final = tuple(name for name in PALETTE if name.startswith("scale"))
"""The colors for steps from low to high."""


def to_svg(
    scene: Scene,
    *,
    selected: Collection[str] = (),
    clickable: Collection[str] = (),
    marked: Collection[str] = (),
    styled: bool = True,
) -> str:
    """Return a scene as SVG text.

    Each part is a ``<g data-part="NAME">``. Parts that are selected or clickable are buttons for keyboards and screen
    readers; keys of parts are in ``data-key``. Handling clicks is up to the page.

    Args:
        scene: the picture.
        selected: names of the parts that are shown as selected.
        clickable: names of the parts that are shown as clickable.
        marked: names of the parts that are marked, such as those of a hint. They must be selected or clickable, too.
        styled: include the style sheet ``STYLE``. A page with many pictures contains it once.

    Returns:
        An ``<svg>`` element that is as wide as its container.

    Raises:
        ContractError: a color is not in the palette.
    """
    buttons = _Buttons(frozenset(selected), frozenset(clickable), frozenset(marked))
    shapes = "".join(_shape(shape, buttons) for shape in scene.shapes)
    role = "group" if buttons.selected or buttons.clickable else "img"
    name = quoteattr(scene.title or "board")
    style = f"<style>{STYLE}</style>" if styled else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="scene" viewBox="0 0 {_n(scene.width)} {_n(scene.height)}" '
        f'role="{role}" aria-label={name}>{style}{shapes}</svg>'
    )


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colors ``#rrggbb`` by WCAG, from 1 to 21."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _on(color: str) -> str:
    return max("#000000", "#ffffff", key=lambda text: contrast(text, color))


def _style() -> str:
    """The variables of the palette, and the rules that use them."""
    variables = "".join(
        f"--scene-{name}:light-dark({light},{dark});--scene-on-{name}:light-dark({_on(light)},{_on(dark)});"
        for name, (light, dark) in PALETTE.items()
    )
    return (
        "svg.scene:root{color-scheme:light dark}"
        f"svg.scene{{{variables}display:block;width:100%;height:auto;font-family:system-ui,sans-serif}}"
        ".scene text{text-anchor:middle;dominant-baseline:central;pointer-events:none;user-select:none}"
        ".scene .part{outline:none}"
        ".scene .clickable,.scene .selected{cursor:pointer}"
        ".scene .tint,.scene .halo,.scene .ring{fill:none;stroke:none;pointer-events:none}"
        ".scene .tint{fill:var(--scene-accent);fill-opacity:.1}"
        ".scene .clickable:hover>.tint{fill-opacity:.25}"
        ".scene .selected>.tint{fill-opacity:.35}"
        ".scene .halo{stroke:var(--scene-board);stroke-width:3}"
        ".scene .ring{stroke:var(--scene-accent);stroke-width:2}"
        ".scene .clickable:hover>.ring{stroke-width:3}"
        ".scene .selected>.ring{stroke-width:4}"
        ".scene .marked>.ring{stroke:var(--scene-mark);stroke-width:5;stroke-dasharray:9 3}"
        ".scene .part:focus-visible>.ring{stroke:var(--scene-ink);stroke-width:4;stroke-dasharray:5 3}"
    )


STYLE: Final = _style()
"""The style sheet of the pictures."""


class _Buttons:
    def __init__(self, selected: frozenset[str], clickable: frozenset[str], marked: frozenset[str]) -> None:
        self.selected = selected
        self.clickable = clickable
        self.marked = marked


def _shape(shape: Shape, buttons: _Buttons) -> str:
    """Return a shape; if it has a part, within its button."""
    if isinstance(shape, Group):
        first, *rest = (_shape(inner, buttons) for inner in shape.shapes)
    else:
        first, rest = _draw(shape), []
    name = escape(shape.title)
    title = f"<title>{name}</title>" if name else ""
    if shape.part is None:
        inside = first + "".join(rest)
        return f"<g>{title}{inside}</g>" if name else inside
    selected, clickable = shape.part in buttons.selected, shape.part in buttons.clickable
    words = ["part", *["selected"] * selected, *["clickable"] * clickable]
    words += ["marked"] * (shape.part in buttons.marked)
    attributes = f'class="{" ".join(words)}" data-part={quoteattr(shape.part)}'
    if not selected and not clickable:
        return f"<g {attributes}>{title}{first}{''.join(rest)}</g>"
    attributes += (
        f' role="button" tabindex="0" aria-label={quoteattr(shape.title or shape.part)} '
        f'aria-pressed="{"true" if selected else "false"}"'
    )
    if shape.key:
        attributes += f" data-key={quoteattr(shape.key)} aria-keyshortcuts={quoteattr(shape.key)}"
    tint, halo, ring = (f'<{_outline(shape)} class="{layer}"/>' for layer in ("tint", "halo", "ring"))
    return f"<g {attributes}>{title}{first}{tint}{''.join(rest)}{halo}{ring}</g>"


def _n(number: float) -> str:
    """Return a number with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _color(color: str, on: bool = False) -> str:
    """Return the variable of a color, or that of text on it; raise ContractError if there is no such color."""
    if color not in PALETTE:
        raise ContractError(f"drawing: no color {color!r}, {nearest(color, [*PALETTE, 'none'])}")
    return f"var(--scene-{'on-' * on}{color})"


def _fill(color: str) -> str:
    return "fill:transparent" if color == "none" else f"fill:{_color(color)}"


def _edge(color: str | None, thickness: float = 1.5) -> str:
    return "" if color is None else f";stroke:{_color(color)};stroke-width:{_n(thickness)}"


def _text(x: float, y: float, text: str, size: float, style: str) -> str:
    return f'<text x="{_n(x)}" y="{_n(y)}" font-size="{_n(size)}" style="{style}">{escape(text)}</text>'


def _on_shape(x: float, y: float, text: str, size: float, color: str) -> str:
    """Text on a shape of this color, bold."""
    return _text(x, y, text, size, f"fill:{_color(color, on=True)};font-weight:600") if text else ""


def _fitting(text: str, width: float, height: float) -> float:
    """Return the largest size of a text in a box, with bold letters of about 0.68 of their size."""
    return min(height * 0.45, width * 0.9 / (0.68 * max(1, len(text))))


# -- shapes ------------------------------------------------------------------------------------------------------------


@singledispatch
def _outline(shape: Shape) -> str:
    """Return the element of the outline of a shape, without brackets."""
    raise TypeError(f"cannot draw {type(shape).__name__}, expected a shape of aleazero.games.scene")


@singledispatch
def _draw(shape: Shape) -> str:
    """Return a shape other than a group as SVG."""
    raise TypeError(f"cannot draw {type(shape).__name__}, expected a shape of aleazero.games.scene")


def _rect(x: float, y: float, width: float, height: float, radius: float) -> str:
    return f'rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(radius)}"'


@_outline.register
def _(shape: Rect) -> str:
    return _rect(shape.x, shape.y, shape.width, shape.height, shape.radius)


@_draw.register
def _(shape: Rect) -> str:
    return f'<{_outline(shape)} style="{_fill(shape.color)}{_edge(shape.outline)}"/>'


@_outline.register(Circle)
@_outline.register(Piece)
def _(shape: Circle | Piece) -> str:
    return f'circle cx="{_n(shape.x)}" cy="{_n(shape.y)}" r="{_n(shape.radius)}"'


@_draw.register
def _(shape: Circle) -> str:
    return f'<{_outline(shape)} style="{_fill(shape.color)}{_edge(shape.outline)}"/>'


@_outline.register
def _(shape: Polygon) -> str:
    return f'polygon points="{" ".join(f"{_n(x)},{_n(y)}" for x, y in shape.points)}"'


@_draw.register
def _(shape: Polygon) -> str:
    return f'<{_outline(shape)} style="{_fill(shape.color)}{_edge(shape.outline)}"/>'


@_outline.register
def _(shape: Line) -> str:
    return f'line x1="{_n(shape.x1)}" y1="{_n(shape.y1)}" x2="{_n(shape.x2)}" y2="{_n(shape.y2)}"'


@_draw.register
def _(shape: Line) -> str:
    return f'<{_outline(shape)} style="{_edge(shape.color, shape.thickness)[1:]};stroke-linecap:round"/>'


@_outline.register
def _(shape: Label) -> str:
    width = 0.6 * shape.size * len(shape.text) + 8
    left = shape.x - {"start": 4.0, "middle": width / 2, "end": width - 4}[shape.anchor]
    return _rect(left, shape.y - 0.7 * shape.size, width, 1.4 * shape.size, 4)


@_draw.register
def _(shape: Label) -> str:
    anchor = "" if shape.anchor == "middle" else f";text-anchor:{shape.anchor}"
    weight = ";font-weight:600" if shape.bold else ""
    text = _text(shape.x, shape.y, shape.text, shape.size, f"{_fill(shape.color)}{anchor}{weight}")
    # Text does not receive clicks, so that labels do not cover the shapes below them.
    return text if shape.part is None else f'<{_outline(shape)} style="fill:transparent"/>{text}'


@_outline.register(Tile)
@_outline.register(Button)
def _(shape: Tile | Button) -> str:
    return _rect(shape.x, shape.y, shape.width, shape.height, min(6.0, 0.18 * shape.height))


@_draw.register
def _(shape: Tile) -> str:
    size = _fitting(shape.text, shape.width, shape.height) if shape.size is None else shape.size
    middle = shape.x + shape.width / 2, shape.y + shape.height / 2
    return f'<{_outline(shape)} style="{_fill(shape.color)}{_edge("line", 1)}"/>' + _on_shape(
        *middle, shape.text, size, shape.color
    )


@_draw.register
def _(shape: Button) -> str:
    size = min(20.0, _fitting(shape.text, shape.width, shape.height))
    middle = shape.x + shape.width / 2, shape.y + shape.height / 2
    if shape.enabled:
        return f'<{_outline(shape)} style="{_fill("accent")}"/>' + _on_shape(*middle, shape.text, size, "accent")
    text = _text(*middle, shape.text, size, f"{_fill('faint')};font-weight:600")
    return f'<{_outline(shape)} style="{_fill("board")}{_edge("field")}"/>{text}'


@_draw.register
def _(shape: Piece) -> str:
    rim = Circle(shape.x, shape.y, 0.68 * shape.radius, "none")
    return (
        f'<{_outline(shape)} style="{_fill(shape.color)};stroke:{_color(shape.color, on=True)};'
        f'stroke-width:{_n(0.07 * shape.radius)}"/>'
        f'<{_outline(rim)} style="fill:none;stroke:{_color(shape.color, on=True)};stroke-opacity:.35;'
        f'stroke-width:{_n(0.1 * shape.radius)}"/>'
        + _on_shape(
            shape.x, shape.y, shape.text, _fitting(shape.text, 1.5 * shape.radius, 2 * shape.radius), shape.color
        )
    )


PIPS: Final = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""Places of the pips of each face, as steps from the middle."""


@_outline.register
def _(shape: Die) -> str:
    return _rect(shape.x, shape.y, shape.size, shape.size, 0.2 * shape.size)


@_draw.register
def _(shape: Die) -> str:
    middle, step = shape.size / 2, 0.26 * shape.size
    dashed = ";stroke-dasharray:4 3" if shape.face == 0 else ""
    box = f'<{_outline(shape)} style="{_fill(shape.color)}{_edge("line")}{dashed}"/>'
    if shape.face not in PIPS:  # dice with more than six faces show a number
        text = str(shape.face) if shape.face else ""
        return box + _on_shape(shape.x + middle, shape.y + middle, text, 0.5 * shape.size, shape.color)
    pips = (
        f'<circle cx="{_n(shape.x + middle + step * across)}" cy="{_n(shape.y + middle + step * down)}" '
        f'r="{_n(0.095 * shape.size)}"/>'
        for across, down in PIPS[shape.face]
    )
    return f'{box}<g style="fill:{_color(shape.color, on=True)}">{"".join(pips)}</g>'


@_outline.register
def _(shape: Group) -> str:
    return _outline(shape.shapes[0])
