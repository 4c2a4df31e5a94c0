"""Small n-tuple tables for 2048, and a slow reference implementation of their values."""

from __future__ import annotations

import numpy as np

from aleazero.games.kit import TupleShape
from aleazero.games.twenty48 import tuple_shape

SMALL = TupleShape(cells=16, values=12, tuples=((0, 1, 2, 3), (5, 4, 1), (0, 5)), symmetries=tuple_shape().symmetries)


def slow_entries(shape: TupleShape, board) -> list[int]:
    found, start = [], 0
    for cells in shape.tuples:
        for symmetry in shape.symmetries:
            entry = 0
            for cell in cells:
                entry = entry * shape.values + min(int(board[symmetry[cell]]), shape.values - 1)
            found.append(start + entry)
        start += shape.values ** len(cells)
    return found


def one_by_one(numbers) -> np.float32:
    """Return the sum from left to right; ``numpy.sum`` has another order."""
    total = np.float32(0.0)
    for number in numbers:
        total += number
    return total


def slow_value(shape: TupleShape, weights: np.ndarray, board) -> np.float32:
    return one_by_one(weights[slow_entries(shape, board)])


def random_boards(count: int, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return draw.integers(0, 18, (count, 16)) * draw.integers(0, 2, (count, 16))
