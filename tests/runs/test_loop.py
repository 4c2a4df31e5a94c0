"""The loop of a run: the order of phases, and the same result after stops and kills."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from safetensors.numpy import load_file, save_file

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py

import contextlib

from page_trace import Page, Truth, wrong
from small_runs import AFTERSTATE, ALPHAZERO, Quiet, lasting, run

from aleazero.errors import AleaZeroError, CheckpointError, ConfigError, ReplayError, RunError
from aleazero.report import write_report
from aleazero.runs.config import RunConfig
from aleazero.runs.directory import open_directory, read_manifest
from aleazero.runs.events import read_events
from aleazero.runs.summary import summary_of
from aleazero.training.learner import _checksum

KILLS = 20


class Stopped(Exception):
    pass


class StopsAfter(Quiet):
    """Stops the run after ``calls`` calls."""

    def __init__(self, calls):
        super().__init__()
        self.left = calls

    def _count(self):
        self.left -= 1
        if self.left < 0:
            raise Stopped

    def phase(self, *arguments):
        self._count()

    def progress(self, *arguments):
        self._count()

    def ended(self, *arguments):
        self._count()


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A complete run of the recipe afterstate, and the calls of its listener."""
    path = tmp_path_factory.mktemp("runs") / "complete"
    listener = Quiet()
    run(path, AFTERSTATE, listener)
    return path, listener.calls


def test_every_number_on_the_page_of_a_real_run_matches_its_source(complete, tmp_path):
    path, _ = complete
    page = write_report(path, tmp_path / "report.html").read_text(encoding="utf-8")
    assert wrong(Page(page), Truth(path)) == []
    assert len(Page(page).traced) > 50


def test_phases_of_an_iteration(complete):
    path, calls = complete
    assert [call[1:] for call in calls if call[0] == "ended"] == [
        (n, name) for n in (1, 2, 3) for name in ("learn", "gate", "evaluate")
    ]
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["finished"]
    assert [one["results"]["learn"]["rounds"] for one in manifest["iterations"]] == [4, 8, 12]
    assert manifest["iterations"][0]["results"]["gate"] == {"champion": 1, "promoted": True, "pairs": 0}
    assert "random" in manifest["iterations"][2]["results"]["evaluate"]["opponents"]


@pytest.mark.parametrize("calls", [0, 4, 12, 20])
def test_a_stopped_run_ends_with_the_same_files(tmp_path, complete, calls):
    with pytest.raises(Stopped):
        run(tmp_path / "cut", AFTERSTATE, StopsAfter(calls))
    run(tmp_path / "cut")
    assert lasting(tmp_path / "cut") == lasting(complete[0])


