"""Fast measurements of Yatzy networks."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.strength import measure_values
from aleazero.evaluation.yatzy.measure import CHUNK, measure_against_solo, measure_solo
from aleazero.nets.config import ValueNetConfig
from aleazero.nets.outcome import feature_shape
from aleazero.nets.value_net import make_value_net
from aleazero.nets.values import NetValues


class ByOracle(NetValues):
    """Values cards like the solo-optimal player; ``worst`` reverses the values."""

    def __init__(self, players, oracle, worst=False):
        game = aleazero.load_game("yatzy", players=players)
        super().__init__(game, None, np.zeros(1, np.float32))
        self.oracle, self.sign = oracle, -1.0 if worst else 1.0

    def values_by_player(self, states, margin_weight):
        boards = [4 + 3 * player for player in range(self.game.num_players)]
        found = [states[:, at + 2] + self.oracle.table[states[:, at], states[:, at + 1]] for at in boards]
        return self.sign * np.stack(found, axis=1)


def test_exact_values_have_no_regret(oracle):
    found = measure_solo(ByOracle(1, oracle), oracle, 600)
    assert abs(found.regret.mean) < 1e-9
    assert found.regret.error < 1e-9
    assert found.score.mean == pytest.approx(248.44, abs=4 * found.score.error)
    worst = measure_solo(ByOracle(1, oracle, worst=True), oracle, 300)
    assert worst.regret.mean > 150
    # Score and regret sum to the optimal score.
    assert worst.score.mean + worst.regret.mean == pytest.approx(
        248.44, abs=4 * worst.score.error + 4 * worst.regret.error
    )


def test_solo_optimal_values_split_every_pair_with_the_solo_optimal_player(oracle):
    found = measure_against_solo(ByOracle(2, oracle), oracle, 300)
    assert (found.won.mean, found.won.error) == (0.5, 0.0)
    assert found.score.mean == found.solo_score.mean == pytest.approx(248.44, abs=4 * found.score.error)
    assert found.table == {"0": 0, "0.25": 0, "0.5": 300, "0.75": 0, "1": 0}
    worst = measure_against_solo(ByOracle(2, oracle, worst=True), oracle, 50)
    assert worst.won.mean == 0.0
    assert worst.table["0"] == 50
    assert worst.score.mean < 100 < worst.solo_score.mean


def test_threads_and_more_games_do_not_change_the_first_games(oracle):
    values = ByOracle(1, oracle, worst=True)
    first = measure_solo(values, oracle, CHUNK + 50)
    assert first == measure_solo(values, oracle, CHUNK + 50, threads=3)
    assert first != measure_solo(values, oracle, CHUNK + 50, seed=1)
    assert measure_against_solo(ByOracle(2, oracle, worst=True), oracle, 40) != first


def test_a_network_of_another_game_is_rejected(oracle):
    with pytest.raises(ConfigError, match=r"expected Yatzy with 1 player$"):
        measure_solo(ByOracle(2, oracle), oracle, 10)
    with pytest.raises(ConfigError, match="expected Yatzy with 2 players"):
        measure_against_solo(ByOracle(1, oracle), oracle, 10)
    with pytest.raises(ConfigError, match="games is 1, expected an integer of at least 2"):
        measure_solo(ByOracle(1, oracle), oracle, 1)
    game = aleazero.load_game("pig", target=20)
    net = make_value_net(ValueNetConfig(), feature_shape(game), ByOracle(1, oracle).outcome.columns)
    with pytest.raises(ConfigError, match="expected Yatzy"):
        measure_solo(NetValues(game, net, net.initial(0)), oracle, 10)


def test_other_games_have_no_fast_measurement(tmp_path):
    assert measure_values(tmp_path / "none", aleazero.load_game("pig")) == {}
    assert measure_values(tmp_path / "none", aleazero.load_game("yatzy", players=3)) == {}
