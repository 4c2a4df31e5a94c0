"""Kernel games: bound parameters, states over vectors, and errors."""

import types

import numpy as np
import pytest

from aleazero.errors import ContractError, GameError, IllegalActionError, PositionError
from aleazero.games import pig
from aleazero.games.base import Features, GameInfo
from aleazero.games.kernel import bind, sample_listed
from aleazero.games.registry import load_game


def make(**changes):
    module = types.ModuleType("tiny")
    text = """
STEP = 1
def helper(state): return state[0] + STEP
def kind(state): return 0 if state[0] < 3 else 2
def to_play(state): return 0
def legal(state, out):
    out[0] = 1
    return 1
def apply(state, action): state[0] = helper(state)
def returns(state, out): out[0] = state[0]
def canonical(state, action): return 1 if action == 2 else action
"""
    exec(text, vars(module))
    info = {"name": "tiny", "num_players": 1, "num_actions": 3, "state_size": 1, **changes}
    module.describe = lambda: GameInfo(**info)
    return module


def test_parameters_apply_to_helpers_and_the_module_does_not_change():
    fast, slow = load_game(make(constants={"STEP": 3})), load_game(make())
    for game, steps in ((fast, 1), (slow, 3)):
        state = game.new_initial_state()
        for _ in range(steps):
            state.apply_action(1)
        assert state.is_terminal()
    assert pig.TARGET == 100
    assert load_game("pig", target=7).kernels.kind.__globals__["TARGET"] == 7
    assert pig.TARGET == 100


def test_constants_must_exist():
    with pytest.raises(ContractError, match="sets NO_SUCH"):
        bind(pig, {"NO_SUCH": 1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_players": 0}, "num_players is 0"),
        ({"num_actions": 0}, "num_actions is 0"),
        ({"state_size": 0}, "state_size is 0"),
        ({"utility": (1.0, 1.0)}, "lowest < highest"),
        ({"state_dtype": "float32"}, "signed integer"),
        ({"max_outcomes": 2}, "no function outcomes, apply_outcome"),
        ({"phases": ("early", "late")}, "the game has no function phase"),
        ({"levels": 0}, "levels is 0, expected at least 1"),
        ({"levels": 2}, "levels is 2 with 1 player and utility None, expected 2 players and utility"),
        (
            {"levels": 3, "num_players": 2, "utility": (-1.0, 1.0)},
            r"levels is 3 with 2 players and utility \(-1.0, 1.0\), expected 2 players and utility \(-3.0, 3.0\)",
        ),
        (
            {"levels": 2, "num_players": 2, "utility": (-2, 2), "features": Features("f", 1, 1, lead=0)},
            "levels is 2 and features have a lead, expected one of the two",
        ),
    ],
)
def test_invalid_descriptions_are_rejected(changes, message):
    with pytest.raises(ContractError, match=message):
        load_game(make(**changes))


def test_describe_that_raises_or_returns_none():
    module = make()
    module.describe = lambda: 1 / 0
    with pytest.raises(GameError, match="ZeroDivisionError"):
        load_game(module)
    module.describe = lambda: None
    with pytest.raises(ContractError, match="returned NoneType, expected GameInfo"):
        load_game(module)


def test_equivalent_actions_are_accepted_and_illegal_ones_rejected():
    state = load_game(make()).new_initial_state()
    assert state.legal_actions() == [1]
    state.apply_action(2)
    assert state.vector.tolist() == [1]
    for action in (0, 3, -1):
        with pytest.raises(IllegalActionError, match="expected one of 1"):
            state.apply_action(action)
    assert state.vector.tolist() == [1]


def test_impossible_outcomes_and_actions_after_the_end_are_rejected():
    state = load_game("pig").new_initial_state()
    state.apply_action(0)
    with pytest.raises(IllegalActionError, match="outcome 7 cannot happen"):
        state.apply_action(7)
    over = load_game("dice_game").state_from_text("20 over")
    with pytest.raises(IllegalActionError, match="the game is over"):
        over.apply_action(0)
    with pytest.raises(PositionError, match="the game is over"):
        over.require_running()


def test_methods_of_openspiel():
    state = load_game("pig", target=20).state_from_text("3-4 turn 5 player 1")
    assert (state.current_player(), state.legal_actions()) == (1, [0, 1])
    assert state.legal_actions_mask().tolist() == [True, True]
    child = state.child(0)
    assert (child.current_player(), child.is_chance_node(), child.legal_actions()) == (-1, True, [1, 2, 3, 4, 5, 6])
    assert child.legal_actions_mask().tolist() == [False, False]
    assert state.current_player() == 1
    assert state.string_to_action(" HOLD ") == 1
    assert state.string_to_action("1") == 1
    with pytest.raises(IllegalActionError, match="no action 'jump' here, expected one of roll \\(0\\), hold \\(1\\)"):
        state.string_to_action("jump")
    state.play("roll, 6, hold")
    assert state.to_text() == "3-15 turn 0 player 0"


def test_serialized_states_name_their_game():
    game = load_game("pig", target=20)
    state = game.state_from_text("3-4 turn 5 player 1")
    text = state.serialize()
    assert text == "pig(target=20)@1:3,4,5,1,0"
    assert game.deserialize(text).key() == state.key()
    assert game.deserialize("3,4,5,1,0").key() == state.key()
    for wrong in ("pig(target=100)@1:3,4,5,1,0", "3,4", "x", "3,4,5,1,z"):
        with pytest.raises(PositionError, match="expected"):
            game.deserialize(wrong)


def test_vectors_are_copied():
    game = load_game("pig")
    vector = np.zeros(5, np.int16)
    state = game.state_from_vector(vector)
    state.apply_action(0)
    assert vector.tolist() == [0] * 5


def test_sampling_from_a_list():
    outcomes = [(7, 0.25), (3, 0.75)]
    assert [sample_listed(outcomes, u) for u in (0.0, 0.2499, 0.25, 0.999)] == [7, 7, 3, 3]
    assert sample_listed([(1, 0.3), (2, 0.3)], 0.9) == 2
