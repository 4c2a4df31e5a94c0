"""Numbers of a run as CSV and for TensorBoard."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for run_by_hand.py

import pytest
from run_by_hand import read_lines, run_by_hand
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.runs.events import scalars_of, write_scalars, write_tensorboard


@pytest.fixture
def path(tmp_path):
    return run_by_hand(tmp_path / "run", iterations=3)


def scores_of(path):
    events = [one for one in read_lines(path) if one.get("phase") == "evaluate"]
    return {one["iteration"]: one["results"]["opponents"]["random"]["mean"] for one in events}


def test_scalars_are_written_as_csv(path):
    write_scalars(path)
    with (path / "scalars.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    named = {int(row["iteration"]): row["value"] for row in rows if row["name"] == "evaluate/opponents/random/mean"}
    assert {number: float(value) for number, value in named.items()} == scores_of(path)


def test_scalars_are_readable_by_tensorboard(path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for _ in range(2):  # the second call replaces the first
        folder = write_tensorboard(path)
    read = EventAccumulator(str(folder))
    read.Reload()
    found = read.Tensors("evaluate/opponents/random/mean")
    values = {one.step: one.tensor_proto.float_val[0] for one in found}
    assert values == pytest.approx(scores_of(path))
    assert len(found) == len(values)


def test_ratings_are_named_by_their_player_because_their_order_changes():
    def event(iteration, *ratings):
        rated = [{"name": name, "rating": rating} for name, rating in ratings]
        results = {"ratings": rated}
        return {"event": "phase", "phase": "evaluate", "iteration": iteration, "time": 1.0, "results": results}

    found = scalars_of([event(1, ("network 1", 9.0), ("random", 0.0)), event(2, ("random", 0.0), ("network 1", -5.0))])
    rated = [(one.iteration, one.value) for one in found if one.name == "evaluate/ratings/network 1/rating"]
    assert rated == [(1, 9.0), (2, -5.0)]


def test_errors_of_writing_are_reported(path):
    shutil.rmtree(path / "tensorboard", ignore_errors=True)
    (path / "tensorboard").write_text("")
    try:
        result = CliRunner().invoke(app, ["runs", "tensorboard", str(path)])
    finally:
        (path / "tensorboard").unlink()
    assert result.exit_code == 2
    assert "tensorboard cannot be written" in result.output


def test_without_tensorboard_the_error_names_the_package(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard.summary", None)
    result = CliRunner().invoke(app, ["runs", "tensorboard", str(path)])
    assert result.exit_code == 2
    assert "pip install 'aleazero[tensorboard]'" in result.output
