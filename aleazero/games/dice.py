"""Multisets of up to five dice: their numbers, their chances, and what keeping and rolling make of them.

A roll is a multiset, not a sequence: k dice have C(k + 5, 5) rolls, not 6^k. The 462 multisets of at most five dice are
numbered by size, then in the order of their sorted dice: 0 is no dice, 1 to 6 the single faces, 210 to 461 the 252
hands of five. A roll's number is its outcome id. A *histogram* is how often each face is there, ones first; a keep mask
has five bits over the sorted dice, the highest for the lowest die.
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
"""The first hand: a hand's row in a table of hands is its number less this."""
NUM_HANDS = FIRST[DICE + 1] - HANDS
WAYS = np.array([factorial(len(dice)) // prod(factorial(dice.count(f)) for f in range(FACES)) for dice in _SORTED])
"""(462,) how many sequences of dice make a multiset."""
CHANCES = WAYS / 6.0**SIZES
"""(462,) the probability of a multiset among the rolls of as many dice."""

# A histogram read as a number in base 6 (a face is there at most five times) finds its row.
_CODES = (HISTOGRAMS.astype(np.int64) * 6 ** np.arange(FACES)).sum(axis=1)
_NUMBER = np.full(6**FACES, -1, np.int16)
_NUMBER[_CODES] = np.arange(len(_CODES))

ADD = _NUMBER[_CODES[:HANDS, None] + 6 ** np.arange(FACES)].astype(np.uint16)
"""(210, 6) the multiset with one more die of a face."""

DROP = np.zeros((len(HISTOGRAMS), DICE), np.uint16)
"""(462, 5) the multisets with one die less, one for each face that is there; the first again in the places left."""
for _number, _code in enumerate(_CODES.tolist()):
    _less = [int(_NUMBER[_code - 6**face]) for face in np.flatnonzero(HISTOGRAMS[_number]).tolist()]
    DROP[_number] = _less + (_less[:1] or [0]) * (DICE - len(_less))

ROLLS_FROM = np.concatenate([[0], np.cumsum([FIRST[DICE - k + 1] - FIRST[DICE - k] for k in SIZES])]).astype(np.int32)
"""(463,) where a kept multiset's hands begin in ``HAND_AFTER``."""
HAND_AFTER = np.concatenate([
    _NUMBER[code + _CODES[FIRST[DICE - k] : FIRST[DICE - k + 1]]] for code, k in zip(_CODES, SIZES, strict=True)
])  # fmt: skip
"""(4368,) the hand after each roll of the missing dice, rolls ascending."""

DRAWN = np.concatenate([
    np.repeat(np.arange(FIRST[k], FIRST[k + 1]), WAYS[FIRST[k] : FIRST[k + 1]]) for k in range(DICE + 1)
]).astype(np.int16)  # fmt: skip
"""(9331,) the rolls of 0, 1, … 5 dice, each as often as sequences make it: a uniform place here is a fair roll."""
DRAWN_FROM = (0, 1, 7, 43, 259, 1555, 9331)
SEQUENCES = (1, 6, 36, 216, 1296, 7776)


def _keeps() -> NDArray[np.int16]:
    """By hand and keep mask, the multiset that is kept."""
    dice = np.array(_SORTED[HANDS:], np.int64)
    kept = (np.arange(32)[:, None] >> np.arange(DICE - 1, -1, -1)) & 1
    return _NUMBER[(6 ** dice[:, None, :] * kept[None, :, :]).sum(axis=2)]


KEPT = _keeps()
"""(252, 32) by hand and keep mask, the multiset that is kept."""
CANONICAL = (KEPT[:, :, None] == KEPT[:, None, :]).argmax(axis=2).astype(np.int8)
"""(252, 32) the smallest mask that keeps the same."""
NUM_KEEPS = (np.arange(32) == CANONICAL).sum(axis=1).astype(np.int8)
"""(252,) how many different multisets a hand can keep."""
KEEPS = np.argsort(np.arange(32) != CANONICAL, axis=1, kind="stable").astype(np.int8)
"""(252, 32) a hand's canonical masks, ascending; behind them the others."""


def histogram_of_dice(dice: Sequence[int]) -> Histogram:
    """How often each face is there, in up to five dice of any order."""
    faces = list(dice)
    if len(faces) > DICE or any(face not in range(1, FACES + 1) for face in faces):
        raise PositionError(f"got the dice {list(dice)}, expected at most {DICE} faces from 1 to {FACES}")
    return tuple(faces.count(face) for face in range(1, FACES + 1))


def dice_of_histogram(histogram: Sequence[int]) -> tuple[int, ...]:
    """The dice of a histogram, ascending."""
    return tuple(face + 1 for face, count in enumerate(_checked(histogram)) for _ in range(count))


def outcome_of_histogram(histogram: Sequence[int]) -> int:
    """The number of a multiset, which is the id of the outcome that rolls it."""
    return int(_NUMBER[sum(count * 6**face for face, count in enumerate(_checked(histogram)))])


def histogram_of_outcome(outcome: int) -> Histogram:
    """The histogram of an outcome id."""
    if not 0 <= outcome < len(HISTOGRAMS):
        raise PositionError(f"got the outcome {outcome}, expected 0 to {len(HISTOGRAMS) - 1}")
    return tuple(HISTOGRAMS[outcome].tolist())


def histogram_probability(histogram: Sequence[int]) -> float:
    """The probability k!/Πh! · 6^−k of a histogram among the rolls of its k dice."""
    return float(CHANCES[outcome_of_histogram(histogram)])


def kept_histogram(dice: Sequence[int], mask: int) -> Histogram:
    """What a keep mask, canonical or not, keeps of five dice."""
    return histogram_of_outcome(int(KEPT[_row(dice, mask), mask]))


def canonical_mask(dice: Sequence[int], mask: int) -> int:
    """The smallest keep mask that keeps the same of five dice."""
    return int(CANONICAL[_row(dice, mask), mask])


def sample_histogram(count: int, seed: int) -> Histogram:
    """A fair roll of some dice; the same for the same seed."""
    if not 0 <= count <= DICE:
        raise PositionError(f"got {count} dice to roll, expected 0 to {DICE}")
    return histogram_of_outcome(draw_roll(count, unit(stream_key(DICE_ROLLS, seed, count))))


def draw_roll(count: int, u: float) -> int:
    """The roll of some dice that u in [0, 1) stands for: the inverse of the rolls' distribution, ids ascending."""
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
