"""Files that a run keeps: the newest samples, at least those of the training window."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for small_runs.py

from played_episodes import make_shard
from small_runs import ALPHAZERO

from aleazero.replay.shard import read_shard
from aleazero.runs.config import RunConfig
from aleazero.runs.directory import open_directory
from aleazero.runs.loop import prune


def settings(window, samples):
    train = {**ALPHAZERO["alphazero"]["train"], "window": window}
    return RunConfig(**{**ALPHAZERO, "alphazero": {"train": train}, "keep": {"samples": samples}})


@pytest.mark.parametrize(
    ("window", "samples", "left"),
    [
        (1, 1, [3]),
        (1, 3, [1, 2, 3]),
        (2, 1, [2, 3]),  # the window is always kept
        (1, 4, [0, 1, 2, 3]),
    ],
)
def test_the_newest_samples_are_kept(tmp_path, window, samples, left):
    """Limits are given in shards; there are four, of two games each, in two iterations."""
    with open_directory(tmp_path / "run", settings(1, 1)) as run:
        run.replay.mkdir()
        made = [make_shard(run.replay, "pig", n, n + 2, iteration=iteration) for iteration in (1, 2) for n in (0, 2)]
        counts = [read_shard(path).meta.samples for path in made]
        run.config = settings(sum(counts[-window:]), sum(counts[-samples:]))
        prune(run, 2)
    assert [number for number, path in enumerate(made) if path.exists()] == left


def test_a_shard_that_is_partly_within_the_limit_is_kept(tmp_path):
    with open_directory(tmp_path / "run", settings(1, 1)) as run:
        run.replay.mkdir()
        made = [make_shard(run.replay, "pig", n, n + 2, iteration=1) for n in (0, 2, 4)]
        shards = [read_shard(path) for path in made]
        half = int(shards[1].meta.samples - shards[1].columns["sample_offsets"][1])  # its second game
        run.config = settings(1, shards[2].meta.samples + half)
        prune(run, 1)
    assert [path.exists() for path in made] == [False, True, True]
