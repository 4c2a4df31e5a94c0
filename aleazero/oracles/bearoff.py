"""Bear-off tables: exact values when both sides only bear off, and approximate ones from one-sided distributions.

A position of one side is a list of counts by point, ace point first. Values are *pre-roll* expectations, so they are
true at chance nodes. After a roll, the value is the best result over all complete turns; a double is four moves.

Equities are win probability minus loss probability, without a cube. There are no gammons: a side that has 14 or fewer
of its 15 checkers left has borne off already, so it cannot lose one. A table of 15 checkers would not be exact. In
games with fewer checkers per side, a table with gammons is exact: a side that still has all of them loses 2 points.

Contact is excluded. With more than six points, the table holds races in which checkers bear off once all of them are
on the first six points.
"""

from __future__ import annotations

import logging
import operator
import os
from collections.abc import Sequence
from math import comb
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aleazero.errors import ConfigError, PositionError
from aleazero.oracles.bearoff_build import (
    HOME,
    ROLLS,
    WEIGHTS,
    Positions,
    Progress,
    Values,
    build_one_sided,
    build_two_sided,
    most_plays,
    points_lost,
    table_dtype,
)
from aleazero.oracles.solve import TIE
from aleazero.oracles.table_file import check_memory, load_or_make, read_table, size_text, table_path

FORMAT: Final = 1
"""Version of the tables and of the code that computes their numbers."""
MOST_POINTS: Final = 12
"""With more points, the two sides could meet."""
MOST_CHECKERS: Final = 14
FULL: Final = 15
"""Checkers of a side at the start of the game."""
FEWER: Final = "choose fewer points or checkers"
SECONDS_PER_PLAY = 1.2e-9
"""Time that one core needs for one play of a pair of positions, for estimates."""

log = logging.getLogger("aleazero")


class Play(NamedTuple):
    """One way to play a roll to the end of the turn.

    Attributes:
        moves: pairs (from, to) of points, in an order in which they are legal; 0 is off the board.
        after: the counts after the turn.
        equity: equity of the side that moved.
    """

    moves: tuple[tuple[int, int], ...]
    after: tuple[int, ...]
    equity: float


class Estimate(NamedTuple):
    """Expected cost of building a table.

    Attributes:
        positions: number of positions per side.
        file_bytes: size of the file.
        memory_bytes: memory that is needed at most.
        seconds: time on these cores.
    """

    positions: int
    file_bytes: int
    memory_bytes: int
    seconds: float


