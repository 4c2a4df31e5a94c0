"""The exact solution of hypergammon: three checkers per side, with contact, by value iteration.

A side has 3,276 positions (three checkers on 24 points, the bar, or off), so there are 10.7 million pairs. Values are
expected points of the side to roll, before the roll and without a cube: ±1 for a win, ±2 for a gammon (the loser has
borne off no checker), ±3 if the loser also has a checker on the bar or in the winner's home.

With three checkers, a side blocks at most one point. The plays of a side therefore depend on its own position, the
blocked point and the roll only. They are listed once, with the points on which they land. A sweep looks up the blots
that they hit.
"""

from __future__ import annotations

import logging
import operator
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError, PositionError
from aleazero.native.compile import cached_njit, paused_collector
from aleazero.oracles.solve import TIE
from aleazero.oracles.table_file import check_memory, load_or_make, table_path

Values = NDArray[Any]
Progress = Callable[[int, int], None]
"""Called with the number of sweeps so far, and the number expected."""

FORMAT: Final = 1
"""Version of the table and of the code that computes its numbers."""
CHECKERS: Final = 3
POINTS: Final = 24
BAR: Final = 25
"""Place of a checker on the bar; places 1 to 24 are points, and 0 is off the board."""
HOME: Final = 6
ROLLS: Final = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)])
"""(21, 2) dice, the higher first."""
WEIGHTS: Final = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0)
"""(21,) probability of each roll × 36."""
PLACES: Final = np.array(sorted(combinations_with_replacement(range(BAR + 1), CHECKERS), key=sum), np.int8)
"""(3276, 3) places of the checkers of each position, ascending.

Positions are ordered by their pips, so that sweeps find positions with similar pips next to each other in memory.
"""
SIZE: Final = len(PLACES)
TOLERANCE: Final = 1e-8
"""Value iteration ends when no value changes by more than this in a sweep."""
MOST_SWEEPS: Final = 1000
USUAL_SWEEPS: Final = 30
PLAIN_SWEEPS: Final = 3
"""Sweeps before the acceleration starts."""
WINDOW: Final = 4
"""Differences between sweeps that the acceleration combines."""
STEP: Final = 4
"""Sums of pips that are solved together. Almost every roll moves a side by this many pips or more."""
CHUNK: Final = 8192
"""Pairs that a thread computes at a time."""
MOST_PLAYS: Final = 512
MEMORY: Final = 1_400_000_000
"""Bytes of memory that a build needs."""

log = logging.getLogger("aleazero")


class Turn(NamedTuple):
    """The position after one way to play a roll.

    Attributes:
        me: (25,) counts of the side that moved, ace point first, the bar last.
        them: (25,) counts of the other side, from its own view.
        equity: expected points of the side that moved.
    """

    me: tuple[int, ...]
    them: tuple[int, ...]
    equity: float


