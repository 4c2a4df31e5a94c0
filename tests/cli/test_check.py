from __future__ import annotations

import os

import pytest

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


def test_json(run_json, coin_file):
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
    assert "the budget of seconds ended the check early" in " ".join(result.stdout.split())


def test_rules_that_raise_are_one_line(refused, coin_file):
    assert "ZeroDivisionError" in refused("check", coin_file(step="1 / 0"))


def test_a_game_that_may_never_end_is_pointed_out(run, coin_file, monkeypatch):
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
