"""Multisets of up to five dice: their numbers and probabilities, and tables for keeping and rolling dice.

A roll is a multiset, not a sequence: k dice have C(k + 5, 5) rolls, not 6^k. The 462 multisets of at most five dice are
numbered by size, then by their sorted dice: 0 is the empty multiset, 1 to 6 are single dice, and 210 to 461 are the 252
hands of five dice. The number of a roll is its outcome id. A *histogram* has the count of each face, ones first. A keep
mask has five bits for the sorted dice; the highest bit is for the lowest die.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.native.random import DICE_ROLLS, stream_key, unit

FACES: Final = 6
DICE: Final = 5
KEEP_ALL: Final = 31

Histogram = tuple[int, ...]

_SORTED = [dice for size in range(DICE + 1) for dice in combinations_with_replacement(range(FACES), size)]
HISTOGRAMS = np.array([[dice.count(face) for face in range(FACES)] for dice in _SORTED], np.int8)
"""(462, 6)"""
NUMBERS = np.arange(len(HISTOGRAMS))
SIZES = HISTOGRAMS.sum(axis=1, dtype=np.int8)
FIRST = (0, 1, 7, 28, 84, 210, 462)
"""The first number of each size, and the number of all multisets."""
HANDS = FIRST[DICE]
"""Number of the first hand. The row of a hand in tables of hands is its number minus this."""
NUM_HANDS = FIRST[DICE + 1] - HANDS
WAYS = np.array([factorial(len(dice)) // prod(factorial(dice.count(f)) for f in range(FACES)) for dice in _SORTED])
"""(462,) number of sequences of dice that make a multiset."""
CHANCES = WAYS / 6.0**SIZES
"""(462,) probability of a multiset when that many dice are rolled."""

# A histogram as a number in base 6 (each count is at most five) is the index of its multiset.
_CODES = (HISTOGRAMS.astype(np.int64) * 6 ** np.arange(FACES)).sum(axis=1)
_NUMBER = np.full(6**FACES, -1, np.int16)
_NUMBER[_CODES] = np.arange(len(_CODES))

ADD = _NUMBER[_CODES[:HANDS, None] + 6 ** np.arange(FACES)].astype(np.uint16)
"""(210, 6) the multiset after adding one die of a face."""

DROP = np.zeros((len(HISTOGRAMS), DICE), np.uint16)
"""(462, 5) the multisets after removing one die, one for each face in it; unused entries repeat the first."""
for _number, _code in enumerate(_CODES.tolist()):
    _less = [int(_NUMBER[_code - 6**face]) for face in np.flatnonzero(HISTOGRAMS[_number]).tolist()]
    DROP[_number] = _less + (_less[:1] or [0]) * (DICE - len(_less))

ROLLS_FROM = np.concatenate([[0], np.cumsum([FIRST[DICE - k + 1] - FIRST[DICE - k] for k in SIZES])]).astype(np.int32)
"""(463,) start of the hands of each kept multiset in ``HAND_AFTER``."""
HAND_AFTER = np.concatenate([
    _NUMBER[code + _CODES[FIRST[DICE - k] : FIRST[DICE - k + 1]]] for code, k in zip(_CODES, SIZES, strict=True)
])  # fmt: skip
"""(4368,) the hand after each roll of the missing dice, in the order of the rolls."""

DRAWN = np.concatenate([
    np.repeat(np.arange(FIRST[k], FIRST[k + 1]), WAYS[FIRST[k] : FIRST[k + 1]]) for k in range(DICE + 1)
]).astype(np.int16)  # fmt: skip
"""(9331,) the rolls of 0, 1, … 5 dice, one entry per sequence: a uniformly drawn entry is a fair roll."""
DRAWN_FROM = (0, 1, 7, 43, 259, 1555, 9331)
SEQUENCES = (1, 6, 36, 216, 1296, 7776)


def _keeps() -> NDArray[np.int16]:
    """Return the kept multiset by hand and keep mask."""
    dice = np.array(_SORTED[HANDS:], np.int64)
    kept = (np.arange(32)[:, None] >> np.arange(DICE - 1, -1, -1)) & 1
    return _NUMBER[(6 ** dice[:, None, :] * kept[None, :, :]).sum(axis=2)]


KEPT = _keeps()
"""(252, 32) the kept multiset, by hand and keep mask."""
CANONICAL = (KEPT[:, :, None] == KEPT[:, None, :]).argmax(axis=2).astype(np.int8)
"""(252, 32) the smallest mask that keeps the same dice."""
NUM_KEEPS = (np.arange(32) == CANONICAL).sum(axis=1).astype(np.int8)
"""(252,) number of different multisets that a hand can keep."""
KEEPS = np.argsort(np.arange(32) != CANONICAL, axis=1, kind="stable").astype(np.int8)
"""(252, 32) the canonical masks of a hand in ascending order, followed by the other masks."""


def histogram_of_dice(dice: Sequence[int]) -> Histogram:
    """Return the count of each face in up to five dice.

    Args:
        dice: faces from 1 to 6 in any order.

    Returns:
        Six counts, ones first.

    Raises:
        PositionError: there are more than five dice, or one is not a face.
    """
    faces = list(dice)
    if len(faces) > DICE or any(face not in range(1, FACES + 1) for face in faces):
        raise PositionError(f"got the dice {list(dice)}, expected at most {DICE} faces from 1 to {FACES}")
    return tuple(faces.count(face) for face in range(1, FACES + 1))


def dice_of_histogram(histogram: Sequence[int]) -> tuple[int, ...]:
    """Return the dice of a histogram in ascending order."""
    return tuple(face + 1 for face, count in enumerate(_checked(histogram)) for _ in range(count))


def outcome_of_histogram(histogram: Sequence[int]) -> int:
    """Return the number of a multiset, which is the outcome id of the roll."""
    return int(_NUMBER[sum(count * 6**face for face, count in enumerate(_checked(histogram)))])


def histogram_of_outcome(outcome: int) -> Histogram:
    """Return the histogram of an outcome id."""
    if not 0 <= outcome < len(HISTOGRAMS):
        raise PositionError(f"got the outcome {outcome}, expected 0 to {len(HISTOGRAMS) - 1}")
    return tuple(HISTOGRAMS[outcome].tolist())


def histogram_probability(histogram: Sequence[int]) -> float:
    """Return the probability k!/Πh! · 6^−k of rolling a histogram h with its k dice."""
    return float(CHANCES[outcome_of_histogram(histogram)])


def kept_histogram(dice: Sequence[int], mask: int) -> Histogram:
    """Return the histogram of the dice that a keep mask keeps of five dice."""
    return histogram_of_outcome(int(KEPT[_row(dice, mask), mask]))


def canonical_mask(dice: Sequence[int], mask: int) -> int:
    """Return the smallest keep mask that keeps the same of five dice."""
    return int(CANONICAL[_row(dice, mask), mask])


def sample_histogram(count: int, seed: int) -> Histogram:
    """Return a fair roll of this many dice; the same roll for the same seed."""
    if not 0 <= count <= DICE:
        raise PositionError(f"got {count} dice to roll, expected 0 to {DICE}")
    return histogram_of_outcome(draw_roll(count, unit(stream_key(DICE_ROLLS, seed, count))))


def draw_roll(count: int, u: float) -> int:
    """Return the roll of this many dice for a uniform number u in [0, 1), by inverting the distribution."""
    return DRAWN[DRAWN_FROM[count] + int(u * SEQUENCES[count])]


def _row(dice: Sequence[int], mask: int) -> int:
    if len(dice) != DICE or not 0 <= mask <= KEEP_ALL:
        raise PositionError(f"got the dice {list(dice)} and mask {mask}, expected {DICE} dice and a mask from 0 to 31")
    return outcome_of_histogram(histogram_of_dice(dice)) - HANDS


def _checked(histogram: Sequence[int]) -> Histogram:
    counts = tuple(int(count) for count in histogram)
    if len(counts) != FACES or min(counts) < 0 or sum(counts) > DICE:
        raise PositionError(f"got the histogram {counts}, expected {FACES} counts with a sum of at most {DICE}")
    return counts
