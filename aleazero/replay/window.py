"""The window: the newest samples of a folder, as many as fit, addressed by row and left on disk until they are used."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ReplayError
from aleazero.replay.folder import BrokenShard, open_shard, shard_paths, unless_repeated
from aleazero.replay.meta import Origin
from aleazero.replay.shard import SAMPLE_COLUMNS, Shard
from aleazero.selfplay.record import EpisodeRecord

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Piece:
    """The part of a shard that is in the window: its newest games, from a row of the shard on."""

    shard: Shard
    first_game: int
    """Place of its first game in the shard."""

    @property
    def first_row(self) -> int:
        """The shard's row of its first sample."""
        return int(self.shard.columns["sample_offsets"][self.first_game])

    def __len__(self) -> int:
        return self.shard.meta.samples - self.first_row


class Window:
    """The newest games whose samples fit a capacity; rows go from the oldest sample to the newest.

    A window does not change when files are added: make another. Shards that are broken, or of another game than the
    newest, are left out and listed in ``broken``. Every shard's checksum is computed once, when the window is made.
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
        """How many samples there are."""
        return int(self._edges[-1])

    @property
    def shards(self) -> list[Shard]:
        """The shards that have a part in the window, the oldest first."""
        return [piece.shard for piece in self._pieces]

    @property
    def origin(self) -> Origin:
        """Of the newest samples; the game is that of all."""
        self._require_samples()
        return self._pieces[-1].shard.meta

    def columns(self, name: str) -> list[NDArray[Any]]:
        """A column as it lies in memory-mapped files, a piece a shard, the oldest first; nothing is read."""
        return list(self._mapped(name))

    def take(self, names: Sequence[str], rows: Rows) -> dict[str, NDArray[Any]]:
        """Some rows of some columns, read into arrays of their own."""
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
        """Read all samples into memory: many batches are taken faster from there than from files."""
        self._require_samples()
        self._loaded = {name: np.concatenate(self.columns(name)) for name in SAMPLE_COLUMNS}

    def game_spans(self) -> Rows:
        """(games, 2): the first row of each game's samples and the one behind the last; games without are left out."""
        spans = [np.zeros((0, 2), np.int64)]
        for piece, begin in zip(self._pieces, self._edges, strict=False):
            offsets = piece.shard.columns["sample_offsets"][piece.first_game :] - piece.first_row + begin
            spans.append(np.stack([offsets[:-1], offsets[1:]], axis=1))
        joined = np.concatenate(spans)
        return joined[joined[:, 0] < joined[:, 1]]

    def records(self) -> Iterator[EpisodeRecord]:
        """The games, the oldest first; their samples side by side are the window's rows."""
        for piece in self._pieces:
            yield from (piece.shard.record(index) for index in range(piece.first_game, piece.shard.games))

    def fingerprint(self) -> str:
        """Text that is equal for windows of equal samples."""
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
            raise ReplayError(f"no game in {str(self.folder)!r} that fits a capacity of {self.capacity} samples{why}")


def _newest(folder: Path, capacity: int) -> tuple[list[Piece], list[BrokenShard]]:
    """Shards from the newest on, until one does not fit; of that one, the newest games that do."""
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
    """The shard, unless its samples cannot stand in a batch with those of the newest."""
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
