"""A run in a few lines: how far it is, how strong its champion, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aleazero.runs.directory import EVENTS, MANIFEST, Manifest, read_manifest, read_own_config
from aleazero.runs.events import read_events
from aleazero.runs.prune import disk_use


def find_runs(folder: Path) -> list[Path]:
    """The runs in a folder, by name."""
    return sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))


def summary_of(path: Path) -> dict[str, Any]:
    """What is known of a run; anybody may ask, also while it goes on."""
    manifest, config = read_manifest(path), read_own_config(path)
    events = read_events(path / EVENTS)
    measured = _last_measured(manifest)
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
        "seconds": sum(event["seconds"] for event in events if event["event"] == "phase"),
        "bytes": disk_use(path)["all"],
    }
    return {**data, "lines": in_lines(data)}


def in_lines(data: Mapping[str, Any]) -> dict[str, str]:
    """The same as a small table: what, and how much."""
    done, of = data["iterations"]["done"], data["iterations"]["of"]
    state = "finished" if data["finished"] else "not finished"
    params = ", ".join(f"{name}={value}" for name, value in data["params"].items())
    game = f"{data['game']} ({params})" if params else data["game"]
    lines = {
        "run": f"{data['run']}: {game}, {data['recipe']}, seed {data['seed']}",
        "state": f"{state}, {done} of {of} iterations in {data['seconds'] / 60:.1f} minutes, "
        f"{data['bytes'] / 1e6:.1f} MB",
    }
    if data["champion"] is not None:
        lines["champion"] = f"network {data['champion']}"
    if data["measured"] is not None:
        lines["measured"] = f"network {data['measured']}"
    return {**lines, **strength_lines(data["results"])}


def strength_lines(results: Mapping[str, Any]) -> dict[str, str]:
    """How strong a network is, line by line."""
    lines = {}
    for name, score in results.get("opponents", {}).items():
        lines[f"against {name}"] = share(score)
    if "oracle" in results:
        lines["against oracle"] = share(results["oracle"])
    for name, words, unit in (("score", "mean score", ""), ("regret", "regret", " a decision"),
                              ("regret_a_game", "regret", " a game")):  # fmt: skip
        if name in results:
            found = results[name]
            lines[words + unit] = f"{found['mean']:.4g} ± {found['error']:.2g}"
    best = [one for one in results.get("ratings", []) if one["name"].startswith("network")]
    if best:
        top = best[0]
        lines["Elo"] = f"{top['rating']:+.0f} ({top['low']:+.0f} to {top['high']:+.0f}), {top['name']}; random is 0"
    return lines


def share(found: Mapping[str, Any]) -> str:
    """A share of games with its interval."""
    return f"{found['mean']:.1%} ({found['low']:.1%} to {found['high']:.1%}, {found['count']:,} pairs)"


def _iterations_done(manifest: Manifest) -> int:
    return sum("evaluate" in one.done for one in manifest.iterations)


def _last_measured(manifest: Manifest) -> tuple[int, dict[str, Any]] | None:
    for one in reversed(manifest.iterations):
        if one.results.get("evaluate"):
            return one.number, one.results["evaluate"]
    return None
