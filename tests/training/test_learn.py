"""Runs in a folder: they go on after a stop, refuse other settings, and lose nothing where something is damaged."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest

import aleazero
from aleazero.errors import CheckpointError, ConfigError
from aleazero.training import learn as learn_module
from aleazero.training import learner_state
from aleazero.training.learn import learn, open_run, read_events

SETTINGS = {"settings": {"lanes": 8, "net": {"kind": "mlp", "hidden": [8, 8]}}, "rounds": 20}
MEASURED = {**SETTINGS, "rounds": None}


@dataclass(frozen=True)
class Told:
    number: int
    mean_return: float


class Counter:
    """A learner whose weights tell all rounds it did, in order."""

    def __init__(self, breaks_at=None, clock=None):
        self.rounds, self.rounds_done, self.weight = 0, 0, np.zeros(1)
        self.breaks_at, self.clock, self.fell = breaks_at, clock, []

    def round(self):
        if self.rounds_done == self.breaks_at:
            raise ConfigError("learning ran away")
        if self.clock is not None:
            self.clock.round(self.rounds_done)
        self.rounds_done += 1
        self.fell.append(self.rounds_done / self.rounds)
        self.weight = self.weight * 1.5 + self.rounds_done
        return Told(self.rounds_done, float("nan"))

    def state(self):
        return {"weight": self.weight, "done": np.array([self.rounds_done])}

    def restore(self, held):
        self.weight, self.rounds_done = held["weight"].copy(), int(held["done"][0])

    def save(self, path):
        learn_module._write(path, self.weight.tobytes())


class Stopped(Exception):
    """Somebody pulled the plug."""


def stop_at(number):
    def on_round(told, run):
        if told.number == number:
            raise Stopped

    return on_round


@pytest.fixture
def pig():
    return aleazero.load_game("pig", target=20)


def go(folder, game, settings=SETTINGS, minutes=None, learner=None, **called):
    learner = Counter() if learner is None else learner
    with open_run(folder, game, "pig", settings, minutes) as run:
        newest = learn(learner, run, **called)
    return learner, run, newest


def networks(folder):
    return {path.name: path.read_bytes() for path in folder.glob("net*.safetensors")}


def test_a_run_writes_its_networks_and_a_line_for_each(tmp_path, pig):
    folder = tmp_path / "run"
    *_, newest = go(folder, pig, on_checkpoint=lambda path, run: {"won": float("inf"), "named": path.name})
    assert newest == folder / "net.safetensors"
    assert sorted(networks(folder)) == ["net.safetensors", *(f"net_{n:08}.safetensors" for n in range(2, 21, 2))]
    assert newest.read_bytes() == (folder / "net_00000020.safetensors").read_bytes()
    text = (folder / "events.ndjson").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    events = read_events(folder)
    assert [event["number"] for event in events] == list(range(2, 21, 2))
    assert events[0]["mean_return"] is None
    assert events[0]["named"] == events[0]["checkpoint"] == "net_00000002.safetensors"
    assert json.loads((folder / "learn.json").read_text())["settings"] == SETTINGS["settings"]
    before = networks(folder)
    learner, _, _ = go(folder, pig)
    assert learner.fell == []  # all was done
    assert networks(folder) == before
    assert not list(folder.glob(".*.tmp"))


@pytest.mark.parametrize("stop", [1, 2, 7, 19])
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_stopped_run_ends_with_the_same_networks(tmp_path, pig, monkeypatch, stop, every):
    go(tmp_path / "whole", pig)
    monkeypatch.setattr(learn_module, "SAVED_EVERY", every)
    with pytest.raises(Stopped):
        go(tmp_path / "cut", pig, on_round=stop_at(stop))
    learner, _, _ = go(tmp_path / "cut", pig)
    assert len(learner.fell) == (20 - stop + 1 if every == 0.0 else 20 - 2 * ((stop - 1) // 2))
    assert networks(tmp_path / "cut") == networks(tmp_path / "whole")
    assert [event["number"] for event in read_events(tmp_path / "cut")] == list(range(2, 21, 2))


def test_a_run_that_stopped_between_a_network_and_its_state_tells_each_once(tmp_path, pig, monkeypatch):
    folder, save = tmp_path / "run", learn_module.write_state

    def fail(path, learner, seconds, owner):
        if learner.rounds_done == 8:
            raise Stopped
        save(path, learner, seconds, owner)

    monkeypatch.setattr(learn_module, "write_state", fail)
    with pytest.raises(Stopped):
        go(folder, pig)
    monkeypatch.setattr(learn_module, "write_state", save)
    go(folder, pig)
    go(tmp_path / "whole", pig)
    assert [event["number"] for event in read_events(folder)] == list(range(2, 21, 2))
    assert networks(folder) == networks(tmp_path / "whole")


class Clock:
    """Time that passes only in rounds: a long one for the first, which compiles, and one second each for the others."""

    def __init__(self, first):
        self.now, self.first = 0.0, first

    def round(self, done):
        self.now += self.first if done == 0 else 1.0

    def perf_counter(self):
        return self.now

    monotonic = perf_counter


@pytest.mark.parametrize("first", [1.0, 300.0])
def test_minutes_become_rounds_whatever_compiling_takes(tmp_path, pig, monkeypatch, first):
    clock = Clock(first)
    monkeypatch.setattr(learn_module, "time", clock)
    learner, run, _ = go(tmp_path / "timed", pig, MEASURED, 4.0, Counter(clock=clock))
    assert run.rounds == 12 * 21  # 20 seconds of the 240 were measured, behind the first round
    assert run.seconds == run.rounds - 1
    assert max(learner.fell[:21]) < 1e-9  # no rate falls before the number is known
    assert learner.fell[-1] == 1.0
    counted = {**SETTINGS, "rounds": run.rounds}
    go(tmp_path / "counted", pig, counted)
    assert networks(tmp_path / "counted") == networks(tmp_path / "timed")
    again, _, _ = go(tmp_path / "timed", pig, MEASURED, 4.0)
    assert again.fell == []


def test_a_timed_run_that_stopped_goes_on_with_its_number_of_rounds(tmp_path, pig, monkeypatch):
    clock = Clock(5.0)
    monkeypatch.setattr(learn_module, "time", clock)
    with pytest.raises(Stopped):
        go(tmp_path, pig, MEASURED, 1.0, Counter(clock=clock), on_round=stop_at(7))
    _, run, _ = go(tmp_path, pig, MEASURED, 1.0, Counter(clock=clock))
    assert run.rounds == 12 * 6


def test_other_settings_are_refused_by_name(tmp_path, pig):
    go(tmp_path, pig)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def refused(match, game=pig, minutes=None, spec="pig", **other):
        with pytest.raises(ConfigError, match=match), open_run(tmp_path, game, spec, {**SETTINGS, **other}, minutes):
            raise AssertionError("it was opened")

    refused(r"holds a run with net.hidden \[8, 8\], got \[9\]: expected the same settings, or another folder",
            settings={"lanes": 8, "net": {"kind": "mlp", "hidden": [9]}})  # fmt: skip
    refused("holds a run with lanes 8, got None", settings={"net": SETTINGS["settings"]["net"]})
    refused("holds a run with rounds 20, got 21", rounds=21)
    refused("holds a run with minutes None, got 6.0", minutes=6.0, rounds=None)
    refused("holds a run with game 'pig', got 'pgi'", spec="pgi")
    refused(r"holds a run with params.target 20, got 30", game=aleazero.load_game("pig", target=30))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_of_which_nothing_came_may_be_begun_anew(tmp_path, pig):
    with pytest.raises(ConfigError, match="learning ran away; no checkpoint was written before"):
        go(tmp_path, pig, learner=Counter(breaks_at=0))
    go(tmp_path, pig, {**SETTINGS, "rounds": 10})
    assert len(networks(tmp_path)) == 11


def test_what_ran_away_names_the_last_good_checkpoint(tmp_path, pig):
    with pytest.raises(ConfigError, match=r"learning ran away; the last good checkpoint is .*net_00000006.safetensors"):
        go(tmp_path, pig, learner=Counter(breaks_at=7))
    assert read_events(tmp_path)[-1]["number"] == 6


def test_a_folder_is_for_one_process(tmp_path, pig):
    with (
        open_run(tmp_path, pig, "pig", SETTINGS, None),
        pytest.raises(ConfigError, match="is in use by another process"),
        open_run(tmp_path, pig, "pig", SETTINGS, None),
    ):
        raise AssertionError("it was opened")
    go(tmp_path, pig)


def flip(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def cut(path):
    path.write_bytes(path.read_bytes()[:-20])


def empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, cut, empty])
def test_a_damaged_state_is_refused_and_nothing_is_lost(tmp_path, pig, damage):
    with pytest.raises(Stopped):
        go(tmp_path, pig, on_round=stop_at(7))
    damage(tmp_path / "state.safetensors")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        CheckpointError, match=r"state.safetensors is damaged: .*; without it the run starts anew"
    ) as told:
        go(tmp_path, pig)
    assert "\n" not in str(told.value)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    (tmp_path / "state.safetensors").unlink()
    learner, _, _ = go(tmp_path, pig)
    assert len(learner.fell) == 20


def test_a_state_of_other_settings_is_refused(tmp_path, pig):
    other = {**SETTINGS, "settings": {**SETTINGS["settings"], "seed": 1}}
    for name, settings in (("one", SETTINGS), ("two", other)):
        with pytest.raises(Stopped):
            go(tmp_path / name, pig, settings, on_round=stop_at(7))
    shutil.copy(tmp_path / "two" / "state.safetensors", tmp_path / "one")
    with pytest.raises(CheckpointError, match=r"one/state.safetensors is of another seed, other settings or older"):
        go(tmp_path / "one", pig)


@pytest.mark.parametrize("text", ["", "5", "{", "[]", '{"format": 1}', "\x00"])
def test_a_damaged_plan_is_refused(tmp_path, pig, text):
    go(tmp_path, pig)
    (tmp_path / "learn.json").write_text(text)
    with pytest.raises(ConfigError, match=r"learn.json is damaged: .*; expected what `learn` wrote, or another folder"):
        go(tmp_path, pig)
    assert (tmp_path / "learn.json").read_text() == text


@pytest.mark.parametrize("rounds", ["many", 0, 2.5])
def test_a_plan_with_senseless_rounds_is_refused(tmp_path, pig, rounds):
    go(tmp_path, pig)
    plan = json.loads((tmp_path / "learn.json").read_text())
    (tmp_path / "learn.json").write_text(json.dumps({**plan, "rounds": rounds}))
    with pytest.raises(ConfigError, match=r"learn\.json is damaged: rounds is"):
        go(tmp_path, pig, MEASURED)


def test_a_state_without_its_plan_is_refused(tmp_path, pig):
    go(tmp_path, pig)
    (tmp_path / "learn.json").unlink()
    with pytest.raises(ConfigError, match=r"learn.json is missing beside state.safetensors"):
        go(tmp_path, pig)


@pytest.mark.parametrize("line", ["{", "5", "[1]", '{"number": "x"}', '{"numbers": 1}'])
def test_damaged_events_are_refused_before_any_round(tmp_path, pig, line):
    with pytest.raises(Stopped):
        go(tmp_path, pig, on_round=stop_at(7))
    with (tmp_path / "events.ndjson").open("a") as file:
        file.write(f"{line}\n")
    learner = Counter()
    with pytest.raises(ConfigError, match=r"events.ndjson is damaged: .*; expected a line of JSON for each checkpoint"):
        go(tmp_path, pig, learner=learner)
    assert learner.fell == []


def test_a_full_disk_is_told_in_a_line_and_the_run_goes_on_later(tmp_path, pig, monkeypatch):
    write, left = learn_module.write_whole, [9]

    def fill(path, parts):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, parts)

    monkeypatch.setattr(learn_module, "write_whole", fill)
    monkeypatch.setattr(learner_state, "write_whole", fill)
    with pytest.raises(CheckpointError, match=r"cannot be written: No space left on device$"):
        go(tmp_path / "full", pig)
    monkeypatch.setattr(learn_module, "write_whole", write)
    monkeypatch.setattr(learner_state, "write_whole", write)
    go(tmp_path / "full", pig)
    go(tmp_path / "whole", pig)
    assert networks(tmp_path / "full") == networks(tmp_path / "whole")


def test_a_place_that_is_no_folder_is_refused(tmp_path, pig):
    (tmp_path / "file").write_text("x")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ConfigError, match=r"cannot be written: .*, expected a folder"):
            go(place, pig)


def test_a_lock_that_is_a_folder_is_told(tmp_path, pig):
    (tmp_path / ".lock").mkdir()
    with pytest.raises(ConfigError, match=r"\.lock cannot be written: Is a directory, expected a file, or none"):
        go(tmp_path, pig)


SCRIPT = """
import sys, aleazero.training.learn as learn
learn.SAVED_EVERY = 0.05
from aleazero.cli.main import run
run()
"""
WORDS = ["learn", "--game", "pig", "-p", "target=20", "--rounds", "60", "--threads", "1", "--json", "--set", "lanes=8",
         "--set", "target=lambda", "--set", "net.hidden=[8]", "--set", "updates=1"]  # fmt: skip


def test_a_killed_process_goes_on_to_the_same_networks(tmp_path):
    def start(folder):
        return subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *WORDS, "--out", str(folder)], stdout=subprocess.PIPE, text=True
        )

    killed = start(tmp_path / "cut")
    until = time.monotonic() + 100
    while not (tmp_path / "cut" / "state.safetensors").exists() and killed.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    killed.kill()
    killed.communicate()
    if killed.returncode == 0:
        pytest.fail("the run was over before it was killed")
    assert not (tmp_path / "cut" / "net_00000060.safetensors").exists()
    for folder in ("cut", "whole"):
        process = start(tmp_path / folder)
        said, _ = process.communicate(timeout=100)
        assert process.returncode == 0
        assert json.loads(said)["rounds"] == 60
    assert networks(tmp_path / "cut") == networks(tmp_path / "whole")
    assert len(networks(tmp_path / "whole")) == 11
