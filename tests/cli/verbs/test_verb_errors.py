from __future__ import annotations

import sys

import pytest


def test_error_rates_in_a_table(run):
    result = run("evaluate", "errors", "backgammon", "gnubg", "--judge", "bgsage:ply=1", "--decisions", "60")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("gnubg, its games of backgammon(checkers=15, start='standard'), judged by bgsage:ply=1")
    for name in ("all", "contact", "race"):
        assert any(line.startswith(f" {name} ") for line in lines), name
    assert "standard error" in result.stdout
    assert "largest losses" in result.stdout
    assert ", best " in result.stdout


def test_error_rates_as_json_repeat(run_json):
    words = (
        "evaluate",
        "errors",
        "backgammon",
        "pubeval",
        "--judge",
        "gnubg:ply=0",
        "--decisions",
        "40",
        "--seed",
        "3",
    )
    data = run_json(*words)
    assert (data["judge"], data["seed"], data["overall"]["count"]) == ("gnubg:ply=0", 3, 40)
    rate = data["overall"]["error_rate"]
    assert rate["low"] < rate["mean"] < rate["high"]
    assert data["overall"]["pr"] == pytest.approx(rate["mean"] / 2)
    assert run_json(*words) == data


def test_points_per_game_in_matches_and_strength(run, run_json):
    data = run_json("match", "backgammon", "gnubg", "pubeval", "--pairs", "4")["pairs"]
    points = data["mean_return"]
    assert points["mean"] == pytest.approx(data["return_difference"]["mean"] / 2)
    assert points["low"] <= points["mean"] <= points["high"]
    table = run("evaluate", "strength", "backgammon", "gnubg", "--pairs", "2", "--against", "random").stdout
    assert "mean return" in table


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("backgammon", "gnubg:ply=7"), "player 'gnubg:ply=7': ply is '7', expected 0, 1 or 2"),
        (("backgammon", "gnubg:foo=1"), "gnubg has no setting 'foo', expected ply=0|1|2"),
        (("backgammon", "gnubg", "--judge", "random"), "the player 'random' cannot judge"),
        (("backgammon", "gnubg", "--judge", "pubeval"), "the player 'pubeval' cannot judge"),
        (("backgammon", "gnubg", "--judge", "bgsag"), "--judge is 'bgsag', did you mean bgsage"),
        (("pig", "greedy", "--judge", "gnubg"), "--judge is 'gnubg', known: "),
        (("pig", "greedy"), "pig(target=100) has no judge"),
        (("pig", "gnubg", "--judge", "oracle"), "PLAYER is 'gnubg', known: "),
        (("backgammon(checkers=3)", "gnubg", "--judge", "oracle"), "gnubg plays with 15 checkers"),
        (("backgammon(checkers=3)", "random", "--set", "standard"), "no set 'standard'"),
        (("backgammon", "random", "--set", "none.safetensors"), "cannot read the set 'none.safetensors'"),
    ],
)
def test_bad_input_is_one_line(refused, words, expected):
    assert expected in refused("evaluate", "errors", *words)


def test_a_judge_that_is_not_installed(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "bgsage", None)
    line = refused("evaluate", "errors", "backgammon", "random")
    assert "bgsage requires bgsage, which is not installed, install it with: pip install 'aleazero[judges]'" in line
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    line = refused("match", "backgammon", "gnubg", "pubeval", "--pairs", "1")
    assert "gnubg requires gnubg-nn, which is not installed" in line
