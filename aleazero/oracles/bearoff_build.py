"""Compute the bear-off tables: positions by their pips, moves as tables, and kernels that solve level by level."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aleazero.errors import PositionError
from aleazero.native.compile import cached_njit, paused_collector

Values = NDArray[Any]
Progress = Callable[[int, int], None]
"""Called with the amount of work done so far, and the amount of all work."""

HOME: Final = 6
DOUBLE_PRECISION: Final = 2000
"""Tables of at most this many positions per side have float64 (6 points × 7 checkers: 1,716), larger ones float32."""

ROLLS: Final = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)])
"""(21, 2) dice, the higher first."""
WEIGHTS: Final = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0)
"""(21,) probability of each roll × 36."""

ROWS, WIDTH = 64, 256
"""Positions and columns that a kernel holds at a time."""
TASK = 8 * WIDTH
"""Columns that a thread solves at a time."""


class Positions:
    """All positions of one side with at most ``checkers`` checkers, in the order of their pips.

    Index 0 is the position without checkers. Every move leads to a position with a lower index.
    """

    def __init__(self, points: int, checkers: int) -> None:
        self.points, self.checkers = points, checkers
        self.binomials = np.array([[comb(n, k) for k in range(points + 1)] for n in range(points + checkers + 1)])
        """Binomial coefficients, for ranks of positions."""
        bars = np.array(list(combinations(range(points + checkers), points)), np.int16).reshape(-1, points)
        counts = np.diff(bars, axis=1, prepend=-1) - 1
        pips = counts @ np.arange(1, points + 1)
        ranks = self._rank(counts)
        order = np.lexsort((ranks, pips))
        self.counts, self.pips = np.ascontiguousarray(counts[order], np.int8), pips[order]
        self.ranked = np.empty(len(order), np.int32)
        """Index of the position with each rank."""
        self.ranked[ranks[order]] = np.arange(len(order), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.pips)

    def index(self, counts: Sequence[int]) -> int:
        """Return the index of a position. Raises PositionError if the counts are invalid."""
        try:
            checked = [operator.index(count) for count in counts]
        except TypeError:
            raise PositionError(f"bear-off: got {counts!r}, expected {self.points} integers") from None
        if len(checked) != self.points:
            raise PositionError(f"bear-off: got {len(checked)} counts in {checked}, expected {self.points}")
        if min(checked) < 0:
            raise PositionError(f"bear-off: got {min(checked)} checkers in {checked}, expected 0 or more on each point")
        if sum(checked) > self.checkers:
            raise PositionError(
                f"bear-off: got {sum(checked)} checkers, expected at most {self.checkers} in this table"
            )
        total = rank = 0
        for place, count in enumerate(checked):  # as in _rank, but faster for one position
            total += count
            rank += comb(total + place, place + 1)
        return int(self.ranked[rank])

    def indices(self, counts: ArrayLike) -> Values:
        """Return the indices (n,) of positions (n, points). Raises PositionError if any counts are invalid."""
        array = np.asarray(counts)
        if array.ndim != 2 or array.shape[1] != self.points or array.dtype.kind not in "iu":
            raise PositionError(f"bear-off: expected counts as an integer array of shape (n, {self.points})")
        if (array < 0).any() or (array.sum(1, dtype=np.int64) > self.checkers).any():
            raise PositionError(
                f"bear-off: expected counts of 0 or more, and at most {self.checkers} checkers per side"
            )
        return self.ranked[self._rank(array)]

    def _rank(self, counts: Values) -> Values:
        """Return the rank of positions (n, points) among all subsets of that size, read as stars and bars."""
        columns = np.arange(self.points)
        ranks: Values = self.binomials[np.cumsum(counts, axis=1, dtype=np.int64) + columns, columns + 1].sum(1)
        return ranks

    @cached_property
    def plays(self) -> tuple[Values, Values]:
        """The positions after each roll: their indices, and where those of each (position, roll) start."""
        steps = self.steps
        found, counts = [], []
        for start in range(0, len(self), 4096):
            before = np.arange(start, min(start + 4096, len(self)), dtype=np.int32)[:, None]
            rolls = []
            for high, low in ROLLS.tolist():
                if high == low:
                    ends = before
                    for _ in range(4):
                        ends = _once(_move(ends, steps[high - 1]))
                else:
                    orders = (
                        _move(_move(before, steps[one - 1]), steps[two - 1]) for one, two in ((high, low), (low, high))
                    )
                    ends = _once(np.concatenate(list(orders), axis=1))
                rolls.append(ends)
            counts.append(np.stack([(ends >= 0).sum(1) for ends in rolls], axis=1))
            every = np.concatenate(rolls, axis=1)
            found.append(every[every >= 0])
        return np.concatenate(found), np.concatenate([[0], np.cumsum(np.concatenate(counts))])

    @cached_property
    def steps(self) -> Values:
        """(6, positions, points) the positions after one move with a die; −1 for moves that are not legal."""
        steps = np.full((6, len(self), self.points), -1, np.int32)
        occupied = self.counts > 0
        highest = self.points - np.argmax(occupied[:, ::-1], axis=1)
        for die in range(1, 7):
            for point in range(1, self.points + 1):
                # A checker bears off if all are at home, with its own number or from the highest point.
                moves = point > die or ((highest <= HOME) & ((point == die) | (point == highest)))
                movers = np.flatnonzero(occupied[:, point - 1] & moves)
                after = self.counts[movers]
                after[:, point - 1] -= 1
                if point > die:
                    after[:, point - die - 1] += 1
                steps[die - 1, movers, point - 1] = self.ranked[self._rank(after)]
        steps[:, 0, 0] = 0  # without checkers, the turn is over
        return steps

    def levels(self) -> Iterable[tuple[int, int]]:
        """Return the ranges of indices with the same number of pips, without the position without checkers."""
        bounds = np.flatnonzero(np.diff(self.pips, append=-1)) + 1
        return zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)


def table_dtype(points: int, checkers: int) -> np.dtype[Any]:
    """Return the type of a two-sided table's numbers."""
    return np.dtype(np.float64 if comb(points + checkers, points) <= DOUBLE_PRECISION else np.float32)


