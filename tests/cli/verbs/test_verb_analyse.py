from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from value_checkpoints import trained_checkpoint

import aleazero
from aleazero.nets.planned import PlannedEvaluator

QUICK = ("--sims", "200")


def test_actions_with_visits_share_value_prior_and_the_best_marked(run):
    text = run("analyse", "dice_game", "--position", "14", *QUICK).stdout
    header = next(line for line in text.splitlines() if "visits" in line)
    assert header.split() == ["action", "visits", "share", "value", "prior"]
    best = next(line.split() for line in text.splitlines() if line.strip().startswith("*"))
    assert best[1] == "roll"
    assert best[3].endswith("%")
    assert best[-1] == "0.500"
    assert "200 simulations" in text
    assert "stopped early" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert "\x1b" not in text


def test_the_position_is_shown_before_the_table(run):
    text = run("analyse", "pig", "--position", "12-30 turn 7 player 1", *QUICK).stdout
    assert "30/100 +7" in text
    assert "player 1 to move" in text
    assert text.index("30/100") < text.index("visits")


def test_a_chance_root_shows_outcomes_by_their_effect_on_the_value(run):
    text = run("analyse", "pig", "--position", "90-80 turn 5 player 1 rolling", *QUICK).stdout
    assert "chance to move" in text
    header = next(line for line in text.splitlines() if "probability" in line)
    assert " ".join(header.split()) == "outcome probability visits player 0 player 1 luck of 1"
    rows = [line.split() for line in text.splitlines() if "0.1667" in line]
    luck = [float(row[-1]) for row in rows]
    assert luck == sorted(luck, reverse=True)
    assert rows[-1][0] == "1"
    assert len(rows) == 6


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("pig",), "search: 2,000 simulations, rollout evaluator, sampling chance"),
        (("pig", "--sims", "50", "--chance", "open"), "search: 50 simulations, rollout evaluator, open chance"),
        (("pig", "--seconds", "0.2"), "search: at most 0.20 s, rollout evaluator, sampling chance"),
        (
            ("pig", "--evaluations", "50"),
            "search: 500 simulations, at most 50 evaluations, rollout evaluator, sampling",
        ),
        (("tic_tac_toe", "--sims", "9", "--evaluator", "uniform"), "search: 9 simulations, uniform evaluator"),
        (("pig", "--plan", "turn"), "plan: horizon turn, rollout evaluator with 100 playouts per state, exact chance"),
        (
            ("pig", "--plan", "turn", "--evaluator", "rollout:1"),
            "plan: horizon turn, rollout evaluator with 1 playout per state, exact chance",
        ),
        (("pig", "--plan", "2", "--evaluator", "uniform"), "plan: 2 plies, uniform evaluator, exact chance"),
        (("tic_tac_toe", "--plan", "2", "--evaluator", "uniform"), "plan: 2 plies, uniform evaluator"),
        (("dice_game", "--plan", "game"), "plan: horizon game, exact values"),
    ],
)
def test_the_first_line_names_the_method(run, words, first):
    assert run("analyse", *words).stdout.splitlines()[0].startswith(first)


def test_a_long_search_shows_its_result_so_far_on_a_terminal(monkeypatch):
    from aleazero.cli import progress
    from aleazero.cli.show import SafeConsole

    monkeypatch.setattr(progress, "LIVE_AFTER", 0.0)
    game = aleazero.load_game("dice_game")
    screen = io.StringIO()
    console = SafeConsole(file=screen, force_terminal=True, width=80)
    config = aleazero.SearchConfig(num_simulations=10**9, max_seconds=1.0)
    result, _ = progress.timed_search(game, game.state_from_text("5"), "uniform", config, console)
    assert result.stopped == "seconds"
    lines = re.findall(r"best roll, value [\d.]+, [\d,]+ simulations, \d s left", screen.getvalue())
    assert len(lines) >= 2
    quiet = SafeConsole(file=io.StringIO(), width=80)
    progress.timed_search(game, game.state_from_text("5"), "uniform", config, quiet)
    assert quiet.file.getvalue() == ""


def test_json_is_the_result_with_names(run_json):
    data = run_json("analyse", "dice_game", "--moves", "roll 5", "--seed", "3", *QUICK)
    game = aleazero.load_game("dice_game")
    state = game.state_from_text("5")
    config = aleazero.SearchConfig(num_simulations=200, seed=3)
    expected = aleazero.Search(game, "rollout", config).run(state).to_dict()
    assert (data["game"], data["position"], data["player"]) == ("dice_game", "5", 0)
    assert data["action_names"] == ["roll", "stop"]
    for key in ("actions", "visits", "q", "priors", "policy", "value", "best_action", "stopped"):
        assert data[key] == expected[key]
    assert data["stats"]["simulations"] == 200
    assert data["config"]["seed"] == 3
    assert data["seconds"] > 0


