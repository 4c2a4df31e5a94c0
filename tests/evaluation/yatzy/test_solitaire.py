from __future__ import annotations

import json

import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.yatzy.measure import play_solitaire
from aleazero.evaluation.yatzy.positions import solitaire
from aleazero.players.make import make_player


def test_the_oracle_has_no_loss(oracle):
    report = play_solitaire(make_player("oracle", solitaire()), 8, oracle, seed=3)
    assert report.loss.to_dict() == {"count": 8, "mean": 0.0, "error": 0.0, "low": 0.0, "high": 0.0}
    assert report.scores.totals.tolist() == report.best.totals.tolist()
    assert report.scores.bonuses.tolist() == report.best.bonuses.tolist()


def test_random_play_loses_many_points_and_is_reproducible(oracle):
    player = make_player("random", solitaire())
    first, again, other = (play_solitaire(player, 20, oracle, seed=3, player_seed=own) for own in (1, 1, 2))
    assert json.dumps(first.to_dict()) == json.dumps(again.to_dict()) != json.dumps(other.to_dict())
    assert first.best.totals.tolist() == other.best.totals.tolist()
    assert first.loss.low > 150


@pytest.mark.parametrize("games", [0, -1, 1.5, True, None])
def test_zero_games_are_rejected(oracle, games):
    with pytest.raises(ConfigError, match=r"games is .*, expected an integer of at least 1"):
        play_solitaire(make_player("random", solitaire()), games, oracle)
