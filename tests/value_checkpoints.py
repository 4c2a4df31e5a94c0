"""A value network that was taught a little and then shaken, so that it says something of every state, in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aleazero.games.base import Game
from aleazero.nets.checkpoint import ValueInfo, write_checkpoint
from aleazero.nets.outcome import feature_schema
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.config import AfterstateConfig

SHAKE = 0.1  # a new network says 0 of everything, and few rounds change little of that


def taught(game: Game, path: Path, rounds: int = 3, **settings: Any) -> Path:
    """Teach a network for some rounds, shake it and write its checkpoint."""
    config = AfterstateConfig(rounds=rounds, **({"lanes": 4, "lane_groups": 1, "batch_size": 32, "seed": 1} | settings))
    learner = AfterstateLearner(game, config)
    for _ in range(rounds):
        learner.round()
    net = learner.net
    about = ValueInfo.of(
        game, config.net, net.shape, feature_schema(game), net.columns, learner.steps, {"plies": config.plies}
    )
    shaken = learner.mean + np.random.default_rng(2).normal(0.0, SHAKE, net.size).astype(np.float32)
    write_checkpoint(path, net.tensors(shaken), about)
    return path
