"""Search results: best action, policy, principal variation, exported tree and JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero import ChanceConfig, Search, SearchConfig
from aleazero.games.base import CHANCE, DECISION
from aleazero.search.result import SearchResult

COINS = Path(__file__).parents[2] / "examples" / "coins.py"


def result_of(visits, q, priors) -> SearchResult:
    return SearchResult(
        actions=np.arange(len(visits)) * 10,
        visits=np.array(visits),
        q=np.array(q, float),
        priors=np.array(priors, float),
        value=np.zeros(1),
        outcomes=[],
        stopped=None,
        config=SearchConfig(),
        seed=0,
        position=0,
        view=None,
    )


@pytest.mark.parametrize(
    ("visits", "q", "priors", "best"),
    [
        ([3, 5, 2], [9, 0, 9], [1, 0, 0], 10),  # visits first
        ([5, 5, 2], [1, 2, 9], [1, 0, 0], 10),  # then the value
        ([5, 5, 2], [2, 2, 9], [0.1, 0.2, 0.7], 10),  # then the prior
        ([5, 5, 2], [2, 2, 9], [0.2, 0.2, 0.6], 0),  # then the lower id
        ([0, 0], [np.nan, np.nan], [0.3, 0.7], 10),  # nothing tried: the prior
    ],
)
def test_the_best_action(visits, q, priors, best) -> None:
    assert result_of(visits, q, priors).best_action == best


def test_the_policy_is_visit_shares() -> None:
    assert result_of([1, 3], [0, 0], [0.5, 0.5]).policy.tolist() == [0.25, 0.75]
    assert result_of([0, 0], [0, 0], [0.3, 0.7]).policy.tolist() == [0.3, 0.7]


def test_chance_root_has_no_action_to_sample() -> None:
    game = aleazero.load_game("dice_game")
    result = Search(game, "uniform").run(game.state_from_text("14 rolling"))
    assert result.best_action is None
    with pytest.raises(aleazero.PositionError, match="the root is a chance node"):
        result.sample_action()
    assert [outcome.outcome for outcome in result.outcomes] == [1, 2, 3, 4, 5, 6]
    assert sum(outcome.visits for outcome in result.outcomes) == 256
    assert result.value[0] == pytest.approx(sum(outcome.visits * outcome.value[0] for outcome in result.outcomes) / 256)


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_principal_variation_is_the_most_visited_path(loop: str) -> None:
    game = aleazero.load_game("dice_game")
    config = SearchConfig(num_simulations=2000, chance=ChanceConfig(loop=loop))
    result = Search(game, "rollout", config).run(game.state_from_text("14"))
    line = result.principal_variation()
    assert (line[0].kind, line[0].action, line[0].text) == (DECISION, result.best_action, "roll")
    assert line[0].visits == result.visits.max()
    assert line[1].kind == CHANCE
    assert [step.visits for step in line] == sorted((step.visits for step in line), reverse=True)


def test_to_dict_can_be_written_as_json() -> None:
    game = aleazero.load_game("pig", target=20)
    for position in ("0-0 turn 5", "0-0 turn 5 rolling"):
        data = Search(game, "rollout", SearchConfig(num_simulations=1)).run(game.state_from_text(position)).to_dict()
        read = json.loads(json.dumps(data, allow_nan=False))
        assert read["stats"]["simulations"] == 1
        assert read["config"]["chance"]["loop"] == "closed"
        assert None in read["q"] or not read["q"]


def test_later_search_does_not_change_an_earlier_result(backend: str) -> None:
    game = aleazero.load_game("dice_game")
    search = Search(game, "rollout", SearchConfig(num_simulations=300), backend=backend)
    first = search.run(game.state_from_text("10"))
    before = first.to_dict(), first.tree(depth=4).to_json()
    second = search.run(game.state_from_text("3"))
    assert (first.to_dict(), first.tree(depth=4).to_json()) == before
    assert second.tree(depth=4).to_json() != before[1]
    del first
    again = search.run(game.state_from_text("10"))
    assert (again.to_dict(), again.tree(depth=4).to_json()) == before


# -- the exported tree: numbers that add up, JSON that can be read, DOT that can be drawn ------------------------------


def walk(node):
    yield node
    for child in node["children"]:
        yield from walk(child)


@pytest.fixture
def searched(backend: str):
    game = aleazero.load_game("dice_game")
    return Search(game, "rollout", SearchConfig(num_simulations=900), backend=backend).run(game.state_from_text("10"))


def test_visits_add_up(searched) -> None:
    for node in walk(searched.tree(depth=50).root):
        below = sum(child["visits"] for child in node["children"])
        own = {"decision": 1, "chance": 0, "terminal": node["visits"]}[node["kind"]]
        assert node["visits"] == below + own, node


def test_values_of_chance_nodes_are_means_of_their_children(searched) -> None:
    """At a chance node the value is the mean of its outcomes, weighted by visits."""
    found = [node for node in walk(searched.tree(depth=50).root) if node["kind"] == "chance"]
    assert found
    for node in found:
        below = sum(child["visits"] * child["value"][0] for child in node["children"])
        assert node["value"][0] == pytest.approx(below / node["visits"])
        assert {child["probability"] for child in node["children"]} == {1 / 6}
        assert all(child["prior"] is None for child in node["children"])


def test_tree_is_limited_by_depth_and_top(searched) -> None:
    assert searched.tree(depth=0).root["children"] == []
    one = searched.tree(depth=2, top=1).root
    assert len(one["children"]) == 1
    assert len(one["children"][0]["children"]) == 1
    assert one["children"][0]["visits"] == searched.visits.max()


def test_json_and_dot(searched) -> None:
    tree = searched.tree(depth=3, top=4)
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


@pytest.mark.parametrize("name", ["dice_game", str(COINS)])  # compiled and plain
@pytest.mark.parametrize("chance", ["sampling", "full", "open", "progressive"])
def test_simulations_are_those_of_the_stats_also_if_outcomes_are_not_stored(name, chance):
    game = aleazero.load_game(name)
    decision = game.new_initial_state()
    for state in (decision, decision.child(0)):  # then a chance node
        result = Search(game, "rollout", SearchConfig(num_simulations=100, chance=chance)).run(state, seed=0)
        assert result.simulations == result.stats.simulations == 100
