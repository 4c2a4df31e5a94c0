"""Backgammon's texts: moves in standard notation, GNU Backgammon's position ids, positions as lines, the board."""

import base64
import random

import pytest
from backgammon_brute import board_of, make_positions, play_positions

from aleazero.errors import IllegalActionError, PositionError
from aleazero.games.backgammon import (
    format_move,
    from_position,
    from_position_id,
    parse_move,
    position_id,
    to_position,
)
from aleazero.games.backgammon.position_id import decode
from aleazero.games.registry import load_game

NONE = (0, 0)


@pytest.fixture(scope="module")
def game():
    return load_game("backgammon")


def points_of(**counts):
    return [counts.get(f"p{place}", 0) for place in range(1, 25)]


def complete_moves(state, most=200):
    """Yield complete moves as lists of actions, at most ``most`` of a position."""
    mover, waiting, count = state.current_player(), [(state, [])], 0
    while waiting and count < most:
        now, actions = waiting.pop()
        for action in now.legal_actions():
            after = now.child(action)
            if after.current_player() == mover:
                waiting.append((after, [*actions, action]))
            else:
                count += 1
                yield [*actions, action], after


def play(state, actions):
    for action in actions:
        state = state.child(action)
    return state


# -- moves -------------------------------------------------------------------------------------------------------------


def test_every_legal_move_of_many_positions_is_read_back(game):
    played = [state for state in play_positions(game, random.Random(21), 3) if "second" not in state.to_text()]
    checked = 0
    for state in [*make_positions(seed=20, count=150), *played]:
        mover, texts = state.current_player(), {}
        for actions, after in complete_moves(state, most=60):
            text = format_move(state, actions)
            board = board_of(after, mover)
            assert texts.setdefault(text, board) == board, (state.to_text(), text)
            assert play(state, parse_move(state, text)).key() == after.key(), (state.to_text(), text)
            checked += 1
    assert checked > 5_000


def test_names_of_actions_are_read_as_moves(game):
    """If a move is one action, its name is the move in notation."""
    for state in list(play_positions(game, random.Random(22), 1))[::3]:
        for action in state.legal_actions()[:20]:
            after = state.child(action)
            if after.current_player() != state.current_player():
                assert parse_move(state, state.action_to_string(action)) == [action]


def test_actions_can_be_typed_in_other_ways(game):
    state = game.new_initial_state()
    state.play("6-4")
    for text in ("24/14", "24/18 18/14", "24/20/14", "24/18/14"):
        assert state.string_to_action(text) == 26 * 20 + 24
    assert state.string_to_action("6/2 8/2") == state.string_to_action("8/2 6/2")
    for text in ("24/15", "13/9", "x", "pass"):
        with pytest.raises(IllegalActionError, match=r"no action .* here, expected one of"):
            state.string_to_action(text)
    with pytest.raises(IllegalActionError, match="no action"):
        game.new_initial_state().string_to_action("8/2 6/2")
    both = from_position(points_of(p13=15, p9=-1, p7=-1, p19=-13), NONE, NONE, (6, 4))
    with pytest.raises(IllegalActionError, match="no action"):
        both.string_to_action("13/3")  # by way of 9 or of 7


@pytest.mark.parametrize(
    ("dice", "text", "shown"),
    [
        ((3, 1), "8/5 6/5", "8/5 6/5"),
        ((3, 1), "6/5 8/5", "8/5 6/5"),
        ((6, 4), "24/14", "24/14"),
        ((6, 4), "24/20 20/14", "24/14"),
        ((6, 4), "24/18/14", "24/14"),
        ((6, 6), "24/18(2) 13/7(2)", "24/18(2) 13/7(2)"),
        ((6, 6), "13/7 24/18 13/7 24/18", "24/18(2) 13/7(2)"),
        ((3, 3), "8/2(2)", "8/2(2)"),
        ((3, 3), "24/15 13/10", "24/15 13/10"),
        ((3, 3), "13/7 6/3(2)", "13/7 6/3(2)"),
    ],
)
def test_moves_from_the_start(dice, text, shown):
    state = from_position(to_position(load_game("backgammon").new_initial_state(), 0)[0], NONE, NONE, dice)
    assert format_move(state, parse_move(state, text)) == shown


