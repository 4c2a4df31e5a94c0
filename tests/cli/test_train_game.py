"""``aleazero train GAME``: a run without a config file."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
PIG = ("train", "pig(target=20)")
SMALL = ("--set", "afterstate.lanes=4", "--set", "afterstate.lane_groups=2", "--set", "afterstate.net.hidden=[4]",
         "--set", "afterstate.replay=50", "--set", "afterstate.batch_size=16", "--set", "evaluate.pairs=2", "--set",
         "evaluate.calibration_games=4", "--workers", "1")  # fmt: skip


def network(folder) -> bytes:
    return (folder / "models" / "0001.safetensors").read_bytes()


def test_a_run_has_one_iteration_and_is_resumed_by_the_same_command(run, run_json, tmp_path) -> None:
    out = str(tmp_path / "run")
    first = run_json(*PIG, *SMALL, "--rounds", "12", "--out", out)
    assert (first["finished"], first["iterations"], first["champion"]) == (True, {"done": 1, "of": 1}, 1)
    assert list(first["results"]["opponents"]) == ["random"]
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["rounds"] == 12
    assert not (tmp_path / "run" / "gates").exists()
    before = (tmp_path / "run" / "events.ndjson").read_bytes()
    run_json(*PIG, *SMALL, "--rounds", "12", "--out", out)
    assert (tmp_path / "run" / "events.ndjson").read_bytes() == before
    shown = run(*PIG, *SMALL, "--rounds", "12", "--out", str(tmp_path / "other"), "--seed", "1")
    assert shown.exit_code == 0, shown.output
    assert "finished, 1 of 1 iterations" in shown.stdout
    assert network(tmp_path / "other") != network(tmp_path / "run")


def test_minutes_become_rounds_in_the_manifest(run_json, tmp_path) -> None:
    run_json(*PIG, *SMALL, "--minutes", "0.02", "--out", str(tmp_path / "timed"))
    rounds = json.loads((tmp_path / "timed" / "manifest.json").read_text())["rounds"]
    assert rounds >= 24
    run_json(*PIG, *SMALL, "--rounds", str(rounds), "--out", str(tmp_path / "counted"))
    assert network(tmp_path / "timed") == network(tmp_path / "counted")


def test_options_give_the_run_of_a_config_file(run_json, tmp_path) -> None:
    run_json(*PIG, *SMALL, "--rounds", "6", "--seed", "2", "--set", "iterations=2", "--out", str(tmp_path / "options"))
    run_json("train", str(tmp_path / "options" / "config.yaml"), "--workers", "1", "--out", str(tmp_path / "file"))
    names = ["manifest.json", "models/0001.safetensors", "models/0002.safetensors", "evaluations/0002.json"]
    options, file = ([(tmp_path / run / name).read_bytes() for name in names] for run in ("options", "file"))
    assert options == file


def test_a_users_game_is_found_from_any_directory(run_json, tmp_path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text((EXAMPLES / "race.py").read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    data = run_json("train", "mine.py", "-p", "length=8", *SMALL, "--rounds", "3")
    assert (data["run"], data["game"]) == ("runs/mine", str(tmp_path / "mine.py"))
    monkeypatch.chdir("/")
    assert run_json("resume", str(tmp_path / "runs" / "mine"))["finished"]


def test_a_users_file_is_executed_once(run, run_json, tmp_path) -> None:
    mine, log, out = tmp_path / "mine.py", tmp_path / "log.txt", tmp_path / "run"
    rules = (EXAMPLES / "race.py").read_text(encoding="utf-8")
    mine.write_text(f"{rules}\nwith open({str(log)!r}, 'a') as log:\n    log.write('executed ')\n", encoding="utf-8")
    run_json("train", str(mine), "-p", "length=8", *SMALL, "--rounds", "3", "--out", str(out))
    assert log.read_text() == "executed "
    run_json("train", str(out / "config.yaml"), "--workers", "1", "--out", str(tmp_path / "again"))
    assert log.read_text() == "executed " * 2
    run_json("resume", str(out), "--set", "evaluate.final_pairs=2", "--workers", "1")
    assert log.read_text() == "executed " * 3
    assert run("config", "new", str(mine)).exit_code == 0
    assert log.read_text() == "executed " * 4


CLIMB = """
class Climb:
    num_players, num_actions, max_outcomes, utility = 1, 2, 2, (0.0, 4.0)

    def __init__(self):
        self.height, self.rolling, self.over = 0, False, False

    def current_player(self):
        return -4 if self.over else -1 if self.rolling else 0

    def legal_actions(self):
        return [0, 1]

    def chance_outcomes(self):
        return [(0, 0.25), (1, 0.75)]

    def apply_action(self, action):
        if self.rolling:
            self.rolling, self.height = False, self.height + 1 if action else 0
            self.over = self.height in (0, 4)
        else:
            self.rolling, self.over = action == 1, action == 0

    def returns(self):
        return [float(self.height)]

    def observation_tensor(self, player):
        return [self.height == h for h in range(5)]

    def __str__(self):
        return f"{self.height} {self.rolling} {self.over}"
