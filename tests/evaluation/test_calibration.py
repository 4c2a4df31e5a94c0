"""Predictions beside what came: those of exact values are right, and wrong ones show."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import aleazero
from aleazero.evaluation.strength import calibrate
from aleazero.games.states import states_of
from aleazero.nets.outcome import feature_shape
from aleazero.nets.values import NetValues
from aleazero.oracles.solve import solve
from aleazero.training.targets import tenths


class Exact(NetValues):
    """Values states between turns as they are; ``told`` bends them."""

    def __init__(self, game, told=lambda exact: exact):
        net = SimpleNamespace(shape=feature_shape(game))
        super().__init__(game, net, np.zeros(1, np.float32))
        self.solved, self.told = solve(game), told

    def see(self, states):
        self.states = states
        return super().see(states)

    def columns(self, ends):
        exact = [self.solved.value(state)[0] for state in states_of(self.game, self.states)]
        found = np.zeros((len(exact), len(self.outcome.columns)))
        found[:, 0] = np.where(ends.over, exact, self.told(np.array(exact)))
        return found


@pytest.fixture(scope="module")
def pig():
    return aleazero.load_game("pig", target=10)


def test_exact_values_are_right_in_every_tenth(pig):
    found = calibrate(Exact(pig), 6000)
    assert len(found) == 10
    assert [told for told, *_ in found] == sorted(told for told, *_ in found)
    for predicted, came, count in found:
        assert predicted == pytest.approx(came, abs=4 / np.sqrt(count))


def test_the_first_turn_is_worth_what_solving_says(pig):
    values = Exact(pig)
    games = 3000
    found = calibrate(values, games)
    means = np.average([came for _, came, _ in found], weights=[count for *_, count in found])
    predicted = np.average([told for told, _, _ in found], weights=[count for *_, count in found])
    assert predicted == pytest.approx(means, abs=5 / np.sqrt(games))


def test_boasts_show(pig):
    found = calibrate(Exact(pig, lambda exact: 0.5 * exact + 0.5), 500)
    assert all(predicted > came for predicted, came, _ in found[:8])


def test_the_same_seed_says_the_same(pig):
    assert calibrate(Exact(pig), 40) == calibrate(Exact(pig), 40)
    assert calibrate(Exact(pig), 40, seed=1) != calibrate(Exact(pig), 40)


def test_tenths_by_hand():
    predicted = np.array([3.0, 1.0, 2.0] + [9.0] * 17)
    came = np.array([30.0, 10.0, 20.0] + [90.0] * 17)
    found = tenths(predicted, came)
    assert found[0] == (1.5, 15.0, 2)
    assert found[1] == (6.0, 60.0, 2)
    assert sum(count for *_, count in found) == 20
    assert tenths(np.zeros(0), np.zeros(0)) == []
