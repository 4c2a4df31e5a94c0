"""The exact oracle of one-player Yatzy: the value of every state and action, and the table that it is computed from.

The table has one number for each set of open categories and upper total: the expected points to come between turns.
Values within a turn are computed from it in microseconds. The expected final score is the points to come plus the
points on the card.

The table is stored in the user's cache folder with versions and a checksum, and is mapped into memory. A table that is
missing, damaged or has another version is built again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import struct
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.files import cache_root, write_atomic
from aleazero.games.base import CHANCE, DECISION, EXACT, TERMINAL, State
from aleazero.games.dice import (
    ADD,
    DICE,
    DROP,
    HANDS,
    HISTOGRAMS,
    KEEPS,
    KEPT,
    NUM_KEEPS,
    dice_of_histogram,
    histogram_of_outcome,
)
from aleazero.games.kernel import KernelState
from aleazero.games.yatzy import rules
from aleazero.games.yatzy.card import (
    ALL_OPEN,
    AVAIL,
    BOARDS,
    BONUS,
    BONUS_FROM,
    IN_HAND,
    MARKS,
    NUM_CATEGORIES,
    REROLLS,
    SCORES,
    TOTAL,
    UPPER,
    UPPER_CATEGORIES,
    categories_of,
    check_upper,
    integer,
    multiset,
    possible_totals,
)
from aleazero.games.yatzy.turn import LEAF, LEAF_CATEGORY, LEAF_SCORE, solve_rerolls
from aleazero.oracles.solve import TIE, evaluate_exactly

Values = NDArray[np.float64]
Progress = Callable[[int, int], None]
"""Called with the number of sets of open categories solved so far, and the number of all sets."""

FORMAT: Final = 1
"""Version of the file format and of the code that computes its numbers. The file also has the version of the rules."""
SHAPE: Final = (ALL_OPEN + 1, BONUS_FROM + 1)
_HEADER = struct.Struct("<16sII8x32s")
_MAGIC = b"aleazero yatzy\n\0"

UPPERS = BONUS_FROM + 1
UPPER_SETS = ALL_OPEN + 1 >> 9
LOWER_SETS = 1 << 9
CHUNK = 256
"""Number of sets that a thread solves at a time."""

log = logging.getLogger("aleazero")


def load_or_build(progress: Progress | None = None) -> YatzyOracle:
    """Return the oracle of one-player Yatzy.

    The table is read from the cache folder. If it is not there, it is built in a few seconds and stored.

    Args:
        progress: called with the number of sets of open categories solved so far, and the number of all sets.
    """
    return YatzyOracle(load_table(progress))


class YatzyOracle:
    """The ``Oracle`` of one-player Yatzy; also an evaluator that is exact at decisions and afterstates.

    Args:
        table: (sets of open categories, upper totals), the expected points to come between turns; NaN for combinations
            that play never reaches.
    """

    sees_states = True
    afterstates = EXACT
    decisions = EXACT

    def __init__(self, table: Values) -> None:
        self.table = table
        self._solved = lru_cache(maxsize=1024)(self._solve)

    @property
    def evaluator(self) -> YatzyOracle:
        """The oracle itself."""
        return self

    def expected(self) -> float:
        """Return the expected score of a game under best play."""
        return self.state_value(ALL_OPEN, 0)

    def state_value(self, avail_mask: int, upper_total: int) -> float:
        """Return the expected points to come between turns, before the next roll.

        Args:
            avail_mask: open categories; bit 14 − category is set if the category is open.
            upper_total: sum of the upper categories, at most 63.

        Raises:
            PositionError: no play reaches this combination.
        """
        check_upper(avail_mask, upper_total)
        return float(self.table[avail_mask, upper_total])

    def hand_values(self, avail_mask: int, upper_total: int, dice: Sequence[int], rerolls_left: int) -> Values:
        """Return the expected points to come after each action.

        Args:
            avail_mask: open categories; bit 14 − category is set if the category is open.
            upper_total: sum of the upper categories, at most 63.
            dice: five faces from 1 to 6.
            rerolls_left: 0, 1 or 2.

        Returns:
            (47,) values by action id; −inf for illegal actions and for keep masks that are not canonical.

        Raises:
            PositionError: no play reaches this decision.
        """
        leaf_values, layers = self._turn(avail_mask, upper_total)
        if len(dice) != DICE:
            raise PositionError(f"yatzy: got the dice {list(dice)}, expected {DICE}")
        rerolls_left = integer("rerolls left", rerolls_left)
        if rerolls_left not in (0, 1, 2):
            raise PositionError(f"yatzy: got {rerolls_left} rerolls left, expected 0, 1 or 2")
        hand = multiset(dice) - HANDS
        values = np.full(rules.NUM_ACTIONS, -np.inf)
        if rerolls_left == 0:
            free = categories_of(avail_mask)
            values[MARKS + np.array(free)] = leaf_values[LEAF[free, hand]]
        else:
            masks = KEEPS[hand, : NUM_KEEPS[hand]]
            values[masks] = layers[rerolls_left - 1, KEPT[hand, masks]]
        return values

    def value(self, state: State) -> float:
        """Return the expected final score from any state of one-player Yatzy."""
        vector = _vector_of(state)
        avail, upper, total = (int(vector[BOARDS + place]) for place in (AVAIL, UPPER, TOTAL))
        if state.kind() == TERMINAL:
            return float(total)
        rerolls, in_hand = int(vector[REROLLS]), int(vector[IN_HAND])
        if state.kind() == CHANCE and rerolls == rules.MOST_REROLLS:
            return total + self.state_value(avail, upper)
        return total + float(self._turn(avail, upper)[1][rerolls, in_hand])

    def values(self, state: State) -> Values:
        """Return the expected final score as an array (1,)."""
        return np.array([self.value(state)])

    def action_values(self, state: State) -> dict[int, float]:
        """Return the expected final score after each legal action of a decision."""
        values = self.hand_values(*decision_of(state))
        total = state.returns()[0]
        return {action: total + float(values[action]) for action in state.legal_actions()}

    def best_actions(self, state: State, tolerance: float = TIE) -> list[int]:
        """Return the actions of a decision whose value is within the tolerance of the best, ascending."""
        values = self.hand_values(*decision_of(state))
        return [int(action) for action in np.flatnonzero(values >= values.max() - tolerance)]

    def __call__(self, states: Sequence[State]) -> tuple[Values, Values]:
        """Return logits and values, as evaluators do."""
        return evaluate_exactly(states, self.values, self.best_actions)

    def _turn(self, avail_mask: int, upper_total: int) -> tuple[Values, Values]:
        """Return the values of a turn by leaf, and by rerolls left and multiset in hand."""
        check_upper(avail_mask, upper_total)
        if avail_mask == 0:
            raise PositionError("yatzy: got no open category, expected at least one")
        return self._solved(avail_mask, upper_total)

    def _solve(self, avail_mask: int, upper_total: int) -> tuple[Values, Values]:
        still_open = avail_mask & ~(1 << (NUM_CATEGORIES - 1 - LEAF_CATEGORY))
        upper = upper_total + np.where(LEAF_CATEGORY < UPPER_CATEGORIES, LEAF_SCORE, 0)
        bonus = np.where((upper_total < BONUS_FROM) & (upper >= BONUS_FROM), BONUS, 0)
        leaf_values = LEAF_SCORE + bonus + self.table[still_open, np.minimum(upper, BONUS_FROM)]
        layers = solve_rerolls(leaf_values[None, :], avail_mask)[:, 0]
        return leaf_values, layers


def decision_of(state: State) -> tuple[int, int, tuple[int, ...], int]:
    """Return the arguments of ``hand_values`` for a decision: open categories, upper total, dice, rerolls left."""
    vector = _vector_of(state)
    if state.kind() != DECISION:
        raise PositionError(f"yatzy: {state.to_text()!r} is not a decision, expected one")
    dice = dice_of_histogram(histogram_of_outcome(int(vector[IN_HAND])))
    return int(vector[BOARDS + AVAIL]), int(vector[BOARDS + UPPER]), dice, int(vector[REROLLS])


def _vector_of(state: State) -> NDArray[np.int64]:
    if not isinstance(state, KernelState) or state.game.name != "yatzy" or state.game.num_players != 1:
        raise PositionError(f"the oracle got a state of {state.game!r}, expected one of yatzy(players=1)")
    return state.vector


def table_path() -> Path:
    """Return the path of the stored table."""
    return cache_root() / "oracles" / "yatzy.table"


def load_table(progress: Progress | None = None) -> Values:
    """Return the stored table; if there is none, build it and store it if possible."""
    stored = read_table(table_path())
    if stored is not None:
        return stored
    log.warning("solving yatzy, once")
    built = build_values(progress)
    try:
        write_table(table_path(), built)
    except OSError as error:  # if the disk is full or read-only, the next start builds it again
        log.debug("yatzy table not written: %s", error)
        return built
    stored = read_table(table_path())
    return built if stored is None else stored


def write_table(path: Path, values: Values) -> None:
    """Write a table: a header with versions and checksum, then the numbers."""
    payload = np.ascontiguousarray(values, "<f8")
    write_atomic(path, [_header(payload), payload.data])


def read_table(path: Path) -> Values | None:
    """Return the table of a file, mapped into memory; None if the file is missing, damaged or has another version."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
        mapped = np.memmap(path, "<f8", "r", _HEADER.size, SHAPE)
        if path.stat().st_size == _HEADER.size + mapped.nbytes and header == _header(mapped):
            return np.asarray(mapped)
        log.debug("yatzy table is damaged or has another version: %s", path)
    except (OSError, ValueError) as error:
        log.debug("yatzy table not read: %s", error)
    return None


