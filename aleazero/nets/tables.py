"""N-tuple tables: the value of a board is a sum of table entries, one per tuple of cells and symmetry.

The entries of all tables are in one array. A *feature* is a tuple under a symmetry. The features of one tuple are
adjacent and share its table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import CheckpointError, ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.kit import TupleShape
from aleazero.native.compile import borrow, compile_loop, made_once

Floats = NDArray[np.float32]


class TupleTables:
    """N-tuple tables of a board. All entries are initially zero."""

    def __init__(self, shape: TupleShape) -> None:
        self.shape = shape
        self.weights: Floats = np.zeros(shape.entries, np.float32)
        self.features = _features(shape)

    def values(self, boards: NDArray[Any]) -> Floats:
        """Return the value of each board; ``boards`` has shape (boards, at least ``shape.cells``)."""
        boards = np.ascontiguousarray(boards, np.int64)
        if boards.ndim != 2 or boards.shape[1] < self.shape.cells:
            raise ConfigError(f"boards have the shape {boards.shape}, expected rows of {self.shape.cells} cells")
        out = np.zeros(len(boards), np.float32)
        _value_boards_of(self.shape)(boards, make_rows(self.shape, 64), self.features, self.weights, out)
        return out

    def tensors(self) -> dict[str, NDArray[Any]]:
        """Return the nonzero entries of each table, for a safetensors file."""
        tensors: dict[str, NDArray[Any]] = {}
        for number, table in enumerate(self._tables()):
            index = np.flatnonzero(table.view(np.int32)).astype(np.int32)  # compares bits, so that -0.0 is kept
            tensors[f"tables.{number}.index"] = index
            tensors[f"tables.{number}.weight"] = table[index]
        return tensors

    @classmethod
    def from_tensors(cls, shape: TupleShape, tensors: Mapping[str, NDArray[Any]]) -> TupleTables:
        """Build tables from the result of ``tensors``; raise an error if they do not match the shape."""
        tables = cls(shape)
        names = {f"tables.{n}.{part}" for n in range(len(shape.tuples)) for part in ("index", "weight")}
        if set(tensors) != names:
            odd = sorted(set(tensors) ^ names)
            raise CheckpointError(f"the tensors do not match the shape of the tables ({odd[0]})")
        for number, table in enumerate(tables._tables()):
            index, weight = tensors[f"tables.{number}.index"], tensors[f"tables.{number}.weight"]
            if index.dtype != np.int32 or weight.dtype != np.float32 or index.ndim != 1 or index.shape != weight.shape:
                got = f"{index.dtype} {index.shape} and {weight.dtype} {weight.shape}"
                raise CheckpointError(f"table {number} is {got}, expected int32 and float32 of equal length")
            if len(index) and (index[0] < 0 or index[-1] >= len(table) or (np.diff(index) <= 0).any()):
                raise CheckpointError(
                    f"table {number} has invalid indices, expected increasing numbers from 0 to {len(table) - 1}"
                )
            if not np.isfinite(weight).all():
                raise CheckpointError(f"table {number} has non-finite weights")
            table[index] = weight
        return tables

    def _tables(self) -> list[Floats]:
        ends = np.cumsum(self.shape.sizes)
        return [self.weights[end - size : end] for end, size in zip(ends, self.shape.sizes, strict=True)]


def has_board(game: Game) -> bool:
    """Return whether tables can evaluate the boards of a game."""
    return isinstance(game, KernelGame) and game.num_players == 1 and hasattr(game.module, "tuple_shape")


def shape_of(game: Game) -> TupleShape:
    """Return the tuples and symmetries that a game defines for its board."""
    tuple_shape = getattr(game.module, "tuple_shape", None) if isinstance(game, KernelGame) else None
    if tuple_shape is None:
        raise ConfigError(f"{game.name} has no tuple_shape(), expected a kernel game that describes its board")
    shape: TupleShape = tuple_shape()
    return shape


def require_board(game: Game, shape: TupleShape) -> KernelGame:
    """Return the game if tables of this shape can evaluate it; else raise an error."""
    if not isinstance(game, KernelGame) or game.num_players != 1:
        raise ConfigError(f"{game.name}: tables need a one-player board game, expected a kernel game with 1 player")
    if shape.cells > game.info.state_size:
        raise ConfigError(f"{game.name}: tables of {shape.cells} cells, expected at most {game.info.state_size}")
    return game


class TupleIndex(NamedTuple):
    """The entries of each feature, for compiled code."""

    places: Any  # (features, longest) int32, the cells of each feature
    lengths: Any  # (features,) int32, the number of these cells
    starts: Any  # (features,) int32, the first entry of the feature's table


def _features(shape: TupleShape) -> TupleIndex:
    """List the features tuple by tuple, each under all symmetries."""
    starts = np.cumsum((0, *shape.sizes))[:-1]
    lengths = [len(cells) for cells in shape.tuples]
    each = len(shape.symmetries)
    places = np.zeros((len(shape.tuples) * each, max(lengths)), np.int32)
    for number, cells in enumerate(shape.tuples):
        for s, symmetry in enumerate(shape.symmetries):
            places[number * each + s, : len(cells)] = [symmetry[cell] for cell in cells]
    return TupleIndex(places, np.repeat(lengths, each).astype(np.int32), np.repeat(starts, each).astype(np.int32))


def _value_boards_of(shape: TupleShape) -> Callable[..., int]:
    # Games with equal shapes share the compiled loop.
    return made_once(None, ("tuples", shape), lambda: compile_loop(make_value_boards(shape), "tuples"))


def make_value_boards(shape: TupleShape) -> Callable[..., int]:
    """Make ``value_boards(boards, rows, features, weights, out)``, which evaluates any number of boards."""
    put, value_rows = make_put(shape), make_value_rows(shape)

    def value_boards(boards: Any, rows_: Any, features_: Any, weights_: Any, out: Any) -> int:
        rows, features, weights = borrow(rows_), borrow(features_), borrow(weights_)
        room = len(rows.values)
        for first in range(0, len(boards), room):
            count = min(room, len(boards) - first)
            for row in range(count):
                put(boards[first + row], row, rows)
            value_rows(count, rows, features, weights)
            for row in range(count):
                out[first + row] = rows.values[row]
        return 0

    return value_boards


def make_value_rows(shape: TupleShape) -> Callable[..., None]:
    """Make ``value_rows(count, rows, features, weights)``, which evaluates the boards in the first columns."""
    base = shape.values

    def value_rows(count: Any, rows: Any, features: Any, weights: Any) -> None:
        values = rows.values
        for row in range(count):
            values[row] = 0.0
        for feature in range(len(features.lengths)):
            index = rows.index[feature]
            cell = rows.cells[features.places[feature, 0]]
            for row in range(count):
                index[row] = cell[row]
            for place in range(1, features.lengths[feature]):
                cell = rows.cells[features.places[feature, place]]
                for row in range(count):
                    index[row] = index[row] * np.int32(base) + cell[row]
            start = features.starts[feature]
            for row in range(count):
                index[row] += start
                values[row] += weights[index[row]]

    return value_rows


def make_put(shape: TupleShape) -> Callable[..., None]:
    """Make ``put(board, row, rows)``, which copies a board into a column."""
    cells, top = shape.cells, shape.values - 1

    def put(board: Any, row: Any, rows: Any) -> None:
        for cell in range(cells):
            rows.cells[cell, row] = min(max(board[cell], 0), top)

    return put


class BoardRows(NamedTuple):
    """Boards that are evaluated together, one column each, so that the compiler can vectorize over boards."""

    cells: Any  # (cells, rows) int32
    index: Any  # (features, rows) int32, the entries of each board
    values: Any  # (rows,) float32


def make_rows(shape: TupleShape, rows: int) -> BoardRows:
    """Return arrays for this many boards."""
    features = len(shape.tuples) * len(shape.symmetries)
    cells, index = np.zeros((shape.cells, rows), np.int32), np.zeros((features, rows), np.int32)
    return BoardRows(cells, index, np.zeros(rows, np.float32))
