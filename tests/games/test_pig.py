"""Pig: rules, text, and comparison with OpenSpiel's pig."""

import random

import pyspiel
import pytest

from aleazero.errors import GameError, PositionError
from aleazero.games.registry import load_game


@pytest.fixture
def game():
    return load_game("pig", target=20)


def test_agrees_with_openspiel_except_for_holding_no_points():
    # In OpenSpiel the faces are 0 to 5 and holding without points is legal; all other rules are the same.
    ours_game, theirs_game = load_game("pig", target=30), pyspiel.load_game("pig", {"winscore": 30})
    draw = random.Random(5)
    ends = 0
    for _ in range(150):
        ours, theirs = ours_game.new_initial_state(), theirs_game.new_initial_state()
        while not ours.is_terminal():
            assert ours.current_player() == theirs.current_player()
            vector = ours.vector
            assert f"Scores: {vector[0]} {vector[1]}, Turn total: {vector[2]}" in str(theirs)
            if ours.is_chance_node():
                face = draw.randint(1, 6)
                assert [p for _, p in ours.chance_outcomes()] == pytest.approx([p for _, p in theirs.chance_outcomes()])
                ours.apply_action(face)
                theirs.apply_action(face - 1)
                continue
            allowed = theirs.legal_actions()
            assert ours.legal_actions() == (allowed if vector[2] else [0])
            action = draw.choice(ours.legal_actions())
            ours.apply_action(action)
            theirs.apply_action(action)
        assert theirs.is_terminal()
        assert ours.returns() == theirs.returns()
        ends += 1
    assert ends == 150


def test_a_one_loses_only_the_points_of_the_turn(game):
    state = game.state_from_text("5-6 turn 9 player 0")
    state.play("roll 1")
    assert state.to_text() == "5-6 turn 0 player 1"


def test_holding_enough_wins(game):
    state = game.state_from_text("5-6 turn 16 player 0")
    assert state.legal_actions() == [1]
    state.play("hold")
    assert (state.to_text(), state.returns()) == ("21-6 turn 0 player 0 over", [1.0, -1.0])


def test_at_a_chance_node_the_player_who_rolls_is_the_viewer(game):
    state = game.state_from_text("5-6 turn 2 player 1 rolling")
    assert (state.current_player(), state.viewer()) == (-1, 1)
    assert state.observation_tensor().tolist() == pytest.approx([6 / 20, 5 / 20, 2 / 20, 1.0, 1.0])


@pytest.mark.parametrize(
    "text",
    [
        *("", "5", "5-6 turn", "5-6 turn 3 player 2", "20-3", "5-6 turn 1", "25-3 turn 0 player 1 over"),
        *("5-6 turn 15 player 0 rolling", "5-6 turn 21", "26-3 player 0 over", "20-3 turn 4 over", "5-6 over"),
    ],
)
def test_invalid_positions_raise_one_line(game, text):
    with pytest.raises(PositionError, match="expected") as error:
        game.state_from_text(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("target", [1, 2.5, "x", 10**6])
def test_invalid_targets_are_rejected(target):
    with pytest.raises(GameError, match="target"):
        load_game("pig", target=target)
