"""The newest samples of a folder of shards, and batches of them.

The samples of a window are addressed by row and stay on disk until they are used. Batches depend only on the seed, and
a sampler can be resumed. Damaged shards are reported and left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.native.random import EPOCHS, UNIFORM_SAMPLES
from aleazero.replay.shard import SAMPLE_COLUMNS, BrokenShard, Shard, broken, open_shard, shard_key
from aleazero.replay.shard_format import Origin
from aleazero.selfplay.record import EpisodeRecord
from aleazero.untrusted import path_exists

Rows = NDArray[np.int64]
Order = Literal["epochs", "uniform"]
Progress = Callable[[int, int], None]
"""Called with the number of items done and the number of items."""


class Window:
    """The newest games whose samples fit into a capacity; rows are ordered from the oldest sample to the newest.

    A window does not change when files are added. Shards that are damaged, or that belong to another game than the
    newest one, are left out and listed in ``broken``. The checksum of each shard is verified once, on creation.
    """

    def __init__(self, folder: Path, capacity: int) -> None:
        if capacity < 1:
            raise ReplayError(f"capacity is {capacity}, expected at least 1 sample")
        self.folder = Path(folder)
        self.capacity = capacity
        self._pieces, self.broken = _newest(self.folder, capacity)
        self._loaded: dict[str, NDArray[Any]] = {}
        self._columns: dict[str, list[NDArray[Any]]] = {}
        self._edges = np.concatenate([[0], np.cumsum([len(piece) for piece in self._pieces])]).astype(np.int64)

    def __len__(self) -> int:
        """Return the number of samples."""
        return int(self._edges[-1])

    @property
    def shards(self) -> list[Shard]:
        """The shards that contribute samples, the oldest first."""
        return [piece.shard for piece in self._pieces]

    @property
    def origin(self) -> Origin:
        """Origin of the newest samples; all samples belong to its game."""
        self._require_samples()
        return self._pieces[-1].shard.meta

    def columns(self, name: str) -> list[NDArray[Any]]:
        """Return a column as memory-mapped arrays, one per shard, the oldest first."""
        return list(self._mapped(name))

    def take(self, names: Sequence[str], rows: Rows) -> dict[str, NDArray[Any]]:
        """Return copies of these rows of these columns."""
        rows = np.asarray(rows, np.int64)
        if rows.size and not (rows.min() >= 0 and rows.max() < len(self)):
            raise ReplayError(f"got rows {rows.min()} to {rows.max()}, expected 0 to {len(self) - 1}")
        self._require_samples()
        if self._loaded:
            return {name: self._loaded[name][rows] for name in names}
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        cuts = np.searchsorted(ascending, self._edges)
        holders = np.flatnonzero(np.diff(cuts))
        places = [ascending[cuts[holder] : cuts[holder + 1]] - self._edges[holder] for holder in holders]
        taken = {}
        for name in names:
            pieces = self._mapped(name)
            parts = [pieces[holder][inside] for holder, inside in zip(holders, places, strict=True)]
            gathered = np.concatenate([pieces[0][:0], *parts])
            taken[name] = np.empty_like(gathered)
            taken[name][order] = gathered
        return taken

    def load(self) -> None:
        """Read all samples into memory, from which batches are taken faster than from files."""
        self._require_samples()
        self._loaded = {name: np.concatenate(self.columns(name)) for name in SAMPLE_COLUMNS}

    def game_spans(self) -> Rows:
        """Return the first row and the exclusive last row of each game with samples, shape (games, 2)."""
        spans = [np.zeros((0, 2), np.int64)]
        for piece, begin in zip(self._pieces, self._edges, strict=False):
            offsets = piece.shard.columns["sample_offsets"][piece.first_game :] - piece.first_row + begin
            spans.append(np.stack([offsets[:-1], offsets[1:]], axis=1))
        joined = np.concatenate(spans)
        return joined[joined[:, 0] < joined[:, 1]]

    def records(self) -> Iterator[EpisodeRecord]:
        """Iterate over the games, the oldest first; their samples in this order are the rows of the window."""
        for piece in self._pieces:
            yield from (piece.shard.record(index) for index in range(piece.first_game, piece.shard.games))

    def fingerprint(self) -> str:
        """Return a hash that is equal for windows with equal samples."""
        parts = [f"{piece.shard.meta.checksum} {piece.first_game}" for piece in self._pieces]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _mapped(self, name: str) -> list[NDArray[Any]]:
        if name not in self._columns:
            if name not in SAMPLE_COLUMNS:
                raise ReplayError(f"no column {name!r}, known: {', '.join(SAMPLE_COLUMNS)}")
            self._columns[name] = [piece.shard.columns[name][piece.first_row :] for piece in self._pieces]
        return self._columns[name]

    def _require_samples(self) -> None:
        if not self._pieces:
            why = f"; {self.broken[0].path.name}: {self.broken[0].why}" if self.broken else ""
            raise ReplayError(f"no game in {str(self.folder)!r} fits into a capacity of {self.capacity} samples{why}")


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch of samples, one per row. Values by seat are relative to the viewer."""

    rows: Rows
    """Rows of the window."""
    observations: NDArray[np.float32]
    legal_masks: NDArray[np.bool_]
    policies: NDArray[np.float32]
    returns: NDArray[np.float32]
    """Final returns by seat."""
    root_values: NDArray[np.float32]
    scores: NDArray[np.float32]
    weights: NDArray[np.float32]
    """Weights of the policy targets."""
    searched: NDArray[np.bool_]
    afterstate: NDArray[np.bool_]
    viewers: NDArray[np.int8]
    step: NDArray[np.int32]
    ply: NDArray[np.int32]
    game: NDArray[np.int64]
    iteration: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)