def test_hits_the_bar_and_bearing_off():
    state = from_position(points_of(p6=14, p22=-1, p19=-14), (1, 0), NONE, (3, 1))
    assert "bar/22*/21" in {state.action_to_string(action) for action in state.legal_actions()}
    for text in ("bar/22*/21", "bar/22* 22/21", "25/22*/21", "BAR/22*/21"):
        assert format_move(state, parse_move(state, text)) == "bar/22*/21"
    # 24/21 (bar/21) by way of 24 does not hit, so the star matters.
    assert format_move(state, parse_move(state, "bar/21")) == "bar/21"
    off = from_position(points_of(p6=2, p3=2, p19=-15), NONE, (11, 0), (6, 3))
    assert format_move(off, parse_move(off, "6/off 3/0")) == "6/off 3/off"
    one_die = from_position(points_of(p2=1, p19=-1), NONE, (14, 14), (6, 5))
    assert [one_die.action_to_string(action) for action in one_die.legal_actions()] == ["2/off"]
    passed = from_position(points_of(p6=14, p19=-3, p20=-2, p21=-2, p22=-2, p23=-2, p24=-4), (1, 0), NONE, (6, 4))
    for text in ("", "pass", "Cannot Move", "(no move)"):
        assert parse_move(passed, text) == [675]
    assert format_move(passed, [675]) == "pass"


def test_a_star_is_needed_only_to_tell_moves_apart():
    # 13/3 by way of 9 hits, by way of 7 it does not.
    state = from_position(points_of(p13=15, p9=-1, p19=-14), NONE, NONE, (6, 4))
    assert format_move(state, parse_move(state, "13/3")) == "13/3"
    assert format_move(state, parse_move(state, "13/9*/3")) == "13/9*/3"
    assert format_move(state, parse_move(state, "13/9 13/7")) == "13/9* 13/7"
    both = from_position(points_of(p13=15, p9=-1, p7=-1, p19=-13), NONE, NONE, (6, 4))
    with pytest.raises(IllegalActionError, match=r"several ways, expected 13/7\*/3 or 13/9\*/3"):
        parse_move(both, "13/3")
    with pytest.raises(IllegalActionError, match="star at 8"):
        parse_move(from_position(points_of(p13=15, p9=-1, p19=-14), NONE, NONE, (5, 2)), "13/8* 13/11")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("8/4 6/5", "'8/4 6/5' is not legal with 3-1, expected one of"),
        ("8/5", "not legal"),
        ("pass", "not legal"),
        ("5/8 6/5", "cannot read '5/8'"),
        ("8-5 6-5", "cannot read '8-5'"),
        ("99/5", "cannot read '99/5'"),
        ("8/5 6/5 x" + "y" * 500, "cannot read"),
        ("8/5(9)", "cannot read"),
        ("off/bar", "cannot read"),
    ],
)
def test_illegal_moves_raise_one_line(game, text, message):
    state = game.new_initial_state()
    state.play("3-1")
    with pytest.raises(IllegalActionError, match=message) as error:
        parse_move(state, text)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600


def test_a_move_needs_a_roll(game):
    with pytest.raises(IllegalActionError, match="before a roll"):
        parse_move(game.new_initial_state(), "8/5 6/5")


# -- position ids ------------------------------------------------------------------------------------------------------

KNOWN = {  # from GNU Backgammon (gnubg-nn 1.1.0a11, position_id)
    "4HPwATDgc/ABMA": points_of(p24=2, p13=5, p8=3, p6=5, p1=-2, p12=-5, p17=-3, p19=-5),
    # After 3-1, 8/5 6/5; the other player is on roll.
    "sGfwATDgc/ABMA": points_of(p24=2, p13=5, p8=3, p6=5, p1=-2, p12=-5, p17=-2, p19=-4, p20=-2),
}


KNOWN_COUNTS = {
    # By id: the checkers of the player who is not on roll, then of the player on roll; ace point first, the bar last.
    "BWIEQP3aAwBAAA": ("1100000100200100000000001", "1612400000000000000000001"),
    "0hnDSkDV9wYAQA": ("0101302002000211010000001", "1115420000000000000000001"),
    "EwyEBExSBAAAAA": ("2010000200000100010100000", "0201010110010000000000000"),
    "BQAAmO0GAAAAAA": ("1100000000000000000000000", "2022320000000000000000000"),
}


@pytest.mark.parametrize("text", KNOWN)
def test_known_position_ids(text):
    state = from_position(KNOWN[text])
    assert position_id(state) == text
    assert from_position_id(text).key() == state.key()
    assert from_position_id(text, (3, 1), player=1).to_text() == f"{text} player 1 dice 3-1"


@pytest.mark.parametrize("text", KNOWN_COUNTS)
def test_known_position_ids_with_checkers_on_the_bar_and_off(text):
    other, own = ([int(count) for count in counts] for counts in KNOWN_COUNTS[text])
    points, bar, off = to_position(from_position_id(text), 0)
    assert list(points) == [a - b for a, b in zip(own[:24], other[23::-1], strict=True)]
    assert bar == (own[24], other[24])
    assert off == (15 - sum(own), 15 - sum(other))
    assert position_id(from_position(points, bar, off)) == text


