"""Shards: files with the samples of consecutive games, written atomically and mapped into memory.

Equal records give byte-identical files. A shard contains its samples in order of games, and the steps of each game, so
that games can be replayed. ``ShardWriter`` writes the games of an iteration; its files do not depend on the order in
which games end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from aleazero.errors import ReplayError
from aleazero.files import os_errors_as, write_atomic
from aleazero.replay.shard_format import FORMAT, Origin, ShardMeta, Tensors, checksum_of, map_tensors, parse_meta
from aleazero.selfplay.record import EpisodeRecord

SAMPLE_COLUMNS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "observations": ("<f4", ("samples", "observation")),
    "legal_masks": ("?", ("samples", "actions")),
    "policies": ("<f4", ("samples", "actions")),
    "returns": ("<f4", ("samples", "players")),
    "root_values": ("<f4", ("samples", "players")),
    "scores": ("<f4", ("samples", "players")),
    "weights": ("<f4", ("samples",)),
    "searched": ("?", ("samples",)),
    "afterstate": ("?", ("samples",)),
    "viewers": ("i1", ("samples",)),
    "step": ("<i4", ("samples",)),
    "ply": ("<i4", ("samples",)),
    "game": ("<i8", ("samples",)),
    "iteration": ("<i4", ("samples",)),
}
"""Columns with one row per sample: type and names of the dimensions. ``returns``, ``root_values`` and ``scores`` are by
seat relative to the viewer."""
GAME_COLUMNS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "game_numbers": ("<i8", ("games",)),
    "game_seeds": ("<u8", ("games",)),
    "game_returns": ("<f8", ("games", "players")),
    "sample_offsets": ("<i8", ("games + 1",)),
    "step_offsets": ("<i8", ("games + 1",)),
    "start_offsets": ("<i8", ("games + 1",)),
    "steps": ("<i4", ("steps", "2")),
    "starts": ("u1", ("bytes",)),
}
"""Columns with one row per game (``game_returns`` by player), offsets of each game's samples, steps and start text, and
the steps and start texts of all games."""
COLUMNS: Final = SAMPLE_COLUMNS | GAME_COLUMNS
COPIED: Final = ("observations", "legal_masks", "policies", "root_values", "scores", "weights", "searched",
                 "afterstate", "viewers", "step", "ply")  # fmt: skip
"""Columns that are copied from the records."""
NAME: Final = re.compile(r"shard_(\d{5,})_(\d{5,})\.safetensors")
KEY: Final = "aleazero"
"""Key of the metadata in the header."""


@dataclass(frozen=True, eq=False)
class Shard:
    """A valid shard with its columns mapped into memory."""

    path: Path
    meta: ShardMeta
    columns: Tensors
    """Columns by name; see SAMPLE_COLUMNS and GAME_COLUMNS."""

    @property
    def games(self) -> int:
        """Number of games."""
        return self.meta.last_game - self.meta.first_game

    def record(self, index: int) -> EpisodeRecord:
        """Return the record of a game by its index in the shard."""
        columns = self.columns
        begin, end = columns["sample_offsets"][index : index + 2]
        first, last = columns["step_offsets"][index : index + 2]
        start, stop = columns["start_offsets"][index : index + 2]
        return EpisodeRecord(
            game_number=int(columns["game_numbers"][index]),
            seed=int(columns["game_seeds"][index]),
            start=columns["starts"][start:stop].tobytes().decode(errors="replace"),
            steps=columns["steps"][first:last],
            returns=columns["game_returns"][index],
            **{name: columns[name][begin:end] for name in COPIED},
        )

    def records(self) -> Iterator[EpisodeRecord]:
        """Iterate over the games in order of their numbers."""
        return (self.record(index) for index in range(self.games))


@dataclass(frozen=True)
class BrokenShard:
    """A shard that cannot be used, and the reason in one line."""

    path: Path
    why: str


class ShardWriter:
    """Collects the games of one iteration, in any order, and writes each shard when its games are complete.

    Shard i has the games from i·games_per_shard up to the first of shard i + 1. Valid shards of an interrupted run
    count as written; damaged ones are written again; shards of another origin raise an error. An iteration has one
    writer.
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
        """Add a game, and write its shard if this completes it."""
        number = record.game_number // self.games_per_shard
        held = self._held.setdefault(number, {})
        if record.game_number in held or record.game_number in self._written.get(number, ()):
            raise ReplayError(f"game {record.game_number} of iteration {self.iteration} was already added")
        held[record.game_number] = record
        if len(held) == self.games_per_shard:
            first = number * self.games_per_shard
            self._write(number, range(first, first + self.games_per_shard))

    def finish(self, total: int) -> None:
        """Write the last shard, which may be shorter, after all ``total`` games were added."""
        missing = self.missing_games(total)
        if missing:
            raise ReplayError(f"{len(missing)} of {total} games are missing, the first is {missing[0]}")
        for number, games in self._shards(total):
            if not self._is_written(number, games):
                self._write(number, games)

    def missing_games(self, total: int) -> list[int]:
        """Return the games from 0 to total − 1 that are in no shard and were not added."""
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
        if len(games) == self.games_per_shard:  # a shorter shard may get more games
            del self._held[number]

    def _find_written(self) -> None:
        prefix = shard_name(self.iteration, 0).rpartition("_")[0]
        for stale in self.folder.glob(f".{prefix}_*.tmp"):  # left by a killed writer
            stale.unlink(missing_ok=True)
        for path in self.folder.glob(f"{prefix}_*.safetensors"):
            shard = open_shard(path)
            if not isinstance(shard, Shard):
                continue
            # Valid shards of another origin are never overwritten.
            require_origin(shard, self.origin, "expected another iteration, or another folder")
            number, games = shard_key(path)[1], range(shard.meta.first_game, shard.meta.last_game)
            first = number * self.games_per_shard
            if games[0] == first and len(games) <= self.games_per_shard:
                self._written[number] = games
                if len(games) < self.games_per_shard:
                    self._held[number] = {record.game_number: record for record in shard.records()}


