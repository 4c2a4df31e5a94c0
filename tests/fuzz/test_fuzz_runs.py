"""Mutated run directories: damaged files, values of other types, links, pipes. Nothing is written outside."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import yaml
from mutations import answers, as_yaml_text, counts, flipped, survives, swapped, watched
from run_by_hand import run_by_hand
from typer.testing import CliRunner

from aleazero.cli.main import app
from aleazero.report.charts import charts_of
from aleazero.report.figures import draw
from aleazero.report.page import make_page
from aleazero.report.source import RunSource
from aleazero.runs.directory import CONFIG, LOCK, MANIFEST, open_directory, read_own_config, settings_hash
from aleazero.runs.events import EVENTS, write_scalars
from aleazero.runs.summary import compare_runs, summary_of

FILES = (CONFIG, MANIFEST, EVENTS)
ODD_PLACES = (*FILES, LOCK, "images", "models", "replay", "report.html", "scalars.csv", f".{MANIFEST}.1.tmp")


RECIPES = ("afterstate", "alphazero")
COMMANDS = (("runs", "show", "{run}"), ("runs", "show", "{run}", "--json"), ("runs", "list", "{run}/.."),
            ("runs", "compare", "{run}", "{run}"))  # fmt: skip


@pytest.fixture
def runs(tmp_path):
    """Unfinished runs, one per recipe."""
    paths = [run_by_hand(tmp_path / "runs" / recipe, recipe, 2, final=recipe == "afterstate") for recipe in RECIPES]
    for path in paths:
        manifest = json.loads((path / MANIFEST).read_text())
        manifest |= {"settings": settings_hash(read_own_config(path)), "finished": False}
        (path / MANIFEST).write_text(json.dumps(manifest))
    shutil.copytree(paths[0], tmp_path / "goes on")
    with open_directory(tmp_path / "goes on", None):
        return paths


def spoil(rng: Random, path: Path, outside: Path) -> str:
    """Change a run directory and return a description of the change."""
    name = rng.choice(FILES)
    file = path / name
    match rng.randrange(10):
        case 0 | 1:
            file.write_bytes(flipped(rng, file.read_bytes()))
            return f"{name} has other bytes"
        case 2:
            file.unlink()
            return f"{name} is gone"
        case 3:
            place = path / rng.choice(ODD_PLACES)
            kind = rng.randrange(4)
            with suppress(FileNotFoundError):
                place.unlink()
            if kind == 0:
                os.mkfifo(place)
            elif kind == 1:
                place.mkdir()
            else:
                place.symlink_to(outside / rng.choice(("file", "folder", "nothing")))
            return f"{place.name} is of kind {kind}"
        case 4 | 5 if name == EVENTS:
            lines = file.read_text().splitlines()
            lines[rng.randrange(len(lines))] = json.dumps(swapped(rng, json.loads(rng.choice(lines))))
            file.write_text("\n".join(lines) + "\n")
            return "an event is another"
        case _:
            with suppress(UnicodeEncodeError):
                if name == CONFIG:
                    file.write_text(as_yaml_text(rng, swapped(rng, yaml.safe_load(file.read_text()))))
                elif name == MANIFEST:
                    file.write_text(json.dumps(swapped(rng, json.loads(file.read_text()))))
                else:
                    events = [json.loads(line) for line in file.read_text().splitlines()]
                    events = swapped(rng, events)
                    file.write_text("".join(json.dumps(event) + "\n" for event in events) if events else "")
            return f"{name} has other values"


def look(path: Path) -> None:
    summary_of(path)


def compare(path: Path) -> None:
    compare_runs([path, path])


def page(path: Path) -> None:
    files = RunSource(path)
    charts = charts_of(files)
    make_page(files, charts, {chart.key: "" for chart in charts})


def picture(path: Path) -> None:
    charts = charts_of(RunSource(path))
    if charts:
        draw(Random(len(charts)).choice(charts))


def go_on(path: Path) -> None:
    with open_directory(path, None):
        write_scalars(path)


@counts(150)
def test_run_directories(count, bounded, runs, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    outside, copy = tmp_path / "outside", tmp_path / "fuzzed" / "run"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("not yours")
    for seed in range(count):
        rng = Random(f"runs {seed}")
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(rng.choice(runs), copy)
        done = spoil(rng, copy, outside)
        for call, every in ((look, 1), (page, 2), (compare, 10), (picture, 100), (go_on, 3)):
            if seed % every == 0 or (call is go_on and "kind" in done):
                survives(f"run {seed}, {done}", call, copy)
        if seed % 10 == 0:
            words = rng.choice(COMMANDS)
            with watched():
                result = CliRunner().invoke(app, [word.format(run=copy) for word in words])
            answers(f"run {seed}, {done}, {words}", done, result)
        assert (outside / "file").read_text() == "not yours", (seed, done)
        assert sorted(path.name for path in outside.rglob("*")) == ["file", "folder"], (seed, done)


@pytest.mark.parametrize("place", ODD_PLACES)
@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_nothing_is_written_through_links(runs, tmp_path, place, target):
    outside, path = tmp_path / "outside", runs[0]
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text("not yours")
    with suppress(FileNotFoundError):
        (path / place).unlink()
    (path / place).symlink_to(outside / target)
    for words in (["resume", str(path), "--workers", "1"], ["report", str(path)], ["runs", "tensorboard", str(path)]):
        with watched():
            result = CliRunner().invoke(app, words)
        answers(str(words), place, result, (2,))
    assert (outside / "file").read_text() == "not yours"
    assert sorted(found.name for found in outside.rglob("*")) == ["file", "folder"]
