"""A run's directory: held by one process, of one run, damaged or foreign ones are refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py

from small_runs import AFTERSTATE

from aleazero.errors import ConfigError, RunError
from aleazero.runs.config import RunConfig
from aleazero.runs.directory import open_directory, read_manifest

RACE = Path(__file__).parents[2] / "examples" / "race.py"


def config(**changes):
    return RunConfig(**{**AFTERSTATE, **changes})


def begin(path, **changes):
    with open_directory(path, config(**changes)) as held:
        return held


def test_a_new_run_writes_down_what_it_is(tmp_path):
    begin(tmp_path / "run")
    manifest = read_manifest(tmp_path / "run")
    assert (manifest.game, manifest.params, manifest.recipe, manifest.rounds) == (
        "pig",
        {"target": 10},
        "afterstate",
        12,
    )
    with open_directory(tmp_path / "run", None) as held:
        assert held.config == config()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"game": "dice_game", "params": {}}, "with game 'pig', got 'dice_game'"),
        ({"params": {"target": 11}}, r"with params {'target': 10}, got {'target': 11}"),
        ({"seed": 1}, "with seed 0, got 1"),
        ({"gate": {"pairs": 11}}, "with gate.pairs 10, got 11"),
        ({"afterstate": {"lanes": 5}}, "with afterstate.lanes 4, got 5"),
    ],
)
def test_a_run_of_other_settings_is_refused(tmp_path, changes, said):
    begin(tmp_path)
    with pytest.raises(RunError, match=said):
        begin(tmp_path, **changes)


def test_what_is_measured_and_kept_may_change(tmp_path):
    begin(tmp_path)
    begin(tmp_path, evaluate={"pairs": 3}, keep={"models": 2})


def test_rules_that_changed_since_are_refused(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(RACE.read_text(encoding="utf-8"), encoding="utf-8")
    begin(tmp_path / "run", game=str(mine), params={})
    mine.write_text(RACE.read_text(encoding="utf-8").replace("FALL = 3", "FALL = 2"), encoding="utf-8")
    with pytest.raises(RunError, match=r"with rules '1-.*', got '1-"):
        begin(tmp_path / "run", game=str(mine), params={})


def test_a_directory_of_something_else_is_refused(tmp_path):
    (tmp_path / "letters.txt").write_text("x")
    with pytest.raises(RunError, match=r"holds letters.txt, expected a new directory"):
        begin(tmp_path)
    with (
        pytest.raises(RunError, match="holds no run, expected a directory that `aleazero train` made"),
        open_directory(tmp_path, None),
    ):
        pass


@pytest.mark.parametrize(
    "text", ["", "{}", "null", "[" * 100_000, '{"format": 9}', "[1]", '{"format": 1, "iterations": [3]}']
)
def test_a_damaged_manifest_is_told_in_a_line(tmp_path, text):
    begin(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RunError, match=r"manifest.json is damaged|its format is 9, expected 1") as caught:
        read_manifest(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": "many"},
        {"params": [1]},
        {"iterations": None},
        {"iterations": [{"number": 2}]},
        {"iterations": [{"number": 1, "results": None}]},
        {"iterations": [{"number": 1, "results": {"evaluate": 5}}]},
    ],
)
def test_a_manifest_of_other_things_is_damaged(tmp_path, change):
    begin(tmp_path)
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(RunError, match=r"manifest.json is damaged: "):
        read_manifest(tmp_path)


def test_settings_that_were_changed_by_hand_are_refused(tmp_path):
    begin(tmp_path)
    file = tmp_path / "config.yaml"
    file.write_text(file.read_text().replace("seed: 0", "seed: 1"))
    with (
        pytest.raises(RunError, match=r"config.yaml was changed by hand, expected the settings that the run began"),
        open_directory(tmp_path, None),
    ):
        pass
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(RunError, match=r"config.yaml is no text"), open_directory(tmp_path, None):
        pass


def test_a_place_that_is_no_directory_is_refused(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="expected a directory"):
        begin(tmp_path / "file")


def test_fewer_iterations_than_are_done_are_refused(tmp_path):
    with open_directory(tmp_path, config()) as held:
        held.iteration(1)
        held.iteration(2)
        held.write_manifest()
    with pytest.raises(ConfigError, match="iterations is 1, expected at least 2"):
        begin(tmp_path, iterations=1)


def test_what_a_killed_process_left_half_written_is_removed(tmp_path):
    begin(tmp_path)
    left = tmp_path / "models" / ".0001.safetensors.123.tmp"
    left.parent.mkdir()
    left.write_bytes(b"half")
    begin(tmp_path)
    assert not left.exists()
