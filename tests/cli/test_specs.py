from __future__ import annotations

import pytest

import aleazero
from aleazero.cli.specs import (
    SETTING_OPTIONS,
    read_config,
    read_evaluator,
    read_game,
    read_params,
    read_state,
)
from aleazero.players.make import ENDLESS


def test_params_are_numbers_truth_values_or_text():
    assert read_params(["a=5", "b=0.5", "c=true", "d=word", "e=x=y", "f="]) == {
        "a": 5, "b": 0.5, "c": True, "d": "word", "e": "x=y", "f": "",
    }  # fmt: skip


@pytest.mark.parametrize("pair", ["target", "=5", ""])
def test_a_param_needs_a_key_and_a_value(pair):
    with pytest.raises(aleazero.ConfigError, match="expected KEY=VALUE"):
        read_params([pair])


def test_games_by_name_and_from_openspiel():
    assert read_game("pig", ["target=20"]).params == {"target": 20}
    pytest.importorskip("pyspiel")
    assert read_game("openspiel:pig", ["winscore=20"]).num_players == 2


def test_a_state_is_a_position_and_then_moves():
    game = read_game("pig")
    assert read_state(game, "12-30 turn 7 player 1", "roll 5 hold").to_text() == "12-42 turn 0 player 0"
    assert read_state(game, None, None).to_text() == game.new_initial_state().to_text()


def test_evaluators():
    pig = aleazero.load_game("pig")
    assert read_evaluator("uniform", pig) == aleazero.Uniform()
    assert read_evaluator("rollout:4", pig) == aleazero.Rollout(4)
    assert read_evaluator("oracle") is None


@pytest.mark.parametrize(
    "spec", ["", "rolout", "rollout:", "rollout:0", "rollout:-1", "rollout:x", "uniform:2", "oracle:2"]
)
def test_bad_evaluators(spec):
    with pytest.raises(aleazero.ConfigError, match="--evaluator is"):
        read_evaluator(spec)


def test_another_budget_alone_lifts_the_simulations():
    assert read_config("closed", sims=None, otherwise=7).num_simulations == 7
    assert read_config("closed", sims=None, otherwise=7, max_seconds=1.0).num_simulations == ENDLESS
    assert read_config("closed", sims=3, otherwise=7, max_evaluations=9).num_simulations == 3


def test_settings_left_alone_keep_their_defaults():
    assert read_config("open", sims=5, otherwise=7, c=None, selection=None) == aleazero.SearchConfig(
        num_simulations=5, chance=aleazero.ChanceConfig(loop="open")
    )


def test_errors_name_the_option():
    assert SETTING_OPTIONS.keys() <= aleazero.SearchConfig.model_fields.keys()
    with pytest.raises(aleazero.ConfigError, match=r"^--nodes is 1, expected"):
        read_config("closed", sims=5, otherwise=7, max_nodes=1)
