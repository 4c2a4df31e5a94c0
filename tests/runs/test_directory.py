"""The directory of a run: locking, resuming, and rejection of damaged or other directories."""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py

from small_runs import AFTERSTATE

from aleazero.errors import ConfigError, RunError
from aleazero.runs import directory
from aleazero.runs.config import RunConfig, as_yaml
from aleazero.runs.directory import open_directory, read_manifest
from aleazero.runs.events import read_events
from aleazero.runs.summary import summary_of

RACE = Path(__file__).parents[2] / "examples" / "race.py"


def config(**changes):
    return RunConfig(**{**AFTERSTATE, **changes})


def begin(path, **changes):
    with open_directory(path, config(**changes)) as held:
        return held


def test_a_new_run_writes_config_and_manifest(tmp_path):
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
    ("changes", "message"),
    [
        ({"game": "dice_game", "params": {}}, "with game 'pig', got 'dice_game'"),
        ({"params": {"target": 11}}, r"with params {'target': 10}, got {'target': 11}"),
        ({"seed": 1}, "with seed 0, got 1"),
        ({"gate": {"pairs": 11}}, "with gate.pairs 10, got 11"),
        ({"afterstate": {**AFTERSTATE["afterstate"], "lanes": 5}}, "with afterstate.lanes 4, got 5"),
    ],
)
def test_a_run_with_other_settings_is_rejected(tmp_path, changes, message):
    begin(tmp_path)
    (tmp_path / "models").mkdir()
    with pytest.raises(RunError, match=message):
        begin(tmp_path, **changes)


@pytest.mark.parametrize("events", [(), ("started",), ("started", "stopped")], ids=["killed", "started", "stopped"])
def test_a_run_that_saved_no_training_accepts_other_settings(tmp_path, events):
    with open_directory(tmp_path, config()) as held:
        for event in events:
            held.events.add(event)
    begin(tmp_path, afterstate={"lanes": 5})
    with open_directory(tmp_path, None) as held:
        assert held.config.model_dump(mode="json")["afterstate"] == {"lanes": 5}
    (tmp_path / "models").mkdir()
    with pytest.raises(RunError, match=r"with afterstate\.lanes 5, got 6"):
        begin(tmp_path, afterstate={"lanes": 6})


def test_events_belong_to_the_settings_of_the_run(tmp_path):
    with open_directory(tmp_path, config()) as held:
        held.events.add("learning", iteration=1, round=7)
    with open_directory(tmp_path, config()) as held:
        assert [event["round"] for event in read_events(held.events.path)] == [7]
    with open_directory(tmp_path, config(seed=1)) as held:
        assert read_events(held.events.path) == []


def test_settings_of_evaluation_and_files_may_change(tmp_path):
    begin(tmp_path)
    (tmp_path / "models").mkdir()
    begin(tmp_path, evaluate={"pairs": 3}, keep={"models": 2})


def test_changed_rules_are_rejected(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(RACE.read_text(encoding="utf-8"), encoding="utf-8")
    begin(tmp_path / "run", game=str(mine), params={})
    (tmp_path / "run" / "models").mkdir()
    mine.write_text(RACE.read_text(encoding="utf-8").replace("FALL = 3", "FALL = 2"), encoding="utf-8")
    with pytest.raises(RunError, match=r"with rules '1-.*', got '1-"):
        begin(tmp_path / "run", game=str(mine), params={})


def test_a_changed_seed_file_is_rejected(tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(map(str, range(10))))
    gate = {"pairs": 10, "seed_set": str(seeds)}
    begin(tmp_path / "run", gate=gate)
    (tmp_path / "run" / "models").mkdir()
    with open_directory(tmp_path / "run", None) as held:
        seeds.write_text("\n".join(map(str, range(1, 11))))
        with pytest.raises(RunError, match=r"seeds.txt was changed since the run started"):
            held.require_same_seeds()
    with pytest.raises(RunError, match=r"seeds.txt was changed since the run started: .*; restore it, or"):
        begin(tmp_path / "run", gate=gate)
    seeds.unlink()
    with pytest.raises(ConfigError, match="no seed set"):
        begin(tmp_path / "run", gate=gate)


def test_a_directory_with_other_files_is_rejected(tmp_path):
    (tmp_path / "letters.txt").write_text("x")
    with pytest.raises(RunError, match=r"contains letters.txt, expected a new directory"):
        begin(tmp_path)
    with (
        pytest.raises(RunError, match="is not a run, expected a directory made by `aleazero train`"),
        open_directory(tmp_path, None),
    ):
        pass


@pytest.mark.parametrize(
    "text", ["", "{}", "null", "[" * 100_000, '{"format": 9}', "[1]", '{"format": 4, "iterations": [3]}']
)
def test_a_damaged_manifest_is_reported_in_one_line(tmp_path, text):
    begin(tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(RunError, match=r"manifest.json is damaged|its format is 9, expected 4") as caught:
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
        {"plan": None},
        {"plan": {"iterations": 0, "minutes": None, "final_pairs": 0, "final_reference_games": 0}},
        {"plan": {"iterations": 3, "minutes": 0.0, "final_pairs": 0, "final_reference_games": 0}},
        {"plan": {"iterations": 3}},
    ],
)
def test_an_inconsistent_manifest_is_damaged(tmp_path, change):
    begin(tmp_path)
    file = tmp_path / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(RunError, match=r"manifest.json is damaged: "):
        read_manifest(tmp_path)


