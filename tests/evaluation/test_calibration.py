"""Calibration: exact values match the results, and wrong predictions are visible."""

from __future__ import annotations

from types import SimpleNamespace

import draft_game
import numpy as np
import pytest

import aleazero
from aleazero.evaluation.strength import calibrate
from aleazero.games.kernel import KernelGame
from aleazero.games.states import states_of
from aleazero.nets.outcome import feature_shape
from aleazero.nets.values import NetValues
from aleazero.oracles.solve import solve
from aleazero.training.targets import tenths


class Exact(NetValues):
    """Exact values between turns, changed by ``distort``."""

    def __init__(self, game, distort=lambda exact: exact, plies=None):
        net = SimpleNamespace(shape=feature_shape(game))
        super().__init__(game, net, np.zeros(1, np.float32), plies)
        self.solved, self.distort = solve(game), distort

    def see(self, states):
        self.states = states
        return super().see(states)

    def columns(self, ends):
        exact = [self.solved.value(state)[0] for state in states_of(self.game, self.states)]
        found = np.zeros((len(exact), len(self.outcome.columns)))
        found[:, 0] = np.where(ends.over, exact, self.distort(np.array(exact)))
        return found


@pytest.fixture(scope="module")
def pig():
    return aleazero.load_game("pig", target=10)


def test_exact_values_are_calibrated_in_every_tenth(pig):
    found = calibrate(Exact(pig), 6000)
    assert len(found) == 10
    assert [value for value, *_ in found] == sorted(value for value, *_ in found)
    for predicted, result, count in found:
        assert predicted == pytest.approx(result, abs=4 / np.sqrt(count))


def test_chance_is_sampled_if_it_was_sampled_in_training():
    values = Exact(KernelGame(draft_game, {}), plies=0)
    assert (values.samples_chance, values.plies) == (True, 1)
    found = calibrate(values, 1500)
    assert sum(count for *_, count in found) > 1500 * 6
    for predicted, result, count in found:
        assert predicted == pytest.approx(result, abs=4 * 4 / np.sqrt(count))  # a game has at most 15 turns


def test_mean_prediction_matches_mean_result(pig):
    values = Exact(pig)
    games = 3000
    found = calibrate(values, games)
    means = np.average([result for _, result, _ in found], weights=[count for *_, count in found])
    predicted = np.average([value for value, _, _ in found], weights=[count for *_, count in found])
    assert predicted == pytest.approx(means, abs=5 / np.sqrt(games))


def test_overestimation_is_visible(pig):
    found = calibrate(Exact(pig, lambda exact: 0.5 * exact + 0.5), 500)
    assert all(predicted > result for predicted, result, _ in found[:8])


def test_the_same_seed_gives_the_same_result(pig):
    assert calibrate(Exact(pig), 40) == calibrate(Exact(pig), 40)
    assert calibrate(Exact(pig), 40, seed=1) != calibrate(Exact(pig), 40)


def test_tenths_by_hand():
    predicted = np.array([3.0, 1.0, 2.0] + [9.0] * 17)
    result = np.array([30.0, 10.0, 20.0] + [90.0] * 17)
    found = tenths(predicted, result)
    assert found[0] == (1.5, 15.0, 2)
    assert found[1] == (6.0, 60.0, 2)
    assert sum(count for *_, count in found) == 20
    assert tenths(np.zeros(0), np.zeros(0)) == []