class TwoSided:
    """Exact cubeless equities of all pairs of positions.

    Args:
        points: number of points per side.
        checkers: highest number of checkers per side.
        table: (positions, positions) equity of the side to roll, by the position of the *other* side and its own.
        gammons: whether a side that still has all ``checkers`` loses 2 points.
    """

    def __init__(self, points: int, checkers: int, table: Values, gammons: bool = False) -> None:
        self.positions, self.table, self.gammons = Positions(points, checkers), table, gammons

    @classmethod
    def load_or_build(
        cls,
        points: int = 6,
        checkers: int = 6,
        *,
        gammons: bool = False,
        progress: Progress | None = None,
        threads: int | None = None,
    ) -> TwoSided:
        """Return the table from the cache folder; if it is not there, build and store it.

        Args:
            points: number of points per side, 1 to 12.
            checkers: highest number of checkers per side, 1 to 14.
            gammons: True for games with only this many ``checkers`` per side. A side that still has all of them loses 2
                points, and equities are in [−2, 2].
            progress: called with the number of pairs solved so far, and the number of all pairs.
            threads: number of threads; default: all cores. The table does not depend on it.

        Raises:
            ConfigError: the size is out of range, or the table does not fit in memory.
        """
        check_size(points, checkers)
        size, kind = comb(points + checkers, points), table_dtype(points, checkers)

        def make() -> Values:
            cost = cls.estimate(points, checkers, threads=threads)
            check_memory(f"the bear-off table {points}x{checkers}", cost.memory_bytes, FEWER)
            log.warning("solving bear-off %dx%d, once: %s", points, checkers, cost_text(cost))
            return build_two_sided(points, checkers, progress, gammons=gammons, threads=threads)

        name, path = cls._name(points, checkers, gammons), cls.path(points, checkers, gammons)
        return cls(points, checkers, load_or_make(path, name, (size, size), kind, make), gammons)

    @classmethod
    def load(cls, points: int = 6, checkers: int = 6) -> TwoSided | None:
        """Return the stored table; None if there is none, or if it is damaged or has another version.

        Raises:
            ConfigError: the size is out of range.
        """
        check_size(points, checkers)
        size, kind = comb(points + checkers, points), table_dtype(points, checkers)
        table = read_table(cls.path(points, checkers), cls._name(points, checkers), (size, size), kind)
        return None if table is None else cls(points, checkers, table)

    @staticmethod
    def _name(points: int, checkers: int, gammons: bool = False) -> str:
        return f"bearoff two-sided {points}x{checkers}{' with gammons' if gammons else ''} format {FORMAT}"

    @staticmethod
    def path(points: int = 6, checkers: int = 6, gammons: bool = False) -> Path:
        """Return the path of the stored table."""
        return table_path(f"bearoff_{points}x{checkers}{'_gammons' if gammons else ''}.table")

    @classmethod
    def estimate(cls, points: int = 6, checkers: int = 6, *, threads: int | None = None) -> Estimate:
        """Estimate size, memory and time of a table, without the time of compilation.

        Raises:
            ConfigError: the size is out of range.
        """
        check_size(points, checkers)
        size = comb(points + checkers, points)
        file = size * size * table_dtype(points, checkers).itemsize
        # A position has at most most_plays results of each roll. On average it has far fewer.
        plays = len(ROLLS) * min(most_plays(points), 0.4 + 0.09 * points * checkers)
        seconds = size * size * plays * SECONDS_PER_PLAY / (threads or os.cpu_count() or 1)
        return Estimate(size, file, file + size * len(ROLLS) * most_plays(points) * 4, seconds)

    def equity(self, me: Sequence[int], them: Sequence[int]) -> float:
        """Return the equity of the side to roll, before the roll, in [−1, 1].

        Args:
            me: counts of the side to roll by point, ace point first.
            them: counts of the other side, from its own view.

        Raises:
            PositionError: counts are invalid, or both sides have borne off all checkers.
        """
        mine, theirs = self.positions.index(me), self.positions.index(them)
        if mine == theirs == 0:
            raise PositionError("bear-off: got no checkers on either side, expected at most one side without checkers")
        return float(self.table[theirs, mine])

    def equities(self, me: ArrayLike, them: ArrayLike) -> Values:
        """Return ``equity`` of many pairs: (n,) values of the positions ``me`` and ``them``, (n, points) each."""
        return np.asarray(self.table[self.positions.indices(them), self.positions.indices(me)], np.float64)

    def equity_after_roll(self, me: Sequence[int], them: Sequence[int], dice: Sequence[int]) -> float:
        """Return the equity of the side to move after its roll, under best play of the complete turn.

        Args:
            me: counts of the side to move by point, ace point first.
            them: counts of the other side, from its own view.
            dice: two dice, in any order. A double is four moves.

        Raises:
            PositionError: counts or dice are invalid, or a side has borne off all checkers.
        """
        mine, theirs = self._running(me, them)
        high, low = _check_dice(dice)
        plays, starts = self.positions.plays
        place = mine * len(ROLLS) + high * (high - 1) // 2 + low - 1
        return -float(self.table[plays[starts[place] : starts[place + 1]], theirs].min())

    def equities_after_roll(self, me: ArrayLike, them: ArrayLike, dice: ArrayLike) -> Values:
        """Return ``equity_after_roll`` of many positions.

        Args:
            me: (n, points) counts of the side to move.
            them: (n, points) counts of the other side.
            dice: (n, 2) dice.

        Returns:
            (n,) equities of the side to move.
        """
        mine, theirs, rolled = self.positions.indices(me), self.positions.indices(them), np.asarray(dice)
        if rolled.shape != (len(mine), 2) or rolled.dtype.kind not in "iu" or ((rolled < 1) | (rolled > 6)).any():
            raise PositionError("bear-off: expected dice of shape (n, 2) from 1 to 6")
        if len(mine) != len(theirs) or (mine == 0).any() or (theirs == 0).any():
            raise PositionError("bear-off: expected checkers on both sides, and as many positions of each side")
        return self._after_roll(mine, theirs, rolled.astype(np.int64)) if len(mine) else np.zeros(0)

    def plays(self, me: Sequence[int], them: Sequence[int], dice: Sequence[int]) -> list[Play]:
        """Return a play for each position that a roll can lead to, the best first.

        Args:
            me: counts of the side to move by point, ace point first.
            them: counts of the other side, from its own view.
            dice: two dice, in any order.

        Raises:
            PositionError: counts or dice are invalid, or a side has borne off all checkers.
        """
        _, theirs = self._running(me, them)
        found = plays_of(tuple(operator.index(count) for count in me), _check_dice(dice))
        plays = [
            Play(moves, after, -float(self.table[self.positions.index(after), theirs]))
            for after, moves in found.items()
        ]
        return sorted(plays, key=lambda play: -play.equity)

    def best_moves(
        self, me: Sequence[int], them: Sequence[int], dice: Sequence[int], tolerance: float = TIE
    ) -> list[Play]:
        """Return the plays whose equity is within the tolerance of the best. Arguments are those of ``plays``."""
        plays = self.plays(me, them, dice)
        return [play for play in plays if play.equity >= plays[0].equity - tolerance]

    def _running(self, me: Sequence[int], them: Sequence[int]) -> tuple[int, int]:
        mine, theirs = self.positions.index(me), self.positions.index(them)
        if mine == 0 or theirs == 0:
            raise PositionError("bear-off: the game is over, expected checkers on both sides")
        return mine, theirs

    def _after_roll(self, mine: Values, theirs: Values, dice: Values) -> Values:
        plays, starts = self.positions.plays
        high, low = dice.max(1), dice.min(1)
        place = mine.astype(np.int64) * len(ROLLS) + high * (high - 1) // 2 + low - 1
        counts = starts[place + 1] - starts[place]
        ends = np.cumsum(counts)
        every = np.arange(ends[-1]) + np.repeat(starts[place] - ends + counts, counts)
        values = self.table[plays[every], np.repeat(theirs, counts)]
        return -np.minimum.reduceat(values, ends - counts).astype(np.float64)


