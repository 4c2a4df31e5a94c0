"""Events of a run, one line of JSON each; and their numbers as scalars.csv and for TensorBoard.

Events are only appended. A run that was killed and resumed may write the same event twice: among events with the same
name and place the last one counts. A line that a power cut left incomplete is removed when the run is resumed.
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
"""What tells an event of an iteration from another. Others, such as stops, each happened."""
OF_ITERATIONS: Final = ("phase", "learning", "selfplay", "fit")
"""Events that are looked up by their iteration."""
LATEST: Final = 253_402_300_800
"""Seconds of the year 10000, which no event tells."""
SKIPPED: Final = ("event", "time", "iteration", "phase", "round", "calibration", "pair_table")
"""Keys of events that are not numbers over time."""


class Events:
    """The events of a run, to add to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        _cut_half_line(path)
        read_events(path)  # damage shows now, not when an iteration is over

    def add(self, event: str, **told: Any) -> dict[str, Any]:
        """Write an event down, with the time of the clock, before anything else happens.

        A clock outside the years 1970 to 9999 is taken for the nearest moment inside.
        """
        now = min(max(0.0, round(time.time(), 3)), LATEST - 1.0)
        line = {"event": event, "time": now, **without_nan(told)}
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
                file.truncate(before)  # half a line would spoil the next one
                raise
        return line


def read_events(path: Path) -> list[dict[str, Any]]:
    """All events in the order in which they were first told, each as it was told last."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    with os_errors_as(RunError, f"{path} cannot be read"):
        try:
            lines = read_regular(path).split(b"\n")
        except FileNotFoundError:
            return []
    for number, line in enumerate(lines[:-1], start=1):  # what stands behind the last line break is half a line
        try:
            event = _event(parse_json(line))
        except ValueError as error:
            why = f"{path}, line {number} is damaged: {str(error)[:100]}"
            raise RunError(f"{why}; expected an event as JSON, or without that line all others") from None
        place = tuple(event.get(name) for name in PLACE) if "iteration" in event else (number,)
        found[place] = event
    return list(found.values())


def interrupted(events: Iterable[Mapping[str, Any]], iteration: int, phase: str) -> float:
    """Seconds that a phase took each time until it was stopped; nobody knows those until a kill."""
    stops = [event["during"] for event in events if "during" in event]
    return sum(float(one["seconds"]) for one in stops if (one.get("iteration"), one.get("phase")) == (iteration, phase))


class Scalar(NamedTuple):
    """One number of a run."""

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
        told = {"seconds": event.get("seconds"), **event.get("results", {})} if event["event"] == "phase" else event
        for name, value in _numbers(told, kind):
            found.append(Scalar(event["time"], event["iteration"], event.get("round"), name, value))
    return found


def write_scalars(path: Path) -> None:
    """Write scalars.csv into the directory of a run."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(Scalar._fields)
    found = scalars_of(read_events(path / EVENTS))
    rows.writerows(found)
    write_file(path / SCALARS, out.getvalue(), RunError)


def write_tensorboard(path: Path) -> Path | None:
    """Write the same numbers for TensorBoard; return the folder, or None if TensorBoard is not installed."""
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


def _event(told: Any) -> dict[str, Any]:
    """What was told, if it is an event: what everybody looks for must be there."""
    if not isinstance(told, dict) or not isinstance(told.get("event"), str):
        raise ValueError("an event has no name")
    if told["event"] in OF_ITERATIONS and "iteration" not in told:
        raise ValueError(f"the event {told['event']!r} has no iteration")
    whole = [told.get("iteration", 0), told.get("round", 0)]
    if any(type(one) is not int for one in whole):
        raise ValueError(f"iteration and round are {whole}")
    if not (_is_number(told.get("time")) and 0 <= told["time"] < LATEST):
        raise ValueError(f"time is {told.get('time')!r}")
    if "during" in told and not (isinstance(told["during"], dict) and _is_number(told["during"].get("seconds"))):
        raise ValueError(f"during is {str(told['during'])[:40]}")
    if told["event"] == "phase":
        if not ("iteration" in told and isinstance(told.get("phase"), str) and isinstance(told.get("results"), dict)):
            raise ValueError("a phase has no iteration, no name or no results")
        for name in ("seconds", "interrupted"):
            if not _is_number(told.get(name, 0 if name == "interrupted" else None)):
                raise ValueError(f"{name} is {told.get(name)!r}")
    return told


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _cut_half_line(path: Path) -> None:
    with (
        os_errors_as(RunError, f"{path} cannot be read"),
        suppress(FileNotFoundError),
        open_in_place(path, os.O_RDWR) as file,
    ):
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            file.truncate(whole)


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
