"""What a run no longer needs is removed, within set limits; and how much disk it uses."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from aleazero.errors import RunError
from aleazero.files import os_errors_as
from aleazero.replay.folder import shard_paths
from aleazero.replay.window import Window
from aleazero.runs.directory import RunDirectory


def prune(run: RunDirectory, newest: int) -> None:
    """Remove models that are neither new nor the champion, and samples that no window reaches.

    ``newest`` is the last iteration that is over: the next one, if it has begun, goes on from it.
    """
    champion = run.manifest.champion
    for number in range(1, newest + 1 - run.config.keep.models):
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.*"))
    for number in range(1, newest):  # what training goes on from
        if number != champion:
            _remove(run.path.glob(f"models/{number:04}.training.safetensors"))
    if run.config.recipe == "alphazero" and run.replay.is_dir():
        kept = max(run.config.keep.samples, run.config.alphazero.train.window)
        wanted, paths = Window(run.replay, kept).shards, shard_paths(run.replay)[0]
        if wanted:
            _remove(
                paths[: paths.index(wanted[0].path)]
            )  # the oldest; what is damaged behind them is told, not removed


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with os_errors_as(RunError, f"{path} cannot be removed"):
            path.unlink(missing_ok=True)


def disk_use(path: Path) -> dict[str, int]:
    """Bytes by what lies in a directory, and in all."""
    found: dict[str, int] = {}
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                part = file.relative_to(path).parts[0]
                found[part] = found.get(part, 0) + file.stat().st_size
    return {**found, "all": sum(found.values())}
