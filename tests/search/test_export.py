"""The exported tree: numbers that add up, JSON that can be read, DOT that can be drawn."""

from __future__ import annotations

import json
import re

import pytest

import aleazero
from aleazero import ChanceConfig, Search, SearchConfig


def walk(node):
    yield node
    for child in node["children"]:
        yield from walk(child)


@pytest.fixture
def result(backend: str):
    game = aleazero.load_game("dice_game")
    return Search(game, "rollout", SearchConfig(num_simulations=900), backend=backend).run(game.state_from_text("10"))


def test_visits_add_up(result) -> None:
    for node in walk(result.tree(depth=50).root):
        below = sum(child["visits"] for child in node["children"])
        own = {"decision": 1, "chance": 0, "terminal": node["visits"]}[node["kind"]]
        assert node["visits"] == below + own, node


def test_values_are_means_of_what_is_below(result) -> None:
    """At a chance node the value is the mean of its outcomes, weighted by visits."""
    found = [node for node in walk(result.tree(depth=50).root) if node["kind"] == "chance"]
    assert found
    for node in found:
        below = sum(child["visits"] * child["value"][0] for child in node["children"])
        assert node["value"][0] == pytest.approx(below / node["visits"])
        assert {child["probability"] for child in node["children"]} == {1 / 6}
        assert all(child["prior"] is None for child in node["children"])


def test_it_can_be_cut(result) -> None:
    assert result.tree(depth=0).root["children"] == []
    one = result.tree(depth=2, top=1).root
    assert len(one["children"]) == 1
    assert len(one["children"][0]["children"]) == 1
    assert one["children"][0]["visits"] == result.visits.max()


def test_json_and_dot(result) -> None:
    tree = result.tree(depth=3, top=4)
    assert json.loads(tree.to_json()) == tree.root
    dot = tree.to_dot()
    assert dot.startswith("digraph search {")
    assert dot.endswith("}")
    names = set(re.findall(r"^  (n[_0-9]*) \[", dot, re.M))
    arrows = re.findall(r"^  (n[_0-9]*) -> (n[_0-9]*) ", dot, re.M)
    assert len(names) == len(list(walk(tree.root)))
    assert len(arrows) == len(names) - 1
    assert {end for arrow in arrows for end in arrow} == names
    assert "ellipse" in dot
    assert '"roll' in dot


def test_open_loop_names_shared_outcomes(backend: str) -> None:
    game = aleazero.load_game("dice_game")
    config = SearchConfig(num_simulations=200, chance=ChanceConfig(loop="open"))
    tree = Search(game, "rollout", config, backend=backend).run(game.state_from_text("10")).tree(depth=2)
    roll = next(child for child in tree.root["children"] if child["text"] == "roll")
    assert [child["text"] for child in roll["children"]] == ["(any outcome)"]
    assert [child["probability"] for child in roll["children"]] == [None]
    assert sum(child["prior"] for child in tree.root["children"]) == pytest.approx(1.0)
