"""A folder of shards, in order of age; those that are not whole are told, and left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aleazero.errors import ReplayError
from aleazero.replay.shard import Shard, read_shard, shard_key
from aleazero.untrusted import is_there

Progress = Callable[[int, int], None]
"""Called with how many are done so far, and of how many."""


@dataclass(frozen=True)
class BrokenShard:
    """A shard that cannot be used, and why, in one line."""

    path: Path
    why: str


def shard_paths(folder: Path) -> tuple[list[Path], list[BrokenShard]]:
    """The files that are shards by name, the oldest first, and files of their kind that are not."""
    if not is_there(folder) or not folder.is_dir():
        raise ReplayError(f"no folder {str(folder)!r}, expected one with shards")
    keys: dict[Path, tuple[int, int]] = {}
    misnamed = []
    for path in sorted(folder.glob("[!.]*.safetensors")):
        try:
            keys[path] = shard_key(path)
        except ReplayError as error:
            misnamed.append(broken(path, error))
    return sorted(keys, key=lambda path: (keys[path], path)), misnamed


def open_shard(path: Path) -> Shard | BrokenShard:
    """A shard, or why it cannot be used."""
    try:
        shard = read_shard(path)
        iteration, _ = shard_key(path)
        if shard.meta.iteration != iteration:
            raise ReplayError(f"the iteration is {shard.meta.iteration}, expected {iteration} as in the name")
    except ReplayError as error:
        return broken(path, error)
    return shard


def broken(path: Path, error: ReplayError) -> BrokenShard:
    """A shard that an error was found in."""
    return BrokenShard(path, " ".join(str(error).split()))


def open_folder(folder: Path, progress: Progress | None = None) -> tuple[list[Shard], list[BrokenShard]]:
    """All shards that are whole, the oldest first, and those that are not."""
    paths, left_out = shard_paths(folder)
    whole: list[Shard] = []
    for done, path in enumerate(reversed(paths), start=1):
        found = open_shard(path)
        if isinstance(found, Shard):
            found = unless_repeated(found, whole)
        if isinstance(found, Shard):
            whole.append(found)
        else:
            left_out.append(found)
        if progress is not None:
            progress(done, len(paths))
    return whole[::-1], left_out


def unless_repeated(shard: Shard, newer: list[Shard]) -> Shard | BrokenShard:
    """The shard, unless a newer one of its iteration has some of its games; the last of these is the next newer."""
    for other in reversed(newer):
        if other.meta.iteration != shard.meta.iteration:
            break
        first = max(shard.meta.first_game, other.meta.first_game)
        if first < min(shard.meta.last_game, other.meta.last_game):
            return BrokenShard(shard.path, f"game {first} is in {other.path.name} too")
    return shard