def test_json_of_untried_actions_and_outcomes_has_nulls(run_json):
    data = run_json("analyse", "dice_game", "--sims", "1")
    assert sorted(data["visits"]) == [0, 1]
    assert None in data["q"]
    data = run_json("analyse", "dice_game", "--position", "3 rolling", "--sims", "1")
    assert data["best_action"] is None
    assert data["outcome_names"] == ["1", "2", "3", "4", "5", "6"]
    assert [o["value"] for o in data["outcomes"]].count(None) == 5


def test_untried_actions_show_a_dash(run):
    rows = [line.split() for line in run("analyse", "dice_game", "--sims", "1").stdout.splitlines() if "0.500" in line]
    assert [row[-2] for row in rows][1] == "-"


def test_options_reach_the_search(run_json):
    words = ("--chance", "open", "--evaluator", "uniform", "--c", "0.05", "--selection", "uct")
    data = run_json("analyse", "dice_game", *words, *QUICK)
    assert data["config"]["chance"]["loop"] == "open"
    assert (data["config"]["c"], data["config"]["selection"], data["evaluator"]) == (0.05, "uct", "uniform")
    assert data["value"] != run_json("analyse", "dice_game", *QUICK)["value"]


@pytest.mark.parametrize(
    ("words", "stopped"),
    [
        (("--evaluations", "50"), "evaluations"),
        (("--nodes", "20", "--sims", "5000"), "nodes"),
        (("--seconds", "0.05"), "seconds"),
    ],
)
def test_the_limit_that_stops_a_search_is_shown(run, run_json, words, stopped):
    assert run_json("analyse", "pig", *words)["stopped"] == stopped
    line = next(
        line for line in run("analyse", "pig", *words).stdout.splitlines() if line.startswith("stopped early: ")
    )
    assert {"evaluations": "evaluation limit", "nodes": "node limit", "seconds": "time limit"}[stopped] in line


def test_evaluations_alone_end_near_the_end_of_a_game(run_json):
    data = run_json("analyse", "tic_tac_toe", "--evaluations", "50", "--moves", "0 1 2 3 4 5")
    assert data["stats"]["simulations"] == 500


@pytest.mark.parametrize(
    ("words", "simulations", "chance"),
    [
        ((), 2000, None),
        (("--evaluator", "oracle"), 2000, None),
        (("--chance", "sampling"), 2000, "sampling"),
        (("--evaluations", "30"), 300, None),
    ],
)
def test_settings_are_those_of_the_player_spec(run_json, words, simulations, chance):
    data = run_json("analyse", "dice_game", *words)
    config = aleazero.make_player(data["engine"], aleazero.load_game("dice_game")).config
    assert config.num_simulations == simulations
    assert config.chance == (None if chance is None else aleazero.ChanceConfig.preset(chance))
    assert data["config"]["num_simulations"] == simulations


def test_ctrl_c_shows_the_result_so_far(process):
    command = [sys.executable, "-m", "aleazero.cli.main", "analyse", "dice_game", "--sims", "2000000000"]
    search = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
                              env={**os.environ, "PYTHONUNBUFFERED": "1"})  # fmt: skip
    for line in search.stdout:
        if "to move" in line:  # the last line before the search
            break
    time.sleep(0.5)
    search.send_signal(signal.SIGINT)
    out, err = search.communicate(timeout=60)
    assert search.returncode == 0, err
    assert "stopped early: interrupted after" in out
    assert "roll" in out
    assert "Traceback" not in err


def test_a_users_file(run, coin_file):
    result = run("analyse", coin_file(), "--param", "bias=0.9", *QUICK)
    assert result.exit_code == 0, result.output
    assert "*  [tails]" in result.stdout
    assert "called [bold]None" in result.stdout


def test_openspiel(run):
    pytest.importorskip("pyspiel")
    result = run("analyse", "openspiel:tic_tac_toe", "--sims", "50")
    assert result.exit_code == 0, result.output
    assert "x(1,1)" in result.stdout


def test_top_cuts_the_table(run):
    text = run("analyse", "pig", "--moves", "roll", "--top", "2", *QUICK).stdout
    assert "… 4 more outcomes with less effect on the value" in text
    assert text.count("0.1667") == 2
    assert "… 1 more action\n" in "\n".join(
        line.rstrip() for line in run("analyse", "dice_game", "--top", "1", *QUICK).stdout.splitlines()
    )