"""


def test_a_users_class_is_trained_and_plays(run_json, tmp_path) -> None:
    (tmp_path / "climb.py").write_text(CLIMB)
    words = ("train", f"{tmp_path}/climb.py:Climb", *SMALL, "--rounds", "200", "--out", str(tmp_path / "run"))
    more = (word for name in ("updates=6", "learning_rate=0.02", "ema=0.9") for word in ("--set", f"afterstate.{name}"))
    run_json(*words, *more)
    # At 3 another roll is worth 3, no more than staying; so the start is worth 3 · 0.75³.
    net = str(tmp_path / "run" / "models" / "0001.safetensors")
    analysed = run_json("analyse", f"{tmp_path}/climb.py:Climb", "--plan", "turn", "--net", net)
    assert analysed["q"][0] == 0.0
    assert analysed["q"][1] == pytest.approx(1.266, abs=0.15)


def test_one_player_yatzy_is_compared_with_the_oracle(run_json, tmp_path, oracle) -> None:
    words = ("train", "yatzy", "-p", "players=1", *SMALL, "--rounds", "1", "--out", str(tmp_path / "run"))
    results = run_json(*words, "--set", "evaluate.regret=false")["results"]
    assert results["opponents"] == {}
    assert results["regret_per_game"]["count"] == 2000
    assert 20 < results["regret_per_game"]["mean"] < 200
    optimal = results["score"]["mean"] + results["regret_per_game"]["mean"]
    assert optimal == pytest.approx(248.44, abs=4 * results["score"]["error"])


def test_a_game_without_a_highest_return_needs_no_gate(run_json, refused, tmp_path) -> None:
    words = ("train", "2048", "--set", "afterstate.lanes=2", "--set", "evaluate.reference_games=20",
             "--workers", "1", "--rounds", "2", "--out", str(tmp_path / "run"))  # fmt: skip
    assert run_json(*words)["results"]["score"]["count"] == 2
    assert "gate.gain1 is None, expected a number of points" in refused(*words, "--set", "iterations=2")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--minutes", "1", "--rounds", "2"), "--minutes and --rounds are both given, expected only one of them"),
        (("--set", "afterstate.lanse=3"), "afterstate: no setting 'lanse', did you mean lanes"),
        (("--set", "lanes=3"), "no setting 'lanes'"),
        (("--set", "lanes"), "--set is 'lanes', expected KEY=VALUE, e.g. seed=3"),
        (("--set", "afterstate.lanes=many"), "afterstate.lanes is 'many', expected"),
        (("--set", "afterstate.lanes=0"), "afterstate.lanes is 0, expected greater than or equal to 1"),
        (("--set", "afterstate.target=tt"), "afterstate.target is 'tt', expected 'turn', 'lambda' or 'td'"),
        (("--set", "afterstate.learning_rate=1e30"), "learning_rate is 1e+30, expected less than or equal to 1"),
        (("--seed", "1", "--set", "seed=3"), "--set is 'seed=3' and --seed is given too, expected only one of them"),
        (("--set", "params.target=3"), "--set is 'params.target=3' and a parameter of the game is given too, expected"),
        (("--set", "game=yatzy"), "--set is 'game=yatzy' and GAME is given too, expected only one of them"),
        (("--set", "afterstate.net=mlp"), "afterstate.net is 'mlp', expected settings of a network, e.g. hidden"),
        (("--set", "afterstate.net.depth=3"), "no setting 'depth', did you mean width?"),
        (("--set", "afterstate.net.hidden=64"), "hidden is 64, expected a valid tuple"),
        (("--set", "afterstate.hold=0.01"), "afterstate.hold is 0.01, expected at least 0.0833, or rounds in place"),
        (("--set", "evaluate=3"), "evaluate is 3, expected"),
    ],
)
def test_bad_options_are_one_line_and_leave_nothing(refused, words, expected, tmp_path) -> None:
    assert expected in refused(*PIG, "--out", str(tmp_path / "run"), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("pgi",), "no game 'pgi', did you mean pig?"),
        (("pig(target=)",), "cannot read the game 'pig(target=)', expected NAME or NAME(KEY=VALUE, ...)"),
        (("pig(target=9)", "-p", "target=8"), "GAME is 'pig(target=9)' and --param sets target too"),
        (("none.yaml",), "none.yaml cannot be read"),
        (("openspiel:pig",), "GAME is 'openspiel:pig', expected a bundled game or your own"),
    ],
)
def test_what_to_train_is_a_file_or_a_game(refused, words, expected, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in refused("train", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((f"{EXAMPLES}/coins.py:Coins",), "coins: the class has no observation_tensor(), which networks"),
        (
            (f"{EXAMPLES}/tag.py", "--set", "afterstate.net.phases=3"),
            "net.phases is 3, expected 1 or 2 (contact, race)",
        ),
        (("pig", "--set", "afterstate.net.kind=towers"), "columns of towers are win (tanh), expected a win (tanh) and"),
        (
            ("2048", "--set", "afterstate.net.kind=mlp"),
            "2048 has no bounds of its returns, expected GameInfo(utility=(lowest, highest))",
        ),
        (("yatzy", "--set", "afterstate.plies=1"), "plies is 1, expected none: yatzy plays its own turns"),
    ],
)
def test_games_that_cannot_be_trained_are_one_line(refused, words, expected, tmp_path) -> None:
    assert expected in refused("train", *words, "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run" / "models").exists()


def test_a_turn_too_large_is_one_line_and_other_settings_may_follow(refused, run_json, tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("aleazero.training.turns.MOST_NODES", 20)
        line = refused(*PIG, "--out", str(tmp_path / "run"))
    assert "pig: a turn has more than 20 states, expected plies=1 (`train --set afterstate.plies=1`), or" in line
    words = ("--set", "afterstate.plies=1", "--rounds", "2", "--out", str(tmp_path / "run"))
    assert run_json(*PIG, *SMALL, *words)["finished"]


def test_other_settings_on_the_same_run_are_one_line(refused, run_json, tmp_path) -> None:
    words = (*PIG, *SMALL, "--rounds", "2", "--out", str(tmp_path / "run"))
    run_json(*words)
    line = refused(*words, "--set", "afterstate.explore=0.2")
    assert "is a run with afterstate.explore None, got 0.2: expected the same" in line
    assert "is a run with seed 0, got 1" in refused(*words, "--seed", "1")
    (tmp_path / "run" / "events.ndjson").write_text("{\n")
    assert "line 1 is damaged" in refused(*words)


@pytest.mark.parametrize(
    "words",
    [("pig",), ("2048",), ("yatzy(players=1)",), (f"{EXAMPLES}/race.py",), ("pig", "--set", "recipe=alphazero")],
)
def test_a_new_config_is_valid_complete_and_commented(run, words, tmp_path) -> None:
    file = tmp_path / "new.yaml"
    assert run("config", "new", *words, "--out", str(file)).exit_code == 0
    assert run("config", "check", str(file)).exit_code == 0
    text = file.read_text(encoding="utf-8")
    shown, written = yaml.safe_load(run("config", "show", str(file)).stdout), yaml.safe_load(text)
    shown.get("alphazero", {"train": {}})["train"].pop("seed", None)  # a file has it only at the top
    if words == ("2048",):  # `config show` leaves out the kind of tables
        assert written["afterstate"].pop("net") == {"kind": "tuples"}
    assert written == shown
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for before, line in pairwise(lines):
        assert line.startswith("#") or before.startswith("#"), line


def test_a_new_config_trains(run, run_json, tmp_path) -> None:
    small = [one for one in SMALL if one not in ("--workers", "1")]
    file = str(tmp_path / "new.yaml")
    assert run("config", "new", "pig(target=20)", *small, "--set", "rounds=2", "--out", file).exit_code == 0
    assert run_json("train", file, "--workers", "1", "--out", str(tmp_path / "run"))["finished"]
    run_json(*PIG, *SMALL, "--rounds", "2", "--out", str(tmp_path / "direct"))
    assert network(tmp_path / "run") == network(tmp_path / "direct")
