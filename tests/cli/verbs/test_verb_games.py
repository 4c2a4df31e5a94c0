from __future__ import annotations

import json
import os

import pytest
from typer.testing import CliRunner

import aleazero
from aleazero.cli.main import app
from aleazero.cli.verbs.games import all_examples
from aleazero.players.champions import Champion, champion_of


def test_the_table_names_every_game_and_parameter(run):
    text = run("games").stdout
    for name in aleazero.game_names():
        assert name in text
    assert "target=100" in text
    assert "no chance" in text
    assert max(map(len, text.splitlines())) <= 80


def test_games_as_json(run_json):
    rows = {row["name"]: row for row in run_json("games")}
    assert sorted(rows) == aleazero.game_names()
    pig = rows["pig"]
    assert (pig["players"], pig["actions"], pig["chance"], pig["max_outcomes"]) == (2, 2, True, 6)
    assert pig["params"] == {"target": 100}
    assert pig["description"].startswith("Roll a die as often as you like")
    assert rows["tic_tac_toe"]["chance"] is False
    assert all(row["description"] and "\n" not in row["description"] for row in rows.values())


LATE = "open chance yatzy upper 50 / open chance yatzy upper 60 / player 0 to roll"


def invoke(*words, given=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=given)


def test_models_are_listed_with_their_strength():
    data = json.loads(invoke("models", "--json").stdout)
    assert ("yatzy", {"players": 2}) in [(one["game"], one["params"]) for one in data]
    printed = invoke("models").stdout
    assert "yatzy(players=2)" in printed
    assert "against solo-optimal" in printed


def test_analyse_plans_with_the_bundled_network():
    data = json.loads(invoke("analyse", "yatzy", "--position", LATE, "--json").stdout)
    assert (data["evaluator"], data["plan"]) == ("net:champion", "turn")
    assert len(data["expected"]["win"]) == 252
    printed = invoke("analyse", "yatzy", "--position", LATE, "--top", 3).stdout
    assert printed.startswith("bundled network with exact turn plan\n")


@pytest.mark.parametrize("words", [("--sims", 20), ("--evaluator", "uniform"), ("--chance", "open"), ("--c", 1.0)])
def test_options_of_a_search_run_a_search(words):
    data = json.loads(invoke("analyse", "yatzy", "--position", LATE, *words, "--json").stdout)
    assert "plan" not in data
    assert data["evaluator"] != "net:champion"


def test_a_game_without_a_bundled_network_is_searched():
    assert json.loads(invoke("analyse", "pig", "--json").stdout)["evaluator"] == "rollout"


def test_play_is_against_the_bundled_network_with_hints():
    data = json.loads(invoke("play", "yatzy", "--position", LATE, "--seed", 1, "--watch", "--json").stdout)
    assert data["engine"] == "plan:horizon=turn,net=champion"
    assert data["complete"]
    printed = invoke("play", "yatzy", "--position", LATE, "--seed", 1, given="?\nq\n").stdout
    assert "computer: bundled network with exact turn plan" in printed
    assert " loss " in printed


@pytest.fixture
def searching(monkeypatch):
    """Let the bundled network of Yatzy play by a search."""
    bundled = champion_of(aleazero.load_game("yatzy", players=2))
    other = Champion(bundled.path, {**bundled.figures, "player": "search:sims=20"})
    monkeypatch.setattr("aleazero.players.champions.champion_of", lambda game: other)


@pytest.mark.usefixtures("searching")
def test_a_bundled_network_can_play_by_a_search():
    data = json.loads(invoke("analyse", "yatzy", "--position", LATE, "--json").stdout)
    assert (data["engine"], data["evaluator"]) == ("search:sims=20,net=champion", "net:champion")
    assert data["stats"]["simulations"] == 20
    assert "plan" not in data
    printed = invoke("analyse", "yatzy", "--position", LATE, "--top", 3).stdout
    assert printed.startswith("bundled network with a search of 20 simulations\n")
    played = invoke("play", "yatzy", "--position", LATE, "--seed", 1, given="?\nq\n").stdout
    assert "computer: bundled network with a search of 20 simulations, see aleazero models" in played
    assert " visits " in played


def test_a_value_network_given_as_a_spec_has_hints():
    printed = invoke(
        "play", "yatzy", "--opponent", "net:champion", "--position", LATE, "--seed", 1, given="?\nq\n"
    ).stdout
    assert " loss " in printed


def test_play_with_simulations_is_against_the_search():
    data = json.loads(invoke("play", "yatzy", "--position", LATE, "--sims", 5, "--watch", "--json").stdout)
    assert data["engine"] == "search:sims=5"


