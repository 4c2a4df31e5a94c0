from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.gate_rules import PROMOTE, GateConfig, decide


def test_the_unit_depends_on_the_game():
    solo, pig = aleazero.load_game("yatzy", players=1), aleazero.load_game("pig")
    assert (GateConfig().unit_of(solo), GateConfig().unit_of(pig)) == ("returns", "wins")
    assert GateConfig(unit="returns").unit_of(pig) == "returns"
    test = GateConfig().hypotheses(solo)
    assert (test.low, test.high, test.bounds) == (0.0, pytest.approx(0.02 * 374), (-374.0, 374.0))
    tag = aleazero.load_game(f"{Path(__file__).parents[2]}/examples/tag.py")  # its returns are 1 to 3 points
    three = aleazero.load_game("yatzy", players=3)
    assert (GateConfig().unit_of(tag), GateConfig().unit_of(three)) == ("returns", "wins")
    assert GateConfig().hypotheses(tag).bounds == (-6.0, 6.0)
    assert GateConfig(gain0=1.0, gain1=3.0).hypotheses(solo).high == 3.0
    assert GateConfig(score0=0.51, score1=0.6).hypotheses(pig).bounds == (0.0, 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"score0": 0.6}, "score0 is 0.6, expected less than score1, 0.55"),
        ({"gain0": 2.0, "gain1": 1.0}, "gain0 is 2.0, expected less than gain1, 1.0"),
        ({"alpha": 0.0}, "alpha is 0.0, expected greater than 0"),
        ({"pairs": 5}, "pairs is 5, expected greater than or equal to 10"),
        ({"rule": "elo"}, "rule is 'elo', expected 'sprt' or 'fixed'"),
        ({"pears": 5}, "no setting 'pears', did you mean pairs?"),
    ],
)
def test_invalid_settings_are_rejected(settings, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        GateConfig(**settings)


@pytest.mark.parametrize(
    ("game", "settings", "message"),
    [
        ("dice_game", {"score0": 0.45}, "score0 is 0.45, which has no effect: this gate of dice_game() counts returns"),
        ("pig", {"unit": "returns", "score1": 0.6}, "score1 is 0.6, which has no effect"),
        ("pig", {"gain1": 0.5}, "counts wins, expected score0, score1 or unit returns"),
    ],
)
def test_thresholds_of_the_other_unit_are_rejected(game, settings, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        GateConfig(**settings).hypotheses(aleazero.load_game(game))


def test_games_without_highest_return_require_gain1():
    game = aleazero.load_game("2048")
    with pytest.raises(ConfigError, match="gain1 is None, expected a number of points"):
        GateConfig().hypotheses(game)
    assert GateConfig(gain1=500.0).hypotheses(game).bounds is None
    with pytest.raises(ConfigError, match=r"gain1 is 1000, expected less than 374"):
        GateConfig(gain1=1000.0).hypotheses(aleazero.load_game("yatzy", players=1))


def test_in_a_three_player_game_a_player_that_wins_every_game_is_promoted_within_twelve_pairs():
    three, two = aleazero.load_game("yatzy", players=3), aleazero.load_game("yatzy")
    taken, found = decide(np.ones((1, 12)), GateConfig().hypotheses(three))
    assert (taken[0], found[0]) == (11, PROMOTE)
    assert GateConfig().hypotheses(two).spread == 0.25
    rng = np.random.default_rng(4)  # an equal player: six games per pair, each won with probability 1/2
    pairs = rng.binomial(6, 0.5, (2000, 200)) / 6
    promoted = (decide(pairs, GateConfig().hypotheses(three))[1] == PROMOTE).mean()
    assert promoted <= 0.05 + 4 * (0.05 * 0.95 / 2000) ** 0.5