def test_the_tree_is_written(run, tmp_path):
    file = tmp_path / "tree.json"
    result = run("analyse", "dice_game", "--tree", str(file), "--tree-depth", "2", *QUICK)
    assert result.exit_code == 0, result.output
    root = json.loads(file.read_text(encoding="utf-8"))
    assert root["visits"] >= 200
    assert {child["text"] for child in root["children"]} == {"roll", "stop"}
    assert not any(grandchild["children"] for child in root["children"] for grandchild in child["children"])
    dot = tmp_path / "tree.dot"
    assert run("analyse", "dice_game", "--tree", str(dot), *QUICK).exit_code == 0
    assert dot.read_text(encoding="utf-8").startswith("digraph")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pgi",), "no game 'pgi', did you mean pig?"),
        (("pig", "--position", "12:30"), "cannot read position '12:30', expected e.g."),
        (("pig", "--position", "200-0"), "cannot happen"),
        (("tic_tac_toe", "--position", "xxx/xxx/..."), "cannot happen"),
        (("dice_game", "--position", "21 over"), "the game is over in this position"),
        (("pig", "--moves", "fly"), "no action 'fly' here, expected one of roll"),
        (("pig", "--moves", "hold"), "no action 'hold' here"),
        (("pig", "--moves", "roll 9"), "outcome 9 cannot happen here, expected one of 1, 2, 3, 4, 5, 6"),
        (("yatzy", "--moves", "99999"), "outcome 99999 cannot happen here, expected one of 210 (roll-11111), 211 ("),
        (("yatzy", "--moves", "13336 keep-9"), "no action 'keep-9' here, expected one of keep-none (0), keep-"),
        (("pig", "--sims", "0"), "--sims is 0, expected"),
        (("pig", "--seed", "-1"), "--seed is -1, expected"),
        (("pig", "--seconds", "0"), "--seconds is 0.0, expected"),
        (("pig", "--evaluations", "0"), "--evaluations is 0, expected"),
        (("pig", "--c", "nan"), "--c is nan, expected"),
        (("pig", "--selection", "best"), "--selection is 'best', expected"),
        (("pig", "--chance", "opne"), "--chance is 'opne', did you mean open?"),
        (("pig", "--evaluator", "rolout"), "--evaluator is 'rolout', did you mean rollout"),
        (("pig", "--param", "target=soon"), "target is 'soon', expected an integer"),
        (("pig", "--param", "tarqet=20"), "no parameter 'tarqet', did you mean target?"),
        (("pig", "--param", "target"), "--param is 'target', expected KEY=VALUE"),
        (("nowhere/file.py:game",), "no file 'nowhere/file.py'"),
        (("pig", "--tree", "tree.svg"), "--tree is 'tree.svg', expected a name ending in .json or .dot"),
        (("pig", "--tree", "nowhere/tree.dot"), "expected a file in a folder that exists"),
        (("pig(target=)",), "cannot read the game 'pig(target=)', expected NAME or NAME(KEY=VALUE, ...)"),
        (("pig(target=9)", "-p", "target=8"), "sets target, which is also given"),
    ],
)
def test_bad_input_is_one_line(refused, words, expected):
    assert expected in refused("analyse", *words)


def test_bad_input_of_openspiel_is_one_line(refused):
    pytest.importorskip("pyspiel")
    assert "hidden information" in refused("analyse", "openspiel:kuhn_poker")
    assert "OpenSpiel has no game 'pgi', did you mean pig" in refused("analyse", "openspiel:pgi")


def test_a_users_broken_game_is_one_line(run, refused, coin_file, tmp_path):
    assert "probabilities sum to 0.7, expected 1" in run("analyse", coin_file(chance="0.2"), *QUICK).stderr
    assert "the rules raised ZeroDivisionError" in run("analyse", coin_file(step="1 / 0"), *QUICK).stderr
    broken = tmp_path / "broken.py"
    broken.write_text("def describe(:\n", encoding="utf-8")
    assert "SyntaxError" in refused("analyse", str(broken))
    assert "has no game" in refused("analyse", str(_empty(tmp_path)))


def _empty(folder):
    file = folder / "empty.py"
    file.write_text("", encoding="utf-8")
    return file


PIG, YATZY = aleazero.load_game("pig", target=20), aleazero.load_game("yatzy", players=2)
TAG = f"{Path(__file__).parents[3]}/examples/tag.py"
PIG_WORDS = ("analyse", "pig(target=20)", "--plan", "turn")
YATZY_WORDS = ("analyse", "yatzy", "--plan", "turn")


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    return {game.name: str(trained_checkpoint(game, folder / game.name)) for game in (PIG, YATZY)}


def rolled(rolls):
    """Return a state of Yatzy after some rolls of its first turn."""
    state = YATZY.new_initial_state()
    for number in range(rolls):
        state.apply_action(state.sample_outcome(0.3 + 0.2 * number))
        if number < rolls - 1:
            state.apply_action(state.legal_actions()[5])
    return state