def build_two_sided(
    points: int,
    checkers: int,
    progress: Progress | None = None,
    *,
    gammons: bool = False,
    threads: int | None = None,
) -> Values:
    """Compute the table of ``TwoSided``.

    Positions are solved by their number of pips. Let L be the positions with p pips, and let lower ones have fewer. The
    pairs in which L rolls against lower positions depend on pairs of lower positions only. The pairs in which L waits
    depend on those. Within each of the two steps all pairs are independent, so the result does not depend on threads.

    Args:
        points: number of points per side.
        checkers: highest number of checkers per side.
        progress: called with the number of pairs solved so far, and the number of all pairs.
        gammons: whether a side that still has all ``checkers`` loses 2 points.
        threads: number of threads; default: all cores.

    Returns:
        (positions, positions) equity of the side to roll, by the position of the other side and its own.
    """
    positions = Positions(points, checkers)
    size = len(positions)
    table = np.empty((size, size), table_dtype(points, checkers))
    lost = points_lost(positions, gammons)
    table[:, 0], table[0, :], table[0, 0] = lost, -lost, 0.0
    with paused_collector(), ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        plays, starts = positions.plays
        for low, high in positions.levels():
            for rows, columns in (((low, high), (1, low)), ((1, high), (low, high))):
                jobs = [
                    pool.submit(_solve_pairs, row, min(row + ROWS, rows[1]), column, min(column + TASK, columns[1]),
                                table, plays, starts, WEIGHTS)
                    for column in range(*columns, TASK)
                    for row in range(*rows, ROWS)
                ]  # fmt: skip
                for job in jobs:
                    job.result()
            if progress is not None:
                progress(high * high, size * size)
    return table


