"""Checkpoints of value networks that were trained briefly and perturbed, so that all values are different."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from aleazero.games.base import Game
from aleazero.nets.checkpoint import ValueInfo, write_checkpoint
from aleazero.nets.outcome import feature_schema
from aleazero.training.afterstate import AfterstateLearner
from aleazero.training.config import AfterstateConfig

NOISE = 0.1  # without noise, values are near 0 after a few rounds


def trained_checkpoint(game: Game, path: Path, rounds: int = 3, **settings: Any) -> Path:
    """Train a network for a few rounds, add noise to its weights, and write its checkpoint."""
    config = AfterstateConfig(rounds=rounds, **({"lanes": 4, "lane_groups": 1, "batch_size": 32, "seed": 1} | settings))
    learner = AfterstateLearner(game, config)
    for _ in range(rounds):
        learner.round()
    net = learner.net
    about = ValueInfo.of(
        game, config.net, net.shape, feature_schema(game), net.columns, learner.steps, {"plies": config.plies}
    )
    theta = learner.mean + np.random.default_rng(2).normal(0.0, NOISE, net.size).astype(np.float32)
    write_checkpoint(path, net.tensors(theta), about)
    return path