def test_events_that_a_stopped_run_logged_twice_count_once(tmp_path, complete):
    for calls in (3, 9):
        with pytest.raises(Stopped):
            run(tmp_path / "cut", AFTERSTATE, StopsAfter(calls))
    run(tmp_path / "cut")
    events = read_events(tmp_path / "cut" / "events.ndjson")
    learning = [(event["iteration"], event["round"]) for event in events if event["event"] == "learning"]
    assert sorted(learning) == [(1 + (n - 1) // 4, n) for n in range(1, 13)]
    assert len(learning) == len(set(learning))


def test_seconds_of_a_phase_before_a_stop_are_counted(tmp_path, complete):
    class StopsInTheGate(Quiet):
        def progress(self, done, of, note):
            if ("phase", 2, "gate") in self.calls:
                time.sleep(0.05)
                raise KeyboardInterrupt

        def phase(self, iteration, of, name):
            self.calls.append(("phase", iteration, name))

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "cut", AFTERSTATE, StopsInTheGate())
    run(tmp_path / "cut")
    events = read_events(tmp_path / "cut" / "events.ndjson")
    stops = [event["during"] for event in events if event["event"] == "stopped"]
    assert [(one["iteration"], one["phase"]) for one in stops] == [(2, "gate")] * 2
    phases = {(one["iteration"], one["phase"]): one for one in events if one["event"] == "phase"}
    assert [place for place, one in phases.items() if "interrupted" in one] == [(2, "gate")]
    assert phases[2, "gate"]["interrupted"] == pytest.approx(sum(one["seconds"] for one in stops))
    assert phases[2, "gate"]["interrupted"] >= 0.1
    assert lasting(tmp_path / "cut") == lasting(complete[0])


def test_losses_are_logged_by_name(complete):
    learning = [event for event in read_events(complete[0] / "events.ndjson") if event["event"] == "learning"]
    assert {tuple(event["losses"]) for event in learning} == {("win",)}


def test_workers_do_not_change_the_result(tmp_path, complete):
    run(tmp_path / "two", AFTERSTATE, workers=2)
    assert lasting(tmp_path / "two") == lasting(complete[0])


def test_another_seed_gives_another_network(tmp_path, complete):
    run(tmp_path / "other", {**AFTERSTATE, "seed": 1, "iterations": 1, "rounds": 4})
    first = "models/0001.safetensors"
    assert lasting(tmp_path / "other")[first] != lasting(complete[0])[first]


def test_a_finished_run_does_nothing(tmp_path):
    run(tmp_path, {**AFTERSTATE, "iterations": 1, "rounds": 2})
    before, listener = lasting(tmp_path), Quiet()
    run(tmp_path, None, listener)
    assert listener.calls == []
    assert lasting(tmp_path) == before


def test_a_finished_run_can_be_extended(tmp_path):
    run(tmp_path, {**AFTERSTATE, "iterations": 1, "rounds": 4})
    first = (tmp_path / "models" / "0001.safetensors").read_bytes()
    run(tmp_path, {**AFTERSTATE, "iterations": 2, "rounds": 8})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [one["results"]["learn"]["rounds"] for one in manifest["iterations"]] == [4, 8]
    assert (tmp_path / "models" / "0001.safetensors").read_bytes() == first


def test_the_champion_is_evaluated_again_at_the_end(tmp_path):
    measured = {**AFTERSTATE["evaluate"], "final_pairs": 6}
    listener = Quiet()
    held = run(tmp_path, {**AFTERSTATE, "iterations": 2, "rounds": 8, "evaluate": measured}, listener)
    assert [call[1:] for call in listener.calls if call[0] == "ended"][-2:] == [(2, "evaluate"), (2, "final")]
    final = held.manifest.iterations[1].results["final"]
    assert final["network"] == held.manifest.champion
    assert final["opponents"]["random"]["count"] == 6
    assert summary_of(tmp_path)["results"]["opponents"] == final["opponents"]
    run(tmp_path, {**AFTERSTATE, "iterations": 3, "rounds": 12, "evaluate": measured})
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert [list(one["results"]) for one in manifest["iterations"]] == [
        ["learn", "gate", "evaluate"], *[["learn", "gate", "evaluate", "final"]] * 2
    ]  # fmt: skip


@pytest.mark.parametrize("settings", [{"final_reference_games": 5}, {"final_pairs": -1}])
def test_an_impossible_final_evaluation_is_rejected(tmp_path, settings):
    with pytest.raises(ConfigError, match=f"{next(iter(settings))} is"):
        run(tmp_path, {**AFTERSTATE, "evaluate": {**AFTERSTATE["evaluate"], **settings}})


def cut(path, iterations, *phases):
    """Reset a run to its first iterations, the last with only these phases done."""
    file = path / "manifest.json"
    manifest = json.loads(file.read_text())
    manifest.update(finished=False, iterations=manifest["iterations"][:iterations])
    last = manifest["iterations"][-1]
    last["done"] = list(phases)
    last["results"] = {name: last["results"][name] for name in phases}
    last["champion"] = last["champion"] if "gate" in phases else None
    last["model"] = last["model"] if {"learn", "fit"} & set(phases) else None
    file.write_text(json.dumps(manifest))


def test_a_replaced_or_missing_network_is_rejected(tmp_path, complete):
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 3, "learn")
    shutil.copy(tmp_path / "cut" / "models" / "0003.safetensors", tmp_path / "cut" / "models" / "0001.safetensors")
    with pytest.raises(RunError, match=r"0001.safetensors is not the file that the run wrote"):
        run(tmp_path / "cut")
    (tmp_path / "cut" / "models" / "0001.safetensors").unlink()
    with pytest.raises(RunError, match=r"0001.safetensors cannot be read: No such file"):
        run(tmp_path / "cut")


def test_a_missing_champion_is_reported_before_training(tmp_path, complete):
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 3)
    champion = read_manifest(tmp_path / "cut").champion
    (tmp_path / "cut" / "models" / f"{champion:04}.safetensors").unlink()
    listener = Quiet()
    with pytest.raises(RunError, match=rf"000{champion}.safetensors cannot be read: No such file"):
        run(tmp_path / "cut", None, listener)
    assert listener.calls == []


