"""Small runs for tests, and the files that equal runs have in common."""

from __future__ import annotations

from pathlib import Path

from aleazero.runs.config import RunConfig
from aleazero.runs.directory import open_directory
from aleazero.runs.loop import train

AFTERSTATE = {
    "game": "pig",
    "params": {"target": 10},
    "rounds": 12,
    "iterations": 3,
    "afterstate": {"lanes": 4, "lane_groups": 2, "batch_size": 16, "replay": 100, "net": {"hidden": [4]}},
    "gate": {"pairs": 10},
    "evaluate": {"pairs": 2, "against": ["random"], "regret": False, "calibration_games": 10},
}
ALPHAZERO = {
    "game": "pig",
    "params": {"target": 10},
    "recipe": "alphazero",
    "iterations": 2,
    "alphazero": {
        "games": 6,
        "first_games": 8,
        "selfplay": {"simulations": 4, "parallel": 4, "games_per_shard": 2},
        "train": {"steps": 6, "batch_size": 16, "warmup": 2, "net": {"width": 8, "blocks": 1}},
    },
    "play": "sims=2",
    "gate": {"pairs": 10},
    "evaluate": {"pairs": 2, "against": ["random"], "regret": False},
}


class Quiet:
    """Records the calls of a run."""

    def __init__(self):
        self.calls = []

    def phase(self, iteration, of, name):
        self.calls.append(("phase", iteration, name))

    def progress(self, done, of, note):
        self.calls.append(("progress", done, of))

    def ended(self, iteration, name, results):
        self.calls.append(("ended", iteration, name))


def run(path: Path, settings=None, listener=None, workers=1):
    """Start or resume a run."""
    config = None if settings is None else RunConfig(**settings)
    with open_directory(path, config) as held:
        train(held, held.config.load_game(), workers, listener or Quiet())
        return held


def lasting(path: Path) -> dict[str, bytes]:
    """Return the files that equal runs have in common: all but times and states of learning."""
    excluded = {"events.ndjson", "scalars.csv", "report.html", ".lock"}
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name not in excluded and not {"learning", "images", "tensorboard"} & set(file.parts)
    }
