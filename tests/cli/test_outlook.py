"""``aleazero analyse --net``: what a plan over a value network tells beside values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from value_checkpoints import taught

import aleazero
from aleazero.nets.planned import PlannedEvaluator

PIG, YATZY = aleazero.load_game("pig", target=20), aleazero.load_game("yatzy", players=2)
TAG = f"{Path(__file__).parents[2]}/examples/tag.py"
PIG_WORDS = ("analyse", "pig", "-p", "target=20", "--plan", "turn")
YATZY_WORDS = ("analyse", "yatzy", "--plan", "turn")


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    return {game.name: str(taught(game, folder / game.name)) for game in (PIG, YATZY)}


def rolled(rolls):
    """A state of Yatzy behind some rolls of its first turn, keeping by the first action."""
    state = YATZY.new_initial_state()
    for number in range(rolls):
        state.apply_action(state.sample_outcome(0.3 + 0.2 * number))
        if number < rolls - 1:
            state.apply_action(state.legal_actions()[5])
    return state


def test_pig_shows_chances_to_win_and_the_next_roll(run_json, nets):
    data = run_json(*PIG_WORDS, "--net", nets["pig"], "--position", "5-9 turn 7 player 1")
    assert data["wins"] == pytest.approx([(q + 1) / 2 for q in data["q"]])  # there is no margin in pig
    assert data["margins"] is None
    assert data["swings"][0] > 0
    assert data["swings"][1] is None  # nothing rolls in the turn behind hold
    assert data["luck"] is None


def test_luck_is_the_value_behind_a_roll_less_the_value_before_it(run_json, nets):
    data = [run_json(*PIG_WORDS, "--net", nets["pig"], "--moves", f"roll {face}") for face in range(2, 7)]
    state = PIG.new_initial_state().child(0)
    plan = aleazero.Planner(PIG, PlannedEvaluator.load(nets["pig"], PIG)).plan(state)
    for face, told in enumerate(data, start=2):
        expected = plan.value(state.child(face)) - plan.value(state)
        np.testing.assert_allclose(told["luck"], expected, atol=1e-9)
    lost = plan.value(state.child(1)) - plan.value(state)
    assert sum(np.array(told["luck"]) for told in data) + lost == pytest.approx([0, 0], abs=1e-9)


def test_yatzys_expectations_are_the_plans_own(run_json, nets):
    state = rolled(2)
    data = run_json(*YATZY_WORDS, "--net", nets["yatzy"], "--position", state.to_text())
    wins, margins, q = (np.array(data[name]) for name in ("wins", "margins", "q"))
    np.testing.assert_allclose(2 * wins - 1 + 0.001 * margins, q, atol=1e-9)
    assert np.ptp(margins) > 0
    assert data["luck"] is None  # which dice were rolled last is not known
    plan = aleazero.Planner(YATZY, PlannedEvaluator.load(nets["yatzy"], YATZY)).plan(YATZY.new_initial_state())
    expected = plan.value(state) - plan.value(YATZY.new_initial_state())
    np.testing.assert_allclose(data["turn_so_far"], expected, atol=1e-9)


def test_the_first_roll_of_a_turn_is_known(run_json, nets):
    data = run_json(*YATZY_WORDS, "--net", nets["yatzy"], "--position", rolled(1).to_text())
    assert data["luck"] is not None
    assert data["turn_so_far"] is None


def test_it_is_shown(run, nets):
    text = run(*YATZY_WORDS, "--net", nets["yatzy"], "--position", rolled(1).to_text(), "--top", "3").stdout
    header = next(line for line in text.splitlines() if "behind" in line)
    assert header.split() == ["action", "value", "behind", "win", "margin", "next", "roll"]
    assert "\nluck " in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_pending_roll_shows_player_0s_chances(run_json, nets):
    data = run_json(*PIG_WORDS, "--net", nets["pig"], "--position", "5-9 turn 7 player 1 rolling")
    assert data["wins"] == pytest.approx([(o["value"][0] + 1) / 2 for o in data["outcomes"]])
    assert data["swings"] is None


def test_plies_and_searches_tell_values(run_json, nets):
    words = ("analyse", "pig", "-p", "target=20", "--position", "5-9 turn 7")
    plies = run_json(*words, "--plan", "1", "--net", nets["pig"])
    assert plies["wins"] is None
    search = run_json(*words, "--evaluator", f"net:{nets['pig']}", "--sims", "20")
    assert sum(search["visits"]) == 20
    assert "wins" not in search


def test_chances_of_two_and_three_points_are_those_of_the_mover(run, run_json, tmp_path):
    game = aleazero.load_game(TAG)
    net = str(taught(game, tmp_path / "tag"))
    words = ("analyse", TAG, "--plan", "turn", "--net", net, "--position")
    state = game.state_from_vector([7, 3, 1, 0, 0])
    data = run_json(*words, state.serialize())
    told = {name: np.array(chances) for name, chances in data["levels"].items()}
    assert list(told) == ["win_2", "win_3", "lose_2", "lose_3"]
    points = 2 * np.array(data["wins"]) - 1 + told["win_2"] + told["win_3"] - told["lose_2"] - told["lose_3"]
    np.testing.assert_allclose(points, data["q"], atol=1e-9)
    assert all(np.ptp(chances) > 0 for chances in told.values())
    other = run_json(*words, game.state_from_vector([3, 7, 0, 0, 0]).serialize())  # the same, for the other player
    assert other["levels"]["win_2"] == pytest.approx(data["levels"]["win_2"], abs=1e-6)
    text = run(*words, state.serialize()).stdout
    header = next(line for line in text.splitlines() if "behind" in line)
    assert " ".join(header.split("behind")[1].split()) == "win win 2+ win 3 lose 2+ lose 3 next roll"
    assert max(map(len, text.splitlines())) <= 80


def test_what_is_wrong_is_one_line(refused, nets):
    assert "expected one of the two" in refused(*PIG_WORDS, "--net", nets["pig"], "--evaluator", "uniform")
    assert "has game 'yatzy', expected 'pig'" in refused(*PIG_WORDS, "--net", nets["yatzy"])
    assert "no network at 'none'" in refused(*PIG_WORDS, "--net", "none")
