"""Play with n-tuple tables, compared with a plain Python implementation."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import ConfigError, PositionError
from aleazero.games.game_dice import GameDice
from aleazero.nets.table_play import TuplePlay
from aleazero.nets.tables import TupleTables
from tests.tuple_boards import SMALL, slow_value


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("2048")


@pytest.fixture(scope="module")
def tuples():
    made = TupleTables(SMALL)
    made.weights[:] = np.random.default_rng(2).normal(scale=20.0, size=len(made.weights))
    return made


def slow_look(tuples, state, plies):
    """Return the values of the actions, in plain Python."""
    return {action: slow_expect(tuples, state.child(action), plies - 1) for action in state.legal_actions()}


def slow_expect(tuples, after, plies):
    if plies == 0:
        return after.returns()[0] + float(slow_value(SMALL, tuples.weights, after.vector))
    total = 0.0
    for outcome, probability in after.chance_outcomes():
        state = after.child(outcome)
        value = state.returns()[0] if state.is_terminal() else max(slow_look(tuples, state, plies).values())
        total += probability * value
    return total


POSITIONS = (
    "2 4 2 4/4 2 4 2/2 4 2 4/4 2 8 8 score 100",
    "2 4 8 16/4 8 16 32/8 16 32 64/2 2 4 . score 700",
    "2 4 8 16/4 8 16 2/8 16 2 4/. 16 4 8 score 0",
)


@pytest.mark.parametrize("plies", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_choices_equal_the_reference_implementation(game, tuples, plies) -> None:
    states = [game.state_from_text(text) for text in POSITIONS]
    if plies < 3:
        states.append(game.state_from_text("2 4 8 16/. 8 4 2/. . 2 4/. . . 2"))
    actions = TuplePlay(game, tuples, plies).choose(np.array([state.vector for state in states]))
    for state, action in zip(states, actions, strict=True):
        values = slow_look(tuples, state, plies)
        assert len(values) > 1
        assert values[action] >= max(values.values()) - 1e-3


def test_games_equal_the_reference_implementation(game, tuples) -> None:
    ends = TuplePlay(game, tuples, threads=2).play(range(20))
    for seed in (0, 19):
        state, dice = game.new_initial_state(), GameDice(seed)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(dice.draw(state))
            else:
                values = slow_look(tuples, state, 1)
                state.apply_action(max(values, key=values.get))
        assert state.vector.tolist() == ends[seed].tolist()
    np.testing.assert_array_equal(ends, TuplePlay(game, tuples).play(range(20)))


def test_invalid_input_is_rejected(game, tuples) -> None:
    with pytest.raises(ConfigError, match="plies is 0"):
        TuplePlay(game, tuples, 0)
    with pytest.raises(ConfigError, match="threads is 0"):
        TuplePlay(game, tuples, threads=0)
    with pytest.raises(ConfigError, match="1 player"):
        TuplePlay(aleazero.load_game("pig"), tuples)
    with pytest.raises(PositionError, match="expected a decision node"):
        TuplePlay(game, tuples).choose(np.array([game.new_initial_state().vector]))
