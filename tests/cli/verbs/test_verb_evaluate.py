from __future__ import annotations

import json

import pytest

SOLO = "yatzy(players=1)"


@pytest.fixture(autouse=True)
def built(oracle):
    """Build the table before the command needs it."""


def test_regret_in_tables(run):
    result = run("evaluate", "regret", SOLO, "random")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "random, set small of yatzy(players=1)"
    for name in ("all", "reroll 1", "reroll 2", "mark", "opening", "middle", "end"):
        assert any(line.startswith(f" {name} ") for line in lines), name
    assert sum(", optimal " in line for line in lines) == 10
    assert sum("/ player 0 dice" in line for line in lines) == 10


def test_regret_as_json_repeats(run_json):
    words = ("evaluate", "regret", SOLO, "search:sims=10", "--set", "small", "--seed", "3")
    data = run_json(*words)
    assert data["overall"]["count"] == 153
    assert (data["set"], data["player"], data["seed"]) == ("small", "search:sims=10", 3)
    assert data["overall"]["low"] < data["overall"]["mean"] < data["overall"]["high"]
    assert run_json(*words, "--threads", "1") == data


def test_regret_of_optimal_play_is_zero(run):
    text = run("evaluate", "regret", SOLO, "oracle").stdout
    assert "0.000 to 0.000   100.0%" in text
    assert "largest regrets" not in text


def test_a_users_set(run_json, tmp_path):
    file = tmp_path / "mine.json"
    row = {"avail_mask": 0x7FFF, "upper_total_cap": 0, "dice_sorted": [1, 2, 3, 4, 6], "rerolls_left": 2}
    file.write_text(json.dumps([row]))
    assert run_json("evaluate", "regret", SOLO, "greedy", "--set", str(file))["overall"]["count"] == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("regret", SOLO, "serch"), "PLAYER is 'serch', did you mean search?"),
        (("regret", SOLO, "search:sims=0"), "sims is 0"),
        (("regret", SOLO, "net:none"), "no network at 'none'"),
        (
            ("regret", SOLO, "random", "--set", "smal"),
            "no set 'smal' of yatzy(players=1), did you",
        ),
        (("regret", SOLO, "random", "--set", "none.json"), "cannot read 'none.json'"),
        (("regret", "2048", "random"), "2048() has no oracle"),
        (("solitaire", "plan:plies=x"), "plies is 'x', expected an integer"),
    ],
)
def test_bad_input_is_one_line(refused, words, expected):
    assert expected in refused("evaluate", *words)


def test_a_set_with_a_finished_board_is_rejected(refused, tmp_path):
    file = tmp_path / "mine.json"
    row = {"avail_mask": 0, "upper_total_cap": 40, "dice_sorted": [1, 2, 3, 4, 6], "rerolls_left": 2}
    file.write_text(json.dumps([row]))
    words = ("evaluate", "regret", SOLO, "random", "--set", str(file))
    assert "position 0: got a finished board" in refused(*words)


def test_solitaire(run, run_json):
    words = ("evaluate", "solitaire", "random", "--games", "6", "--seed", "2")
    data = run_json(*words)
    assert len(data["totals"]) == data["scores"]["count"] == 6
    assert data["loss"]["mean"] == pytest.approx(data["best_play"]["mean"] - data["scores"]["mean"])
    assert run_json(*words) == data
    assert run_json(*words, "--player-seed", "9")["best_play"] == data["best_play"]
    assert "on the same dice" in run(*words).stdout
