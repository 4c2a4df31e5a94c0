"""Summary of a run (progress, strength of its champion, cost), and comparison of runs."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from aleazero.errors import ConfigError
from aleazero.games.registry import title_of
from aleazero.runs.directory import MANIFEST, Manifest, read_manifest, read_own_config
from aleazero.runs.events import EVENTS, read_events

MEANS: Final = {"score": "mean score", "regret": "regret per decision", "regret_per_game": "regret per game"}
"""Results that are means, with their names in tables."""


def find_runs(folder: Path) -> list[Path]:
    """Return the directories of the runs in a folder, sorted by name."""
    return sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))


def summary_of(path: Path) -> dict[str, Any]:
    """Summarize a run as JSON data; this needs no lock, so the run may be in progress."""
    manifest, config = read_manifest(path), read_own_config(path)
    events = read_events(path / EVENTS)
    measured = _measured(manifest)
    results = {} if measured is None else measured[1]
    data = {
        "run": str(path),
        "game": manifest.game,
        "params": manifest.params,
        "recipe": manifest.recipe,
        "seed": manifest.seed,
        "iterations": {"done": _iterations_done(manifest), "of": config.iterations},
        "finished": manifest.finished,
        "champion": manifest.champion,
        "measured": None if measured is None else measured[0],
        "results": results,
        "seconds": sum(
            event["seconds"] + event.get("interrupted", 0.0) for event in events if event["event"] == "phase"
        ),
        "bytes": disk_use(path)["all"],
    }
    return {**data, "lines": summary_lines(data)}


def compare_runs(paths: Sequence[Path]) -> dict[str, Any]:
    """Compare runs: the settings that differ, and the lines of their summaries, each with one text per run."""
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


def disk_use(path: Path) -> dict[str, int]:
    """Return the bytes of each entry of a directory, and their sum as ``all``."""
    found: dict[str, int] = {}
    for file in path.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                part = file.relative_to(path).parts[0]
                found[part] = found.get(part, 0) + file.stat().st_size
    return {**found, "all": sum(found.values())}


def summary_lines(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the lines of a summary as text, by name."""
    done, of = data["iterations"]["done"], data["iterations"]["of"]
    state = "finished" if data["finished"] else "not finished"
    params = ", ".join(f"{name}={value}" for name, value in data["params"].items())
    title = title_of(data["game"])
    game = f"{title} ({params})" if params else title
    lines = {
        "run": f"{data['run']}: {game}, {data['recipe']}, seed {data['seed']}",
        "state": f"{state}, {done} of {of} iterations in {data['seconds'] / 60:.1f} minutes, "
        f"{data['bytes'] / 1e6:.1f} MB",
    }
    if data["champion"] is not None:
        file = Path(data["run"]) / "models" / f"{data['champion']:04}.safetensors"
        lines["champion"] = f"network {data['champion']}, {file}"
    if data["measured"] not in (None, data["champion"]):
        lines["measured"] = f"network {data['measured']}"
    return {**lines, **strength_lines(data["results"], data["measured"])}


def strength_lines(results: Mapping[str, Any], network: int | None) -> dict[str, str]:
    """Return the strength of a network as text, by measure."""
    lines = {}
    for name, score in results.get("opponents", {}).items():
        mean, low, high = (percent(score, part) for part in ("mean", "low", "high"))
        lines[f"against {name}"] = f"{mean} ({low} to {high}, {score['count']:,} pairs)"
    for name, title in MEANS.items():
        if name in results:
            found = results[name]
            lines[title] = f"{found['mean']:.4g} ± {found['error']:.2g}"
    for one in results.get("ratings", []):
        if one["name"] == f"network {network}":
            anchor = [other["name"] for other in results["ratings"] if other["error"] == 0.0]
            lines["Elo"] = rating_text(one) + (f"; {anchor[0]} is 0" if anchor else "")
    return lines


def rating_text(one: Mapping[str, Any]) -> str:
    """Return a rating with its interval; if the interval has one bound or none, only the bound."""
    low, high = one["low"], one["high"]
    if low is not None and high is not None:
        return f"{one['rating']:+.0f} ({low:+.0f} to {high:+.0f})"
    if low is not None:
        return f"at least {low:+.0f}"
    return "no bound" if high is None else f"at most {high:+.0f}"


def percent(found: Mapping[str, Any], name: str = "mean") -> str:
    """Return a number of a share as a percentage, with more digits if its interval is narrow."""
    digits = 2 if found["high"] - found["low"] < 0.01 else 1
    return f"{found[name]:.{digits}%}"


def _iterations_done(manifest: Manifest) -> int:
    return sum("evaluate" in one.done for one in manifest.iterations)


def _measured(manifest: Manifest) -> tuple[int, dict[str, Any]] | None:
    """Return the champion, or else the newest evaluated network, with its results."""
    found = {one.number: one.results["evaluate"] for one in manifest.iterations if one.results.get("evaluate")}
    if not found:
        return None
    finals = [one.results["final"] for one in manifest.iterations if "final" in one.results]
    final = finals[-1] if finals and finals[-1].get("network") == manifest.champion else {}  # it has the most games
    number = (
        manifest.champion if manifest.champion is not None and (manifest.champion in found or final) else max(found)
    )
    results = {**found.get(number, {}), "ratings": found[max(found)].get("ratings", []), **final}
    opponents = {**found.get(number, {}).get("opponents", {}), **final.get("opponents", {})}
    return number, {**results, "opponents": opponents} if opponents else results


def _flat(data: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(data, dict):
        return {name: data}
    return {
        key: value for part, inner in data.items() for key, value in _flat(inner, f"{name}.{part}".lstrip(".")).items()
    }