def test_an_edited_config_is_rejected(tmp_path):
    begin(tmp_path)
    file = tmp_path / "config.yaml"
    file.write_text(file.read_text().replace("seed: 0", "seed: 1"))
    with (
        pytest.raises(RunError, match=r"config.yaml was edited, expected the settings that the run started"),
        open_directory(tmp_path, None),
    ):
        pass
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(RunError, match=r"config.yaml is not a text file"), open_directory(tmp_path, None):
        pass


def test_a_path_that_is_not_a_directory_is_rejected(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="expected a directory"):
        begin(tmp_path / "file")


def test_a_lock_that_is_a_directory_is_reported(tmp_path):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(RunError, match=r"\.lock cannot be written: Is a directory, expected a file, or none"):
        begin(tmp_path)


def test_fewer_iterations_than_are_done_are_rejected(tmp_path):
    with open_directory(tmp_path, config()) as held:
        held.iteration(1)
        held.iteration(2)
        held.write_manifest()
    with pytest.raises(ConfigError, match="iterations is 1, expected at least 2"):
        begin(tmp_path, iterations=1)


def test_other_files_are_not_removed(tmp_path):
    other_files = [tmp_path / "letters.txt", tmp_path / "mail" / ".draft.tmp"]
    other_files[1].parent.mkdir()
    for file in other_files:
        file.write_text("x")
    with pytest.raises(RunError, match=r"contains letters.txt, expected a new directory"):
        begin(tmp_path)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == other_files


def test_a_run_killed_before_its_manifest_can_start(tmp_path):
    (tmp_path / ".manifest.json.123.tmp").write_text("{")
    (tmp_path / "config.yaml").write_text(as_yaml(config()), encoding="utf-8")
    begin(tmp_path)
    assert not (tmp_path / ".manifest.json.123.tmp").exists()


def test_a_users_own_config_is_not_overwritten(tmp_path):
    own = tmp_path / "config.yaml"
    own.write_text("# mine\ngame: pig\nrounds: 12\n", encoding="utf-8")
    with pytest.raises(RunError, match=r"config\.yaml would be overwritten, expected a directory without it"):
        begin(tmp_path)
    assert own.read_text(encoding="utf-8") == "# mine\ngame: pig\nrounds: 12\n"
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_a_directory_that_a_player_spec_cannot_contain_is_rejected(tmp_path):
    with pytest.raises(RunError, match="has a comma, expected none"):
        begin(tmp_path / "a,b")
    assert not (tmp_path / "a,b").exists()
    begin(tmp_path / "läuft gut: 100 %")