def points_lost(positions: Positions, gammons: bool) -> Values:
    """Return (positions,) the points that a side loses if it has this position when the other side has none left."""
    full = positions.counts.sum(1, dtype=np.int64) == positions.checkers
    return np.where(full & gammons, 2.0, 1.0)


def _move(before: Values, steps: Values) -> Values:
    """Return (n, m × points) the positions after one move from (n, m) positions; −1 for none."""
    after = np.where(before[:, :, None] >= 0, steps[before], -1)
    return after.reshape(len(before), -1)


def most_plays(points: int) -> int:
    """Return the highest number of positions that a roll leads to: choices of four sources, or two orders of two."""
    return max(comb(points + 3, 4), 2 * points * points)


def _once(found: Values) -> Values:
    """Return the different positions of each row, filled with −1."""
    found = -np.sort(-found, axis=1)
    found[:, 1:][found[:, 1:] == found[:, :-1]] = -1
    return -np.sort(-found, axis=1)[:, : int((found >= 0).sum(1).max())]


def build_one_sided(
    points: int, checkers: int, progress: Progress | None = None, *, threads: int | None = None
) -> Values:
    """Compute the table of ``OneSided``. Arguments are those of ``build_two_sided``, with positions for pairs.

    Returns:
        (positions, rolls) probability that exactly this many rolls are needed.
    """
    positions = Positions(points, checkers)
    size = len(positions)
    table, means = np.zeros((size, points * checkers + 1)), np.zeros(size)
    table[0, 0] = 1.0
    arguments: tuple[Any, ...] = (*positions.plays, WEIGHTS, means, table)
    with paused_collector(), ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for low, high in positions.levels():
            jobs = [
                pool.submit(_solve_rolls, start, min(start + 64, high), *arguments) for start in range(low, high, 64)
            ]
            for job in jobs:
                job.result()
            if progress is not None:
                progress(high, size)
    return np.ascontiguousarray(table[:, : int(np.flatnonzero(table.any(0))[-1]) + 1])


def _compile(function: Any) -> Any:
    return cached_njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)


@_compile
def _solve_pairs(first: int, last: int, low: int, high: int, table: Any, plays: Any, starts: Any, weights: Any) -> None:
    """Compute the equities of positions ``first`` to ``last`` to roll, against positions ``low`` to ``high``."""
    best, totals = np.empty(WIDTH, table.dtype), np.empty((ROWS, WIDTH))
    for column in range(low, high, WIDTH):
        width = min(WIDTH, high - column)
        for position in range(first, last):
            total = totals[position - first]
            for wide in range(width):
                total[wide] = 0.0
            for roll in range(len(weights)):
                place = position * len(weights) + roll
                row = table[plays[starts[place]], column : column + width]
                for wide in range(width):
                    best[wide] = row[wide]
                for play in range(starts[place] + 1, starts[place + 1]):
                    row = table[plays[play], column : column + width]
                    for wide in range(width):  # the opponent's equity is the lowest after the best play
                        best[wide] = row[wide] if row[wide] < best[wide] else best[wide]
                weight = weights[roll]  # an integer, so that certain wins and losses stay exactly ±1
                for wide in range(width):
                    total[wide] -= weight * best[wide]
        for wide in range(width):
            for position in range(first, last):
                table[column + wide, position] = totals[position - first, wide] / 36.0


@_compile
def _solve_rolls(first: int, last: int, plays: Any, starts: Any, weights: Any, means: Any, table: Any) -> None:
    """Compute mean and distribution of the number of rolls, with the play of the lowest mean after each roll."""
    for position in range(first, last):
        mean = 0.0
        for roll in range(len(weights)):
            place = position * len(weights) + roll
            best = plays[starts[place]]
            for play in range(starts[place] + 1, starts[place + 1]):
                after = plays[play]
                if means[after] < means[best] or (means[after] == means[best] and after < best):
                    best = after
            mean += weights[roll] * means[best]
            for count in range(table.shape[1] - 1):
                table[position, count + 1] += weights[roll] / 36.0 * table[best, count]
        means[position] = 1.0 + mean / 36.0