class Hypergammon:
    """Exact expected points of every pair of positions.

    A position of one side is a list of 25 counts from its own view: points 1 to 24, ace point first, then the bar.
    Missing checkers have been borne off.

    Args:
        table: (3276, 3276) expected points of the side to roll, by the position of the *other* side and its own; NaN if
            both sides are on one point, or both have borne off all checkers.
    """

    def __init__(self, table: Values) -> None:
        self.table = table
        self._index = {tuple(places): number for number, places in enumerate(PLACES.tolist())}

    @classmethod
    def load_or_build(cls, *, progress: Progress | None = None, threads: int | None = None) -> Hypergammon:
        """Return the table from the cache folder; if it is not there, build it in a few minutes and store it.

        Args:
            progress: called with the number of sweeps so far, and the number expected.
            threads: number of threads; default: all cores. The table does not depend on it.

        Raises:
            ConfigError: there is not enough memory to build the table.
        """

        def make() -> Values:
            check_memory("the solution of hypergammon", MEMORY, "use a machine with more memory")
            log.warning("solving hypergammon, once: %s pairs, file 43 MB, a few minutes", f"{SIZE * SIZE:,}")
            return solve_hypergammon(progress, threads=threads).astype(np.float32)

        return cls(load_or_make(cls.path(), f"hypergammon format {FORMAT}", (SIZE, SIZE), np.float32, make))

    @staticmethod
    def path() -> Path:
        """Return the path of the stored table."""
        return table_path("hypergammon.table")

    def equity(self, me: Sequence[int], them: Sequence[int]) -> float:
        """Return the expected points of the side to roll, before the roll, in [−3, 3].

        Args:
            me: 25 counts of the side to roll.
            them: 25 counts of the other side, from its own view.

        Raises:
            PositionError: counts are invalid, both sides are on one point, or both have borne off all checkers.
        """
        mine, theirs = self._pair(me, them)
        return float(self.table[theirs, mine])

    def equity_after_roll(self, me: Sequence[int], them: Sequence[int], dice: Sequence[int]) -> float:
        """Return the expected points of the side to move after its roll, under best play of the complete turn."""
        return self.turns(me, them, dice)[0].equity

    def best_moves(
        self, me: Sequence[int], them: Sequence[int], dice: Sequence[int], tolerance: float = TIE
    ) -> list[Turn]:
        """Return the turns whose expected points are within the tolerance of the best. Arguments as in ``turns``."""
        turns = self.turns(me, them, dice)
        return [turn for turn in turns if turn.equity >= turns[0].equity - tolerance]

    def turns(self, me: Sequence[int], them: Sequence[int], dice: Sequence[int]) -> list[Turn]:
        """Return each pair of positions that a roll can lead to, the best first. Without a legal move, only the same.

        Args:
            me: 25 counts of the side to move.
            them: 25 counts of the other side, from its own view.
            dice: two dice, in any order.

        Raises:
            PositionError: counts or dice are invalid, or the game is over.
        """
        mine, theirs = self._pair(me, them)
        if mine == 0 or theirs == 0:
            raise PositionError("hypergammon: the game is over, expected checkers on both sides")
        high, low = _check_dice(dice)
        after, landed = np.empty(MOST_PLAYS, np.int16), np.empty(MOST_PLAYS, np.int32)
        found = _list_turns(mine, int(_BLOCKED[theirs]), high, low, PLACES, RANK, after, landed)
        reached: dict[tuple[int, int], None] = {}
        for end, points in zip(after[:found].tolist(), landed[:found].tolist(), strict=True):
            reached[end, int(_HIT[theirs, _hit_code(points, _BLOTS[theirs])])] = None
        turns = [Turn(_counts(end), _counts(other), -float(self.table[end, other])) for end, other in reached]
        return sorted(turns, key=lambda turn: -turn.equity)

    def _pair(self, me: Sequence[int], them: Sequence[int]) -> tuple[int, int]:
        mine, theirs = self._index[_places(me)], self._index[_places(them)]
        if np.isnan(self.table[theirs, mine]):
            raise PositionError(
                "hypergammon: both sides are on one point, or neither has a checker left, expected a possible position"
            )
        return mine, theirs


def _places(counts: Sequence[int]) -> tuple[int, ...]:
    """Return the sorted places of counts. Raises PositionError if they are invalid."""
    try:
        checked = [operator.index(count) for count in counts]
    except TypeError:
        raise PositionError(f"hypergammon: got {counts!r}, expected 25 integers") from None
    if len(checked) != BAR:
        raise PositionError(f"hypergammon: got {len(checked)} counts, expected 25: points 1 to 24, then the bar")
    if min(checked) < 0 or sum(checked) > CHECKERS:
        raise PositionError(f"hypergammon: got {checked}, expected counts of 0 or more, and at most 3 checkers")
    places = [place for place, count in enumerate(checked, 1) for _ in range(count)]
    return (*[0] * (CHECKERS - len(places)), *places)


def _counts(position: int) -> tuple[int, ...]:
    places = PLACES[position].tolist()
    return tuple(places.count(place) for place in range(1, BAR + 1))


def _check_dice(dice: Sequence[int]) -> tuple[int, int]:
    try:
        first, second = (operator.index(die) for die in dice)
    except (TypeError, ValueError):
        raise PositionError(f"hypergammon: got the dice {dice!r}, expected two numbers from 1 to 6") from None
    if not (1 <= first <= 6 and 1 <= second <= 6):
        raise PositionError(f"hypergammon: got the dice {first} and {second}, expected two numbers from 1 to 6")
    return max(first, second), min(first, second)