class OneSided:
    """Distributions of the number of rolls that a side needs, and *approximate* win probabilities from them.

    Each side plays for the least expected number of rolls, as in GNU Backgammon's one-sided database. The first of
    equally good positions is chosen. Win probabilities take both sides as independent. They are approximate: with best
    play, a side that is behind takes risks. The exact values are those of ``TwoSided``.

    Args:
        points: number of points per side.
        checkers: highest number of checkers per side.
        table: (positions, rolls) probability that exactly this many rolls are needed.
    """

    def __init__(self, points: int, checkers: int, table: Values) -> None:
        self.positions, self.table = Positions(points, checkers), table

    @classmethod
    def load_or_build(
        cls, points: int = 6, checkers: int = FULL, *, progress: Progress | None = None, threads: int | None = None
    ) -> OneSided:
        """Return the table from the cache folder; if it is not there, build and store it.

        Args:
            points: number of points, 1 to 12.
            checkers: highest number of checkers, 1 to 15.
            progress: called with the number of positions solved so far, and the number of all positions.
            threads: number of threads; default: all cores. The table does not depend on it.

        Raises:
            ConfigError: the size is out of range, or the table does not fit in memory.
        """
        check_size(points, checkers, FULL)
        size = comb(points + checkers, points)

        def make() -> Values:
            needed = size * (points * checkers + 2) * 8 + size * len(ROLLS) * most_plays(points) * 4
            check_memory(f"the one-sided table {points}x{checkers}", needed, FEWER)
            log.warning("solving one-sided bear-off %dx%d, once: %s positions", points, checkers, f"{size:,}")
            return build_one_sided(points, checkers, progress, threads=threads)

        name = f"bearoff one-sided {points}x{checkers} format {FORMAT}"
        return cls(points, checkers, load_or_make(cls.path(points, checkers), name, (size, -1), np.float64, make))

    @staticmethod
    def path(points: int = 6, checkers: int = FULL) -> Path:
        """Return the path of the stored table."""
        return table_path(f"bearoff_one_sided_{points}x{checkers}.table")

    def distribution(self, counts: Sequence[int]) -> Values:
        """Return the probability (rolls,) that a side needs exactly 0, 1, 2, … rolls.

        Raises:
            PositionError: the counts are invalid.
        """
        return np.array(self.table[self.positions.index(counts)])

    def mean_rolls(self, counts: Sequence[int]) -> float:
        """Return the expected number of rolls that a side needs. Raises PositionError if the counts are invalid."""
        distribution = self.distribution(counts)
        return float(distribution @ np.arange(len(distribution)))

    def approximate_win_probability(self, me: Sequence[int], them: Sequence[int]) -> float:
        """Return the approximate probability that the side to roll wins, before the roll.

        Args:
            me: counts of the side to roll by point, ace point first.
            them: counts of the other side, from its own view.

        Raises:
            PositionError: counts are invalid, or both sides have borne off all checkers.
        """
        mine, theirs = self.distribution(me), self.distribution(them)
        if mine[0] == theirs[0] == 1.0:
            raise PositionError("bear-off: got no checkers on either side, expected at most one side without checkers")
        if theirs[0] == 1.0:
            return 0.0
        # The side to roll wins with its k-th roll if the other side needs k rolls or more.
        return float(mine @ np.cumsum(theirs[::-1])[::-1])

    def approximate_equity(self, me: Sequence[int], them: Sequence[int]) -> float:
        """Return win minus loss probability of the side to roll, without gammons. Arguments as above."""
        return 2.0 * self.approximate_win_probability(me, them) - 1.0


