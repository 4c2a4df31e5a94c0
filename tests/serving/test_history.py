from __future__ import annotations

import json
import random

import pytest

import aleazero
from aleazero.errors import IllegalActionError
from aleazero.serving.session import Session
from tests.sample_games import COINS, sample_games

PIG = aleazero.load_game("pig", target=20)


def played(game, decisions=60, seed=7, source=None):
    """Return a session with random actions."""
    session = Session(game.new_initial_state(), seed, source=source)
    choose = random.Random(seed)
    session.draw_all()
    while not session.state.is_terminal() and session.ply < decisions:
        session.act(choose.choice(session.state.legal_actions()))
        session.draw_all()
    return session


def rewind(session):
    while session.undo() is not None:
        pass
    return session


@pytest.mark.parametrize("name", sorted(sample_games()))
def test_undo_to_the_start_and_redo_give_the_same_state_and_dice(name):
    game = sample_games()[name]
    session = played(game, source=COINS if name == "coins" else None)
    steps, end, history = session.steps, session.state.key(), list(session.history)
    data = json.loads(json.dumps(session.to_dict()))
    assert Session.from_dict(data).steps == steps
    assert Session.from_dict(data).state.key() == end
    rewind(session)
    assert session.state.key() == session.start_state().key() == game.new_initial_state().key()
    assert session.history == []
    for _ in range(len(steps) // 2):
        session.redo()
    half = Session.from_dict(session.to_dict())
    assert half.to_dict() == session.to_dict()
    for one in (session, half):
        while one.redo() is not None:
            pass
        assert (one.steps, one.state.key()) == (steps, end)
        assert one.redo() is None
    assert session.history == history
    rewind(session)
    for player, action in steps:  # the dice are drawn again, not redone
        session.draw() if player < 0 else session.act(action)
    assert session.history[-1] == {**history[-1]}
    assert (session.steps, session.state.key()) == (steps, end)


def test_a_different_action_deletes_the_steps_that_were_taken_back_and_an_equal_one_keeps_them():
    session = played(PIG, 6)
    steps = session.steps
    session.undo_decision()
    first = session.undo_decision()[-1]
    left = len(session.undone)
    session.act(first[1])
    assert len(session.undone) == left - 1
    session.undo()
    session.act(next(action for action in session.state.legal_actions() if action != first[1]))
    assert session.undone == []
    assert session.redo() is None
    assert session.steps[:-1] == steps[: len(session.steps) - 1]


def test_the_dice_after_an_undo_are_those_of_the_seed():
    session = Session(PIG.new_initial_state(), 5)
    session.act(0)
    first = session.draw()
    session.undo()
    assert session.draw() == first
    assert session.history[-1]["count"] == 0


def test_undo_to_the_decision_of_a_player():
    session = Session(PIG.new_initial_state(), 3)
    while session.state.current_player() == 0 or session.ply < 3:
        session.draw_all()
        session.act(1 if 1 in session.state.legal_actions() else 0)
        session.draw_all()
    assert session.state.current_player() == 1
    taken = session.undo_decision([0])
    assert taken[-1][0] == 0
    assert session.state.current_player() == 0
    assert session.redo_decision([1]) == taken[::-1]
    assert session.state.current_player() == 1
    rewind(session)
    assert session.undo_decision() == []
    assert session.redo_decision([1])[-1][0] in (-1, 0)


def test_a_complete_play_is_taken_back_and_played_again():
    session = played(aleazero.load_game("backgammon"), 30)
    mover = session.history[-1]
    taken = session.undo_decision(complete_plays=True)
    assert session.history[-1]["kind"] == "chance"
    assert mover not in session.history
    again = session.redo_decision(complete_plays=True)
    assert again == taken[::-1]


def test_an_error_changes_nothing():
    session = played(PIG, 5)
    before = session.to_dict()
    for wrong in (lambda: session.act(9), lambda: session.set_outcome(3)):
        with pytest.raises(IllegalActionError):
            wrong()
    session.act(0)
    with pytest.raises(IllegalActionError, match="chance moves here"):
        session.act(0)
    with pytest.raises(IllegalActionError, match="outcome 9 cannot happen here"):
        session.set_outcome(9)
    session.undo()
    assert session.to_dict()["steps"] == before["steps"]
    session.act(0)
    assert session.set_outcome(3) == "3"
    assert session.steps[-1] == (-1, 3)


def test_entered_outcomes_count_as_rolls():
    session, drawn = Session(PIG.new_initial_state(), 5), Session(PIG.new_initial_state(), 5)
    for one in (session, drawn):
        one.act(0)
    drawn.draw()
    session.set_outcome(6 if drawn.steps[-1][1] != 6 else 5)
    for one in (session, drawn):
        if one.state.current_player() == 0:
            one.act(0)
    assert session.draw()
    assert session.history[-1]["count"] == 1