def test_a_network_that_is_not_needed_may_be_missing(tmp_path, complete):
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 3)
    (unneeded,) = {1, 2} - {read_manifest(tmp_path / "cut").champion}
    (tmp_path / "cut" / "models" / f"000{unneeded}.safetensors").unlink()
    run(tmp_path / "cut")


def test_seeds_that_change_during_a_run_are_rejected_at_the_gate(tmp_path):
    class Edits(Quiet):
        def phase(self, iteration, of, name):
            if (iteration, name) == (2, "gate"):
                seeds.write_text("\n".join(map(str, range(20))))

    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\n".join(map(str, range(10))))
    with pytest.raises(RunError, match=r"seeds.txt was changed since the run started"):
        run(tmp_path / "run", {**AFTERSTATE, "gate": {"pairs": 10, "seed_set": str(seeds)}}, Edits())
    assert [one.done for one in read_manifest(tmp_path / "run").iterations] == [
        ["learn", "gate", "evaluate"],
        ["learn"],
    ]


@pytest.mark.parametrize("wipe", [False, True], ids=["another seed", "older code"])
def test_a_learning_state_of_another_run_is_rejected(tmp_path, complete, wipe):
    run(tmp_path / "other", {**AFTERSTATE, "seed": 1, "iterations": 1, "rounds": 4})
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 2)
    state = tmp_path / "cut" / "learning" / "state.safetensors"
    if wipe:
        held = {name: array for name, array in load_file(state).items() if name not in ("owner", "checksum")}
        save_file({**held, "checksum": _checksum(held)}, state)
    else:
        shutil.copy(tmp_path / "other" / "learning" / "state.safetensors", state)
    with pytest.raises(CheckpointError, match=r"state.safetensors .*another seed"):
        run(tmp_path / "cut")
    state.unlink()
    run(tmp_path / "cut")
    assert lasting(tmp_path / "cut") == lasting(complete[0])


class StopsInRound(Quiet):
    """Stops the run during the learning of an iteration, after ``done`` rounds."""

    def __init__(self, iteration, done):
        super().__init__()
        self.phase_call, self.done = ("phase", iteration, "learn"), done

    def progress(self, done, of, note):
        if (self.calls[-1], done) == (self.phase_call, self.done):
            raise Stopped


@pytest.mark.parametrize("places", [[(1, 3)], [(2, 2)], [(3, 4)], [(1, 2), (1, 4), (2, 3), (3, 3)]])
def test_a_run_resumes_within_an_iteration(tmp_path, complete, monkeypatch, places):
    monkeypatch.setattr("aleazero.runs.recipes.SAVED_EVERY", 0.0)
    for iteration, done in places:
        with pytest.raises(Stopped):
            run(tmp_path / "cut", AFTERSTATE, StopsInRound(iteration, done))
    listener = Quiet()
    run(tmp_path / "cut", None, listener)
    iteration, done = places[-1]
    assert listener.calls[:2] == [("phase", iteration, "learn"), ("progress", done, 4)]  # not from its first round
    assert lasting(tmp_path / "cut") == lasting(complete[0])


def test_a_learning_state_of_a_later_iteration_is_rejected(tmp_path, complete):
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 2)
    with pytest.raises(CheckpointError, match=r"from round 12, expected at most 8 in iteration 2; remove it"):
        run(tmp_path / "cut")
    (tmp_path / "cut" / "learning" / "state.safetensors").unlink()
    run(tmp_path / "cut")
    assert lasting(tmp_path / "cut") == lasting(complete[0])


def test_the_final_evaluation_is_repeated_with_other_settings(tmp_path):
    settings = {**AFTERSTATE, "iterations": 1, "rounds": 2}
    run(tmp_path, settings)
    listener = Quiet()
    for pairs in (2, 4):
        run(tmp_path, {**settings, "evaluate": {**settings["evaluate"], "final_pairs": pairs}}, listener)
        final = read_manifest(tmp_path).iterations[-1].results["final"]
        assert final["opponents"]["random"]["count"] == pairs
    assert [call for call in listener.calls if call[0] == "ended"] == [("ended", 1, "final")] * 2
    assert summary_of(tmp_path)["results"]["opponents"]["random"]["count"] == 4


