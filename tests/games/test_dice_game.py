"""The dice game: rules, text and known values."""

import pytest

from aleazero.errors import PositionError
from aleazero.games.check import check_game
from aleazero.games.registry import load_game


@pytest.fixture
def game():
    return load_game("dice_game")


def test_census_counts_every_score(game):
    # Decisions and chance nodes have scores from 0 to 19, terminal states from 0 to 25.
    report = check_game(game)
    assert report.census == {"decision": 20, "chance": 20, "terminal": 26}
    assert (report.max_legal, report.max_outcomes) == (2, 6)


def test_rolling_adds_the_face_and_20_ends_the_game(game):
    state = game.new_initial_state()
    state.play("roll 6 roll 6 roll 6 roll 1")
    assert (state.to_text(), state.returns(), state.is_terminal()) == ("19", [19.0], False)
    state.play("roll 6")
    assert (state.to_text(), state.returns(), state.is_terminal()) == ("25 over", [25.0], True)


def test_stopping_keeps_the_score(game):
    state = game.state_from_text("13")
    state.play("stop")
    assert state.is_terminal()
    assert state.returns() == [13.0]


def test_the_afterstate_has_six_equal_outcomes(game):
    state = game.state_from_text("13 rolling")
    assert state.chance_outcomes() == [(face, pytest.approx(1 / 6)) for face in range(1, 7)]
    assert [state.sample_outcome((face - 0.5) / 6) for face in range(1, 7)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("text", ["", "x", "-1", "20", "20 rolling", "26 over", "3 stopped", "1.5", "٣", "9" * 40])
def test_invalid_positions_raise_one_line(game, text):
    with pytest.raises(PositionError, match="expected") as error:
        game.state_from_text(text)
    assert "\n" not in str(error.value)


def test_observation_is_score_and_whether_a_roll_follows(game):
    assert game.state_from_text("5").observation_tensor().tolist() == pytest.approx([0.2, 0.0])
    assert game.state_from_text("5 rolling").observation_tensor().tolist() == pytest.approx([0.2, 1.0])
