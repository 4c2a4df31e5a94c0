"""The recipe ``afterstate`` of a run: the network of its learner, minutes that become rounds, and its state on disk."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py

from small_runs import AFTERSTATE, run

import aleazero
from aleazero.errors import CheckpointError, ConfigError
from aleazero.runs import recipes
from aleazero.runs.config import RunConfig
from aleazero.runs.directory import open_directory
from aleazero.runs.events import read_events
from aleazero.runs.recipes import LEARN, Afterstate, make_learner
from aleazero.training.config import config_for

RACE = f"{Path(__file__).parents[2]}/examples/race.py"
NETWORK = {"lanes": 4, "lane_groups": 2, "batch_size": 16, "replay": 100, "net": {"hidden": [4]}}
EVALUATE = {"pairs": 2, "against": ["random"], "regret": False, "reference_games": 0, "calibration_games": 0}


@pytest.mark.parametrize(
    ("game", "params", "settings", "gate", "iterations", "rounds"),
    [
        ("pig", {"target": 10}, {**NETWORK, "target": "lambda"}, {"pairs": 10}, 3, 12),
        (RACE, {"length": 8}, NETWORK, {"pairs": 10}, 1, 5),
        ("2048", {}, {"lanes": 2}, {"pairs": 10, "rule": "fixed", "gain1": 1000.0}, 2, 3),
    ],
    ids=["lambda", "own", "tables"],
)
def test_a_run_trains_the_network_that_its_learner_trains(
    tmp_path, game, params, settings, gate, iterations, rounds
):  # fmt: skip
    loaded = aleazero.load_game(game, **params)
    given = {name: value for name, value in settings.items() if name != "net"}
    config = config_for(loaded, {**given, "seed": 3, "rounds": rounds}, settings.get("net", {}))
    with closing(make_learner(loaded, config)) as learner:
        for _ in range(rounds):
            learner.round()
        learner.save(tmp_path / "net.safetensors")
    run(tmp_path / "run", {"game": game, "params": params, "seed": 3, "rounds": rounds, "iterations": iterations,
                           "afterstate": settings, "gate": gate, "evaluate": EVALUATE})  # fmt: skip
    model = tmp_path / "run" / "models" / f"{iterations:04}.safetensors"
    assert model.read_bytes() == (tmp_path / "net.safetensors").read_bytes()


@dataclass(frozen=True)
class Result:
    """Result of a round."""

    number: int
    turns: int = 1
    games: int = 0
    evaluations: int = 0
    losses: tuple = ()
    learning_rate: float = float("nan")
    mean_return: float | None = None


class Clock:
    """A clock that only advances in rounds: by ``first`` in the first round, which compiles, then by one second."""

    def __init__(self, first):
        self.now, self.first = 0.0, first

    def round(self, done):
        self.now += self.first if done == 0 else 1.0

    def perf_counter(self):
        return self.now

    monotonic = perf_counter


class Counter:
    """A learner whose weight depends on all its rounds, in order."""

    def __init__(self, breaks_at=None, clock=None):
        self.rounds, self.rounds_done, self.weight = 0, 0, np.zeros(1)
        self.breaks_at, self.clock, self.shares = breaks_at, clock, []

    def round(self):
        if self.rounds_done == self.breaks_at:
            raise ConfigError("training diverged")
        if self.clock is not None:
            self.clock.round(self.rounds_done)
        self.rounds_done += 1
        self.shares.append(self.rounds_done / self.rounds)
        self.weight = self.weight * 1.5 + self.rounds_done
        return Result(self.rounds_done)

    def state(self):
        return {"weight": self.weight, "done": np.array([self.rounds_done])}

    def restore(self, held):
        self.weight, self.rounds_done = held["weight"].copy(), int(held["done"][0])

    def save(self, path):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self.weight.tobytes())

    def close(self):
        pass


class Stopped(Exception):
    """The process was stopped."""


def stop_at(number):
    def progress(done, of, note):
        if done == number:
            raise Stopped

    return progress


def learn(folder, monkeypatch, learner, progress=lambda done, of, note: None, iterations=1, **limit):
    """Do the learning phases of a run with this learner; return the manifest and the networks."""
    monkeypatch.setattr(recipes, "make_learner", lambda *_: learner)
    settings = {**AFTERSTATE, "iterations": iterations, "rounds": None, **limit}
    with (
        open_directory(folder, RunConfig(**settings)) as held,
        closing(Afterstate(held, held.config.load_game(), 1)) as recipe,
    ):
        for number in range(1, iterations + 1):
            iteration = held.iteration(number)
            if LEARN not in iteration.done:
                iteration.results[LEARN] = recipe.do(LEARN, number, progress)
                iteration.done.append(LEARN)
                held.write_manifest()
        return held.manifest, [held.model(n + 1).read_bytes() for n in range(iterations)]


@pytest.mark.parametrize("first", [1.0, 300.0])
def test_minutes_are_converted_to_rounds_without_compilation(tmp_path, monkeypatch, first):
    clock = Clock(first)
    monkeypatch.setattr(recipes, "time", clock)
    learner = Counter(clock=clock)
    manifest, networks = learn(tmp_path / "timed", monkeypatch, learner, minutes=4.0)
    assert manifest.rounds == 12 * 21  # 20 of the 240 seconds were measured, after the first round
    assert max(learner.shares[:21]) < 1e-9  # no rate decays before the number is known
    assert learner.shares[-1] == 1.0
    assert learn(tmp_path / "counted", monkeypatch, Counter(), rounds=manifest.rounds)[1] == networks


def test_the_rate_counts_all_rounds_except_the_one_that_compiles(tmp_path, monkeypatch):
    clock, notes = Clock(100.0), []
    monkeypatch.setattr(recipes, "time", clock)
    learn(
        tmp_path, monkeypatch, Counter(clock=clock), lambda done, of, note: notes.append(note), iterations=3, rounds=6
    )
    assert notes == ["", *["1 turns/s"] * 5]
    assert read_events(tmp_path / "events.ndjson")[-1]["seconds"] == 5.0


def test_a_timed_run_that_stopped_resumes_with_its_number_of_rounds(tmp_path, monkeypatch):
    clock = Clock(5.0)
    monkeypatch.setattr(recipes, "time", clock)
    with pytest.raises(Stopped):
        learn(tmp_path, monkeypatch, Counter(clock=clock), stop_at(7), minutes=1.0)
    manifest, _ = learn(tmp_path, monkeypatch, Counter(clock=clock), minutes=1.0)
    assert manifest.rounds == 12 * 6


@pytest.mark.parametrize("stop", [1, 2, 7, 9])
@pytest.mark.parametrize("every", [0.0, 1e9])
def test_a_stopped_run_ends_with_the_same_networks(tmp_path, monkeypatch, stop, every):
    _, networks = learn(tmp_path / "networks", monkeypatch, Counter(), iterations=2, rounds=20)
    monkeypatch.setattr(recipes, "SAVED_EVERY", every)
    with pytest.raises(Stopped):
        learn(tmp_path / "cut", monkeypatch, Counter(), stop_at(stop), iterations=2, rounds=20)
    learner = Counter()
    assert learn(tmp_path / "cut", monkeypatch, learner, iterations=2, rounds=20)[1] == networks
    assert len(learner.shares) == (20 - stop + 1 if every == 0.0 else 20)


def test_an_error_names_the_last_good_network(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="training diverged; no network was written before"):
        learn(tmp_path / "first", monkeypatch, Counter(breaks_at=3), iterations=2, rounds=20)
    with pytest.raises(ConfigError, match=r"training diverged; the last good network is .*models/0001.safetensors"):
        learn(tmp_path / "second", monkeypatch, Counter(breaks_at=13), iterations=2, rounds=20)


def flip(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage", [flip, lambda path: path.write_bytes(path.read_bytes()[:-20]), lambda path: path.write_bytes(b"")]
)
def test_a_damaged_state_is_an_error_and_is_kept(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(recipes, "SAVED_EVERY", 0.0)
    with pytest.raises(Stopped):
        learn(tmp_path, monkeypatch, Counter(), stop_at(7), rounds=20)
    state = tmp_path / "learning" / "state.safetensors"
    damage(state)
    before = state.read_bytes()
    with pytest.raises(CheckpointError, match=r"state.safetensors is damaged: ") as caught:
        learn(tmp_path, monkeypatch, Counter(), rounds=20)
    assert "\n" not in str(caught.value)
    assert state.read_bytes() == before
    state.unlink()
    learner = Counter()
    learn(tmp_path, monkeypatch, learner, rounds=20)
    assert len(learner.shares) == 20