@pytest.mark.parametrize(
    "file",
    ["events.ndjson", "models/.0002", "learning/.state", "gates/.0002.json", "gates/.0002_games", "evaluations/.0002",
     ".scalars.csv", ".manifest.json"],
)  # fmt: skip
def test_a_full_disk_is_reported_in_one_line_and_loses_nothing(tmp_path, complete, file, monkeypatch):
    written = os.fsync

    class FillsUp(Quiet):
        def phase(self, iteration, of, name):
            if iteration == 2:
                monkeypatch.setattr(os, "fsync", full)

    def full(number):
        if file in os.readlink(f"/proc/self/fd/{number}"):
            raise OSError(errno.ENOSPC, "No space left on device")
        written(number)

    with pytest.raises(AleaZeroError, match="cannot be written: No space left on device") as caught:
        run(tmp_path / "cut", AFTERSTATE, FillsUp())
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(os, "fsync", written)
    run(tmp_path / "cut")
    assert lasting(tmp_path / "cut") == lasting(complete[0])


def test_a_damaged_evaluation_is_reported_by_the_ratings(tmp_path, complete):
    for file in ("evaluations/0001.json", "gates/0002.json"):
        shutil.copytree(complete[0], tmp_path / "cut", dirs_exist_ok=True)
        cut(tmp_path / "cut", 3, "learn", "gate")
        for text in ("", "{", "{}", '{"pairs": 5, "results": 3}'):
            (tmp_path / "cut" / file).write_text(text)
            with pytest.raises(RunError, match=f"{file} is damaged: .*; remove it"):
                run(tmp_path / "cut")


def test_damaged_events_are_reported_before_training(tmp_path, complete):
    shutil.copytree(complete[0], tmp_path / "cut")
    cut(tmp_path / "cut", 2)
    (tmp_path / "cut" / "events.ndjson").write_text("nonsense\n")
    with pytest.raises(RunError, match="line 1 is damaged"):
        run(tmp_path / "cut")


def test_minutes_are_converted_to_rounds(tmp_path):
    settings = {name: value for name, value in AFTERSTATE.items() if name != "rounds"}
    held = run(tmp_path, {**settings, "minutes": 0.01, "iterations": 2})
    assert held.manifest.rounds >= 2
    assert held.manifest.iterations[1].results["learn"]["rounds"] == held.manifest.rounds


def test_only_new_models_and_the_champion_are_kept(tmp_path):
    held = run(tmp_path, {**AFTERSTATE, "keep": {"models": 1}})
    kept = {int(path.stem) for path in (tmp_path / "models").glob("*.safetensors")}
    assert kept == {3, held.manifest.champion}


@pytest.fixture(scope="module")
def complete_alphazero(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "complete"
    run(path, ALPHAZERO)
    return path


@pytest.mark.long
def test_a_resumed_iteration_finds_its_training_state(tmp_path, complete_alphazero):
    """A run stopped after the self-play of iteration 2 prunes again; the fit needs the state of iteration 1."""

    class StopsAfterSelfplay(Quiet):
        def ended(self, iteration, name, results):
            if (iteration, name) == (2, "selfplay"):
                raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path / "cut", ALPHAZERO, StopsAfterSelfplay())
    run(tmp_path / "cut")
    assert lasting(tmp_path / "cut") == lasting(complete_alphazero)


@pytest.mark.long
def test_a_missing_training_state_is_an_error(tmp_path):
    class Removes(Quiet):
        def ended(self, iteration, name, results):
            if (iteration, name) == (2, "selfplay"):
                (tmp_path / "models" / "0001.training.safetensors").unlink()

    with pytest.raises(RunError, match=r"0001.training.safetensors is missing"):
        run(tmp_path, ALPHAZERO, Removes())


@pytest.fixture(scope="module")
def extended_alphazero(complete_alphazero, tmp_path_factory):
    """A run of three iterations, two of which are done."""
    path = tmp_path_factory.mktemp("runs") / "extended"
    shutil.copytree(complete_alphazero, path)
    with open_directory(path, RunConfig(**{**ALPHAZERO, "iterations": 3})):
        return path


ADVICE = "; restore the file that the run wrote, or start another run"


