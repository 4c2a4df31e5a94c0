"""Values of a run's files, with their places."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runs"))  # for run_by_hand.py

from run_by_hand import read_lines, run_by_hand, write_events

from aleazero.errors import RunError
from aleazero.report.source import RunSource, Sourced, ratio, total


def test_values_have_the_place_they_were_read_from(tmp_path: Path) -> None:
    files = RunSource(run_by_hand(tmp_path / "run"))
    found = files.phases("evaluate")[3]["results"]["regret"]["by_kind"]["mark/keep"]["mean"]
    assert found.place == "events:phase/3/evaluate/results/regret/by_kind/mark%2Fkeep/mean"
    assert found.number == pytest.approx(0.111)
    assert files.manifest["iterations"][1]["champion"] == Sourced(2, "manifest:iterations/1/champion")
    assert files.config["gate"]["pairs"] == Sourced(100, "config:gate/pairs")
    assert files.events("learning")[0].place == "events:learning/1/11"


def test_keys_of_missing_values_are_missing(tmp_path: Path) -> None:
    found = RunSource(run_by_hand(tmp_path / "run")).phases("gate")[1]["results"]["score"]["mean"]
    assert not found
    assert found.number is None
    assert found.parts() == {}
    assert found.rows() == []


def test_sums_and_ratios_have_places() -> None:
    a, b, none = Sourced(6, "events:a"), Sourced(3.0, "events:b"), Sourced(None, "events:c")
    assert total([a, none, b]) == Sourced(9.0, "events:a + events:b")
    assert total([none]).value is None
    assert ratio(total([a, b]), 60) == Sourced(0.15, "events:a + events:b / 60")
    assert ratio(a, Sourced(0.0, "events:z")) == Sourced(None, "events:a / events:z")
    assert ratio(none, b).value is None


def test_values_of_other_types_are_rejected() -> None:
    assert Sourced(float("nan"), "events:a").number is None
    for value in ("3", True, [3]):
        with pytest.raises(RunError, match=r"^events:a is .*, expected a number$"):
            _ = Sourced(value, "events:a").number
    with pytest.raises(RunError, match=r"^events:a is '3.5'|^events:a is 3.5, expected an integer$"):
        _ = Sourced(3.5, "events:a").whole
    with pytest.raises(RunError, match="expected something with 'mean' inside"):
        _ = Sourced("no", "events:a")["mean"]
    with pytest.raises(RunError, match="expected parts by name"):
        Sourced([1], "events:a").parts()
    with pytest.raises(RunError, match="expected a list"):
        Sourced({"a": 1}, "events:a").rows()


def test_the_last_entry_of_an_event_counts(tmp_path: Path) -> None:
    path = run_by_hand(tmp_path / "run")
    events = read_lines(path)
    again = [{**one, "seconds": 7.0} for one in events if one.get("phase") == "learn"]
    write_events(path, [*events, *reversed(again)])
    phases = RunSource(path).phases("learn")
    assert [(number, one["seconds"].value) for number, one in phases.items()] == [(n, 7.0) for n in (1, 2, 3, 4)]


@pytest.mark.parametrize(
    "event",
    [{"event": 3}, {"event": "phase"}, {"event": "phase", "iteration": 1}, {"event": "fit", "iteration": "one"}],
)
def test_an_event_without_place_is_damage(tmp_path: Path, event: dict[str, object]) -> None:
    path = run_by_hand(tmp_path / "run")
    write_events(path, [*read_lines(path), {"time": 1.0, **event}])
    with pytest.raises(RunError, match=r"events\.ndjson, line \d+ is damaged: .*expected an event"):
        RunSource(path)