def _describe_positions() -> tuple[Values, Values, Values, Values, Values]:
    """Return what a position is for its opponent, whose view has point 25 − p for each point p.

    Returns:
        (3276,) blocked point, 0 for none; (3276, 3) bits of the blots, 0 for none; (3276, 8) position after blots are
        hit, by their bits; (3276,) bits of all occupied points; (26, 26, 26) position by sorted places.
    """
    rank = np.zeros((BAR + 1,) * 3, np.int16)
    for number, places in enumerate(PLACES.tolist()):
        rank[tuple(places)] = number
    blocked, blots = np.zeros(SIZE, np.int32), np.zeros((SIZE, CHECKERS), np.int32)
    hit, occupied = np.zeros((SIZE, 8), np.int16), np.zeros(SIZE, np.int32)
    for number, places in enumerate(PLACES.tolist()):
        single: list[int] = []
        for slot, place in enumerate(places):
            if not 1 <= place <= POINTS:
                continue
            occupied[number] |= 1 << (BAR - place)
            if places.count(place) > 1:
                blocked[number] = BAR - place
            else:
                blots[number, len(single)] = 1 << (BAR - place)
                single.append(slot)
        for code in range(8):
            after = list(places)
            for which, slot in enumerate(single):
                if code >> which & 1:
                    after[slot] = BAR
            hit[number, code] = rank[tuple(sorted(after))]
    return blocked, blots, hit, occupied, rank


_BLOCKED, _BLOTS, _HIT, _OCCUPIED, RANK = _describe_positions()


def _hit_code(points: int, blots: Values) -> int:
    return sum(1 << which for which, blot in enumerate(blots.tolist()) if points & blot)


def impossible_pairs() -> Values:
    """Return (3276, 3276) whether both sides are on one point, or both have borne off all checkers."""
    own = np.zeros(SIZE, np.int32)
    for places in PLACES.T:
        own |= np.where((places >= 1) & (places <= POINTS), np.int32(1) << places.astype(np.int32), 0)
    overlap: Values = (_OCCUPIED[:, None] & own[None, :]) != 0
    overlap[0, 0] = True
    return overlap


def final_points() -> Values:
    """Return (3276,) the points that a side loses if it has this position when the other side bears off its last."""
    none_off = PLACES[:, 0] > 0
    far_back = PLACES[:, -1] > POINTS - HOME
    return np.where(none_off & far_back, 3.0, np.where(none_off, 2.0, 1.0))


def solve_hypergammon(
    progress: Progress | None = None, *, threads: int | None = None, tolerance: float = TOLERANCE
) -> Values:
    """Compute the table of ``Hypergammon`` in float64.

    A sweep goes through the pairs by the sum of their pips, in steps of four. Most turns without a hit lead to an
    earlier step, whose values are already those of this sweep, so mainly hits need further sweeps. All pairs of a step
    are computed before any of them is stored, so the result does not depend on threads. Sweeps are accelerated by
    ``Mixing``.

    Args:
        progress: called with the number of sweeps so far, and the number expected.
        threads: number of threads; default: all cores.
        tolerance: largest change in the last sweep.

    Raises:
        GameError: the values do not converge.
    """
    points = final_points()
    table = np.zeros((SIZE, SIZE))
    table[:, 0], table[0, :] = points, -points
    impossible = impossible_pairs()
    table[impossible] = np.nan
    mine, theirs, bounds = pairs_by_pips(impossible)
    values, mixing = np.empty(len(mine)), Mixing()
    with paused_collector(), ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        arguments: tuple[Any, ...] = (
            mine,
            theirs,
            table,
            *list_all_turns(pool),
            _BLOCKED,
            _BLOTS,
            _HIT,
            WEIGHTS,
            values,
        )
        for sweep in range(MOST_SWEEPS):
            before, largest = table[theirs, mine], 0.0
            for low, high in pairwise(bounds):
                parts = [(start, min(start + CHUNK, high)) for start in range(low, high, CHUNK)]
                for job in [pool.submit(_compute, *(part + arguments)) for part in parts]:
                    largest = max(largest, job.result())
                table[theirs[low:high], mine[low:high]] = values[low:high]
            log.debug("hypergammon: sweep %d changes values by up to %.2e", sweep + 1, largest)
            if progress is not None:
                progress(sweep + 1, max(USUAL_SWEEPS, sweep + 1))
            if largest <= tolerance:
                return table
            if sweep >= PLAIN_SWEEPS:
                table[theirs, mine] = mixing.next(before, values)
    raise GameError(f"hypergammon: values still change by {largest:.1e} after {MOST_SWEEPS} sweeps")


