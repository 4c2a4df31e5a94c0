"""Tic-tac-toe: comparison with OpenSpiel in every state, and text."""

import pyspiel
import pytest

from aleazero.errors import IllegalActionError, PositionError
from aleazero.games.registry import load_game


@pytest.fixture
def game():
    return load_game("tic_tac_toe")


def test_agrees_with_openspiel_on_every_state(game):
    seen = set()

    def walk(ours, theirs):
        if ours.key() in seen:
            return
        seen.add(ours.key())
        assert ours.to_text().replace("/", "\n") == str(theirs)
        assert ours.current_player() == theirs.current_player()
        assert ours.legal_actions() == theirs.legal_actions()
        assert ours.returns() == theirs.returns()
        assert game.state_from_text(ours.to_text()).key() == ours.key()
        for action in ours.legal_actions():
            walk(ours.child(action), theirs.child(action))

    walk(game.new_initial_state(), pyspiel.load_game("tic_tac_toe").new_initial_state())
    assert len(seen) == 5478


def test_action_names_are_column_and_row_from_the_top_left(game):
    state = game.new_initial_state()
    state.play("a1 b2 c1")
    assert state.to_text() == "x.x/.o./..."
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["b1", "a2", "c2", "a3", "b3", "c3"]
    with pytest.raises(IllegalActionError):
        state.play("a1")


def test_render_shows_the_board(game):
    assert str(game.state_from_text("x.o/.x./...")) == "  a b c\n1 x . o\n2 . x .\n3 . . ."


@pytest.mark.parametrize(
    "text",
    [
        *("", "xo", "x.o/.x./..", "x.o/.x./..a", "x.o/.x./.../..."),
        *("xx./.../...", "o../.../...", "xxx/ooo/...", "xxx/oo./o..", "ooo/xx./x.x"),
    ],
)
def test_impossible_boards_are_rejected(game, text):
    with pytest.raises(PositionError, match=r"expected|after"):
        game.state_from_text(text)


def test_observation_is_own_marks_then_the_opponents(game):
    state = game.state_from_text("x.o/.x./...")
    assert state.viewer() == 1
    assert state.observation_tensor().tolist() == [0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0]
    assert state.observation_tensor(0).tolist()[:9] == [1, 0, 0, 0, 1, 0, 0, 0, 0]
