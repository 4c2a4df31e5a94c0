"""What play and analyse do where a trained network ships, and the list of those."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from aleazero.cli.main import app

LATE = "open chance yatzy upper 50 / open chance yatzy upper 60 / player 0 to roll"


def invoke(*words, given=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=given)


def test_the_list_has_their_strength():
    told = json.loads(invoke("champions", "--json").stdout)
    assert ("yatzy", {"players": 2}) in [(one["game"], one["params"]) for one in told]
    said = invoke("champions").stdout
    assert "yatzy(players=2)" in said
    assert "against oracle" in said


def test_analyse_plans_over_the_champion():
    told = json.loads(invoke("analyse", "yatzy", "--position", LATE, "--json").stdout)
    assert (told["evaluator"], told["plan"]) == ("net:champion", "turn")
    assert len(told["wins"]) == 252
    said = invoke("analyse", "yatzy", "--position", LATE, "--top", 3)
    assert "by the champion that ships" in said.stdout


@pytest.mark.parametrize("words", [("--sims", 20), ("--evaluator", "uniform"), ("--chance", "open"), ("--c", 1.0)])
def test_whoever_asks_for_a_search_gets_one(words):
    told = json.loads(invoke("analyse", "yatzy", "--position", LATE, *words, "--json").stdout)
    assert "plan" not in told
    assert told["evaluator"] != "net:champion"


def test_a_game_without_one_is_searched():
    assert json.loads(invoke("analyse", "pig", "--json").stdout)["evaluator"] == "rollout"


def test_play_is_against_the_champion_and_has_hints():
    told = json.loads(invoke("play", "yatzy", "--position", LATE, "--seed", 1, "--watch", "--json").stdout)
    assert told["engine"] == "plan:horizon=turn,net=champion"
    assert told["complete"]
    said = invoke("play", "yatzy", "--position", LATE, "--seed", 1, given="?\nq\n").stdout
    assert "the champion that ships plays" in said
    assert "behind" in said


def test_a_value_network_has_hints_by_its_own_text_too():
    said = invoke("play", "yatzy", "--opponent", "net:champion", "--position", LATE, "--seed", 1, given="?\nq\n").stdout
    assert "behind" in said


def test_play_with_simulations_is_against_the_search():
    told = json.loads(invoke("play", "yatzy", "--position", LATE, "--sims", 5, "--watch", "--json").stdout)
    assert told["engine"] == "search:sims=5"
