"""Events of a run, one line of JSON each, and their numbers as scalars.csv and for TensorBoard.

Events are only appended. A run that was killed and resumed may log the same event twice; then the last one counts. An
incomplete last line, e.g. after a power cut, is removed when the run is resumed.
"""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from aleazero.errors import RunError
from aleazero.files import open_in_place, os_errors_as, without_nan, write_file
from aleazero.untrusted import parse_json, read_regular

EVENTS, SCALARS, BOARD = "events.ndjson", "scalars.csv", "tensorboard"
PLACE: Final = ("event", "iteration", "phase", "round")
"""Keys that identify an event of an iteration. Events without iteration, such as stops, are all different."""
OF_ITERATIONS: Final = ("phase", "learning", "selfplay", "fit")
"""Events that must have an iteration."""
LATEST: Final = 253_402_300_800
"""Seconds from 1970 to the year 10000; events are earlier."""
SKIPPED: Final = ("event", "time", "iteration", "phase", "round", "calibration", "pair_table")
"""Keys of events that are not plotted over time."""


class Events:
    """The event log of a run, open for writing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _remove_incomplete_line(path)
        read_events(path)  # report damage now, not after an iteration

    def add(self, event: str, **fields: Any) -> dict[str, Any]:
        """Log an event with the current time, and flush it to disk; times are limited to the years 1970 to 9999."""
        now = min(max(0.0, round(time.time(), 3)), LATEST - 1.0)
        line = {"event": event, "time": now, **without_nan(fields)}
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        with (
            os_errors_as(RunError, f"{self.path} cannot be written"),
            open_in_place(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as file,
        ):
            before = file.seek(0, os.SEEK_END)
            try:
                if file.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)  # an incomplete line would damage the next one
                raise
        return line


def read_events(path: Path) -> list[dict[str, Any]]:
    """Read all events in the order of their first entry; of an event that was logged twice, the last entry counts."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    with os_errors_as(RunError, f"{path} cannot be read"):
        try:
            lines = read_regular(path).split(b"\n")
        except FileNotFoundError:
            return []
    for number, line in enumerate(lines[:-1], start=1):  # the text after the last line break is incomplete
        try:
            event = _checked_event(parse_json(line))
        except ValueError as error:
            why = f"{path}, line {number} is damaged: {str(error)[:100]}"
            raise RunError(f"{why}; expected an event as JSON, remove the line to continue without it") from None
        place = tuple(event.get(name) for name in PLACE) if "iteration" in event else (number,)
        found[place] = event
    return list(found.values())


def interrupted(events: Iterable[Mapping[str, Any]], iteration: int, phase: str) -> float:
    """Return the seconds that a phase took before it was stopped; the time before a kill is not known."""
    stops = [event["during"] for event in events if "during" in event]
    return sum(float(one["seconds"]) for one in stops if (one.get("iteration"), one.get("phase")) == (iteration, phase))


class Scalar(NamedTuple):
    """One number of an event."""

    time: float
    iteration: int
    round: int | None
    name: str
    value: float


def scalars_of(events: list[dict[str, Any]]) -> list[Scalar]:
    """Return all numbers of a run's events, named by their path in the event."""
    found = []
    for event in events:
        if "iteration" not in event:
            continue
        kind = event.get("phase", event["event"])
        data = {"seconds": event.get("seconds"), **event.get("results", {})} if event["event"] == "phase" else event
        for name, value in _numbers(data, kind):
            found.append(Scalar(event["time"], event["iteration"], event.get("round"), name, value))
    return found


def write_scalars(path: Path) -> None:
    """Write scalars.csv into the directory of a run."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(Scalar._fields)
    rows.writerows(scalars_of(read_events(path / EVENTS)))
    write_file(path / SCALARS, out.getvalue(), RunError)


def write_tensorboard(path: Path) -> Path | None:
    """Write the numbers of ``scalars_of`` for TensorBoard; return the folder, or None if it is not installed."""
    try:
        from tensorboard.summary import Writer
    except ImportError:
        return None
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


def _checked_event(event: Any) -> dict[str, Any]:
    """Return a line of the log if it has the keys that an event must have; else raise a ValueError."""
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise ValueError("an event has no name")
    if event["event"] in OF_ITERATIONS and "iteration" not in event:
        raise ValueError(f"the event {event['event']!r} has no iteration")
    integers = [event.get("iteration", 0), event.get("round", 0)]
    if any(type(one) is not int for one in integers):
        raise ValueError(f"iteration and round are {integers}")
    if not (_is_number(event.get("time")) and 0 <= event["time"] < LATEST):
        raise ValueError(f"time is {event.get('time')!r}")
    if "during" in event and not (isinstance(event["during"], dict) and _is_number(event["during"].get("seconds"))):
        raise ValueError(f"during is {str(event['during'])[:40]}")
    if event["event"] == "phase":
        if not (
            "iteration" in event and isinstance(event.get("phase"), str) and isinstance(event.get("results"), dict)
        ):
            raise ValueError("a phase has no iteration, no name or no results")
        for name in ("seconds", "interrupted"):
            if not _is_number(event.get(name, 0 if name == "interrupted" else None)):
                raise ValueError(f"{name} is {event.get(name)!r}")
    return event


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _remove_incomplete_line(path: Path) -> None:
    with (
        os_errors_as(RunError, f"{path} cannot be read"),
        suppress(FileNotFoundError),
        open_in_place(path, os.O_RDWR) as file,
    ):
        data = file.read()
        complete = data.rfind(b"\n") + 1
        if complete < len(data):
            file.truncate(complete)


def _numbers(value: Any, name: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield name, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key not in SKIPPED:
                yield from _numbers(inner, f"{name}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            own = inner.get("name") if isinstance(inner, Mapping) else None  # e.g. ratings, whose order changes
            yield from _numbers(inner, f"{name}/{number if own is None else own}")
