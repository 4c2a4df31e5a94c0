"""The recipe ``alphazero``: self-play with the newest network, samples of it, a fit, and again.

The steps meet in files alone: shards of samples in a folder, checkpoints by number beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from aleazero.errors import ReplayError
from aleazero.games.base import Game
from aleazero.players.net import DUMMY
from aleazero.replay.check_numbers import require_widths
from aleazero.replay.meta import Origin
from aleazero.replay.window import Window
from aleazero.replay.writer import ShardWriter
from aleazero.search.evaluator import Uniform
from aleazero.selfplay.actor import Actor, require_memory
from aleazero.selfplay.config import SelfplayConfig
from aleazero.training.config import TrainConfig
from aleazero.training.workers import Job, Taken, Workers

if TYPE_CHECKING:
    from aleazero.training.trainer import Progress, Summary

OnGame = Callable[[Taken, int, int], None]
"""Called with a game that has ended, the number of games done and of all."""


def model_id(net: str) -> str:
    """Sixteen letters that stand for a checkpoint's bytes, or the word itself."""
    return DUMMY if net == DUMMY else hashlib.blake2b(Path(net).expanduser().read_bytes(), digest_size=8).hexdigest()


def settings_id(config: SelfplayConfig, seed: int, inference: str) -> str:
    """Sixteen letters that stand for what games depend on, beside the network; not for how many are under way."""
    what = [config.model_dump_json(exclude={"parallel", "max_plies", "games_per_shard"}), str(seed), inference]
    return hashlib.blake2b("\n".join(what).encode(), digest_size=8).hexdigest()


def play_games(
    workers: Workers,
    game: Game,
    net: str,
    games: int,
    out: Path,
    config: SelfplayConfig,
    *,
    spec: str | None = None,
    seed: int = 0,
    iteration: int = 0,
    inference: str = "onnxruntime",
    on_game: OnGame | None = None,
) -> None:
    """Play games of one iteration into a folder of shards; those that are there already are not played again.

    ``spec`` is what a user's own game was loaded by.
    """
    evaluator = Uniform() if net == DUMMY else None  # a network's file: only what it costs is asked here
    require_memory(game, evaluator, config, len(workers.process_ids), games)
    origin = Origin.of(game, model_id(net), spec, settings_id(config, seed, inference))
    writer = ShardWriter(out, iteration, config.games_per_shard, origin)
    missing = writer.missing_games(games)
    _compile(game)
    job = Job(spec or game.name, origin.params, net, config, seed, iteration, inference)
    done = games - len(missing)
    with closing(workers.play(job, missing)) as played:
        for taken in played:
            writer.add(taken.record)
            done += 1
            if on_game is not None:
                on_game(taken, done, games)
    writer.finish(games)


def _compile(game: Game) -> None:
    """Compile once, here, what workers would all compile for themselves."""
    Actor(game, "uniform", SelfplayConfig(parallel=1))


def fit(
    game: Game,
    window: Window,
    out: Path,
    config: TrainConfig,
    *,
    start: Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Fit a network to a window of samples and write its checkpoint; the summary of what was learnt.

    ``start`` is the checkpoint from which training goes on; without it, it starts from nothing.
    """
    from aleazero.training.trainer import Trainer, scale_for

    _ = window.origin  # raises where there is nothing to learn from
    for shard in window.shards:
        try:
            require_widths(shard, game)
        except ReplayError as error:
            raise ReplayError(f"{shard.path}: {error}") from None
    trainer = Trainer.load(start, game, config) if start else Trainer(game, config, scale_for(game, window, config))
    summary = trainer.fit(window, progress)
    trainer.save(out)
    return summary