def test_position_ids_are_read_back():
    for state in make_positions(seed=23, count=300):
        dice = [int(die) for die in state.to_text().rpartition("dice ")[2].split("-")]
        again = from_position_id(position_id(state), dice, player=state.current_player())
        assert again.key() == state.key()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("4HPwATDgc/ABM", "is not a position id"),
        ("4HPwATDgc/ABM!", "is not a position id"),
        ("", "is not a position id"),
        ("//////////////", "25 places"),
        ("AAAAAAAAAAAAAA", "two players without checkers"),
        ("//8HAAAAAAAAAA", "0 and 19 checkers, expected at most 15 each"),
    ],
)
def test_invalid_position_ids(text, message):
    with pytest.raises(PositionError, match=message):
        from_position_id(text)


def test_both_players_on_one_point_are_rejected():
    # One checker of the other player on its 24 point, one of the own on the ace point.
    bits = "0" * 23 + "10" + "0" + "10" + "0" * 24
    key = int(bits[::-1], 2).to_bytes(10, "little")
    with pytest.raises(PositionError, match="both players on point 1"):
        decode(base64.b64encode(key).decode().rstrip("="))


# -- lines and boards --------------------------------------------------------------------------------------------------


def test_a_position_without_a_player_is_before_the_roll_of_player_0(game):
    state = game.state_from_text("4HPwATDgc/ABMA")
    assert state.to_text() == "4HPwATDgc/ABMA player 0 to roll"
    assert game.state_from_text("  4HPwATDgc/ABMA   player 1  dice 6-6 ").current_player() == 1
    assert game.new_initial_state().to_text() == "4HPwATDgc/ABMA opening"


@pytest.mark.parametrize(
    "text",
    [
        *("", "start", "4HPwATDgc/ABMA player 2", "4HPwATDgc/ABMA player 0 dice 7-1", "4HPwATDgc/ABMA dice 3"),
        *("4HPwATDgc/ABMA player 0 won", "sGfwATDgc/ABMA opening", "4HPwATDgc/ABMA player 0 dice 3-1 second"),
        *("4HPwATDgc/ABMA player 0 counting off 0-0", "4HPwATDgc/ABMA player 0 placing off 99-0"),
        *("AAAAAAAAAAAAAA player 0 won", "AAAAAABgAAAAAA player 0 to roll"),
    ],
)
def test_invalid_lines_raise_one_line(game, text):
    with pytest.raises(PositionError, match="expected") as error:
        game.state_from_text(text)
    assert "\n" not in str(error.value)


BOARD = """\
 +13-14-15-16-17-18------19-20-21-22-23-24-+
 | O                |   |                O |  O: player 1, 46 pips, 4 off
 |                  |   |                O |
 |                  |   |                O |
 |                  | X |                O |
 |                  | X |                9 |
 |                  |BAR|                  |
 |                  | O |11                |
 |                  |   | X                |
 |                  |   | X                |
 |                  |   | X                |
 |                  |   | X        X       |  X: player 0, 119 pips, 1 off
 +12-11-10--9--8--7-------6--5--4--3--2--1-+
player 0 (X) plays 5-2"""


def test_the_board_shows_checkers_numbers_the_bar_and_the_dice():
    assert str(from_position(points_of(p6=11, p3=1, p24=-9, p13=-1), (2, 1), (1, 4), (5, 2))) == BOARD


@pytest.mark.parametrize("text", ["4HPwATDgc/ABMA dice 3-1", "4HPwATDgc/ABMA dice 1-3", "4HPwATDgc/ABMA  dice 31"])
def test_a_position_id_with_dice_belongs_to_player_0(game, text):
    assert game.state_from_text(text).to_text() == "4HPwATDgc/ABMA player 0 dice 3-1"


def test_points_have_the_numbers_of_the_player_to_move(game):
    first, second = (str(game.state_from_text(f"4HPwATDgc/ABMA player {player} to roll")) for player in (0, 1))
    assert first.splitlines()[0] == second.splitlines()[-2] == " +13-14-15-16-17-18------19-20-21-22-23-24-+"
    assert first.splitlines()[-2] == second.splitlines()[0] == " +12-11-10--9--8--7-------6--5--4--3--2--1-+"
    assert first.splitlines()[1:-2] == second.splitlines()[1:-2]  # the checkers stay where they are
