"""Runs beside each other: the settings that differ, and how strong each became."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aleazero.errors import ConfigError
from aleazero.runs.directory import read_own_config
from aleazero.runs.summary import summary_of


def compare_runs(paths: Sequence[Path]) -> dict[str, Any]:
    """By setting that differs, and by measure of strength, a word for each run."""
    if len(paths) < 2:
        raise ConfigError(f"got {len(paths)} run, expected at least two to compare")
    summaries = [summary_of(path) for path in paths]
    flat = [_flat(read_own_config(path).model_dump(mode="json")) for path in paths]
    names = list(dict.fromkeys(name for one in flat for name in one))
    settings = {
        name: [str(one.get(name, "–")) for one in flat]
        for name in names
        if len({str(one.get(name)) for one in flat}) > 1
    }
    lines = [one["lines"] for one in summaries]
    shown = list(dict.fromkeys(name for one in lines for name in one if name != "run"))
    strength = {name: [one.get(name, "–") for one in lines] for name in shown}
    return {"runs": [str(path) for path in paths], "settings": settings, "strength": strength}


def _flat(data: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(data, dict):
        return {name: data}
    return {
        key: value for part, inner in data.items() for key, value in _flat(inner, f"{name}.{part}".lstrip(".")).items()
    }
