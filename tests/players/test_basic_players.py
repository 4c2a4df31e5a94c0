from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero.errors import IllegalActionError
from aleazero.oracles.oracle import require_oracle
from aleazero.players.basic import (
    HumanPlayer,
    OraclePlayer,
    Points,
    RandomPlayer,
    action_names,
    greedy_player,
    read_move,
    value_in_points,
)


def test_the_random_player_is_uniform():
    game = aleazero.load_game("tic_tac_toe")
    start = game.new_initial_state()
    chosen = RandomPlayer().select_many([start] * 9000, range(9000))
    counts = np.bincount(chosen, minlength=9)
    assert (abs(counts - 1000) < 5 * np.sqrt(1000 * 8 / 9)).all()
    assert RandomPlayer().select(start, 7) == RandomPlayer().select(start, 7)


def test_the_oracle_player_breaks_ties_by_the_lowest_id():
    game = aleazero.load_game("tic_tac_toe")
    player = OraclePlayer(require_oracle(game))
    assert player.select(game.new_initial_state(), 0) == 0  # all nine actions draw
    assert player.select(game.state_from_text("x.o/.x./..o"), 0) == 5  # the only action that does not lose


def test_greedy_holds_at_twenty_in_pig():
    pig = aleazero.load_game("pig")
    player = greedy_player(pig)
    turns = (15, 16, 17, 18, 19, 21, 22, 23, 24)  # at 20 rolling and holding are equal
    chosen = [player.select(pig.state_from_text(f"10-30 turn {turn}"), 0) for turn in turns]
    assert chosen == [0] * 5 + [1] * 4


def test_greedy_completes_a_row_in_tic_tac_toe():
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("xx./oo./...")
    assert state.action_to_string(greedy_player(game).select(state, 0)) == state.action_to_string(2)


@pytest.mark.parametrize("players", [1, 2])
def test_greedy_maximizes_points_in_yatzy(players):
    game = aleazero.load_game("yatzy", players=players)
    boards = " / ".join(["filled none upper 0 total 0"] * players)
    player = greedy_player(game)

    def selected(turn):
        state = game.state_from_text(f"{boards} / player 0 {turn}")
        return state.action_to_string(player.select(state, 0))

    assert selected("dice 33366 rerolls 0") == "house"
    assert selected("dice 55555 rerolls 0") == "yatzy"
    assert selected("dice 55556 rerolls 1") == "keep-5555"


def test_greedy_takes_the_largest_merge_in_2048():
    game = aleazero.load_game("2048")
    state = game.state_from_text("2 2 . ./64 . . ./64 . . ./4 . . . score 0")
    assert state.action_to_string(greedy_player(game).select(state, 0)) in ("up", "down")


def test_points_count_if_returns_are_wins():
    assert value_in_points(aleazero.load_game("pig").state_from_text("60-25 turn 9")).tolist() == [0.35, -0.35]
    alone = aleazero.load_game("yatzy", players=1).state_from_text("filled chance upper 0 total 22 / player 0 to roll")
    assert value_in_points(alone).tolist() == [22.0]


def test_greedy_counts_points_taken_from_the_opponent(tmp_path):
    tag = (Path(__file__).parents[2] / "examples/tag.py").read_text(encoding="utf-8")
    file = tmp_path / "tag.py"
    file.write_text(tag + "\n\ndef points(state, out):\n    out[0], out[1] = state[0] / LENGTH, state[1] / LENGTH\n")
    game = aleazero.load_game(str(file))
    state = game.state_from_vector([3, 7, 0, aleazero.DECISION, 0])  # the opponent is two squares ahead
    # Dashing gains 17/6 squares and takes 7/6; walking gains 2 and takes 7/3.
    values = aleazero.Planner(game, Points(), backend="plain").plan(state).action_values(state)
    assert {game_action: value[0] * 12 for game_action, value in values.items()} == pytest.approx(
        {0: 3 + 2 - 7 + 7 / 3, 1: 3 + 17 / 6 - 7 + 7 / 6}
    )
    assert greedy_player(game).select(state, 0) == 0


def test_the_return_replaces_points_at_the_end():
    pig = aleazero.load_game("pig")
    won = pig.state_from_text("94-25 turn 0 player 0")
    won.play("roll 6")
    won.play("hold")
    assert won.is_terminal()
    assert value_in_points(won).tolist() == [0.75, -2.0]


def test_the_random_player_selects_allowed_actions():
    start = aleazero.load_game("tic_tac_toe").new_initial_state()
    chosen = RandomPlayer().select_many([start] * 900, range(900), [[1, 4, 7]] * 900)
    counts = np.bincount(chosen, minlength=9)[[1, 4, 7]]
    assert counts.sum() == 900
    assert (abs(counts - 300) < 5 * np.sqrt(300 * 2 / 3)).all()


def test_the_oracle_player_selects_the_best_allowed_action():
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("xx./oo./...")  # 2 wins, 5 blocks, all others lose
    player = OraclePlayer(require_oracle(game))
    assert [player.select(state, 0, some) for some in (None, [5, 6, 8], [6, 8])] == [2, 5, 6]


YATZY = aleazero.load_game("yatzy", players=1)


def ask(state, *lines, actions=None):
    """Return the actions of a person that types these lines, and the output."""
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


def test_invalid_input_is_prompted_again():
    state = aleazero.load_game("tic_tac_toe").state_from_text("x.o/.x./..o")
    action, shown = ask(state, "", "fly", "0", "99", "-1", "3")
    assert action == 3
    assert shown.count("your move") == 6
    for message in ("type a move by name,", "no action 'fly'", "action 0 is illegal here", "action 99", "action -1"):
        assert message in shown


def test_actions_that_are_not_allowed_are_prompted_again():
    state = aleazero.load_game("tic_tac_toe").new_initial_state()
    action, shown = ask(state, "4", "8", actions=[0, 8])
    assert action == 8
    assert f"{state.action_to_string(4)} is not allowed, expected {action_names(state, [0, 8])}" in shown


def test_equivalent_actions_are_accepted():
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 1")
    other = next(a for a in range(YATZY.num_actions) if state.canonical_action(a) not in (-1, a))
    assert read_move(state, f"#{other}") == state.canonical_action(other)


def test_a_number_that_is_not_a_name_is_not_read_as_an_id_where_names_are_numbers():
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 34555 rerolls 1")
    with pytest.raises(IllegalActionError, match=r"no action '31' here, expected one of keep.*, or #31 for the action"):
        read_move(state, "31")
    assert state.action_to_string(read_move(state, "#31")) == "keep-all"
    board = aleazero.load_game("tic_tac_toe").new_initial_state()
    assert read_move(board, "4") == read_move(board, "#4") == 4


@pytest.mark.parametrize(
    ("typed", "name"), [("33", "keep-33"), ("366", "keep-366"), (" ALL", "keep-all"), ("6", "keep-6")]
)
def test_the_last_part_of_a_name_has_priority_over_an_id(typed, name):
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 1")
    assert state.action_to_string(read_move(state, typed)) == name


def test_long_lists_of_names_are_shortened():
    state = YATZY.state_from_text("filled none upper 0 total 0 / player 0 dice 12356 rerolls 1")
    assert len(state.legal_actions()) > 20
    assert action_names(state, state.legal_actions()).endswith(", …")
    assert action_names(state, state.legal_actions()).count(",") == 20


def test_forced_moves_need_no_prompt():
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