def shard_name(iteration: int, number: int) -> str:
    """Return the file name of a shard."""
    return f"shard_{iteration:05}_{number:05}.safetensors"


def shard_key(path: Path) -> tuple[int, int]:
    """Return iteration and number of a shard from its name; older shards have smaller keys."""
    match = NAME.fullmatch(path.name)
    if match is None:
        raise ReplayError(f"the file name is not that of a shard, expected e.g. {shard_name(0, 0)}")
    return int(match[1]), int(match[2])


def write_shard(path: Path, records: Sequence[EpisodeRecord], origin: Origin, iteration: int) -> ShardMeta:
    """Write the samples of consecutive games atomically."""
    columns = _columns_of(sorted(records, key=lambda record: record.game_number), iteration)
    numbers = columns["game_numbers"]
    meta = ShardMeta(
        **{name: getattr(origin, name) for name in Origin.model_fields},
        format=FORMAT,
        iteration=iteration,
        first_game=int(numbers[0]),
        last_game=int(numbers[-1]) + 1,
        samples=len(columns["game"]),
        checksum="",
    )
    meta = meta.model_copy(update={"checksum": checksum_of(meta, columns)})
    with os_errors_as(ReplayError, f"cannot write {path}"):
        write_atomic(path, [save(columns, {KEY: meta.to_text()})])
    return meta


def read_shard(path: Path) -> Shard:
    """Map a shard into memory; raise a ReplayError if it is damaged."""
    tensors, texts = map_tensors(path)
    if texts.keys() != {KEY}:
        raise ReplayError(f"the metadata has the keys {sorted(texts)!s:.80}, expected ['{KEY}']")
    meta = parse_meta(texts[KEY])
    sizes = _check_shapes(tensors)
    if sizes["games"] != meta.last_game - meta.first_game or sizes["samples"] != meta.samples:
        raise ReplayError(
            f"the columns have {sizes['games']} games and {sizes['samples']} samples, expected games {meta.first_game} "
            f"to {meta.last_game} and {meta.samples} samples as in the metadata"
        )
    found = checksum_of(meta, tensors)
    if found != meta.checksum:
        raise ReplayError(f"the checksum is {found:.12}…, expected {meta.checksum:.12}…: the file is damaged")
    _check_order(meta, tensors)
    return Shard(path, meta, tensors)


def open_shard(path: Path) -> Shard | BrokenShard:
    """Return a shard, or the reason why it cannot be used."""
    try:
        shard = read_shard(path)
        iteration, _ = shard_key(path)
        if shard.meta.iteration != iteration:
            raise ReplayError(f"the iteration is {shard.meta.iteration}, expected {iteration} as in the name")
    except ReplayError as error:
        return broken(path, error)
    return shard


def broken(path: Path, error: ReplayError) -> BrokenShard:
    """Return the unusable shard for an error."""
    return BrokenShard(path, " ".join(str(error).split()))


def require_origin(shard: Shard, origin: Origin, advice: str) -> None:
    """Raise an error that names the difference if a shard has another origin."""
    for what, got, wanted in (
        ("game", shard.meta.game_text(), origin.game_text()),
        ("model", shard.meta.model, origin.model),
        ("seed and settings", shard.meta.settings, origin.settings),
    ):
        if got != wanted:
            got, wanted = got or "none", wanted or "none"
            raise ReplayError(f"{shard.path} belongs to another {what} ({got}, expected {wanted}): {advice}")


