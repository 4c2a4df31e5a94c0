"""The commands gate and watch, and the statistics of match and evaluate."""

from __future__ import annotations

import json

import pytest

PIG = "pig(target=20)"


def test_a_gate_prints_its_verdict_and_writes_its_files(run, run_json, tmp_path):
    out, games = tmp_path / "gate_report.json", tmp_path / "games.json"
    words = ("gate", PIG, "greedy", "random", "--pairs", "40", "--threads", "1")
    result = run(*words, "--out", str(out), "--replays", str(games), "--replay-pairs", "2")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("candidate promoted: score above 0.5, decided after ")
    assert "an equal candidate is promoted in at most 5.0% of gates" in result.stdout
    assert run_json(*words, "--workers", "1") == json.loads(out.read_text())
    watched = run_json("watch", str(games), "--index", "3")
    assert watched["players"] == ["random", "greedy"]
    assert [step["step"] for step in watched["steps"]] == list(range(len(watched["steps"])))
    assert watched["steps"][1]["name"] == "roll"
    text = run("watch", str(games)).stdout
    assert text.startswith("pig(target=20), games.json, game 0, pair 0, seed ")
    assert "player 0: greedy" in text
    assert "the game is over: player 0" in text


def test_a_kept_champion_is_not_a_failure(run):
    result = run("gate", PIG, "random", "greedy", "--pairs", "60")
    assert result.exit_code == 0
    assert result.stdout.startswith("champion kept: score below 0.55")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("gate", PIG, "random", "randam"), "did you mean random?"),
        (("gate", PIG, "random", "random", "--score1", "0.4"), "score0 is 0.5, expected less than score1, 0.4"),
        (("gate", PIG, "random", "random", "--iteration", "-1"), "iteration is -1, expected 0 to"),
        (("gate", PIG, "random", "random", "--rule", "elo"), "rule is 'elo'"),
        (("gate", PIG, "random", "random", "--dice", "none"), "--dice is 'none'"),
        (("gate", PIG, "random", "random", "--seed-set", "nowhere"), "no seed set 'nowhere'"),
        (("gate", PIG, "random", "random", "--out", "nowhere/report.json"), "--out is 'nowhere/report.json'"),
        (("gate", "2048", "random", "random"), "gain1 is None"),
        (("watch", "nowhere.json"), "cannot read 'nowhere.json'"),
        (("evaluate", "strength", "dice_game", "random", "--against", "me"), "no opponent 'me'"),
        (("match", PIG, "random", "random", "--dice", "some"), "--dice is 'some'"),
    ],
)
def test_bad_input_is_one_line(refused, words, expected):
    assert expected in refused(*words)


def test_a_changed_file_is_one_line(run, refused, tmp_path):
    file = tmp_path / "games.json"
    run("gate", PIG, "greedy", "random", "--pairs", "10", "--replays", str(file), "--replay-pairs", "1")
    assert "--index is 2, expected 0 to 1" in refused("watch", str(file), "--index", "2")
    data = json.loads(file.read_text())
    for change, expected in (
        (lambda game: game["steps"].pop(), "the game does not end as recorded"),
        (lambda game: game["steps"].insert(0, [0, 7]), "changed.json, game 0, step 1: pig: action 7 is illegal here"),
    ):
        changed = json.loads(json.dumps(data))
        change(changed["games"][0])
        (tmp_path / "changed.json").write_text(json.dumps(changed))
        assert expected in refused("watch", str(tmp_path / "changed.json"))
    (tmp_path / "changed.json").write_text(json.dumps({**data, "rules_version": 99}))
    assert "got rules of version 99" in refused("watch", str(tmp_path / "changed.json"))


def test_saved_games_and_match_files_are_watched(run, run_json, tmp_path):
    saved = tmp_path / "game.json"
    run("play", PIG, "--opponent", "random", "--seed", "3", "--save", str(saved), stdin="roll\nq\n")
    watched = run_json("watch", str(saved))
    steps = json.loads(saved.read_text())["steps"]
    assert [[step["player"], step["action"]] for step in watched["steps"][1:]] == steps
    assert (watched["players"], watched["seed"], "pair" in watched) == (["human", "random"], 3, False)
    text = run("watch", str(saved)).stdout
    assert text.startswith("pig(target=20), game.json, seed 3\n")
    assert "the game is not over" in text
    match = tmp_path / "match.mat"
    match.write_text(" 1 point match\n\n Game 1\n Ann : 0    Bob : 0\n  1) 31: 8/5 6/5\n      Wins 1 point\n")
    text = run("watch", str(match)).stdout
    assert "player 0: Ann" in text
    assert "1  chance: " in text
    assert "Ann won 1 point" in text


def test_a_match_has_the_statistics_of_pairs(run, run_json):
    data = run_json("match", PIG, "greedy", "random", "--pairs", "20")
    assert data["pairs"]["pairs"] == 20
    assert sum(data["pairs"]["pair_table"].values()) == 20
    assert data["players"][0]["wins"] == data["pairs"]["wins"] == data["players"][1]["losses"]
    assert data["players"][0]["mean_return"] == -data["players"][1]["mean_return"]
    assert data["pairs"]["elo"]["low"] < data["pairs"]["elo"]["mean"]
    text = run("match", PIG, "greedy", "random", "--pairs", "20").stdout
    assert "pairs by score" in text
    alone = run_json("match", "dice_game", "oracle", "random", "--pairs", "10")
    assert [row["games"] for row in alone["players"]] == [10, 10]


def test_a_player_is_evaluated_against_all(run, run_json):
    words = ("evaluate", "strength", "dice_game", "random", "--pairs", "10")
    data = run_json(*words)
    assert list(data["against"]) == ["random", "rollout", "oracle"]
    assert data["against"]["oracle"]["points"]["first"] == data["against"]["random"]["points"]["first"]  # the same dice
    assert data["regret"]["mean"] > 0.1
    text = run(*words, "--against", "random").stdout
    assert text.startswith("random at dice_game()")
    assert " optimal\n" in text


def test_the_pause_between_steps_is_limited(run):
    result = run("watch", "games.json", "--delay", "inf")
    assert result.exit_code == 2
    assert "60" in result.stderr
