from __future__ import annotations

import pytest

import aleazero
from aleazero.cli.errors import blame_rules, error_line, one_line
from aleazero.cli.options import read_game, read_params, read_state, with_options
from aleazero.errors import ConfigError, GameError
from aleazero.players.spec import PlayerSpec


def test_params_are_numbers_truth_values_or_text():
    assert read_params(["a=5", "b=0.5", "c=true", "d=word", "e=x=y", "f="]) == {
        "a": 5, "b": 0.5, "c": True, "d": "word", "e": "x=y", "f": "",
    }  # fmt: skip


@pytest.mark.parametrize("pair", ["target", "=5", ""])
def test_a_param_needs_a_key_and_a_value(pair):
    with pytest.raises(aleazero.ConfigError, match="expected KEY=VALUE"):
        read_params([pair])


def test_the_end_of_the_input_is_an_error_of_one_line():
    assert error_line(EOFError()) == "the input ended, expected an answer for each prompt"


def test_a_param_is_given_once():
    with pytest.raises(ConfigError, match="--param target is given twice, expected it once"):
        read_params(["target=50", "target=60"])


def test_games_by_name_and_from_openspiel():
    assert read_game("pig", ["target=20"]).params == {"target": 20}
    assert read_game("pig(target=20)").params == {"target": 20}
    pytest.importorskip("pyspiel")
    assert read_game("openspiel:pig", ["winscore=20"]).num_players == 2


def test_a_state_is_a_position_and_then_moves():
    game = read_game("pig")
    assert read_state(game, "12-30 turn 7 player 1", "roll 5 hold").to_text() == "12-42 turn 0 player 0"
    assert read_state(game, None, None).to_text() == game.new_initial_state().to_text()


def test_moves_by_name_by_its_last_part_and_by_id():
    game = read_game("yatzy", ["players=1"])
    expected = read_state(game, None, "roll-13336 keep-333").to_text()
    first = game.new_initial_state().string_to_action("roll-13336")
    assert read_state(game, None, "13336 333").to_text() == expected
    assert read_state(game, None, f"{first} keep-333").to_text() == expected
    with pytest.raises(aleazero.IllegalActionError, match="no action '33x'"):
        read_state(game, None, "13336 33x")


SEARCH = PlayerSpec("search", {"sims": 7})
PIG = aleazero.load_game("pig")


def test_options_set_what_the_spec_leaves_open():
    assert with_options(SEARCH, {"sims": None, "c": 2.0}, PIG) == PlayerSpec("search", {"sims": 7, "c": 2.0})
    assert with_options(PlayerSpec("plan"), {"evaluator": "rollout:4"}, PIG).settings == {"evaluator": "rollout:4"}


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        (SEARCH, {"sims": 9}, "--sims is 9, which has no effect: the player 'search:sims=7' sets sims"),
        (PlayerSpec("greedy"), {"c": 2.0}, "--c is 2.0, which has no effect: the player 'greedy' has no c"),
        (SEARCH, {"chance": "opne"}, "--chance is 'opne', did you mean open"),
    ],
)
def test_options_without_effect_are_rejected(spec, options, message):
    with pytest.raises(aleazero.ConfigError, match=message):
        with_options(spec, options, PIG)


@pytest.mark.parametrize(
    "spec", ["", "rolout", "rollout:", "rollout:0", "rollout:-1", "rollout:x", "uniform:2", "oracle:2"]
)
def test_bad_evaluators(spec):
    with pytest.raises(aleazero.ConfigError, match="--evaluator is"):
        with_options(PlayerSpec("search"), {"evaluator": spec}, PIG)


def test_line_breaks_are_folded():
    assert one_line(ValueError("two\n  lines")) == "two lines"
    assert one_line(ValueError()) == "ValueError"


def test_rules_of_a_users_game_are_blamed():
    with (
        pytest.raises(GameError, match=r"mine\.py:Game: the rules raised ZeroDivisionError: no"),
        blame_rules("mine.py:Game"),
    ):
        raise ZeroDivisionError("no")


def test_our_own_games_are_not_blamed_for_our_bugs():
    with pytest.raises(ZeroDivisionError), blame_rules("pig"):
        raise ZeroDivisionError


def test_errors_of_the_tree_pass_unchanged():
    with pytest.raises(ConfigError, match=r"^as it is$"), blame_rules("mine.py"):
        raise ConfigError("as it is")
