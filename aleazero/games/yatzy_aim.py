"""Aiming at one category of Yatzy: what a turn that has no other end brings, and which dice to keep for it.

Exact for one category, blind to the others and to the turns to come. Playouts (``yatzy.playout``) compare categories by
what they bring above their par.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.dice import DICE, FIRST, HAND_AFTER, HANDS, KEPT, ROLLS_FROM, SEQUENCES, SIZES, WAYS
from aleazero.games.yatzy_card import BONUS, BONUS_FROM, SCORES, UPPER_CATEGORIES

PAR: Final = (5, 10, 16, 22, 27, 31, 11, 19, 15, 13, 5, 8, 21, 24, 18)
"""What a category brings in a game, about: the means of games that were played by this table, which then took their
place, until they moved little. The upper six count with their share of the bonus, 50/63 of what they score."""


def _aims() -> tuple[NDArray[np.int8], NDArray[np.float64]]:
    """A turn for each category, solved backwards in whole numbers: with r rerolls left, in 7776ths^r of a point."""
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
"""(2, 252, 15) by rerolls left less one, hand and category, the keep mask that brings most there, the smallest of such;
(3, 252, 15) by rerolls left, hand and category, the expected score."""

ABOVE_PAR = BRINGS * np.where(np.arange(len(PAR)) < UPPER_CATEGORIES, 1.0 + BONUS / BONUS_FROM, 1.0) - PAR
"""(3, 252, 15) what aiming there brings above par."""
