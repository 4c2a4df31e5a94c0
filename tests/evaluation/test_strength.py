"""A player against the fixed opponents of a game."""

from __future__ import annotations

import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.strength import ROLLOUT, evaluate_player, fixed_opponents, fixed_positions

PIG = aleazero.load_game("pig", target=15)


def test_opponents_by_game():
    assert fixed_opponents(PIG) == {"random": "random", "rollout": ROLLOUT, "oracle": "oracle"}
    assert fixed_opponents(aleazero.load_game("yatzy", players=2))["oracle"] == "solo"
    assert list(fixed_opponents(aleazero.load_game("2048"))) == ["random", "rollout"]


def test_positions_are_always_the_same_and_have_a_choice():
    states = fixed_positions(PIG, count=30)
    assert [state.key() for state in states] == [state.key() for state in fixed_positions(PIG, count=30)]
    assert len({state.key() for state in states}) == len(states) == 30
    assert all(len(state.legal_actions()) > 1 for state in states)


def test_best_play_has_no_regret_and_is_not_beaten():
    told = []
    words = ["random", "oracle"]
    data = evaluate_player("oracle", PIG, pairs=30, against=words, progress=lambda *said: told.append(said)).to_dict()
    assert data["regret"]["mean"] == 0.0
    assert data["against"]["oracle"]["pair_table"] == {"0.5": 30}
    assert data["against"]["random"]["score"]["low"] > 0.5
    assert told[-1] == ("oracle", 30, 30)
    worse = evaluate_player("random", PIG, pairs=2, against=["random"], name="by lot").to_dict()
    assert worse["regret"]["mean"] > 0.01
    assert (list(worse["against"]), worse["player"]) == (["random"], "by lot")


def test_decisions_of_yatzy_for_two_are_judged_at_level_cards():
    game = aleazero.load_game("yatzy", players=2)
    best, worse = (evaluate_player(who, game, pairs=2, against=["random"]).regret for who in ("solo", "random"))
    assert best.overall.regret.count == 1530
    assert best.overall.regret.mean == 0.0
    assert worse.overall.regret.mean > 1.0


def test_who_is_unknown_is_refused():
    with pytest.raises(ConfigError, match="no opponent 'oracel' in pig"):
        evaluate_player("random", PIG, against=["oracel"])
