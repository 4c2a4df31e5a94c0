"""The bear-off tables compared with those of GNU Backgammon (extra ``judges``)."""

from __future__ import annotations

import random

import gnubg_nn
import numpy as np
import pytest

from aleazero.oracles.bearoff import OneSided, TwoSided

ROUNDING = 1.2e-4
"""GNU Backgammon stores equities in 16 bits."""


def board(me, them):
    """Return a board of gnubg-nn: the other side, then the side on roll, each from its own view; 24 is the bar."""
    return [[*them, *[0] * 19], [*me, *[0] * 19]]


def equity_of(me, them):
    return 2 * gnubg_nn.probabilities(board(me, them), 0)[0] - 1


def test_all_equities_equal_those_of_gnubg():
    table = TwoSided.load_or_build()
    counts = table.positions.counts.tolist()[1:]
    theirs = [[equity_of(me, them) for me in counts] for them in counts]
    errors = np.abs(table.table[1:, 1:] - theirs)
    assert errors.size == 851_929
    assert errors.max() < ROUNDING
    assert errors.max() > 1e-7  # they come from another table


def test_a_checker_further_forward_can_be_a_disadvantage():
    them, ahead, behind = [0, 0, 1, 1, 0, 1], [1, 1, 1, 0, 0, 2], [1, 0, 2, 0, 0, 2]
    assert equity_of(them, ahead) > equity_of(them, behind) + ROUNDING


def test_the_number_of_rolls_equals_that_of_gnubg():
    table, draw = OneSided.load_or_build(), random.Random(10)
    for place in draw.sample(range(1, len(table.positions)), 2000):
        counts = table.positions.counts[place].tolist()
        theirs = np.array([0.0, *gnubg_nn.bearoff_probabilities(tuple(counts))])  # theirs start at one roll
        assert table.mean_rolls(counts) == pytest.approx(float(theirs @ np.arange(len(theirs))), abs=2e-3)
