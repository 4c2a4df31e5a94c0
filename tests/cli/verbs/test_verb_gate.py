"""The verbs gate and watch, and the statistics of match and evaluate."""

from __future__ import annotations

import json

import pytest

PIG = ("--game", "pig", "-p", "target=15")


def test_a_gate_tells_its_verdict_and_writes_its_files(run, run_json, tmp_path):
    out, games = tmp_path / "gate_report.json", tmp_path / "games.json"
    words = ("gate", "greedy", "random", *PIG, "--pairs", "40", "--threads", "1")
    result = run(*words, "--out", str(out), "--replays", str(games), "--replay-pairs", "2")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("promoted: score above 0.5, decided after ")
    assert "an equal candidate is promoted in at most 5.0% of gates" in result.stdout
    assert run_json(*words, "--workers", "1") == json.loads(out.read_text())
    watched = run_json("watch", str(games), "--game", "3")
    assert watched["players"] == ["random", "greedy"]
    assert [step["step"] for step in watched["steps"]] == list(range(len(watched["steps"])))
    assert watched["steps"][1]["name"] == "roll"
    text = run("watch", str(games)).stdout
    assert text.startswith("pig(target=15), game 0 of 4, pair 0, seed ")
    assert "player 0: greedy" in text
    assert "the game is over: player 0" in text


def test_a_kept_champion_is_no_failure(run):
    result = run("gate", "random", "greedy", *PIG, "--pairs", "60")
    assert result.exit_code == 0
    assert result.stdout.startswith("kept: score below 0.55")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("gate", "random", "randam", *PIG), "did you mean random?"),
        (("gate", "random", "random", *PIG, "--score1", "0.4"), "score0 is 0.5, expected less than score1, 0.4"),
        (("gate", "random", "random", *PIG, "--iteration", "-1"), "iteration is -1, expected 0 to"),
        (("gate", "random", "random", *PIG, "--rule", "elo"), "rule is 'elo'"),
        (("gate", "random", "random", *PIG, "--luck", "none"), "--luck is 'none'"),
        (("gate", "random", "random", *PIG, "--seed-set", "nowhere"), "no seed set 'nowhere'"),
        (("gate", "random", "random", *PIG, "--out", "nowhere/report.json"), "--out is 'nowhere/report.json'"),
        (("gate", "random", "random", "--game", "2048"), "gain1 is None"),
        (("watch", "nowhere.json"), "cannot read 'nowhere.json'"),
        (("evaluate",), "--player is missing"),
        (("evaluate", "--player", "random", "--game", "dice_game", "--against", "me"), "no opponent 'me'"),
        (("match", "random", "random", *PIG, "--luck", "some"), "--luck is 'some'"),
    ],
)
def test_bad_words_are_one_line(refused, words, said):
    assert said in refused(*words)


def test_a_changed_file_is_one_line(run, refused, tmp_path):
    file = tmp_path / "games.json"
    run("gate", "greedy", "random", *PIG, "--pairs", "10", "--replays", str(file), "--replay-pairs", "1")
    assert "--game is 2, expected one of the 2 games" in refused("watch", str(file), "--game", "2")
    data = json.loads(file.read_text())
    for change, said in (
        (lambda game: game["steps"].pop(), "the game does not end as recorded"),
        (lambda game: game["steps"].insert(0, [0, 7]), "game 0, step 0: pig: action 7 is illegal here"),
    ):
        changed = json.loads(json.dumps(data))
        change(changed["games"][0])
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        assert said in refused("watch", str(tmp_path / "changed.json"))
    (tmp_path / "changed.json").write_text(json.dumps({**data, "rules_version": 99}))
    assert "got rules of version 99" in refused("watch", str(tmp_path / "changed.json"))


def test_a_match_has_the_statistics_of_pairs(run, run_json):
    data = run_json("match", "greedy", "random", *PIG, "--games", "39")
    assert data["pairs"]["pairs"] == 20
    assert sum(data["pairs"]["pair_table"].values()) == 20
    assert data["players"][0]["wins"] == data["pairs"]["wins"] == data["players"][1]["losses"]
    assert data["players"][0]["mean_return"] == -data["players"][1]["mean_return"]
    assert data["pairs"]["elo"]["low"] < data["pairs"]["elo"]["mean"]
    text = run("match", "greedy", "random", *PIG, "--games", "40").stdout
    assert "pairs by score" in text
    alone = run_json("match", "oracle", "random", "--game", "dice_game", "--games", "20")
    assert [row["games"] for row in alone["players"]] == [10, 10]


def test_a_player_is_evaluated_against_all(run, run_json):
    words = ("evaluate", "--player", "random", "--game", "dice_game", "--pairs", "10")
    data = run_json(*words)
    assert list(data["against"]) == ["random", "rollout", "oracle"]
    assert data["against"]["oracle"]["points"]["first"] == data["against"]["random"]["points"]["first"]  # the same dice
    assert data["regret"]["mean"] > 0.1
    text = run(*words, "--against", "random").stdout
    assert text.startswith("random at dice_game()")
    assert " optimal of " in text


def test_nobody_waits_for_ever_between_steps(run):
    result = run("watch", "games.json", "--delay", "inf")
    assert result.exit_code == 2
    assert "60" in result.stderr