class Mixing:
    """Anderson acceleration: combines the last sweeps so that the next change is as small as possible.

    While plays do not change, a sweep is a linear map, and differences between sweeps predict where they lead. Sums are
    computed in a fixed order, so the result does not depend on threads.
    """

    def __init__(self) -> None:
        self._last: tuple[Values, Values] | None = None
        self._differences: list[tuple[Values, Values]] = []

    def next(self, before: Values, after: Values) -> Values:
        """Return the values to start the next sweep from, given those before and after the last sweep."""
        change, after = after - before, after.copy()
        if self._last is not None:
            self._differences = [*self._differences[1 - WINDOW :], (change - self._last[0], after - self._last[1])]
        self._last = change, after
        if not self._differences:
            return after
        changes = [one for one, _ in self._differences]
        gram = np.array([[np.einsum("i,i", one, other) for other in changes] for one in changes])
        gram += np.eye(len(gram)) * (1e-10 * np.trace(gram))
        weights = np.linalg.solve(gram, np.array([np.einsum("i,i", one, change) for one in changes]))
        mixed = after.copy()
        for weight, (_, difference) in zip(weights, self._differences, strict=True):
            mixed -= weight * difference
        return np.clip(mixed, -3.0, 3.0)


def pairs_by_pips(impossible: Values) -> tuple[Values, Values, list[int]]:
    """Return all pairs in which the game is not over, by the sum of their pips in steps of ``STEP``.

    Returns:
        positions of the side to roll; positions of the other side; where each step starts, and the number of pairs.
    """
    running = ~impossible
    running[0, :] = running[:, 0] = False
    theirs, mine = (side.astype(np.int16) for side in np.nonzero(running))
    pips = PLACES.sum(1, dtype=np.int32)
    total = (pips[mine] + pips[theirs]) // STEP
    order = np.lexsort((theirs, mine, total))
    bounds = [0, *(np.flatnonzero(np.diff(total[order])) + 1).tolist(), len(order)]
    return mine[order], theirs[order], bounds


def list_all_turns(pool: ThreadPoolExecutor) -> tuple[Values, Values, Values]:
    """List the turns of every position, blocked point (0 to 24) and roll.

    Returns:
        positions after the turns; bits of the points on which they land; where those of each (position, blocked point,
        roll) start.
    """
    lists = SIZE * (POINTS + 1) * len(ROLLS)
    counts = np.zeros(lists, np.int64)

    def run(after: Values, landed: Values, starts: Values) -> None:
        jobs = [
            pool.submit(_fill_turns, start, min(start + 64, SIZE), PLACES, RANK, ROLLS, counts, after, landed, starts)
            for start in range(0, SIZE, 64)
        ]
        for job in jobs:
            job.result()

    run(np.zeros(0, np.int16), np.zeros(0, np.int32), counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    after, landed = np.empty(int(starts[-1]), np.int16), np.empty(int(starts[-1]), np.int32)
    run(after, landed, starts)
    return after, landed, starts


def _compile(function: Any) -> Any:
    return cached_njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True)(function)


