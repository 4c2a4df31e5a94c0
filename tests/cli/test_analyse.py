from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import aleazero

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


def test_a_chance_root_shows_outcomes(run):
    text = run("analyse", "pig", "--moves", "roll 5 roll", *QUICK).stdout
    assert "chance to move" in text
    header = next(line for line in text.splitlines() if "probability" in line)
    assert header.split() == ["outcome", "probability", "visits", "share", "player", "0", "player", "1"]
    assert text.count("0.1667") == 6


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
def test_what_stops_a_search_early_is_said(run, run_json, words, stopped):
    assert run_json("analyse", "pig", *words)["stopped"] == stopped
    line = next(
        line for line in run("analyse", "pig", *words).stdout.splitlines() if line.startswith("stopped early: ")
    )
    assert {"evaluations": "evaluations are spent", "nodes": "tree is full", "seconds": "time is up"}[stopped] in line


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
def test_settings_are_those_of_the_player_that_is_named(run_json, words, simulations, chance):
    data = run_json("analyse", "dice_game", *words)
    config = aleazero.make_player(data["engine"], aleazero.load_game("dice_game")).config
    assert config.num_simulations == simulations
    assert config.chance == (None if chance is None else aleazero.ChanceConfig.preset(chance))
    assert data["config"]["num_simulations"] == simulations


def test_ctrl_c_shows_what_was_found(process):
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
    assert "… 4 more outcomes" in text
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
    ("words", "said"),
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
        (("pig", "--chance", "clsed"), "--chance is 'clsed', did you mean closed?"),
        (("pig", "--evaluator", "rolout"), "--evaluator is 'rolout', did you mean rollout"),
        (("pig", "--param", "target=soon"), "target is 'soon', expected a whole number"),
        (("pig", "--param", "tarqet=20"), "no parameter 'tarqet', did you mean target?"),
        (("pig", "--param", "target"), "--param is 'target', expected KEY=VALUE"),
        (("nowhere/file.py:game",), "no file 'nowhere/file.py'"),
        (("pig", "--tree", "tree.svg"), "--tree is 'tree.svg', expected a name ending in .json or .dot"),
        (("pig", "--tree", "nowhere/tree.dot"), "expected a folder that exists"),
    ],
)
def test_bad_input_is_one_line(refused, words, said):
    assert said in refused("analyse", *words)


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
    assert "holds no game" in refused("analyse", str(_empty(tmp_path)))


def _empty(folder):
    file = folder / "empty.py"
    file.write_text("", encoding="utf-8")
    return file