KERNELS = '''
"""Up: count to three."""
from aleazero.games.base import DECISION, TERMINAL, GameInfo
def describe():
    return GameInfo(name="up", num_players=1, num_actions=1, utility=(0.0, 3.0), state_size=1)
def kind(state):
    return TERMINAL if state[0] >= 3 else DECISION
def to_play(state):
    return 0
def legal(state, out):
    out[0] = 0
    return 1
def apply(state, action):
    {apply}
def returns(state, out):
    out[0] = state[0]
'''


def kernel_file(folder, apply="state[0] += 1"):
    file = folder / "up.py"
    file.write_text(KERNELS.format(apply=apply), encoding="utf-8")
    return f"{file}:up"


def test_a_game_that_passes(run):
    result = run("check", "dice_game")
    assert result.exit_code == 0, result.output
    assert "dice_game() passes all checks" in result.stdout
    assert "20 decision, 20 chance, 26 terminal" in " ".join(result.stdout.split())
    assert "64 simulations ran (compiled)" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_check_as_json(run_json, coin_file):
    data = run_json("check", coin_file(), "--episodes", "3")
    assert data["episodes"] == 3
    assert data["census"] == {"decision": 1, "chance": 2, "terminal": 4}
    assert "probabilities" in data["checks"]
    assert (data["out_of_time"], data["warnings"]) == (False, [])
    assert data["search"]["simulations"] == 64
    assert data["search"]["compiled"] is False


def test_a_failed_check_is_one_line(refused, coin_file):
    line = refused("check", coin_file(chance="0.2"))
    assert "check of probabilities failed" in line
    assert "a sum of 0.7, expected 1" in line


def test_states_and_seconds_limit_the_check(run, run_json, coin_file):
    assert run_json("check", coin_file(), "--states", "2")["states"] == 2
    slow = coin_file(step="sum(range(3_000_000))")
    result = run("check", slow, "--seconds", "0.2", "--episodes", "1000")
    assert result.exit_code == 0, result.output
    assert "the time limit ended the check early" in " ".join(result.stdout.split())


def test_rules_that_raise_are_one_line(refused, coin_file):
    assert "ZeroDivisionError" in refused("check", coin_file(step="1 / 0"))


def test_a_game_that_may_never_end_is_reported(run, coin_file, monkeypatch):
    import aleazero.games.check as contract

    original = contract.check_game
    monkeypatch.setattr(contract, "check_game", lambda *words, **named: original(*words, **named, max_length=1))
    result = run("check", coin_file())
    assert result.exit_code == 0, result.output
    assert "10 of 10 episodes were cut off: the game may never end" in result.stdout


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_rules_that_do_not_compile_are_one_line(refused, tmp_path):
    line = refused("check", kernel_file(tmp_path, apply='state[0] += len(format(1, "d"))'))
    assert "compile" in line


def test_bad_input_is_one_line(refused):
    assert "no file 'nowhere.py'" in refused("check", "nowhere.py:game")
    assert "no game 'dice_gam', did you mean dice_game?" in refused("check", "dice_gam")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "pig-1.code").write_bytes(bytes(1_500_000))
    return kernels


def test_info_and_clear(run, folder):
    data = " ".join(run("cache", "info").stdout.split())
    assert data == f"{folder} contains 1 file, 1.5 MB"
    assert "deleted 1 file" in run("cache", "clear").stdout
    assert list(folder.iterdir()) == []
    assert "contains 0 files" in run("cache", "info").stdout


def test_cache_as_json(run_json, folder):
    held = {"folder": str(folder), "files": 1, "bytes": 1_500_000}
    assert run_json("cache", "info") == held
    assert run_json("cache", "clear") == held
    assert run_json("cache", "info") == {"folder": str(folder), "files": 0, "bytes": 0}


def test_a_missing_folder_is_empty(run_json, tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / "nowhere"))
    assert run_json("cache", "info")["files"] == 0
    assert run_json("cache", "clear")["files"] == 0


def test_every_bundled_game_has_an_example():
    examples = [(name, one) for name, one in all_examples() if one.position is not None]
    assert {name for name, _ in examples} == set(aleazero.game_names())
    states = [aleazero.load_game(name, **one.params).state_from_text(one.position) for name, one in examples]
    assert not any(state.is_terminal() for state in states)
    assert any(state.is_chance_node() for state in states)
    assert all(len(state.legal_actions()) > 1 for state in states)


def test_the_demo_runs(process):
    done = process("demo", "--sims", "20", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    for name, example in all_examples():
        assert name in done.stdout
        assert example.caption in done.stdout
    assert "the game is over, player" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