BATCH_COLUMNS: Final = tuple(field.name for field in fields(Batch) if field.name != "rows")


class Sampler:
    """Draws batches of a fixed size.

    ``epochs``: shuffles all samples and uses each one once per epoch; a batch may contain the end of one epoch and the
    start of the next. ``uniform``: draws every row from all samples with replacement.
    """

    def __init__(self, window: Window, batch_size: int, seed: int, order: Order = "epochs") -> None:
        if batch_size < 1:
            raise ReplayError(f"batch_size is {batch_size}, expected at least 1")
        if order not in ("epochs", "uniform"):
            raise ReplayError(f"order is {order!r}, expected 'epochs' or 'uniform'")
        if seed < 0:
            raise ReplayError(f"seed is {seed}, expected at least 0")
        _ = window.origin  # raises an error if the window is empty
        self.window = window
        self.batch_size = batch_size
        self.seed = seed
        self.order = order
        self.epoch = 0
        """Number of completed epochs; 0 in the order ``uniform``."""
        self.position = 0
        """Number of samples used in this epoch; in the order ``uniform``, number of batches."""
        self._shuffled: tuple[int, Rows] | None = None

    def next(self) -> Batch:
        """Return the next batch."""
        rows = self._draw() if self.order == "uniform" else self._shuffle()
        return Batch(rows=rows, **self.window.take(BATCH_COLUMNS, rows))

    def state(self) -> dict[str, Any]:
        """Return the position of the sampler as plain data for JSON."""
        return {**self._identity(), "epoch": self.epoch, "position": self.position}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from the ``state`` of a sampler with the same window, seed, batch size and order."""
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise ReplayError(f"{name} in the state of the sampler is {state.get(name)!r}, expected {value!r}")
        epoch, position = state.get("epoch"), state.get("position")
        if type(epoch) is not int or type(position) is not int or epoch < 0 or position < 0:
            raise ReplayError(
                f"the state of the sampler is epoch {epoch!r}, position {position!r}, expected nonnegative integers"
            )
        if self.order == "epochs" and position >= len(self.window):
            raise ReplayError(f"position in the state of the sampler is {position}, expected below {len(self.window)}")
        self.epoch, self.position = epoch, position

    def _identity(self) -> dict[str, Any]:
        return {
            "window": self.window.fingerprint(),
            "seed": self.seed,
            "batch_size": self.batch_size,
            "order": self.order,
        }

    def _draw(self) -> Rows:
        generator = np.random.default_rng([UNIFORM_SAMPLES, self.seed, self.position])
        self.position += 1
        return generator.integers(len(self.window), size=self.batch_size)

    def _shuffle(self) -> Rows:
        parts: list[Rows] = []
        missing = self.batch_size
        while missing:
            part = self._permutation()[self.position : self.position + missing]
            parts.append(part)
            missing -= len(part)
            self.position += len(part)
            if self.position == len(self.window):
                self.epoch, self.position = self.epoch + 1, 0
        return np.concatenate(parts)

    def _permutation(self) -> Rows:
        if self._shuffled is None or self._shuffled[0] != self.epoch:
            generator = np.random.default_rng([EPOCHS, self.seed, self.epoch])
            self._shuffled = self.epoch, generator.permutation(len(self.window))
        return self._shuffled[1]


def open_folder(folder: Path, progress: Progress | None = None) -> tuple[list[Shard], list[BrokenShard]]:
    """Return all valid shards, the oldest first, and the damaged or repeated ones."""
    paths, left_out = shard_paths(folder)
    valid: list[Shard] = []
    for done, path in enumerate(reversed(paths), start=1):
        found = open_shard(path)
        if isinstance(found, Shard):
            found = unless_repeated(found, valid)
        if isinstance(found, Shard):
            valid.append(found)
        else:
            left_out.append(found)
        if progress is not None:
            progress(done, len(paths))
    return valid[::-1], left_out


def shard_paths(folder: Path) -> tuple[list[Path], list[BrokenShard]]:
    """Return the files with names of shards, the oldest first, and safetensors files with other names."""
    if not path_exists(folder) or not folder.is_dir():
        raise ReplayError(f"no folder {str(folder)!r}, expected a folder of shards")
    keys: dict[Path, tuple[int, int]] = {}
    misnamed = []
    for path in sorted(folder.glob("[!.]*.safetensors")):
        try:
            keys[path] = shard_key(path)
        except ReplayError as error:
            misnamed.append(broken(path, error))
    return sorted(keys, key=lambda path: (keys[path], path)), misnamed


def unless_repeated(shard: Shard, newer: list[Shard]) -> Shard | BrokenShard:
    """Return the shard, or an error if a newer one of its iteration has some of its games (``newer``: newest first)."""
    for other in reversed(newer):
        if other.meta.iteration != shard.meta.iteration:
            break
        first = max(shard.meta.first_game, other.meta.first_game)
        if first < min(shard.meta.last_game, other.meta.last_game):
            return BrokenShard(shard.path, f"game {first} is also in {other.path.name}")
    return shard


@dataclass(frozen=True, eq=False)
class Piece:
    """The part of a shard that is in the window: its newest games."""

    shard: Shard
    first_game: int
    """Index of the first of these games in the shard."""

    @property
    def first_row(self) -> int:
        """Row of the shard with the first sample of these games."""
        return int(self.shard.columns["sample_offsets"][self.first_game])

    def __len__(self) -> int:
        return self.shard.meta.samples - self.first_row


def _newest(folder: Path, capacity: int) -> tuple[list[Piece], list[BrokenShard]]:
    """Return shards from the newest on until the capacity is full; of the last one, the newest games that fit."""
    paths, broken = shard_paths(folder)
    pieces: list[Piece] = []
    for path in reversed(paths):
        shard = open_shard(path)
        if isinstance(shard, Shard):
            shard = _unless_foreign(unless_repeated(shard, [piece.shard for piece in pieces]), pieces)
        if isinstance(shard, BrokenShard):
            broken.append(shard)
            continue
        offsets = shard.columns["sample_offsets"]
        first_game = int(np.searchsorted(offsets, offsets[-1] - capacity))
        if offsets[first_game] < offsets[-1]:
            pieces.append(Piece(shard, first_game))
            capacity -= len(pieces[-1])
        if first_game > 0 or capacity == 0:
            break
    return pieces[::-1], broken


def _unless_foreign(shard: Shard | BrokenShard, pieces: list[Piece]) -> Shard | BrokenShard:
    """Return the shard, or an error if its samples cannot be in one batch with those of the newest shard."""
    if isinstance(shard, BrokenShard) or not pieces:
        return shard
    newest = pieces[0].shard
    if not newest.meta.same_game(shard.meta):
        got, expected = shard.meta.game_text(), newest.meta.game_text()
        return BrokenShard(shard.path, f"the game is {got}, expected {expected} as in {newest.path.name}")
    for name in SAMPLE_COLUMNS:
        got_shape, wanted = shard.columns[name].shape[1:], newest.columns[name].shape[1:]
        if got_shape != wanted:
            return BrokenShard(shard.path, f"{name}: rows are {got_shape}, expected {wanted} as in {newest.path.name}")
    return shard