@_compile
def _compute(
    first: int, last: int, mine: Any, theirs: Any, table: Any, after: Any, landed: Any, starts: Any,
    blocked: Any, blots: Any, hit: Any, weights: Any, values: Any,
) -> float:  # fmt: skip
    """Compute the values of pairs ``first`` to ``last``; return the largest difference from the table."""
    largest = 0.0
    for pair in range(first, last):
        me, them = mine[pair], theirs[pair]
        one, two, three = blots[them, 0], blots[them, 1], blots[them, 2]
        every = one | two | three
        lists = (np.int64(me) * (POINTS + 1) + blocked[them]) * len(weights)
        total = 0.0
        for roll in range(len(weights)):
            best = np.inf  # the value of the other side, which rolls next
            for play in range(starts[lists + roll], starts[lists + roll + 1]):
                other = them
                if landed[play] & every:
                    code = 0
                    if landed[play] & one:
                        code += 1
                    if landed[play] & two:
                        code += 2
                    if landed[play] & three:
                        code += 4
                    other = hit[them, code]
                value = table[after[play], other]
                best = value if value < best else best
            total -= weights[roll] * best
        values[pair] = total / 36.0
        largest = max(largest, abs(values[pair] - table[them, me]))
    return largest


@_compile
def _fill_turns(
    first: int, last: int, places: Any, rank: Any, rolls: Any, counts: Any, after: Any, landed: Any, starts: Any
) -> None:
    """Count the turns of some positions or, if ``after`` is not empty, write them."""
    ends, points = np.empty(MOST_PLAYS, np.int16), np.empty(MOST_PLAYS, np.int32)
    for position in range(first, last):
        for block in range(POINTS + 1):
            for roll in range(len(rolls)):
                found = _list_turns(position, block, rolls[roll, 0], rolls[roll, 1], places, rank, ends, points)
                place = (position * (POINTS + 1) + block) * len(rolls) + roll
                if len(after) == 0:
                    counts[place] = found
                else:
                    for one in range(found):
                        after[starts[place] + one] = ends[one]
                        landed[starts[place] + one] = points[one]


@_compile
def _list_turns(position: int, block: int, high: int, low: int, places: Any, rank: Any, ends: Any, points: Any) -> Any:
    """Write the positions after all legal turns, and the points on which they land; return their number.

    Both dice are used if possible, else the higher one if possible. Without a legal move the position stays.
    """
    now, on = np.empty(MOST_PLAYS, np.int16), np.empty(MOST_PLAYS, np.int32)
    ends[0], points[0] = position, 0
    if high == low:
        count = 1
        for _ in range(4):
            for one in range(count):
                now[one], on[one] = ends[one], points[one]
            found = _move(now, on, count, high, block, places, rank, ends, points, 0)
            if found == 0:  # no move is left: the turns end here
                for one in range(count):
                    ends[one], points[one] = now[one], on[one]
                return count
            count = found
        return count
    start, nothing = np.full(1, position, np.int16), np.zeros(1, np.int32)
    found = 0
    for order in range(2):
        count = _move(start, nothing, 1, high if order == 0 else low, block, places, rank, now, on, 0)
        found = _move(now, on, count, low if order == 0 else high, block, places, rank, ends, points, found)
    if found > 0:
        return found
    for order in range(2):
        found = _move(start, nothing, 1, high if order == 0 else low, block, places, rank, ends, points, 0)
        if found > 0:
            return found
    ends[0], points[0] = position, 0
    return 1


@_compile
def _move(
    now: Any, on: Any, count: int, die: int, block: int, places: Any, rank: Any, ends: Any, points: Any, found: int
) -> int:
    """Append all results of one move with a die from some positions, each once; return the new number of results."""
    for one in range(count):
        first, second, third = places[now[one], 0], places[now[one], 1], places[now[one], 2]
        for which in range(3):
            source = first if which == 0 else second if which == 1 else third
            if source == 0 or (which > 0 and source == (first if which == 1 else second)):
                continue  # off the board, or the same as another checker
            if third == BAR and source != BAR:
                continue  # a checker on the bar moves first
            target = source - die
            if target >= 1:
                if target == block:
                    continue
            else:
                if third > HOME or (target < 0 and source != third):
                    continue
                target = 0
            low, mid = (second, third) if which == 0 else (first, third) if which == 1 else (first, second)
            if target <= low:
                end = rank[target, low, mid]
            elif target <= mid:
                end = rank[low, target, mid]
            else:
                end = rank[low, mid, target]
            landed = on[one] | (1 << target if target > 0 else 0)
            new = True
            for other in range(found):
                if ends[other] == end and points[other] == landed:
                    new = False
                    break
            if new:
                ends[found] = end
                points[found] = landed
                found += 1
    return found
