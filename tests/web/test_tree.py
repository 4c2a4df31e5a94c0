"""The drawing of a tree: all of it is inside the picture, and each text has room on its edge."""

from __future__ import annotations

import re

import pytest

from aleazero.web.parts.tree import CURVE, LETTER, WIDEST, tree_svg


def node(label, text, visits, kind="decision", probability=None, children=()):
    return {
        "label": label, "text": text, "kind": kind, "player": 0, "visits": visits, "value": [visits / 10],
        "prior": None, "probability": probability, "children": list(children),
    }  # fmt: skip


def tree(name):
    roll = node(0, name, 15, "chance", children=[node(face, str(face), 3, probability=1 / 6) for face in (1, 2, 3)])
    roll |= {
        "others": {"number": 2, "visits": 6, "probability": 1 / 3},
        "unstored": {"visits": 0, "probability": 1 / 6},
    }
    return node(-1, "", 20, children=[roll, node(1, "stop", 5, "terminal")])


@pytest.mark.parametrize("name", ["roll", "a name with many letters that is cut", "a < b & c"])
def test_levels_are_as_wide_as_their_texts_and_all_is_inside(name):
    found = tree_svg(tree(name), 0)
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', found).groups())
    nodes = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', found)]
    assert all(0 < x < width and 0 < y < height for x, y in nodes)
    edges = re.findall(r"M([\d.]+),[\d.]+ C.*? L([\d.]+),", found)
    assert len(edges) == 2 + 3 + 2  # actions, outcomes, and what is not shown or not stored
    text = f"{name if len(name) <= 22 else name[:21] + '…'} · 15"
    first = min(float(end) - float(start) for start, end in edges if float(start) < 40)
    assert first == pytest.approx(max(120, min(WIDEST, CURVE + LETTER * len(text))), abs=0.2)


def test_a_collapsed_node_hides_its_children():
    assert tree_svg(tree("roll"), 0).count('class="node') == 6
    assert tree_svg(tree("roll"), 0, {(0,)}).count('class="node') == 3
