"""The numbers of a run, each with its source: every number of a report can be looked up in the run's files.

A source is a place such as ``events:phase/3/evaluate/results/opponents/random/mean``. It starts with the file:
``events`` (events.ndjson), ``manifest`` (manifest.json) or ``config`` (config.yaml). For an event, its name, iteration,
phase and round follow, as far as it has them. The rest are the keys inside. Sums and one ratio are places too:
``events:selfplay/1/games + events:selfplay/2/games / 60`` is the sum, divided by 60.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from aleazero.errors import ConfigError, RunError
from aleazero.files import os_errors_as
from aleazero.runs.config import parse
from aleazero.runs.directory import CONFIG, read_manifest
from aleazero.runs.events import EVENTS, PLACE, read_events
from aleazero.untrusted import read_regular


@dataclass(frozen=True)
class Sourced:
    """A value of a run's file, None if the file does not have it, and its place."""

    value: Any
    place: str

    def __getitem__(self, key: str | int) -> Sourced:
        """Return the value of a key; its value is None if there is none."""
        inner = None
        if isinstance(self.value, list) and isinstance(key, int):
            inner = self.value[key] if key < len(self.value) else None
        elif isinstance(self.value, dict):
            inner = self.value.get(key)
        elif self.value is not None:
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected something with {str(key)!r} inside")
        return Sourced(inner, self.place + "/" * (self.place[-1] != ":") + quote(str(key), safe=""))

    def __bool__(self) -> bool:
        """Whether there is a value."""
        return self.value is not None

    @property
    def number(self) -> float | None:
        """The value as a number; None if it is missing or not finite."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected a number")
        return float(self.value) if math.isfinite(self.value) else None

    @property
    def whole(self) -> int | None:
        """The value as an integer."""
        if self.number is not None and self.number != int(self.number):
            raise RunError(f"{self.place} is {self.value!r}, expected an integer")
        return None if self.number is None else int(self.number)

    def parts(self) -> dict[str, Sourced]:
        """Return the parts of a mapping, by key."""
        if not isinstance(self.value, dict | None):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected parts by name")
        return {name: self[name] for name in self.value or ()}

    def rows(self) -> list[Sourced]:
        """Return the parts of a list, in order."""
        if not isinstance(self.value, list | None):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected a list")
        return [self[number] for number in range(len(self.value or ()))]


def total(parts: Sequence[Sourced]) -> Sourced:
    """Return the sum of all numbers; None if there are none."""
    found = [one for one in parts if one.number is not None]
    return Sourced(sum(one.number or 0.0 for one in found) if found else None, " + ".join(one.place for one in found))


def ratio(part: Sourced, whole: Sourced | int) -> Sourced:
    """Return a number divided by another; None if one is missing or the divisor is zero."""
    below, place = (whole.number, whole.place) if isinstance(whole, Sourced) else (whole, str(whole))
    above = part.number
    return Sourced(above / below if above is not None and below else None, f"{part.place} / {place}")


class RunSource:
    """The files of a run, read once. This needs no lock: the run may still be in progress."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = Sourced(asdict(read_manifest(path)), "manifest:")
        with os_errors_as(RunError, f"{path / CONFIG} cannot be read"):
            content = read_regular(path / CONFIG)
        try:
            self.config = Sourced(parse(content, str(path / CONFIG)), "config:")
            self.config_text = content.decode()
        except ConfigError as error:
            raise RunError(str(error)) from None
        self._events = [_placed(event) for event in read_events(path / EVENTS)]

    def events(self, *names: str) -> list[Sourced]:
        """Return the events with one of some names, sorted by iteration and round, then in the order of the file."""
        found = [one for one in self._events if one.value["event"] in names]
        return sorted(found, key=lambda one: (one.value.get("iteration", 0), one.value.get("round", 0)))

    def phases(self, name: str) -> dict[int, Sourced]:
        """Return the events that end a phase, by iteration."""
        return {one.value["iteration"]: one for one in self.events("phase") if one.value.get("phase") == name}

    @property
    def first(self) -> Sourced:
        """The time of the first event."""
        return self._events[0]["time"] if self._events else Sourced(None, "events:")

    @property
    def last(self) -> Sourced:
        """The time of the last event."""
        return max(
            (one["time"] for one in self._events), key=lambda one: one.number or 0.0, default=Sourced(None, "events:")
        )


def _placed(event: dict[str, Any]) -> Sourced:
    """Return an event with its place."""
    place = [event[name] for name in PLACE if name in event]
    return Sourced(event, "events:" + "/".join(quote(str(one), safe="") for one in place))