def test_pig_shows_chances_to_win_and_the_next_roll(run_json, nets):
    data = run_json(*PIG_WORDS, "--net", nets["pig"], "--position", "5-9 turn 7 player 1")
    win = data["expected"].pop("win")
    assert win == pytest.approx([(q + 1) / 2 for q in data["q"]])  # there is no margin in pig
    assert data["expected"] == {}
    assert data["swings"][0] > 0
    assert data["swings"][1] is None  # there is no roll in the turn after hold
    assert data["luck"] is None


def test_luck_is_the_value_after_a_roll_minus_the_value_before_it(run_json, nets):
    data = [run_json(*PIG_WORDS, "--net", nets["pig"], "--moves", f"roll {face}") for face in range(2, 7)]
    state = PIG.new_initial_state().child(0)
    plan = aleazero.Planner(PIG, PlannedEvaluator.load(nets["pig"], PIG)).plan(state)
    for face, one in enumerate(data, start=2):
        expected = plan.value(state.child(face)) - plan.value(state)
        np.testing.assert_allclose(one["luck"], expected, atol=1e-9)
    lost = plan.value(state.child(1)) - plan.value(state)
    assert sum(np.array(one["luck"]) for one in data) + lost == pytest.approx([0, 0], abs=1e-9)


def test_yatzys_expectations_are_the_plans_own(run_json, nets):
    state = rolled(2)
    data = run_json(*YATZY_WORDS, "--net", nets["yatzy"], "--position", state.to_text())
    wins, margins, q = (np.array(one) for one in (data["expected"]["win"], data["expected"]["margin"], data["q"]))
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


def test_details_of_a_plan_are_shown(run, nets):
    text = run(*YATZY_WORDS, "--net", nets["yatzy"], "--position", rolled(1).to_text(), "--top", "3").stdout
    header = next(line for line in text.splitlines() if " loss " in line)
    assert header.split() == ["action", "value", "loss", "win", "margin", "next", "roll"]
    assert "\nluck " in text
    assert max(map(len, text.splitlines())) <= 80


def test_win_probabilities_before_a_roll_are_those_of_the_player_that_rolls(run, run_json, nets):
    words = (*PIG_WORDS, "--net", nets["pig"], "--position", "5-9 turn 7 player 1 rolling")
    data = run_json(*words)
    assert data["expected"]["win"] == pytest.approx([(o["value"][1] + 1) / 2 for o in data["outcomes"]])
    assert data["swings"] is None
    header = next(line for line in run(*words).stdout.splitlines() if "probability" in line)
    assert header.split() == ["outcome", "probability", "value", "luck", "of", "1", "win"]


def test_plies_have_win_probabilities_and_searches_have_values_only(run_json, nets):
    words = ("analyse", "pig(target=20)", "--position", "5-9 turn 7")
    plies = run_json(*words, "--plan", "1", "--net", nets["pig"])
    assert plies["expected"]["win"] == pytest.approx([(q + 1) / 2 for q in plies["q"]])
    search = run_json(*words, "--evaluator", f"net:{nets['pig']}", "--sims", "20")
    assert sum(search["visits"]) == 20
    assert search["expected"] == {}


def test_chances_of_two_and_three_points_are_those_of_the_mover(run, run_json, tmp_path):
    game = aleazero.load_game(TAG)
    net = str(trained_checkpoint(game, tmp_path / "tag"))
    words = ("analyse", TAG, "--plan", "turn", "--net", net, "--position")
    state = game.state_from_vector([7, 3, 1, 0, 0])
    data = run_json(*words, state.serialize())
    levels = {name: np.array(chances) for name, chances in data["expected"].items()}
    assert list(levels) == ["win", "win_2", "win_3", "lose_2", "lose_3"]
    points = 2 * levels["win"] - 1 + levels["win_2"] + levels["win_3"] - levels["lose_2"] - levels["lose_3"]
    np.testing.assert_allclose(points, data["q"], atol=1e-9)
    assert all(np.ptp(chances) > 0 for chances in levels.values())
    other = run_json(*words, game.state_from_vector([3, 7, 0, 0, 0]).serialize())  # the same, for the other player
    assert other["expected"]["win_2"] == pytest.approx(data["expected"]["win_2"], abs=1e-6)
    text = run(*words, state.serialize()).stdout
    header = next(line for line in text.splitlines() if " loss " in line)
    assert " ".join(header.split("loss")[1].split()) == "win win 2+ win 3 lose 2+ lose 3 next roll"
    assert max(map(len, text.splitlines())) <= 80


def test_wrong_networks_are_one_line(refused, nets):
    assert "expected only one of them" in refused(*PIG_WORDS, "--net", nets["pig"], "--evaluator", "uniform")
    assert "has game 'yatzy', expected 'pig'" in refused(*PIG_WORDS, "--net", nets["yatzy"])
    assert "no network at 'none'" in refused(*PIG_WORDS, "--net", "none")
