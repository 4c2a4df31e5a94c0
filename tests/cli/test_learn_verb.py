"""The verb learn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PIG = ("learn", "--game", "pig", "-p", "target=20")
SMALL = ("--set", "lanes=4", "--set", "shards=2", "--set", "net.hidden=[4]", "--set", "replay=50", "--set",
         "batch_size=16", "--threads", "1")  # fmt: skip


def test_a_run_tells_what_came_of_it_and_goes_on(run, run_json, tmp_path) -> None:
    out = str(tmp_path / "run")
    first = run_json(*PIG, *SMALL, "--rounds", "12", "--out", out)
    assert first["out"] == f"{out}/net.safetensors"
    assert first["rounds"] == 12
    assert first["turns_per_second"] > 0
    again = run_json(*PIG, *SMALL, "--rounds", "12", "--out", out)
    assert again["turns_per_second"] == 0  # all was done
    shown = run(*PIG, *SMALL, "--rounds", "12", "--out", str(tmp_path / "other"), "--seed", "1")
    assert shown.exit_code == 0, shown.output
    assert "12 in 0.0 minutes" in shown.stdout
    assert (tmp_path / "other/net.safetensors").read_bytes() != (tmp_path / "run/net.safetensors").read_bytes()
    for line in (tmp_path / "run/events.ndjson").read_text().splitlines():
        json.loads(line, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


def test_minutes_are_kept_roughly_and_written_down_as_rounds(run_json, tmp_path) -> None:
    timed = run_json(*PIG, *SMALL, "--minutes", "0.02", "--out", str(tmp_path / "timed"))
    assert timed["rounds"] >= 24
    run_json(*PIG, *SMALL, "--rounds", str(timed["rounds"]), "--out", str(tmp_path / "counted"))
    found = [(tmp_path / folder / "net.safetensors").read_bytes() for folder in ("timed", "counted")]
    assert found[0] == found[1]


def test_a_game_of_ones_own_is_learnt_by_its_path(run_json, tmp_path) -> None:
    data = run_json("learn", "--game", f"{EXAMPLES}/race.py", "-p", "length=8", *SMALL, "--rounds", "3", "--out",
                    str(tmp_path))  # fmt: skip
    assert data["rounds"] == 3


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


def test_a_class_of_ones_own_is_learnt_and_plays(run, run_json, tmp_path) -> None:
    (tmp_path / "climb.py").write_text(CLIMB)
    words = ("learn", "--game", f"{tmp_path}/climb.py:Climb", *SMALL, "--rounds", "200", "--out", str(tmp_path / "run"))
    data = run_json(*words, "--set", "updates=6", "--set", "learning_rate=0.02", "--set", "ema=0.9")
    # At 3 another roll is worth 3, no more than staying; so the start is worth 3 · 0.75³.
    analysed = run_json("analyse", f"{tmp_path}/climb.py:Climb", "--plan", "turn", "--net", data["out"])
    assert analysed["q"][0] == 0.0
    assert analysed["q"][1] == pytest.approx(1.266, abs=0.15)


def test_yatzy_is_judged_by_the_oracle(run_json, tmp_path, oracle) -> None:
    words = ("learn", "--game", "yatzy", "-p", "players=1", *SMALL, "--rounds", "1", "--out", str(tmp_path))
    data = run_json(*words)
    assert data["regret"]["count"] == 2000
    assert 20 < data["regret"]["mean"] < 200
    assert data["score"]["mean"] + data["regret"]["mean"] == pytest.approx(248.44, abs=4 * data["score"]["error"])
    assert run_json(*words)["regret"] == data["regret"]  # read from the events


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--recipe", "nonsense"), "--recipe is 'nonsense', expected afterstate"),
        (("--recipe", "alphazero"), "expected `aleazero train CONFIG` with `recipe: alphazero` in it, or"),
        (("--minutes", "1", "--rounds", "2"), "--minutes and --rounds are both given"),
        (("--set", "lanse=3"), "no setting 'lanse', did you mean lanes"),
        (("--set", "lanes"), "--set is 'lanes', expected KEY=VALUE, e.g. target=td"),
        (("--set", "lanes=many"), "lanes is 'many', expected"),
        (("--set", "lanes=0"), "lanes is 0, expected greater than or equal to 1"),
        (("--set", "target=tt"), "target is 'tt', expected 'turn', 'lambda' or 'td'"),
        (("--set", "learning_rate=1e30"), "learning_rate is 1e+30, expected less than or equal to 1"),
        (("--set", "seed=3"), "--set is seed=3, expected --seed 3"),
        (("--set", "rounds=3"), "--set is rounds=3, expected --rounds 3"),
        (("--set", "net=mlp"), "--set is net=mlp, expected a setting of it, e.g. net.hidden=[64,64]"),
        (("--set", "net.kind=towers"), "columns of towers are win (tanh), expected a win (tanh) and a margin (linear)"),
        (("--set", "net.kind=tuples"), "pig has no tuple_shape(), expected a kernel game that describes its board"),
        (("--set", "net.depth=3"), "no setting 'depth', did you mean width?"),
        (("--set", "net.hidden=64"), "hidden is 64, expected a valid tuple"),
        (("--set", "net.phases=2"), "net.phases is 2, expected 1"),
        (("--set", "hold=0.01"), "--set is hold=0.01, expected at least 0.0833, or --rounds"),
    ],
)
def test_bad_words_are_one_line_and_leave_nothing(refused, words, said, tmp_path) -> None:
    assert said in refused(*PIG, "--out", str(tmp_path / "run"), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (("pgi",), "no game 'pgi', did you mean pig?"),
        ((f"{EXAMPLES}/coins.py:Coins",), "coins: the class has no observation_tensor(), which networks"),
        ((f"{EXAMPLES}/tag.py", "--set", "net.phases=3"), "net.phases is 3, expected 1 or 2 (contact, race)"),
        (
            ("2048", "--set", "net.kind=mlp"),
            "2048 has no bounds of its returns, expected GameInfo(utility=(lowest, highest))",
        ),
        (("yatzy", "--set", "plies=1"), "plies is 1, expected none: yatzy plays its own turns"),
    ],
)
def test_games_that_cannot_be_learnt_are_one_line_and_leave_nothing(refused, game, said, tmp_path) -> None:
    assert said in refused("learn", "--game", *game, "--out", str(tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_a_turn_too_large_is_one_line_and_leaves_nothing(refused, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("aleazero.training.turns.MOST_NODES", 20)
    said = refused(*PIG, "--out", str(tmp_path / "run"))
    assert "pig: a turn has more than 20 states, expected plies=1 (`learn --set plies=1`, `train --set " in said
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_a_run_is_left_alone(refused, tmp_path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    assert "holds a run of `aleazero train`" in refused(*PIG, "--rounds", "1", "--out", str(tmp_path))
    assert [file.name for file in tmp_path.iterdir()] == ["manifest.json"]


def test_other_settings_on_the_same_folder_are_one_line(refused, run_json, tmp_path) -> None:
    words = (*PIG, *SMALL, "--rounds", "2", "--out", str(tmp_path))
    run_json(*words)
    assert "holds a run with explore 0.1, got 0.2: expected the same settings" in refused(
        *words, "--set", "explore=0.2"
    )
    assert "holds a run with seed 0, got 1" in refused(*words, "--seed", "1")
    (tmp_path / "events.ndjson").write_text("{\n")
    assert "events.ndjson is damaged" in refused(*words)
