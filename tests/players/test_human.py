from __future__ import annotations

import pytest

import aleazero
from aleazero.players.human import HumanPlayer, names_of, understood

YATZY = aleazero.load_game("yatzy", players=1)


def ask(state, *lines, actions=None):
    """What a person selects who types some lines, and what they were shown."""
    typed, shown = iter(lines), []
    player = HumanPlayer(lambda: next(typed), shown.append)
    return player.select(state, 0, actions), "".join(shown)


def test_a_move_by_name_or_id():
    pig = aleazero.load_game("pig")
    state = pig.state_from_text("12-30 turn 7")
    assert ask(state, " Hold ")[0] == 1
    action, shown = ask(state, "0")
    assert action == 0
    assert str(state) in shown
    assert "player 0, your move (roll, hold):" in shown


def test_nonsense_is_asked_again():
    state = aleazero.load_game("tic_tac_toe").state_from_text("x.o/.x./..o")
    action, shown = ask(state, "", "fly", "0", "99", "-1", "3")
    assert action == 3
    assert shown.count("your move") == 6
    for said in ("type a move by name,", "no action 'fly'", "action 0 is illegal here", "action 99", "action -1"):
        assert said in shown


def test_what_is_not_allowed_is_asked_again():
    state = aleazero.load_game("tic_tac_toe").new_initial_state()
    action, shown = ask(state, "4", "8", actions=[0, 8])
    assert action == 8
    assert f"{state.action_to_string(4)} is not allowed, expected {names_of(state, [0, 8])}" in shown


def test_equivalents_are_understood():
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 1")
    other = next(a for a in range(YATZY.num_actions) if state.canonical_action(a) not in (-1, a))
    assert understood(state, str(other)) == state.canonical_action(other)


@pytest.mark.parametrize(
    ("typed", "name"), [("33", "keep-33"), ("366", "keep-366"), (" ALL", "keep-all"), ("6", "keep-6")]
)
def test_the_last_part_of_a_name_goes_before_an_id(typed, name):
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 1")
    assert state.action_to_string(understood(state, typed)) == name


def test_many_names_are_cut():
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 12356 rerolls 1")
    assert len(state.legal_actions()) > 20
    assert names_of(state, state.legal_actions()).endswith(", …")
    assert names_of(state, state.legal_actions()).count(",") == 20


def test_forced_moves_are_not_asked_for():
    assert ask(aleazero.load_game("pig").state_from_text("0-0")) == (0, "")


def test_the_end_of_input(monkeypatch, capsys):
    def ended():
        raise EOFError

    state = aleazero.load_game("pig").state_from_text("12-30 turn 7")
    with pytest.raises(EOFError):
        HumanPlayer(ended).select(state, 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "your move" in err