@pytest.mark.long
@pytest.mark.parametrize(
    ("damage", "message"),
    [(lambda state: state.unlink(), f"0002.training.safetensors is missing, expected it next to the network{ADVICE}"),
     (lambda state: state.write_bytes(b"x" * 100), f"0002.training.safetensors is damaged: .*{ADVICE}"),
     (lambda state: shutil.copy(state.with_name("first"), state),
      rf"0002.training.safetensors .*{ADVICE}")],
    ids=["missing", "damaged", "other"],
)  # fmt: skip
def test_a_wrong_training_state_is_reported_before_self_play(tmp_path, extended_alphazero, damage, message):
    shutil.copytree(extended_alphazero, tmp_path / "run")

    class Keeps(Quiet):
        def ended(self, iteration, name, results):
            if name == "fit":
                shutil.copy(tmp_path / "one" / "models" / "0001.training.safetensors", first)

    state = tmp_path / "run" / "models" / "0002.training.safetensors"
    first = state.with_name("first")
    run(tmp_path / "one", {**ALPHAZERO, "iterations": 1}, Keeps())
    damage(state)
    listener = Quiet()
    with pytest.raises(RunError, match=message):
        run(tmp_path / "run", None, listener)
    assert listener.calls == []


@pytest.mark.long
@pytest.mark.parametrize("calls", [5, 12])
def test_stopped_self_play_and_fits_resume(tmp_path, complete_alphazero, calls):
    with pytest.raises(Stopped):
        run(tmp_path / "cut", ALPHAZERO, StopsAfter(calls))
    run(tmp_path / "cut", workers=2)
    assert lasting(tmp_path / "cut") == lasting(complete_alphazero)


@pytest.mark.long
def test_samples_beyond_the_limit_are_removed_and_a_stopped_run_ends_the_same(tmp_path):
    limited = {**ALPHAZERO["alphazero"], "train": {**ALPHAZERO["alphazero"]["train"], "window": 30}}
    settings = {**ALPHAZERO, "alphazero": limited, "keep": {"samples": 30}}
    run(tmp_path / "complete", settings)
    for calls in (6, 30):
        with pytest.raises(Stopped):
            run(tmp_path / "cut", settings, StopsAfter(calls))
    run(tmp_path / "cut")
    left = sorted(path.name for path in (tmp_path / "complete" / "replay").iterdir())
    assert left
    assert left[0] > "shard_00001_00003.safetensors"
    assert lasting(tmp_path / "cut") == lasting(tmp_path / "complete")


@pytest.mark.long
def test_damaged_samples_are_reported_and_kept(tmp_path, complete_alphazero):
    shutil.copytree(complete_alphazero, tmp_path / "cut")
    cut(tmp_path / "cut", 2, "selfplay")
    shard = tmp_path / "cut" / "replay" / "shard_00001_00001.safetensors"
    shard.write_bytes(shard.read_bytes()[:100])
    with pytest.raises(ReplayError, match=r"shard_00001_00001.safetensors: .*; without it, the fit has fewer samples"):
        run(tmp_path / "cut")
    assert shard.exists()


@pytest.mark.long
def test_missing_samples_are_reported(tmp_path, complete_alphazero):
    shutil.copytree(complete_alphazero, tmp_path / "cut")
    cut(tmp_path / "cut", 2, "selfplay")
    (tmp_path / "cut" / "replay" / "shard_00001_00001.safetensors").unlink()
    with pytest.raises(ReplayError, match=r"shard_00001_00001.safetensors is missing, expected all samples of the run"):
        run(tmp_path / "cut")


