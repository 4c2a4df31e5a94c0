"""Compares every number on the page of a report with the file and key that it names, read independently."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

BARE = re.compile(r"\d")
PROSE = ("95\u00a0%", "200 playouts", "400 points")
"""Numbers in the text that do not come from a run."""
VOID = {"meta", "br", "hr", "link", "img", "input"}


class Page(HTMLParser):
    """The elements of a page that name a source, and all text outside of them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.traced: list[tuple[str, str, str]] = []
        """(place, way, text)"""
        self.bare: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == [], "the page has tags that are not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in VOID:
            return
        self.open.append((tag, dict(attrs)))
        if "data-from" in dict(attrs):
            self.traced.append((str(dict(attrs)["data-from"]), str(dict(attrs).get("data-as", "number")), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        found, _ = self.open.pop()
        assert found == tag, f"</{tag}> closes <{found}>"

    def handle_data(self, data: str) -> None:
        if any("data-from" in attrs for _, attrs in self.open):
            place, way, text = self.traced[-1]
            self.traced[-1] = place, way, text + data
        elif not {tag for tag, _ in self.open} & {"svg", "style", "title"}:
            self.bare.append(data)


class Truth:
    """The values in the files of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.events: dict[tuple[str, ...], Any] = {}
        for line in (path / "events.ndjson").read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            place = tuple(str(event[key]) for key in ("event", "iteration", "phase", "round") if key in event)
            self.events[place] = event  # the last entry counts
        self.files = {
            "manifest": json.loads((path / "manifest.json").read_text(encoding="utf-8")),
            "config": yaml.safe_load((path / "config.yaml").read_text(encoding="utf-8")),
            "directory": {"name": path.name},
        }

    def at(self, place: str) -> Any:
        """Return the value at a place; the place of a constant is the number itself."""
        if re.fullmatch(r"\d+", place):
            return int(place)
        file, _, rest = place.partition(":")
        keys = [unquote(key) for key in rest.split("/")]
        found: Any = self.files.get(file)
        if file == "events":
            own = max((one for one in self.events if tuple(keys[: len(one)]) == one), key=len)
            found, keys = self.events[own], keys[len(own) :]
        for key in keys:
            found = found[int(key)] if isinstance(found, list) else found[key]
        return found

    def number(self, places: str) -> float | None:
        """Return the value of sums and ratios of places; None if a number is missing."""
        above, _, below = places.partition(" / ")
        if not below:
            return self._sum(above)
        parts = [self._sum(above), self._sum(below)]
        return None if None in parts or not parts[1] else parts[0] / parts[1]  # type: ignore[operator]

    def _sum(self, places: str) -> float | None:
        found = [self.at(place) for place in places.split(" + ")]
        return None if None in found else float(sum(found)) if len(found) > 1 else found[0]


def wrong(page: Page, truth: Truth) -> list[str]:
    """Return every number or text of a page that differs from its source, and every number without a source."""
    found = [f"no place: {text.strip()!r}" for text in page.bare if BARE.search(_without(text))]
    for place, way, text in page.traced:
        if way == "file":
            same = text == (truth.path / "config.yaml").read_text(encoding="utf-8")
        elif way == "name":
            truth.at(place)
            same = text == unquote(place.rpartition("/")[2])
        elif way == "game":
            same = text == re.sub(r".*?([^/:]+?)(\.py)?$", r"\1", str(truth.at(place)))
        elif way == "text":
            same = text == str(truth.at(place))
        else:
            same = agrees(text, truth.number(place))
        if not same:
            found.append(f"{place}: {text!r}")
    return found


def agrees(text: str, value: float | None) -> bool:
    """Return whether a text is the value, rounded to the digits shown."""
    if value is None or text == "–":
        return value is None and text == "–"
    if text.endswith("UTC"):
        shown = datetime.strptime(text, "%Y-%m-%d %H:%M UTC").replace(tzinfo=UTC).timestamp()
        return shown <= value < shown + 60
    plain = text.replace("−", "-").replace(",", "")
    scale = 0.01 if plain.endswith("%") else 1.0
    plain = plain.rstrip("%")
    digits, _, power = plain.partition("e")
    step = scale * 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    if isinstance(value, int) and not power and "." not in digits and scale == 1.0 and len(digits) > 15:
        return int(digits) == value
    return abs(float(plain) * scale - value) <= step / 2 * (1 + 1e-9)


def _without(text: str) -> str:
    for phrase in PROSE:
        text = text.replace(phrase, "")
    return text