def done(path, rounds, of, finished=False):
    """Make a run with a limit in minutes whose first iterations are done."""
    settings = {"rounds": None, "minutes": 2.0, "iterations": of}
    with open_directory(path, config(**settings)) as held:
        held.manifest.rounds, held.manifest.finished = rounds, finished
        for number in range(1, (of if finished else of - 1) + 1):
            one = held.iteration(number)
            one.done, one.results = ["learn", "gate", "evaluate"], {"learn": {"rounds": rounds * number // of}}
        held.write_manifest()
    return settings


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize(("change", "rounds"), [({"iterations": 8}, 160), ({"iterations": 8, "minutes": 6.0}, 240)])
def test_more_iterations_mean_more_rounds(tmp_path, finished, change, rounds):
    settings = done(tmp_path, 80, 4, finished)
    with open_directory(tmp_path, config(**{**settings, **change})) as held:
        assert (held.manifest.rounds, held.manifest.finished) == (rounds, False)
    with open_directory(tmp_path, None) as held:
        assert held.manifest.rounds == rounds


class Killed(Exception):
    pass


def killed_at(name, monkeypatch):
    """Raise an exception before this file is written."""
    written = directory.write_file

    def write(path, text, kind):
        if path.name == name:
            raise Killed
        written(path, text, kind)

    monkeypatch.setattr(directory, "write_file", write)


@pytest.mark.parametrize("file", ["config.yaml", "manifest.json"])
@pytest.mark.parametrize(
    ("finished", "change"),
    [*product([True, False], [{"iterations": 8}, {"iterations": 8, "minutes": 6.0}, {"evaluate": {"final_pairs": 4}},
                              {"minutes": None, "rounds": 400, "iterations": 7}]),
     (False, {"minutes": 5.0})],
)  # fmt: skip
def test_an_extension_killed_between_its_files_is_applied_when_the_run_is_resumed(
    tmp_path, monkeypatch, finished, change, file
):
    for name in ("complete", "cut"):
        settings = {**done(tmp_path / name, 80, 4, finished), **change}
    before = (tmp_path / "cut" / "manifest.json").read_bytes()
    begin(tmp_path / "complete", **settings)
    with monkeypatch.context() as patch:
        killed_at(file, patch)
        with pytest.raises(Killed):
            begin(tmp_path / "cut", **settings)
    with open_directory(tmp_path / "cut", config(**settings) if file == "config.yaml" else None):
        pass
    after = (tmp_path / "cut" / "manifest.json").read_bytes()
    assert before != after == (tmp_path / "complete" / "manifest.json").read_bytes()


def change_manifest(path, **changes):
    file = path / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_run_of_another_version_can_be_read_but_not_resumed(tmp_path):
    begin(tmp_path)
    (tmp_path / "models").mkdir()
    change_manifest(tmp_path, version="0.0.7")
    for settings in (None, config()):
        with (
            pytest.raises(
                RunError, match=r"of AleaZero 0\.0\.7, this is .*: install aleazero==0\.0\.7 to resume it, or start"
            ),
            open_directory(tmp_path, settings),
        ):
            pass
    assert summary_of(tmp_path)["iterations"] == {"done": 0, "of": 3}


def test_a_run_of_another_format_is_rejected(tmp_path):
    begin(tmp_path)
    change_manifest(tmp_path, format=2)
    for use in (begin, summary_of):
        with pytest.raises(RunError, match="its format is 2, expected 4: another version of AleaZero wrote it"):
            use(tmp_path)


def test_iterations_without_rounds_are_rejected(tmp_path):
    done(tmp_path, 80, 4, finished=True)
    with pytest.raises(ConfigError, match=r"rounds is 80, expected more in 8 iterations, e.g. 160: 80 are done in 4"):
        begin(tmp_path, rounds=80, iterations=8)
    assert read_manifest(tmp_path).finished


@pytest.mark.parametrize(
    ("change", "message"),
    [({"minutes": 5.0}, r"minutes is 5\.0, expected 2\.0: all iterations \(4\) are trained\."),
     ({"minutes": None, "rounds": 5}, r"rounds is 5, expected 80: all iterations \(4\) are trained"),
     ({"minutes": None, "rounds": 160}, r"rounds is 160, expected 80: ")],
)  # fmt: skip
def test_the_length_of_a_finished_training_cannot_change(tmp_path, change, message):
    settings = done(tmp_path, 80, 4, finished=True)
    files = [(tmp_path / name).read_bytes() for name in ("config.yaml", "manifest.json")]
    with pytest.raises(ConfigError, match=message):
        begin(tmp_path, **{**settings, **change})
    assert [(tmp_path / name).read_bytes() for name in ("config.yaml", "manifest.json")] == files


def test_a_changed_final_evaluation_is_repeated(tmp_path):
    settings = done(tmp_path, 80, 4, finished=True)
    with open_directory(tmp_path, config(**settings, evaluate={"final_pairs": 10})) as held:
        assert not held.manifest.finished
        last = held.manifest.iterations[-1]
        last.done.append("final")
        last.results["final"], held.manifest.finished = {"network": 1}, True
        held.write_manifest()
    with open_directory(tmp_path, None) as held:
        assert held.manifest.finished
    with open_directory(tmp_path, config(**settings, evaluate={"final_pairs": 20})) as held:
        assert (held.manifest.finished, held.manifest.iterations[-1].done[-1]) == (False, "evaluate")
    with open_directory(tmp_path, None) as held:
        assert not held.manifest.finished


def test_temporary_files_of_a_killed_process_are_removed(tmp_path):
    begin(tmp_path)
    leftover = tmp_path / "models" / ".0001.safetensors.123.tmp"
    leftover.parent.mkdir()
    leftover.write_bytes(b"half")
    begin(tmp_path)
    assert not leftover.exists()
