"""Fixtures with self-play samples."""

from __future__ import annotations

import pytest

import aleazero
from aleazero.replay.shard import ShardWriter
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Window
from aleazero.selfplay.actor import Actor
from aleazero.selfplay.config import SelfplayConfig


def play_into(folder, game, evaluator, games=8, iteration=0, spec=None, **settings) -> None:
    config = SelfplayConfig(**{"simulations": 8, "parallel": 8, **settings})
    writer = ShardWriter(folder, iteration, 4, Origin.of(game, "test", spec))
    for record in Actor(game, evaluator, config, seed=3, iteration=iteration).play(range(games)):
        writer.add(record)
    writer.finish(games)


@pytest.fixture
def play(tmp_path):
    """Return a function that plays a few games and opens a window of their samples."""

    def played(game, evaluator="rollout", **settings):
        play_into(tmp_path, game, evaluator, **{"games": 6, **settings})
        return Window(tmp_path, 10**6)

    return played


@pytest.fixture(scope="session")
def pig():
    return aleazero.load_game("pig", target=20)


@pytest.fixture(scope="session")
def samples(tmp_path_factory, pig):
    folder = tmp_path_factory.mktemp("samples")
    play_into(folder, pig, "rollout", games=24)
    return folder
