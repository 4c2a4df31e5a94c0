"""Events: they are only appended; duplicates and incomplete lines."""

from __future__ import annotations

import errno
import json
import os

import pytest

from aleazero.errors import RunError
from aleazero.report.source import Sourced
from aleazero.report.tables import number_text
from aleazero.runs.events import Events, read_events


def test_events_read_back_as_logged(tmp_path):
    events = Events(tmp_path / "e.ndjson")
    events.add("learning", iteration=1, round=2, losses=(0.5, float("nan")))
    (event,) = read_events(tmp_path / "e.ndjson")
    assert (event["event"], event["losses"]) == ("learning", [0.5, None])


def test_the_last_entry_of_an_event_takes_the_place_of_the_first(tmp_path):
    events = Events(tmp_path / "e.ndjson")
    for number, value in ((1, "a"), (2, "b"), (1, "c")):
        events.add("learning", iteration=1, round=number, value=value)
    assert [event["value"] for event in read_events(tmp_path / "e.ndjson")] == ["c", "b"]


def test_every_stop_counts(tmp_path):
    events = Events(tmp_path / "e.ndjson")
    for _ in range(2):
        events.add("stopped", why="Ctrl-C")
    assert len(read_events(tmp_path / "e.ndjson")) == 2


def test_a_line_that_could_not_be_written_leaves_nothing(tmp_path, monkeypatch):
    events = Events(tmp_path / "e.ndjson")
    events.add("fit", iteration=1)
    before = events.path.read_bytes()

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match="cannot be written: No space left"):
        events.add("fit", iteration=2)
    assert events.path.read_bytes() == before


@pytest.mark.parametrize("clock", [-1e9, -0.001, 253_402_300_799.9999, 1e12, 1e300])
def test_times_are_limited(tmp_path, monkeypatch, clock):
    events = Events(tmp_path / "e.ndjson")
    monkeypatch.setattr("time.time", lambda: clock)
    events.add("started", iterations=3)
    (event,) = read_events(tmp_path / "e.ndjson")
    assert number_text(Sourced(event["time"], "events:"), "date").endswith("UTC")


def test_an_incomplete_line_is_removed_when_the_run_is_resumed(tmp_path):
    path = tmp_path / "e.ndjson"
    Events(path).add("fit", iteration=1)
    with path.open("ab") as file:
        file.write(b'{"event": "fi')
    assert len(read_events(path)) == 1
    Events(path).add("fit", iteration=2)
    assert [json.loads(line)["iteration"] for line in path.read_text().splitlines()] == [1, 2]


def test_errors_name_the_number_of_a_damaged_line(tmp_path):
    path = tmp_path / "e.ndjson"
    path.write_text('{"event": "a", "time": 1}\nnonsense\n{"event": "b", "time": 1}\n')
    with pytest.raises(RunError, match="line 2 is damaged"):
        read_events(path)
    assert read_events(tmp_path / "none.ndjson") == []


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b'"phase"',
        b"{}",
        b"\x00\xff",
        b"[" * 100_000,
        b'{"event": "stopped"}',
        b'{"event": "stopped", "time": 1e300}',
        b'{"event": "fit", "time": 1, "iteration": [1]}',
        b'{"event": "phase", "time": 1, "iteration": 1}',
        b'{"event": "learning", "time": 1, "seconds": 2.5}',
        b'{"event": "phase", "time": 1, "iteration": 1, "phase": "gate", "seconds": 1, "results": [1]}',
        b'{"event": "phase", "time": 1, "iteration": 1, "phase": "gate", "seconds": "1", "results": {}}',
    ],
)
def test_invalid_events_are_damage(tmp_path, line):
    path = tmp_path / "e.ndjson"
    path.write_bytes(line + b"\n")
    with pytest.raises(RunError, match="line 1 is damaged"):
        read_events(path)
