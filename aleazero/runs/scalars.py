"""The numbers of a run over time, as a table: for a spreadsheet, and for TensorBoard where it is installed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from aleazero.errors import RunError
from aleazero.files import os_errors_as, write_file
from aleazero.runs.directory import EVENTS, require_no_links
from aleazero.runs.events import read_events

FILE: Final = "scalars.csv"
BOARD: Final = "tensorboard"
SKIPPED: Final = ("event", "time", "iteration", "phase", "round", "calibration", "pair_table")


class Scalar(NamedTuple):
    """One number of a run."""

    time: float
    iteration: int
    round: int | None
    name: str
    value: float


def scalars_of(events: list[dict[str, Any]]) -> list[Scalar]:
    """All numbers of a run's events, named by their path in them."""
    found = []
    for event in events:
        if "iteration" not in event:
            continue
        kind = event.get("phase", event["event"])
        told = {"seconds": event.get("seconds"), **event.get("results", {})} if event["event"] == "phase" else event
        for name, value in _numbers(told, kind):
            found.append(Scalar(event["time"], event["iteration"], event.get("round"), name, value))
    return found


def write_scalars(path: Path) -> None:
    """Write the table into a run's directory, whole."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(Scalar._fields)
    found = scalars_of(read_events(path / EVENTS))
    rows.writerows(found)
    write_file(path / FILE, out.getvalue(), RunError)


def write_board(path: Path) -> Path | None:
    """The same for TensorBoard; None where it is not installed."""
    try:
        from tensorboard.summary import Writer
    except ImportError:
        return None
    require_no_links(path)
    folder, found = path / BOARD, scalars_of(read_events(path / EVENTS))
    with os_errors_as(RunError, f"{folder} cannot be written", "a folder"):
        for old in folder.glob("events.out.*"):
            old.unlink()
        writer = Writer(str(folder))
        for one in found:
            step = one.iteration if one.round is None else one.round
            writer.add_scalar(one.name, one.value, step, wall_time=one.time)
        writer.close()
    return folder


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in SKIPPED:
                yield from _numbers(inner, f"{name}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _numbers(inner, f"{name}/{number}")