@pytest.fixture(scope="module")
def other_alphazero(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "other"
    run(path, {**ALPHAZERO, "seed": 1, "alphazero": {**ALPHAZERO["alphazero"], "games": 8}})
    return path


@pytest.mark.long
@pytest.mark.parametrize(
    ("shard", "message"),
    [("shard_00001_00001", ".*another seed and settings"), ("shard_00002_00000", ".*another model"),
     ("shard_00002_00003", "does not belong to the run")],
)  # fmt: skip
def test_samples_of_another_run_are_rejected(tmp_path, complete_alphazero, other_alphazero, shard, message):
    shutil.copytree(complete_alphazero, tmp_path / "cut")
    cut(tmp_path / "cut", 2, "selfplay")
    shutil.copy(other_alphazero / "replay" / f"{shard}.safetensors", tmp_path / "cut" / "replay")
    with pytest.raises(ReplayError, match=rf"{shard}.safetensors {message}.*: the fit would differ from the run's"):
        run(tmp_path / "cut")


@pytest.mark.long
def test_games_that_were_played_before_are_logged_once(tmp_path, complete_alphazero):
    shutil.copytree(complete_alphazero, tmp_path / "cut")
    cut(tmp_path / "cut", 2)
    run(tmp_path / "cut")
    played = [event for event in read_events(tmp_path / "cut" / "events.ndjson") if event["event"] == "selfplay"]
    assert [event["games"] for event in played] == [8, 6]
    assert lasting(tmp_path / "cut") == lasting(complete_alphazero)


@pytest.mark.long
def test_fits_are_logged(complete_alphazero):
    fits = [event for event in read_events(complete_alphazero / "events.ndjson") if event["event"] == "fit"]
    assert [fit["iteration"] for fit in fits] == [1, 2]
    assert fits[1]["step"] == 12


def wait_for_events(path, more, process):
    """Wait until a run has logged ``more`` events; it must not end before."""
    events = path / "events.ndjson"
    wanted = more + (len(events.read_text().splitlines()) if events.exists() else 0)
    while more and not (events.exists() and len(events.read_text().splitlines()) >= wanted):
        assert process.poll() is None, "the run ended before it was killed"
        time.sleep(0.01)


def test_a_run_killed_in_its_first_phase_is_resumed(tmp_path, complete):
    config, path = tmp_path / "run.yaml", tmp_path / "run"
    config.write_text(yaml.safe_dump({**AFTERSTATE, "iterations": 1, "rounds": 10**9}))
    command = [sys.executable, "-m", "aleazero.cli.main", "train", str(config), "--workers", "1", "--out", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_events(path, 1, process)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert read_manifest(path).iterations == []
    with pytest.raises(Stopped):
        run(path, None, StopsAfter(1))
    assert [event["event"] for event in read_events(path / "events.ndjson")] == ["started", "resumed", "stopped"]
    page = write_report(path).read_text(encoding="utf-8")
    assert "the run was killed and resumed" in page


@pytest.mark.long
@pytest.mark.parametrize("settings", [AFTERSTATE, ALPHAZERO], ids=["afterstate", "alphazero"])
def test_a_run_killed_at_random_moments_ends_with_the_same_files(tmp_path, settings):
    """Kill the main process and workers, together or one by one; then resume the run."""
    config = tmp_path / "run.yaml"
    long = {"iterations": 30, "rounds": 600} if "rounds" in settings else {"iterations": 8}
    config.write_text(yaml.safe_dump({**settings, **long}))
    command = [sys.executable, "-m", "aleazero.cli.main", "train", str(config), "--workers", "2", "--out"]
    subprocess.run([*command, str(tmp_path / "complete")], check=True, capture_output=True)
    rng, only_workers = random.Random(7), 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [*command, str(tmp_path / "cut")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        wait_for_events(tmp_path / "cut", rng.randrange(5), process)
        time.sleep(rng.uniform(0.0, 0.2))
        children = [int(c) for c in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
        if children and rng.random() < 0.4:
            os.kill(rng.choice(children), signal.SIGKILL)
            only_workers += 1
            time.sleep(rng.uniform(0.0, 1.0))
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    assert only_workers > 0
    subprocess.run([*command, str(tmp_path / "cut")], check=True, capture_output=True)
    assert lasting(tmp_path / "cut") == lasting(tmp_path / "complete")


def test_a_missing_opponent_is_rejected_before_training(tmp_path, monkeypatch):
    monkeypatch.setattr("aleazero.evaluation.strength.MOST_STATES", 10)
    listener, evaluate = Quiet(), {**AFTERSTATE["evaluate"], "against": ["oracle"]}
    with pytest.raises(ConfigError, match=r"evaluate.against has 'oracle', known: random, rollout"):
        run(tmp_path, {**AFTERSTATE, "params": {"target": 11}, "evaluate": evaluate}, listener)
    assert listener.calls == []


def test_a_run_in_use_is_rejected(tmp_path):
    class Nosy(Quiet):
        def phase(self, iteration, of, name):
            with pytest.raises(RunError, match="in use by another process"):
                run(tmp_path)
            raise Stopped

    with pytest.raises(Stopped):
        run(tmp_path, AFTERSTATE, Nosy())


def test_a_run_in_use_by_another_process_is_rejected(tmp_path):
    with open_directory(tmp_path / "run", RunConfig(**AFTERSTATE)):
        before = lasting(tmp_path / "run")
        command = [sys.executable, "-m", "aleazero.cli.main", "resume", str(tmp_path / "run")]
        second = subprocess.run(command, capture_output=True, text=True, check=False)
        assert lasting(tmp_path / "run") == before
    assert (second.returncode, len(second.stderr.splitlines())) == (2, 1)
    assert "is in use by another process" in second.stderr
