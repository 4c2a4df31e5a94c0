"""What a run's files tell, each number with the place where it stands: what a report shows can be looked up.

A place reads ``events:phase/3/evaluate/results/opponents/random/mean``: the file (events, manifest, config), then of an
event its name, iteration, phase and round, as far as it has them, then the keys inside. Sums and one ratio are places
too: ``events:selfplay/1/games + events:selfplay/2/games / 60`` is the sum, divided by 60.
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
from aleazero.runs.directory import CONFIG, EVENTS, read_manifest
from aleazero.runs.events import PLACE, read_events
from aleazero.runs.settings_file import parse
from aleazero.untrusted import read_regular


@dataclass(frozen=True)
class Told:
    """Something that a run's file says, None where it says nothing, and the place."""

    value: Any
    place: str

    def __getitem__(self, key: str | int) -> Told:
        """What stands inside; None where there is nothing."""
        inner = None
        if isinstance(self.value, list) and isinstance(key, int):
            inner = self.value[key] if key < len(self.value) else None
        elif isinstance(self.value, dict):
            inner = self.value.get(key)
        elif self.value is not None:
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected something with {str(key)!r} inside")
        return Told(inner, self.place + "/" * (self.place[-1] != ":") + quote(str(key), safe=""))

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return self.value is not None

    @property
    def number(self) -> float | None:
        """As a number; None where it is none, or not finite."""
        if self.value is None:
            return None
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected a number")
        return float(self.value) if math.isfinite(self.value) else None

    @property
    def whole(self) -> int | None:
        """As a whole number."""
        if self.number is not None and self.number != int(self.number):
            raise RunError(f"{self.place} is {self.value!r}, expected a whole number")
        return None if self.number is None else int(self.number)

    def parts(self) -> dict[str, Told]:
        """What stands inside, by name."""
        if not isinstance(self.value, dict | None):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected parts by name")
        return {name: self[name] for name in self.value or ()}

    def rows(self) -> list[Told]:
        """What stands inside, in order."""
        if not isinstance(self.value, list | None):
            raise RunError(f"{self.place} is {str(self.value)[:40]!r}, expected a list")
        return [self[number] for number in range(len(self.value or ()))]


def total(parts: Sequence[Told]) -> Told:
    """The sum of those that say a number; None if none does."""
    found = [one for one in parts if one.number is not None]
    return Told(sum(one.number or 0.0 for one in found) if found else None, " + ".join(one.place for one in found))


def ratio(part: Told, whole: Told | int) -> Told:
    """One number by another; None where that cannot be."""
    below, place = (whole.number, whole.place) if isinstance(whole, Told) else (whole, str(whole))
    above = part.number
    return Told(above / below if above is not None and below else None, f"{part.place} / {place}")


class RunFiles:
    """The files of a run, read once; anybody may, also while it goes on."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = Told(asdict(read_manifest(path)), "manifest:")
        with os_errors_as(RunError, f"{path / CONFIG} cannot be read"):
            content = read_regular(path / CONFIG)
        try:
            self.config = Told(parse(content, str(path / CONFIG)), "config:")
            self.config_text = content.decode()
        except ConfigError as error:
            raise RunError(str(error)) from None
        self._events = [_placed(told) for told in read_events(path / EVENTS)]

    def events(self, *names: str) -> list[Told]:
        """Those of some names, by iteration and round; others in the order in which they were told."""
        found = [one for one in self._events if one.value["event"] in names]
        return sorted(found, key=lambda one: (one.value.get("iteration", 0), one.value.get("round", 0)))

    def phases(self, name: str) -> dict[int, Told]:
        """The ends of a phase, by iteration."""
        return {one.value["iteration"]: one for one in self.events("phase") if one.value.get("phase") == name}

    @property
    def first(self) -> Told:
        """When anything was told first."""
        return self._events[0]["time"] if self._events else Told(None, "events:")

    @property
    def last(self) -> Told:
        """When anything was told last."""
        return max(
            (one["time"] for one in self._events), key=lambda one: one.number or 0.0, default=Told(None, "events:")
        )


def _placed(event: dict[str, Any]) -> Told:
    """An event with its place."""
    place = [event[name] for name in PLACE if name in event]
    return Told(event, "events:" + "/".join(quote(str(one), safe="") for one in place))