def check_size(points: int, checkers: int, most_checkers: int = MOST_CHECKERS) -> None:
    """Raise ConfigError if a table of this size would not be exact, or if the numbers are invalid."""
    if not 1 <= points <= MOST_POINTS:
        raise ConfigError(f"is {points}, expected 1 to {MOST_POINTS}", field="points")
    if not 1 <= checkers <= most_checkers:
        why = " (a side with all 15 can lose a gammon)" if most_checkers == MOST_CHECKERS and checkers == FULL else ""
        raise ConfigError(f"is {checkers}, expected 1 to {most_checkers}{why}", field="checkers")


def cost_text(cost: Estimate) -> str:
    """Return an estimate as a text."""
    time = f"{cost.seconds:.0f} s" if cost.seconds < 100 else f"{cost.seconds / 60:.0f} min"
    return (
        f"{cost.positions:,}² pairs, file {size_text(cost.file_bytes)}, memory up to {size_text(cost.memory_bytes)}, "
        f"about {time if cost.seconds >= 1 else '1 s'}"
    )


def _check_dice(dice: Sequence[int]) -> tuple[int, int]:
    try:
        first, second = (operator.index(die) for die in dice)
    except (TypeError, ValueError):
        raise PositionError(f"bear-off: got the dice {dice!r}, expected two numbers from 1 to 6") from None
    if not (1 <= first <= 6 and 1 <= second <= 6):
        raise PositionError(f"bear-off: got the dice {first} and {second}, expected two numbers from 1 to 6")
    return max(first, second), min(first, second)


def plays_of(counts: tuple[int, ...], dice: tuple[int, int]) -> dict[tuple[int, ...], tuple[tuple[int, int], ...]]:
    """Return the moves to each position that a roll can lead to. Of several ways, the first is returned.

    Both dice are always usable until no checker is left, so no rule about unused dice applies.
    """
    high, low = dice
    found: dict[tuple[int, ...], tuple[tuple[int, int], ...]] = {}
    for order in [(high,) * 4] if high == low else [(high, low), (low, high)]:
        reached: dict[tuple[int, ...], tuple[tuple[int, int], ...]] = {counts: ()}
        for die in order:
            now, reached = reached, {}
            for before, moves in now.items():
                if not any(before):
                    reached.setdefault(before, moves)
                for point in range(len(before), 0, -1):
                    if _may_move(before, point, die):
                        after = list(before)
                        after[point - 1] -= 1
                        if point > die:
                            after[point - die - 1] += 1
                        reached.setdefault(tuple(after), (*moves, (point, max(0, point - die))))
        for after_turn, moves in reached.items():
            found.setdefault(after_turn, moves)
    return found


def _may_move(counts: tuple[int, ...], point: int, die: int) -> bool:
    """Return whether a checker on a point can move by a die; points start at 1."""
    if counts[point - 1] == 0:
        return False
    if point > die:
        return True
    return not any(counts[HOME:]) and (point == die or not any(counts[point:]))


def largest_residual(table: TwoSided, pairs: int, seed: int = 0, progress: Progress | None = None) -> float:
    """Return the largest error of the Bellman equation on random pairs of positions.

    The equity before the roll must be the mean, over the 21 rolls, of the equity after the best play. The plays come
    from ``plays_of``, which shares no code with the kernels that built the table.

    Args:
        table: the table.
        pairs: number of pairs.
        seed: seed of the pairs.
        progress: called with the number of pairs checked so far, and the number of all pairs.
    """
    draw, positions = np.random.default_rng(seed), table.positions
    lost = points_lost(positions, table.gammons)[1:]  # at the end of the game
    largest = float(max(np.abs(table.table[1:, 0] - lost).max(), np.abs(table.table[0, 1:] + lost).max()))
    for pair in range(pairs):
        mine, theirs = draw.integers(1, len(positions), 2).tolist()
        me = tuple(positions.counts[mine].tolist())
        expected = 0.0
        for (high, low), weight in zip(ROLLS.tolist(), WEIGHTS.tolist(), strict=True):
            after = positions.indices(list(plays_of(me, (high, low))))
            expected -= weight / 36.0 * float(table.table[after, theirs].min())
        largest = max(largest, abs(expected - float(table.table[theirs, mine])))
        if progress is not None:
            progress(pair + 1, pairs)
    return largest
