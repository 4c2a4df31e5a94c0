from __future__ import annotations

import json

import pytest

ALONE = ("--game", "yatzy", "-p", "players=1")


@pytest.fixture(autouse=True)
def built(oracle):
    """The table is there before the command asks for it."""


def test_regret_in_tables(run):
    result = run("evaluate", "regret", "--player", "random", *ALONE)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "random, set small of yatzy(players=1)"
    for name in ("all", "reroll 1", "reroll 2", "mark", "opening", "middle", "end"):
        assert any(line.startswith(f" {name} ") for line in lines), name
    assert sum("best " in line for line in lines) == 10
    assert sum("/ player 0 dice" in line for line in lines) == 10


def test_regret_as_json_repeats(run_json):
    words = ("evaluate", "regret", *ALONE, "--set", "small", "--player", "search:sims=10", "--seed", "3")
    data = run_json(*words)
    assert data["overall"]["count"] == 153
    assert (data["set"], data["player"], data["seed"]) == ("small", "search:sims=10", 3)
    assert data["overall"]["low"] < data["overall"]["mean"] < data["overall"]["high"]
    assert run_json(*words, "--threads", "1") == data


def test_regret_of_best_play_is_none(run):
    text = run("evaluate", "regret", "--player", "oracle", *ALONE).stdout
    assert "0.000 to 0.000   100.0%" in text
    assert "the worst" not in text


def test_a_set_of_your_own(run_json, tmp_path):
    file = tmp_path / "mine.json"
    row = {"avail_mask": 0x7FFF, "upper_total_cap": 0, "dice_sorted": [1, 2, 3, 4, 6], "rerolls_left": 2}
    file.write_text(json.dumps([row]))
    assert run_json("evaluate", "regret", "--set", str(file), "--player", "greedy", *ALONE)["overall"]["count"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("regret", "--player", "serch", *ALONE), "--player is 'serch', did you mean search?"),
        (("regret", "--player", "search:sims=0", *ALONE), "sims is 0"),
        (("regret", "--player", "net:none", *ALONE), "no network at 'none'"),
        (
            ("regret", "--player", "random", "--set", "smal", *ALONE),
            "no set 'smal' of yatzy(players=1), did you",
        ),
        (("regret", "--player", "random", "--set", "none.json", *ALONE), "cannot read 'none.json'"),
        (("regret", "--player", "random", "--game", "2048"), "2048() has no oracle"),
        (("solitaire", "--player", "plan:plies=x"), "plies is 'x', expected an integer"),
    ],
)
def test_bad_input_is_one_line(refused, words, said):
    assert said in refused("evaluate", *words)


def test_a_set_with_a_finished_board_is_refused(refused, tmp_path):
    file = tmp_path / "mine.json"
    row = {"avail_mask": 0, "upper_total_cap": 40, "dice_sorted": [1, 2, 3, 4, 6], "rerolls_left": 2}
    file.write_text(json.dumps([row]))
    words = ("evaluate", "regret", "--set", str(file), "--player", "random", *ALONE)
    assert "position 0: got a finished board" in refused(*words)


def test_solitaire(run, run_json):
    words = ("evaluate", "solitaire", "--player", "random", "--games", "6", "--seed", "2")
    data = run_json(*words)
    assert len(data["totals"]) == data["scores"]["count"] == 6
    assert data["loss"]["mean"] == pytest.approx(data["best_play"]["mean"] - data["scores"]["mean"])
    assert run_json(*words) == data
    assert run_json(*words, "--player-seed", "9")["best_play"] == data["best_play"]
    assert "with the same dice" in run(*words).stdout
