"""The recipe ``alphazero``: self-play writes shards of samples, and a fit trains a network on the newest samples.

The two steps share only files: a folder of shards, and numbered checkpoints. ``runs`` repeats them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aleazero.errors import AleaZeroError, CheckpointError, GameError, ReplayError
from aleazero.files import file_hash
from aleazero.games.base import Game
from aleazero.games.registry import load_game_once
from aleazero.players.search import DUMMY, read_net
from aleazero.processes import Pool
from aleazero.replay.check import require_widths
from aleazero.replay.shard import ShardWriter
from aleazero.replay.shard_format import Origin
from aleazero.replay.window import Window
from aleazero.search.evaluator import Uniform
from aleazero.selfplay.actor import Actor, require_memory
from aleazero.selfplay.config import SelfplayConfig
from aleazero.selfplay.record import EpisodeRecord
from aleazero.training.config import TrainConfig

if TYPE_CHECKING:
    from aleazero.training.trainer import Progress, Summary


def play_games(
    pool: Pool,
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
    """Play the self-play games of one iteration and write them to a folder of shards.

    Games that are already in the folder are not played again. ``net`` is the path of a checkpoint or ``dummy``, and
    ``spec`` the text that a user's own game was loaded from.
    """
    evaluator = Uniform() if net == DUMMY else None  # the memory estimate does not need the network itself
    require_memory(game, evaluator, config, pool.count, games)
    origin = Origin.of(game, model_id(net), spec, settings_id(config, seed, inference))
    writer = ShardWriter(out, iteration, config.games_per_shard, origin)
    missing = writer.missing_games(games)
    Actor(game, "uniform", SelfplayConfig(parallel=1))  # compiles the game once, before all workers would
    job = SelfplayJob(spec or game.name, origin.params, net, config, seed, iteration, inference)
    done = games - len(missing)
    with closing(pool.run(play_numbers, job, missing)) as played:
        for _, finished in played:
            writer.add(finished.record)
            done += 1
            if on_game is not None:
                on_game(finished, done, games)
    writer.finish(games)


def play_numbers(job: SelfplayJob, numbers: Iterator[int]) -> Iterator[tuple[int, FinishedGame]]:
    """Play the games with these numbers: the task of a worker process."""
    try:
        yield from _play(job, numbers)
    except AleaZeroError:
        raise
    except Exception as error:  # most likely raised by the rules
        raise GameError(f"{job.game}: a game of self-play raised {type(error).__name__}: {error}") from error


def _play(job: SelfplayJob, numbers: Iterator[int]) -> Iterator[tuple[int, FinishedGame]]:
    game = load_game_once(job.game, job.params)
    dummy = job.net == DUMMY
    # Uniform values a state by its points so far. Values of 0 would mean that continuing a game loses its points.
    net = Uniform() if dummy else read_net(job.net, game, job.inference)
    actor = Actor(game, net, job.config, seed=job.seed, iteration=job.iteration, values_known=not dummy)
    before = (0, 0)
    for record in actor.play(numbers):
        now = (actor.decisions, actor.evaluations)
        yield record.game_number, FinishedGame(record, now[0] - before[0], now[1] - before[1])
        before = now


def fit(
    game: Game,
    window: Window,
    out: Path,
    config: TrainConfig,
    *,
    start: Path | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Fit a network to a window of samples, from scratch or from the checkpoint ``start``, and write its checkpoint."""
    from aleazero.training.trainer import Trainer, scale_for

    _ = window.origin  # raises an error if the window is empty
    for shard in window.shards:
        try:
            require_widths(shard, game)
        except ReplayError as error:
            raise ReplayError(f"{shard.path}: {error}") from None
    trainer = Trainer.load(start, game, config) if start else Trainer(game, config, scale_for(game, window, config))
    summary = trainer.fit(window, progress)
    trainer.save(out)
    return summary


def model_id(net: str) -> str:
    """Return a hash of the bytes of a checkpoint, or ``dummy``."""
    return DUMMY if net == DUMMY else file_hash(Path(net).expanduser(), CheckpointError)


def settings_id(config: SelfplayConfig, seed: int, inference: str) -> str:
    """Return a hash of all settings that change games, without the network."""
    what = [config.model_dump_json(exclude={"parallel", "max_plies", "games_per_shard"}), str(seed), inference]
    return hashlib.blake2b("\n".join(what).encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class SelfplayJob:
    """The arguments of a worker process."""

    game: str
    """First argument of ``load_game``."""
    params: Mapping[str, Any]
    net: str
    """Path of a checkpoint, or ``dummy``."""
    config: SelfplayConfig
    seed: int
    iteration: int
    inference: str = "onnxruntime"


@dataclass(frozen=True)
class FinishedGame:
    """A game that has ended, and its cost."""

    record: EpisodeRecord
    decisions: int
    """Decisions that the worker searched since its previous game ended."""
    evaluations: int


OnGame = Callable[[FinishedGame, int, int], None]
"""Called with a finished game, the number of games done and the number of games."""
