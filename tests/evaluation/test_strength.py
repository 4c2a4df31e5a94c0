"""A player against the fixed opponents of a game."""

from __future__ import annotations

import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.strength import ROLLOUT, evaluate_player, fixed_opponents, fixed_positions

PIG = aleazero.load_game("pig", target=20)


def test_opponents_by_game():
    assert fixed_opponents(PIG) == {"random": "random", "rollout": ROLLOUT, "oracle": "oracle"}
    assert fixed_opponents(aleazero.load_game("yatzy", players=2))["solo-optimal"] == "solo"
    assert list(fixed_opponents(aleazero.load_game("2048"))) == ["random", "rollout"]


def test_fixed_positions_are_reproducible_and_have_several_actions():
    states = fixed_positions(PIG, count=30)
    assert [state.key() for state in states] == [state.key() for state in fixed_positions(PIG, count=30)]
    assert len({state.key() for state in states}) == len(states) == 30
    assert all(len(state.legal_actions()) > 1 for state in states)


def test_the_oracle_has_no_regret_and_is_not_beaten():
    calls = []
    names = ["random", "oracle"]
    report = evaluate_player("oracle", PIG, pairs=30, against=names, progress=lambda *call: calls.append(call))
    data = report.to_dict()
    assert data["regret"]["mean"] == 0.0
    assert data["against"]["oracle"]["pair_table"] == {"0.5": 30}
    assert data["against"]["random"]["score"]["low"] > 0.5
    assert calls[-1] == ("oracle", 30, 30)
    worse = evaluate_player("random", PIG, pairs=2, against=["random"], name="my player").to_dict()
    assert worse["regret"]["mean"] > 0.01
    assert (list(worse["against"]), worse["player"]) == (["random"], "my player")


def test_regret_in_two_player_yatzy_uses_equal_cards():
    game = aleazero.load_game("yatzy", players=2)
    best, worse = (evaluate_player(spec, game, pairs=2, against=["random"]).regret for spec in ("solo", "random"))
    assert best.overall.regret.count == 1530
    assert best.overall.regret.mean == 0.0
    assert worse.overall.regret.mean > 1.0


def test_unknown_opponents_are_rejected():
    with pytest.raises(ConfigError, match="no opponent 'oracel' in pig"):
        evaluate_player("random", PIG, against=["oracel"])