def _columns_of(records: Sequence[EpisodeRecord], iteration: int) -> Tensors:
    if not records:
        raise ReplayError("got no games, expected at least one per shard")
    numbers = [record.game_number for record in records]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise ReplayError(f"got the games {numbers!s:.80}, expected consecutive numbers")
    starts = [record.start.encode() for record in records]
    made: dict[str, Any] = {name: _joined(name, [getattr(record, name) for record in records]) for name in COPIED}
    made |= {
        "returns": np.concatenate([seats_from(record.returns, record.viewers) for record in records]),
        "game": np.repeat(numbers, [len(record) for record in records]),
        "iteration": np.full(sum(len(record) for record in records), iteration),
        "game_numbers": numbers,
        "game_seeds": np.array([record.seed for record in records], np.uint64),
        "game_returns": _joined("returns", [record.returns[np.newaxis] for record in records]),
        "sample_offsets": _offsets([len(record) for record in records]),
        "step_offsets": _offsets([len(record.steps) for record in records]),
        "start_offsets": _offsets([len(start) for start in starts]),
        "steps": np.concatenate([record.steps for record in records]),
        "starts": np.frombuffer(b"".join(starts), np.uint8),
    }
    return {name: np.ascontiguousarray(made[name], dtype) for name, (dtype, _) in COLUMNS.items()}


def seats_from(values: NDArray[Any], viewers: NDArray[np.int8]) -> NDArray[Any]:
    """Return values by player as one row per viewer, by seat relative to the viewer."""
    seats = (viewers[:, np.newaxis].astype(np.int64) + np.arange(len(values))) % len(values)
    rolled: NDArray[Any] = values[seats]
    return rolled


def _joined(name: str, arrays: list[NDArray[Any]]) -> NDArray[Any]:
    widths = {array.shape[1:] for array in arrays}
    if len(widths) > 1:
        raise ReplayError(f"{name}: rows have the shapes {sorted(widths)}, expected equal shapes in all games")
    return np.concatenate(arrays)


def _offsets(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def _check_shapes(tensors: Tensors) -> dict[str, int]:
    """Check the columns, their types and their dimensions, and return the size of each dimension by name."""
    if tensors.keys() != COLUMNS.keys():
        odd = sorted(tensors.keys() ^ COLUMNS.keys())[0]
        raise ReplayError(f"the column {odd!r:.80} is {'unknown' if odd in tensors else 'missing'}")
    sizes = {"2": 2}
    for name, (dtype, dims) in COLUMNS.items():
        column = tensors[name]
        if column.dtype != np.dtype(dtype):
            raise ReplayError(f"{name}: has type {column.dtype}, expected {np.dtype(dtype)}")
        fits = column.ndim == len(dims)
        for dim, size in zip(dims, column.shape, strict=False):
            fits &= sizes.setdefault(dim, size) == size
        if not fits:
            expected = " × ".join(str(sizes.get(dim, dim)) for dim in dims)
            raise ReplayError(f"{name}: has shape {column.shape}, expected {expected}")
    if sizes["games + 1"] != sizes["games"] + 1:
        raise ReplayError(f"sample_offsets: has {sizes['games + 1']} entries, expected {sizes['games'] + 1}")
    return sizes


def _check_order(meta: ShardMeta, tensors: Tensors) -> None:
    """Check that games are in order, that offsets are valid, and that samples have the number of their game."""
    numbers = np.arange(meta.first_game, meta.last_game)
    if not len(numbers) or not np.array_equal(tensors["game_numbers"], numbers):
        raise ReplayError(f"the games are not {meta.first_game} to {meta.last_game} in order, as in the metadata")
    for offsets, cut in (("sample_offsets", "game"), ("step_offsets", "steps"), ("start_offsets", "starts")):
        edges = tensors[offsets]
        if edges[0] != 0 or edges[-1] != len(tensors[cut]) or (np.diff(edges) < 0).any():
            raise ReplayError(
                f"{offsets}: got {edges[0]} to {edges[-1]}, expected to increase from 0 to {len(tensors[cut])}"
            )
    if not np.array_equal(tensors["game"], np.repeat(numbers, np.diff(tensors["sample_offsets"]))):
        raise ReplayError("game: a sample has the number of another game")
    if (tensors["iteration"] != meta.iteration).any():
        raise ReplayError(f"iteration: a sample has another number than {meta.iteration} in the metadata")
