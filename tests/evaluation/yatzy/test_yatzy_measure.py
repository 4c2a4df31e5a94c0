"""Yatzy's planning players, judged in native code."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.strength import measure_values
from aleazero.evaluation.yatzy.measure import CHUNK, measure_duel, measure_solo
from aleazero.nets.config import ValueNetConfig
from aleazero.nets.outcome import feature_shape
from aleazero.nets.value_net import make_value_net
from aleazero.nets.values import NetValues


class ByOracle(NetValues):
    """Values boards as the player who is best alone does; ``worst`` turns that round."""

    def __init__(self, players, oracle, worst=False):
        game = aleazero.load_game("yatzy", players=players)
        super().__init__(game, None, np.zeros(1, np.float32))
        self.oracle, self.sign = oracle, -1.0 if worst else 1.0

    def values_by_player(self, states, margin_weight):
        boards = [4 + 3 * player for player in range(self.game.num_players)]
        found = [states[:, at + 2] + self.oracle.table[states[:, at], states[:, at + 1]] for at in boards]
        return self.sign * np.stack(found, axis=1)


def test_the_oracle_regrets_nothing(oracle):
    found = measure_solo(ByOracle(1, oracle), oracle, 600)
    assert abs(found.regret.mean) < 1e-9
    assert found.regret.error < 1e-9
    assert found.score.mean == pytest.approx(248.44, abs=4 * found.score.error)
    worst = measure_solo(ByOracle(1, oracle, worst=True), oracle, 300)
    assert worst.regret.mean > 150
    # Regret and score are two ways to the same number.
    assert worst.score.mean + worst.regret.mean == pytest.approx(
        248.44, abs=4 * worst.score.error + 4 * worst.regret.error
    )


def test_against_itself_the_oracle_wins_half_of_each_pair(oracle):
    found = measure_duel(ByOracle(2, oracle), oracle, 300)
    assert (found.won.mean, found.won.error) == (0.5, 0.0)
    assert found.score.mean == found.oracle_score.mean == pytest.approx(248.44, abs=4 * found.score.error)
    assert found.table == {"0": 0, "0.25": 0, "0.5": 300, "0.75": 0, "1": 0}
    worst = measure_duel(ByOracle(2, oracle, worst=True), oracle, 50)
    assert worst.won.mean == 0.0
    assert worst.table["0"] == 50
    assert worst.score.mean < 100 < worst.oracle_score.mean


def test_neither_threads_nor_more_games_change_the_first_ones(oracle):
    values = ByOracle(1, oracle, worst=True)
    first = measure_solo(values, oracle, CHUNK + 50)
    assert first == measure_solo(values, oracle, CHUNK + 50, threads=3)
    assert first != measure_solo(values, oracle, CHUNK + 50, seed=1)
    assert measure_duel(ByOracle(2, oracle, worst=True), oracle, 40) != first


def test_a_network_of_the_wrong_game_is_refused(oracle):
    with pytest.raises(ConfigError, match="expected Yatzy with 1 players"):
        measure_solo(ByOracle(2, oracle), oracle, 10)
    with pytest.raises(ConfigError, match="expected Yatzy with 2 players"):
        measure_duel(ByOracle(1, oracle), oracle, 10)
    with pytest.raises(ConfigError, match="games is 1, expected a whole number of at least 2"):
        measure_solo(ByOracle(1, oracle), oracle, 1)
    game = aleazero.load_game("pig", target=20)
    net = make_value_net(ValueNetConfig(), feature_shape(game), ByOracle(1, oracle).outcome.columns)
    with pytest.raises(ConfigError, match="expected Yatzy"):
        measure_solo(NetValues(game, net, net.initial(0)), oracle, 10)


def test_where_nothing_is_exact_nothing_is_told(tmp_path):
    assert measure_values(tmp_path / "none", aleazero.load_game("pig")) == {}
    assert measure_values(tmp_path / "none", aleazero.load_game("yatzy", players=3)) == {}
