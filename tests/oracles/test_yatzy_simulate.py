from __future__ import annotations

import numpy as np
import pytest

from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.yatzy.positions import solitaire
from aleazero.games.yatzy.card import BOARDS, UPPER
from aleazero.oracles.yatzy_simulate import simulate
from aleazero.players.basic import OraclePlayer


def test_a_simulated_game_equals_that_of_the_oracle_player(oracle):
    seeds = [*game_seeds(3, 10), 2001, 2**64 - 1, 0]
    simulated = simulate(oracle, seeds)
    ends = [game.state for game in play_match(solitaire(), [OraclePlayer(oracle)], seeds)]
    assert simulated.totals.tolist() == [state.returns()[0] for state in ends]
    assert simulated.bonuses.tolist() == [state.vector[BOARDS + UPPER] == 63 for state in ends]


def test_the_mean_score_and_the_bonus_rate(oracle):
    games = simulate(oracle, game_seeds(1, 20_000))
    error = games.totals.std(ddof=1) / np.sqrt(len(games.totals))
    assert abs(games.totals.mean() - oracle.expected()) < 3 * error
    assert games.bonuses.mean() == pytest.approx(0.89, abs=0.02)


def test_games_do_not_depend_on_threads_and_other_games(oracle):
    seeds, told = game_seeds(5, 600), []
    one = simulate(oracle, seeds, threads=1, progress=lambda done, of: told.append((done, of)))
    two = simulate(oracle, seeds, threads=2)
    assert one.totals.tolist() == two.totals.tolist()
    assert simulate(oracle, seeds[300:310]).totals.tolist() == one.totals[300:310].tolist()
    assert told == [(250, 600), (500, 600), (600, 600)]