def _header(payload: Values) -> bytes:
    return _HEADER.pack(_MAGIC, FORMAT, rules.describe(1).version, hashlib.sha256(payload.data).digest())


def build_values(progress: Progress | None = None, *, threads: int | None = None, most_open: int = 15) -> Values:
    """Compute the table of ``YatzyOracle``.

    Sets are solved in the order of their number of open categories. Each turn is solved as in ``games/yatzy/turn``, for
    all upper totals of a set at once, so that the compiled loops run over contiguous memory. Sets with the same number
    of open categories are independent, and threads solve them in parallel with bit-identical results.

    Args:
        progress: called with the number of sets solved so far, and the number of all sets.
        threads: number of threads; default: all cores.
        most_open: sets with more open categories stay NaN.

    Returns:
        (sets of open categories, upper totals) expected points to come under best play; NaN for combinations that play
        never reaches.
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
    """Return which upper totals are possible with which set of open categories."""
    uppers = np.zeros((UPPER_SETS, UPPERS), np.bool_)
    for upper_set in range(UPPER_SETS):
        uppers[upper_set, list(possible_totals(upper_set << 9 | LOWER_SETS - 1))] = True
    return np.repeat(uppers, LOWER_SETS, axis=0)


def _compile(function: Any) -> Any:
    return numba.njit(nogil=True, error_model="numpy")(function)


@_compile
def _solve_sets(sets: Any, values: Values, scores: Values, counts: Any, add: Any, drop: Any) -> None:
    """Compute the values of some sets from those of all sets with one open category less."""
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
    """Compute the value of the best category of each hand: its points plus the value of the remaining categories."""
    hands[:] = -np.inf
    for category in range(NUM_CATEGORIES):
        bit = 1 << (NUM_CATEGORIES - 1 - category)
        if avail & bit == 0:
            continue
        after = values[avail - bit]
        if category < 6:
            for count in range(6):
                points = count * (category + 1)
                for upper in range(width):
                    reached = upper < BONUS_FROM <= upper + points
                    marked[count, upper] = points + (BONUS if reached else 0) + after[min(BONUS_FROM, upper + points)]
            for hand in range(len(hands)):
                _raise(hands[hand], marked[counts[hand, category]], 0.0, width)
        else:
            for hand in range(len(hands)):
                _raise(hands[hand], after, scores[hand, category], width)


@_compile
def _raise(best: Values, offered: Values, more: float, width: int) -> None:
    for lane in range(width):
        value = offered[lane] + more
        best[lane] = value if value > best[lane] else best[lane]


@_compile
def _keep_best(lanes: Values, drop: Any, width: int) -> None:
    """Compute for each multiset the best of keeping all of it and of the best keeps with one die less."""
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
    """Compute the mean over six faces of the values with one die more, from four dice down to none."""
    for number in range(len(add) - 1, -1, -1):
        more = add[number]
        a, b, c = lanes[more[0]], lanes[more[1]], lanes[more[2]]
        d, e, f = lanes[more[3]], lanes[more[4]], lanes[more[5]]
        mean = lanes[number]
        for lane in range(width):
            mean[lane] = (a[lane] + b[lane] + c[lane] + d[lane] + e[lane] + f[lane]) * (1.0 / 6.0)
