from __future__ import annotations

import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.gate_config import GateConfig


def test_what_counts_depends_on_the_players():
    alone, pig = aleazero.load_game("yatzy", players=1), aleazero.load_game("pig")
    assert (GateConfig().unit_of(alone), GateConfig().unit_of(pig)) == ("returns", "wins")
    assert GateConfig(unit="returns").unit_of(pig) == "returns"
    test = GateConfig().hypotheses(alone)
    assert (test.low, test.high, test.bounds) == (0.0, pytest.approx(0.02 * 374), (-374.0, 374.0))
    assert GateConfig(gain0=1.0, gain1=3.0).hypotheses(alone).high == 3.0
    assert GateConfig(score0=0.51, score1=0.6).hypotheses(pig).bounds == (0.0, 1.0)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"score0": 0.6}, "score0 is 0.6, expected less than score1, 0.55"),
        ({"gain0": 2.0, "gain1": 1.0}, "gain0 is 2.0, expected less than gain1, 1.0"),
        ({"alpha": 0.0}, "alpha is 0.0, expected greater than 0"),
        ({"pairs": 5}, "pairs is 5, expected greater than or equal to 10"),
        ({"rule": "elo"}, "rule is 'elo', expected 'sprt' or 'fixed'"),
        ({"pears": 5}, "no setting 'pears', did you mean pairs?"),
    ],
)
def test_what_does_not_go_is_refused(settings, said):
    with pytest.raises(ConfigError, match=said.replace("?", r"\?")):
        GateConfig(**settings)


def test_points_without_an_end_need_to_be_told_what_is_worth_finding():
    game = aleazero.load_game("2048")
    with pytest.raises(ConfigError, match="gain1 is None, expected the points worth finding"):
        GateConfig().hypotheses(game)
    assert GateConfig(gain1=500.0).hypotheses(game).bounds is None
    with pytest.raises(ConfigError, match=r"gain1 is 1000, expected less than 374"):
        GateConfig(gain1=1000.0).hypotheses(aleazero.load_game("yatzy", players=1))
