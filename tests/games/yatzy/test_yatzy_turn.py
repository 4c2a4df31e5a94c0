"""Solving a turn, compared with probabilities computed by hand."""

import numpy as np
import pytest

from aleazero.games.dice import DROP, HISTOGRAMS
from aleazero.games.yatzy import rules as yatzy
from aleazero.games.yatzy import turn as yatzy_turn


def test_dropping_a_die():
    for number, dice in enumerate(HISTOGRAMS.tolist()):
        less = [[count - (place == face) for place, count in enumerate(dice)] for face in range(6) if dice[face]]
        found = HISTOGRAMS[np.unique(DROP[number])].tolist()
        assert sorted(found) == (sorted(less) or [[0] * 6])


def test_solved_values_equal_known_probabilities():
    """Only yatzy is open and a leaf is worth 1 with five of a kind, so values are probabilities of a yatzy."""
    values = np.zeros((1, 120))
    leaf = int(yatzy_turn.LEAF[14, yatzy.multiset([1] * 5) - 210])
    values[0, leaf] = 1.0
    solved = yatzy_turn.solve_rerolls(values, 1)
    assert solved[0, 0, yatzy.multiset([3] * 4)] == pytest.approx(1 / 6)
    assert solved[1, 0, yatzy.multiset([3] * 4)] == pytest.approx(1 / 6 + 5 / 36)
    assert solved[0, 0, 0] == pytest.approx(6 / 7776)
    assert solved[2, 0, 0] == pytest.approx(0.04602864252569899, abs=1e-12)  # the known 4.6029 %
