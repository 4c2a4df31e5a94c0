"""Writing an iteration's games as shards that do not depend on the order in which the games end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aleazero.errors import ReplayError
from aleazero.replay.folder import open_shard
from aleazero.replay.meta import Origin
from aleazero.replay.shard import Shard, require_origin, shard_key, shard_name, write_shard
from aleazero.selfplay.record import EpisodeRecord


class ShardWriter:
    """Takes the games of one iteration, in any order, and writes each shard as soon as all of its games are there.

    Shard number i has the games i·games_per_shard up to the next shard's. Shards that are there already, from a run
    that was stopped, count as written; what is broken does not, and what is of another origin is refused. An iteration
    has one writer.
    """

    def __init__(self, folder: Path, iteration: int, games_per_shard: int, origin: Origin) -> None:
        if games_per_shard < 1:
            raise ReplayError(f"games_per_shard is {games_per_shard}, expected at least 1")
        self.folder = Path(folder)
        self.iteration = iteration
        self.games_per_shard = games_per_shard
        self.origin = origin
        self._held: dict[int, dict[int, EpisodeRecord]] = {}
        self._written: dict[int, range] = {}
        self._find_written()

    def add(self, record: EpisodeRecord) -> None:
        """Take a game; its shard is written if this was the last one that it needed."""
        number = record.game_number // self.games_per_shard
        held = self._held.setdefault(number, {})
        if record.game_number in held or record.game_number in self._written.get(number, ()):
            raise ReplayError(f"game {record.game_number} of iteration {self.iteration} is there already")
        held[record.game_number] = record
        if len(held) == self.games_per_shard:
            first = number * self.games_per_shard
            self._write(number, range(first, first + self.games_per_shard))

    def finish(self, total: int) -> None:
        """All ``total`` games are given: write the last shard too, which may be shorter."""
        missing = self.missing_games(total)
        if missing:
            raise ReplayError(f"{len(missing)} of {total} games are missing, the first is {missing[0]}")
        for number, games in self._shards(total):
            if not self._is_written(number, games):
                self._write(number, games)

    def missing_games(self, total: int) -> list[int]:
        """Those of the games 0 to total − 1 that no shard has and that were not given."""
        return [
            game
            for number, games in self._shards(total)
            if not self._is_written(number, games)
            for game in games
            if game not in self._held.get(number, {})
        ]

    def _is_written(self, number: int, games: range) -> bool:
        written = self._written.get(number, range(0))
        return games[0] in written and games[-1] in written

    def _shards(self, total: int) -> Iterator[tuple[int, range]]:
        for number, first in enumerate(range(0, total, self.games_per_shard)):
            yield number, range(first, min(first + self.games_per_shard, total))

    def _write(self, number: int, games: range) -> None:
        records = [self._held[number][game] for game in games]
        write_shard(self.folder / shard_name(self.iteration, number), records, self.origin, self.iteration)
        self._written[number] = games
        if len(games) == self.games_per_shard:  # a shorter one may grow
            del self._held[number]

    def _find_written(self) -> None:
        prefix = shard_name(self.iteration, 0).rpartition("_")[0]
        for stale in self.folder.glob(f".{prefix}_*.tmp"):  # of a writer that was killed
            stale.unlink(missing_ok=True)
        for path in self.folder.glob(f"{prefix}_*.safetensors"):
            shard = open_shard(path)
            if not isinstance(shard, Shard):
                continue
            # Whole shards of others are never written over.
            require_origin(shard, self.origin, "expected another iteration, or another folder")
            number, games = shard_key(path)[1], range(shard.meta.first_game, shard.meta.last_game)
            first = number * self.games_per_shard
            if games[0] == first and len(games) <= self.games_per_shard:
                self._written[number] = games
                if len(games) < self.games_per_shard:
                    self._held[number] = {record.game_number: record for record in shard.records()}
