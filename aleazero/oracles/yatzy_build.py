"""Solving one-player Yatzy: the value of every set of open categories and upper total, fewest open categories first.

A turn is solved as in ``games/yatzy_turn``, for all upper totals of a set of categories side by side, so that the
compiled loops run over neighbours in memory. Sets with equally many open categories do not depend on each other and are
shared out to threads; which thread solves a set does not change a bit of its values.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from aleazero.games.dice import ADD, DROP, HANDS, HISTOGRAMS
from aleazero.games.yatzy_card import ALL_OPEN, BONUS, BONUS_FROM, NUM_CATEGORIES, SCORES, possible_totals

Values = NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with the number of sets of open categories solved so far, and of all."""

UPPERS = BONUS_FROM + 1
UPPER_SETS = ALL_OPEN + 1 >> 9
LOWER_SETS = 1 << 9
CHUNK = 256
"""Sets that a thread solves at a time."""


def build_values(progress: Progress | None = None, *, threads: int | None = None, most_open: int = 15) -> Values:
    """The expected points to come (sets of open categories, upper totals) under best play; NaN where play never is.

    Sets with more than ``most_open`` open categories stay NaN.
    """
    sets = np.arange(ALL_OPEN + 1)
    open_counts = np.array([mask.bit_count() for mask in sets.tolist()])
    values = np.zeros((len(sets), UPPERS))
    counts, scores = HISTOGRAMS[HANDS:].astype(np.uint8), SCORES.astype(np.float64)
    done, of = 0, int((open_counts <= most_open).sum()) - 1
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        for open_count in range(1, most_open + 1):
            level = sets[open_counts == open_count]
            parts = [level[start : start + CHUNK] for start in range(0, len(level), CHUNK)]
            jobs = {pool.submit(_solve_sets, part, values, scores, counts, ADD, DROP): len(part) for part in parts}
            for job in as_completed(jobs):
                job.result()
                done += jobs[job]
                if progress is not None:
                    progress(done, of)
    values[~_reachable() | (open_counts > most_open)[:, None]] = np.nan
    return values


def _reachable() -> NDArray[np.bool_]:
    """Which upper totals go with which set of open categories: only the open upper ones count."""
    uppers = np.zeros((UPPER_SETS, UPPERS), np.bool_)
    for upper_set in range(UPPER_SETS):
        uppers[upper_set, list(possible_totals(upper_set << 9 | LOWER_SETS - 1))] = True
    return np.repeat(uppers, LOWER_SETS, axis=0)


def _compile(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(function)


@_compile
def _solve_sets(sets: Any, values: Values, scores: Values, counts: Any, add: Any, drop: Any) -> None:
    """Fill the values of some sets, given those of all sets with one category less."""
    solved = np.empty((len(drop), UPPERS))
    marked = np.empty((6, UPPERS))
    for avail in sets:
        filled_faces = 0
        for face in range(1, 7):
            filled_faces += 0 if (avail >> (NUM_CATEGORIES - face)) & 1 else face
        width = min(BONUS_FROM, 5 * filled_faces) + 1  # no upper total is higher
        _mark_best(avail, values, scores, counts, marked, solved[len(add) :], width)
        _expect_rolls(solved, add, width)
        for _ in range(2):
            _keep_best(solved, drop, width)
            _expect_rolls(solved, add, width)
        for upper in range(width):
            values[avail, upper] = solved[0, upper]


@_compile
def _mark_best(
    avail: int, values: Values, scores: Values, counts: Any, marked: Values, hands: Values, width: int
) -> None:
    """The best mark of each hand: its points, and the value of what is open behind it."""
    hands[:] = -np.inf
    for category in range(NUM_CATEGORIES):
        bit = 1 << (NUM_CATEGORIES - 1 - category)
        if avail & bit == 0:
            continue
        behind = values[avail - bit]
        if category < 6:
            for count in range(6):
                points = count * (category + 1)
                for upper in range(width):
                    reached = upper < BONUS_FROM <= upper + points
                    marked[count, upper] = points + (BONUS if reached else 0) + behind[min(BONUS_FROM, upper + points)]
            for hand in range(len(hands)):
                _raise(hands[hand], marked[counts[hand, category]], 0.0, width)
        else:
            for hand in range(len(hands)):
                _raise(hands[hand], behind, scores[hand, category], width)


@_compile
def _raise(best: Values, offered: Values, more: float, width: int) -> None:
    for lane in range(width):
        value = offered[lane] + more
        best[lane] = value if value > best[lane] else best[lane]


@_compile
def _keep_best(lanes: Values, drop: Any, width: int) -> None:
    """For each multiset the best of keeping it whole and of the best with one die less."""
    for number in range(1, len(drop)):
        less = drop[number]
        a, b, c, d, e = lanes[less[0]], lanes[less[1]], lanes[less[2]], lanes[less[3]], lanes[less[4]]
        best = lanes[number]
        for lane in range(width):
            one = a[lane] if a[lane] > b[lane] else b[lane]
            two = c[lane] if c[lane] > d[lane] else d[lane]
            three = e[lane] if e[lane] > best[lane] else best[lane]
            four = one if one > two else two
            best[lane] = four if four > three else three


@_compile
def _expect_rolls(lanes: Values, add: Any, width: int) -> None:
    """The mean over six faces of the values with one die more, from four dice down to none."""
    for number in range(len(add) - 1, -1, -1):
        more = add[number]
        a, b, c = lanes[more[0]], lanes[more[1]], lanes[more[2]]
        d, e, f = lanes[more[3]], lanes[more[4]], lanes[more[5]]
        mean = lanes[number]
        for lane in range(width):
            mean[lane] = (a[lane] + b[lane] + c[lane] + d[lane] + e[lane] + f[lane]) * (1.0 / 6.0)
