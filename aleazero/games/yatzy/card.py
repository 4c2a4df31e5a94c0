"""The score card of Yatzy: categories, scores, the state vector, expected scores of categories, and valid positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from operator import index, or_
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.dice import (
    DICE,
    FIRST,
    HAND_AFTER,
    HANDS,
    HISTOGRAMS,
    KEEP_ALL,
    KEPT,
    ROLLS_FROM,
    SEQUENCES,
    SIZES,
    WAYS,
    Histogram,
    histogram_of_dice,
    outcome_of_histogram,
)

Vector = NDArray[np.int64]

CATEGORIES: Final = (
    *("ones", "twos", "threes", "fours", "fives", "sixes"),
    *("pair", "two_pairs", "three_kind", "four_kind", "small_straight", "large_straight", "house", "chance", "yatzy"),
)
NUM_CATEGORIES: Final = len(CATEGORIES)
UPPER_CATEGORIES: Final = 6
ALL_OPEN: Final = (1 << NUM_CATEGORIES) - 1
"""Availability mask: bit 14 − category is set if the category is open."""
BONUS_FROM: Final = 63
BONUS: Final = 50
HIGHEST_TOTAL: Final = 374
MARKS: Final = KEEP_ALL + 1
"""Actions 0 to 31 are keep masks, 32 to 46 score a category."""

# The state vector: the multiset of dice in hand (five at a decision, the kept dice at a chance node), the rerolls left
# after this roll, the player to move, the kind. A board per player follows: open categories, upper total (at most 63),
# total.
IN_HAND, REROLLS, PLAYER, KIND, BOARDS = 0, 1, 2, 3, 4
AVAIL, UPPER, TOTAL, BOARD = 0, 1, 2, 3


class Board(NamedTuple):
    """The score card of one player, as far as it matters for the rest of the game."""

    avail_mask: int = ALL_OPEN
    """Open categories: bit 14 − category is set if the category is open."""
    upper_total: int = 0
    """Sum of the upper six categories, at most 63."""
    total: int | None = None
    """All points including the bonus; None for the lowest possible total."""


def _of_a_kind(dice: Histogram, count: int) -> int:
    return count * max((face for face in range(1, 7) if dice[face - 1] >= count), default=0)


def _two_pairs(dice: Histogram) -> int:
    pairs = [face for face in range(1, 7) if dice[face - 1] >= 2]
    return 2 * sum(pairs) if len(pairs) == 2 else 0


def _sum(dice: Histogram) -> int:
    return sum(face * count for face, count in enumerate(dice, start=1))


_LOWER: tuple[Callable[[Histogram], int], ...] = (
    lambda dice: _of_a_kind(dice, 2),
    _two_pairs,
    lambda dice: _of_a_kind(dice, 3),
    lambda dice: _of_a_kind(dice, 4),
    lambda dice: 15 if dice == (1, 1, 1, 1, 1, 0) else 0,
    lambda dice: 20 if dice == (0, 1, 1, 1, 1, 1) else 0,
    lambda dice: _sum(dice) if sorted(dice)[-2:] == [2, 3] else 0,
    _sum,
    lambda dice: 50 if 5 in dice else 0,
)


def score(dice: Histogram, category: int) -> int:
    """Return the score of five dice in a category, without the bonus."""
    return (category + 1) * dice[category] if category < UPPER_CATEGORIES else _LOWER[category - UPPER_CATEGORIES](dice)


_HANDS = [tuple(dice) for dice in HISTOGRAMS[HANDS:].tolist()]
SCORES = np.array([[score(dice, category) for category in range(NUM_CATEGORIES)] for dice in _HANDS], np.int8)
"""(252, 15) by hand and category."""


# Aiming at one category: the expected score of a turn that can only score this category, and the dice to keep for it.
# This is exact for the category, and ignores the others and later turns. Playouts compare categories by their expected
# score above par.
PAR: Final = (5, 10, 16, 22, 27, 31, 11, 19, 15, 13, 5, 8, 21, 24, 18)
"""Approximate mean score of each category: the means of games played with this table, iterated until they changed
little. The upper six include their share of the bonus, 50/63 of their score."""


def _aims() -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """Solve a turn for each category backwards, in integers: with r rerolls left, in units of 7776^−r points."""
    rolls = [WAYS[FIRST[k] : FIRST[k + 1]] * SEQUENCES[DICE - k] for k in range(DICE + 1)]  # out of 7776
    weights = np.concatenate([rolls[DICE - size] for size in SIZES])
    points = SCORES.astype(np.int64)
    keeps, brings = [], [points / 1.0]
    for rerolls in (1, 2):
        kept = np.add.reduceat(weights[:, None] * points[HAND_AFTER - HANDS], ROLLS_FROM[:-1])[KEPT]
        keeps.append(kept.argmax(axis=1))
        points = kept.max(axis=1)
        brings.append(points / SEQUENCES[DICE] ** rerolls)
    return np.array(keeps, np.int8), np.array(brings)


AIM, BRINGS = _aims()
"""AIM (2, 252, 15): the smallest best keep mask, by rerolls left minus one, hand and category.
BRINGS (3, 252, 15): the expected score, by rerolls left, hand and category."""

ABOVE_PAR = BRINGS * np.where(np.arange(len(PAR)) < UPPER_CATEGORIES, 1.0 + BONUS / BONUS_FROM, 1.0) - PAR
"""(3, 252, 15) expected score above par, by rerolls left, hand and category."""


def multiset(dice: Sequence[int]) -> int:
    """Return the number of a multiset of dice."""
    return outcome_of_histogram(histogram_of_dice(dice))


def categories_of(mask: int) -> list[int]:
    """Return the categories whose bits are set in a mask."""
    return [c for c in range(NUM_CATEGORIES) if mask >> (NUM_CATEGORIES - 1 - c) & 1]


def _sums(categories: Sequence[int]) -> int:
    """Return the possible sums of scores in these categories, as a set of bits."""
    sums = 1
    for category in categories:
        sums = reduce(or_, (sums << points for points in set(SCORES[:, category].tolist())))
    return sums


def _bits(numbers: int) -> list[int]:
    return [n for n in range(numbers.bit_length()) if numbers >> n & 1]


@lru_cache(maxsize=4096)
def possible_totals(avail_mask: int) -> dict[int, int]:
    """Return the possible upper totals and, for each, the possible totals as a set of bits."""
    filled = categories_of(ALL_OPEN & ~avail_mask)
    lower = _sums([category for category in filled if category >= UPPER_CATEGORIES])
    totals: dict[int, int] = {}
    for upper in _bits(_sums([category for category in filled if category < UPPER_CATEGORIES])):
        capped = min(upper, BONUS_FROM)
        totals[capped] = totals.get(capped, 0) | lower << upper + (BONUS if capped == BONUS_FROM else 0)
    return totals


def integer(what: str, number: Any) -> int:
    """Return an integer of any type as an int; raise PositionError for other values."""
    try:
        return index(number)
    except TypeError:
        raise PositionError(f"yatzy: got {what} {number!r}, expected an integer") from None


def check_upper(avail_mask: int, upper_total: int) -> dict[int, int]:
    """Return the ``possible_totals`` of open categories; raise PositionError if the upper total is not possible."""
    avail_mask, upper_total = integer("the open categories", avail_mask), integer("the upper total", upper_total)
    if not 0 <= avail_mask <= ALL_OPEN:
        raise PositionError(f"yatzy: got the open categories {avail_mask}, expected a mask from 0 to {ALL_OPEN}")
    totals = possible_totals(avail_mask)
    if upper_total not in totals:
        uppers = sorted(totals)
        some = ", ".join(map(str, uppers)) if len(uppers) <= 12 else f"one of {len(uppers)} up to {uppers[-1]}"
        filled = " ".join(CATEGORIES[c] for c in categories_of(ALL_OPEN & ~avail_mask) if c < UPPER_CATEGORIES)
        raise PositionError(
            f"yatzy: got the upper total {upper_total} with {filled or 'no upper category'} filled, expected {some}"
        )
    return totals


def check(state: Vector) -> None:
    """Reject a state vector that no play reaches."""
    players = (len(state) - BOARDS) // BOARD
    in_hand, rerolls, player, kind = (int(number) for number in state[:BOARDS])
    filled = []
    for avail, upper, total in state[BOARDS:].reshape(players, BOARD).tolist():
        if not (check_upper(avail, upper)[upper] >> max(total, 0) & 1 and total >= 0):
            raise PositionError(
                f"yatzy: got the total {total} with upper total {upper}, expected one that scores can give"
            )
        filled.append(NUM_CATEGORIES - avail.bit_count())
    if not 0 <= player < players:
        raise PositionError(f"yatzy: got player {player}, expected 0 to {players - 1}")
    if filled != [filled[player] + (who < player) for who in range(players)]:
        raise PositionError(
            f"yatzy: got {filled} filled categories with player {player} to move, expected equal "
            f"numbers, and one more for players before the mover"
        )
    if not 0 <= rerolls <= 2:
        raise PositionError(f"yatzy: got {rerolls} rerolls left, expected 0, 1 or 2")
    over = filled[player] == NUM_CATEGORIES
    if (kind == TERMINAL) != over or kind not in (DECISION, CHANCE, TERMINAL):
        raise PositionError(
            f"yatzy: got a state of kind {kind} with {filled} filled categories, expected 2 when all are"
        )
    if over:
        fits = (in_hand, rerolls, player) == (0, 2, 0)
    elif kind == CHANCE:
        fits = 0 <= in_hand < FIRST[DICE + 1] and (in_hand == 0 or rerolls < 2)
    else:
        fits = HANDS <= in_hand < FIRST[DICE + 1]
    if not fits:
        raise PositionError(
            f"yatzy: got dice {in_hand}, {rerolls} rerolls left, player {player} and kind {kind}, expected five dice "
            f"at a decision, and none before a turn's first roll and at the end"
        )


def vector_of(
    boards: Sequence[Board | tuple[int, ...]],
    dice: Sequence[int] | None,
    rerolls_left: int,
    player: int,
    rolling: bool,
) -> Vector:
    """Return the state vector of a position; the arguments are those of ``from_position``."""
    if not 1 <= len(boards) <= 4 or any(not 2 <= len(board) <= 3 for board in boards):
        raise PositionError(
            f"yatzy: got the boards {list(boards)}, expected 1 to 4 of (avail_mask, upper_total, total)"
        )
    rerolls_left = integer("rerolls left", rerolls_left)
    if dice is None and (rerolls_left != 2 or rolling):
        raise PositionError(f"yatzy: got no dice and {rerolls_left} rerolls left, expected 2 before the first roll")
    if dice is not None and not rolling and len(dice) != DICE:
        raise PositionError(f"yatzy: got the dice {list(dice)}, expected {DICE}, or the kept dice and rolling=True")
    if rolling and not 0 <= rerolls_left <= 1:
        raise PositionError(f"yatzy: got {rerolls_left} rerolls left after a reroll, expected 0 or 1")
    over = all(board[0] == 0 for board in boards)
    if over and dice is not None:
        raise PositionError(f"yatzy: got the dice {list(dice)} on full boards, expected none")
    kind = TERMINAL if over else CHANCE if dice is None or rolling else DECISION
    numbers = [multiset(dice or ()), rerolls_left, integer("player", player), kind]
    for avail, upper, total in (Board(*board) for board in boards):
        lowest = _bits(check_upper(avail, upper)[upper])[0] if total is None else total
        numbers += [avail, upper, integer("the total", lowest)]
    try:
        vector = np.array(numbers, np.int64)
    except OverflowError:
        raise PositionError(f"yatzy: got the numbers {numbers}, expected smaller numbers") from None
    check(vector)
    return vector
