"""Checking a replay: every number of every shard, and every sample against the rules, by playing its game again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aleazero.errors import AleaZeroError, ReplayError
from aleazero.games.base import Game
from aleazero.games.registry import load_game
from aleazero.replay.check_episode import check_episode
from aleazero.replay.check_numbers import check_numbers
from aleazero.replay.folder import BrokenShard, Progress, broken, open_folder
from aleazero.replay.meta import Origin
from aleazero.replay.shard import Shard


@dataclass(frozen=True)
class ReplayReport:
    """What was found in a folder of shards."""

    folder: Path
    shards: int
    """Shards that are whole and right in all that was checked; games and samples are theirs."""
    games: int
    samples: int
    broken: list[BrokenShard]
    """With each, the first thing that is wrong."""

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "folder": str(self.folder),
            "shards": self.shards,
            "games": self.games,
            "samples": self.samples,
            "broken": [{"shard": each.path.name, "why": each.why} for each in self.broken],
        }


def check_replay(folder: Path, progress: Progress | None = None) -> ReplayReport:
    """Check every shard of a folder; progress is in games that were played again."""
    folder = Path(folder)
    shards, wrong = open_folder(folder)
    if not shards and not wrong:
        raise ReplayError(f"no shards in {str(folder)!r}, expected at least one")
    total = sum(shard.games for shard in shards)
    games = _Games()
    right: list[Shard] = []
    done = 0
    for shard in shards:
        try:
            check_shard(shard, games.load(shard.meta), None if progress is None else _behind(done, total, progress))
            right.append(shard)
        except ReplayError as error:
            wrong.append(broken(shard.path, error))
        done += shard.games
    return ReplayReport(
        folder,
        shards=len(right),
        games=sum(shard.games for shard in right),
        samples=sum(shard.meta.samples for shard in right),
        broken=sorted(wrong, key=lambda each: each.path),
    )


def check_shard(shard: Shard, game: Game, progress: Progress | None = None) -> None:
    """Raise a ReplayError for the first thing that is wrong with a shard's contents."""
    check_numbers(shard, game)
    for played, record in enumerate(shard.records(), start=1):
        check_episode(record, game)
        if progress is not None:
            progress(played, shard.games)


def _behind(done: int, total: int, progress: Progress) -> Progress:
    """A shard's progress as that of all."""
    return lambda played, _: progress(done + played, total)


class _Games:
    """The games of shards, each loaded once."""

    def __init__(self) -> None:
        self._loaded: dict[str, Game] = {}

    def load(self, origin: Origin) -> Game:
        """The game of a shard; its rules must be those of the shard."""
        key = origin.game_text()
        if key not in self._loaded:
            self._loaded[key] = _load(origin)
        return self._loaded[key]


def _load(origin: Origin) -> Game:
    try:
        game = load_game(origin.game, **origin.params)
    except AleaZeroError as error:
        raise ReplayError(f"its game cannot be loaded: {error}") from None
    info = game.info
    if origin.rules_version != info.version:
        raise ReplayError(f"the rules are version {origin.rules_version}, expected {info.version} of {game!r}")
    if origin.observation_schema != info.observation_schema:
        raise ReplayError(
            f"the observations are {origin.observation_schema!r}, expected {info.observation_schema!r} of {game!r}"
        )
    return game
