from __future__ import annotations

import json

import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.yatzy.measure import play_solitaire
from aleazero.evaluation.yatzy.positions import solitaire
from aleazero.players.make import make_player


def test_the_oracle_is_not_behind_itself(oracle):
    report = play_solitaire(make_player("oracle", solitaire()), 8, oracle, seed=3)
    assert report.behind.to_dict() == {"count": 8, "mean": 0.0, "error": 0.0, "low": 0.0, "high": 0.0}
    assert report.scores.totals.tolist() == report.best.totals.tolist()
    assert report.scores.bonuses.tolist() == report.best.bonuses.tolist()


def test_chance_is_far_behind_and_repeats(oracle):
    player = make_player("random", solitaire())
    first, again, other = (play_solitaire(player, 20, oracle, seed=3, player_seed=own) for own in (1, 1, 2))
    assert json.dumps(first.to_dict()) == json.dumps(again.to_dict()) != json.dumps(other.to_dict())
    assert first.best.totals.tolist() == other.best.totals.tolist()
    assert first.behind.low > 150


@pytest.mark.parametrize("games", [0, -1, 1.5, True, None])
def test_no_games_are_refused(oracle, games):
    with pytest.raises(ConfigError, match=r"games is .*, expected a whole number of at least 1"):
        play_solitaire(make_player("random", solitaire()), games, oracle)
