"""Backgammon's rules: OpenSpiel's boards, a brute force, random play, starts, results and impossible positions."""

import math
import random

import numpy as np
import pyspiel
import pytest
from backgammon_brute import board_of, final_boards, half_moves, make_positions, our_final_boards, play_positions

from aleazero.errors import GameError, IllegalActionError, PositionError
from aleazero.games.backgammon import from_position, to_position
from aleazero.games.check import check_game
from aleazero.games.check_compiled import compile_kernels, play_compiled
from aleazero.games.registry import load_game

START = (-2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2)
NONE = (0, 0)


@pytest.fixture(scope="module")
def game():
    return load_game("backgammon")


def points_of(**counts):
    """Return 24 points from counts by point of the player, negative for the other player: p6=2, p1=-3."""
    return [counts.get(f"p{place}", 0) for place in range(1, 25)]


def names(state):
    return {state.action_to_string(action) for action in state.legal_actions()}


# -- the contract ------------------------------------------------------------------------------------------------------


VARIANTS = [{"checkers": 3}, {"start": "race"}, {"start": "bearoff", "checkers": 6}]


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("params", VARIANTS, ids=str)
def test_variants_pass_the_checks(params, compiled):
    report = check_game(load_game("backgammon", **params), episodes=3, max_states=300, seconds=None, compiled=compiled)
    assert report.warnings == ()
    assert report.compiled_games == (10_000 if compiled else 0)


def test_sizes(game):
    info = game.info
    assert (info.num_actions, info.max_outcomes, info.levels, info.utility) == (676, 30, 3, (-3.0, 3.0))
    assert info.phases == ("contact", "race")
    state = game.new_initial_state()
    assert len(state.chance_outcomes()) == 30
    assert all(probability == pytest.approx(1 / 30) for _, probability in state.chance_outcomes())
    state.play("6-4, 24/14")
    assert len(state.chance_outcomes()) == 21
    chances = {state.action_to_string(outcome): chance for outcome, chance in state.chance_outcomes()}
    assert (chances["5-5"], chances["5-4"]) == pytest.approx((1 / 36, 1 / 18))
    assert sum(chances.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(("roll", "player", "dice"), [("6-1", 0, (6, 1)), ("1-6", 1, (6, 1)), ("3-5", 1, (5, 3))])
def test_the_higher_die_of_the_opening_roll_starts_and_plays_it(game, roll, player, dice):
    state = game.new_initial_state()
    state.play(roll)
    assert state.current_player() == player
    assert state.to_text() == f"4HPwATDgc/ABMA player {player} dice {dice[0]}-{dice[1]}"
    with pytest.raises(IllegalActionError, match="4-4"):
        game.new_initial_state().play("4-4")


# -- legal moves -------------------------------------------------------------------------------------------------------


def boards_after_actions(state):
    """Return the boards after each legal action, from the mover's view."""
    mover = state.current_player()
    boards = [board_of(state.child(action), mover) for action in state.legal_actions()]
    assert len(set(boards)) == len(boards), state.to_text()
    return set(boards)


def test_moves_equal_a_brute_force_on_random_positions():
    seen = {"bar": 0, "off": 0, "one die": 0, "pass": 0, "double": 0}
    for state in make_positions(seed=5, count=700):
        mover = state.current_player()
        before, dice = board_of(state, mover), state.to_text().rpartition("dice ")[2].split("-")
        expected = final_boards(before, [int(die) for die in dice])
        assert our_final_boards(state) == expected, state.to_text()
        boards_after_actions(state)
        actions = state.legal_actions()
        seen["bar"] += before[0][25] > 0
        seen["off"] += any(board[0][0] > before[0][0] for board in expected)
        seen["one die"] += dice[0] != dice[1] and any((action % 26 == 25) != (action // 26 == 25) for action in actions)
        seen["pass"] += actions == [675]
        seen["double"] += dice[0] == dice[1]
    assert min(seen.values()) > 10, seen


def test_moves_equal_a_brute_force_in_play(game):
    for state in play_positions(game, random.Random(6), 4):
        if "second" in state.to_text():
            continue
        dice = [int(die) for die in state.to_text().rpartition("dice ")[2].split("-")]
        assert our_final_boards(state) == final_boards(board_of(state, state.current_player()), dice), state.to_text()


def position_of_openspiel(state):
    """Return the position of an OpenSpiel state from the view of the player to move, and the dice."""
    mover = state.current_player()
    lines = dict(line.split(":", 1) for line in str(state).splitlines() if ":" in line and not line.startswith("|"))
    scores = {part.split(":")[0].strip(): int(part.split(":")[1]) for part in str(state).split("Scores,")[1].split(",")}
    bars = [lines["Bar"].count(mark) for mark in "xo"]
    # Player 0 (x) moves up from point 0 and player 1 (o) moves down.
    points = [[state.board(player, place) for place in range(24)] for player in (0, 1)]
    own = [a - b for a, b in zip(points[mover], points[1 - mover], strict=True)]
    dice = [int(mark) for mark in lines["Dice"].strip()]
    off = (scores["XO"[mover]], scores["XO"[1 - mover]])
    return own[::-1] if mover == 0 else own, (bars[mover], bars[1 - mover]), off, dice


def test_boards_equal_those_of_openspiel():
    theirs_game, draw = pyspiel.load_game("backgammon(scoring_type=full_scoring)"), random.Random(7)
    compared = {"both": 0, "bar": 0, "off": 0, "double": 0, 0: 0, 1: 0}
    while compared["both"] < 2_000:
        theirs = theirs_game.new_initial_state()
        while not theirs.is_terminal():
            if theirs.is_chance_node():
                theirs.apply_action(draw.choice(theirs.legal_actions()))
                continue
            mover = theirs.current_player()
            if "Extra turn: 0" in str(theirs):
                points, bar, off, dice = position_of_openspiel(theirs)
                ours = from_position(points, bar, off, dice, player=mover)
                assert our_final_boards(ours) == set(openspiel_boards(theirs, dice)), ours.to_text()
                compared["both"] += 1
                compared["bar"] += bar[0] > 0
                compared["off"] += off[0] > 0
                compared["double"] += dice[0] == dice[1]
                compared[mover] += 1
            theirs.apply_action(draw.choice(theirs.legal_actions()))
    assert min(compared.values()) > 100, compared


def openspiel_boards(state, dice):
    """Yield the boards after all complete moves in OpenSpiel, from the view of the mover."""
    mover = state.current_player()
    waiting = [(state, 1)]
    seen = set()
    while waiting:
        now, turn = waiting.pop()
        for action in now.legal_actions():
            after = now.child(action)
            board = board_of_openspiel(after, mover)
            if turn == 1 and dice[0] == dice[1] and not after.is_terminal() and after.current_player() == mover:
                if board not in seen:
                    seen.add(board)
                    waiting.append((after, 2))
            else:
                yield board


def board_of_openspiel(state, mover):
    text = str(state)
    bar = next(line for line in text.splitlines() if line.startswith("Bar:"))
    boards = []
    for player in (mover, 1 - mover):
        points = [state.board(player, place) for place in range(24)]
        points = points[::-1] if player == 0 else points
        on_bar = bar.count("xo"[player])
        boards.append((15 - sum(points) - on_bar, *points, on_bar))
    return tuple(boards)


def test_both_dice_are_used_if_possible():
    # After 20/16 the 3 could not be played, so the 4 is played from 8.
    state = from_position(points_of(p20=1, p8=1, p13=-2, p5=-2, p1=-2, p24=-9), NONE, (13, 0), (4, 3))
    assert len(half_moves(board_of(state, 0), 4)) == 2
    assert names(state) == {"20/17 8/4"}


def test_if_only_one_die_can_be_used_it_is_the_higher_one():
    # Either die can be played from 20, but not both.
    state = from_position(points_of(p20=1, p1=14, p10=-2, p24=-2, p23=-2, p22=-2, p21=-7), NONE, NONE, (6, 4))
    assert {len(half_moves(board_of(state, 0), die)) for die in (6, 4)} == {1}
    assert names(state) == {"20/14"}
    blocked = from_position(points_of(p20=1, p1=14, p14=-2, p10=-2, p24=-2, p23=-2, p22=-7), NONE, NONE, (6, 4))
    assert names(blocked) == {"20/16"}


def test_checkers_on_the_bar_enter_first():
    state = from_position(points_of(p6=13, p19=-15), (2, 0), NONE, (6, 4))
    assert names(state) == {"bar/21"}  # the 6 point of the other is held, and the second checker stays
    one = from_position(points_of(p6=14, p19=-15), (1, 0), NONE, (6, 4))
    assert names(one) == {"bar/15"}
    closed = from_position(points_of(p6=14, p19=-3, p20=-2, p21=-2, p22=-2, p23=-2, p24=-4), (1, 0), NONE, (6, 4))
    assert closed.legal_actions() == [675]
    assert names(closed) == {"pass"}
    closed.play("pass")
    assert closed.to_text().endswith("player 1 to roll")


def test_a_high_die_bears_off_only_the_furthest_checker():
    state = from_position(points_of(p5=1, p2=1, p24=-1), NONE, (13, 14), (6, 3))
    assert names(state) == {"5/off 2/off", "5/off"}  # 5/off leaves a checker: 5/2 with the 3, then 2/off with the 6
    assert names(from_position(points_of(p5=2, p24=-1), NONE, (13, 14), (4, 3))) == {"5/2 5/1"}


def test_equivalent_actions_are_listed_once_with_the_smallest_id(game):
    state = game.new_initial_state()
    state.play("6-4")
    # 24/14 by way of 18 (24 with the 6, 18 with the 4) or by way of 20.
    high_first, low_first = 26 * 24 + 18, 26 * 20 + 24
    assert low_first in state.legal_actions()
    assert high_first not in state.legal_actions()
    assert state.canonical_action(high_first) == low_first
    assert state.child(high_first).key() == state.child(low_first).key()
    assert state.canonical_action(26 * 6 + 6) == -1  # the 6 point cannot be played with the 6 and the 4
    double = from_position(START, NONE, NONE, (3, 3))
    assert double.canonical_action(26 * 13 + 8) == 26 * 8 + 13
    off = from_position(points_of(p1=2, p2=2, p24=-1), NONE, (11, 14), (6, 5))
    assert off.legal_actions() == [26 * 2 + 2]
    last = from_position(points_of(p1=1, p2=1, p24=-1), NONE, (13, 14), (6, 5))
    assert last.legal_actions() == [26 * 1 + 2]
    assert last.canonical_action(26 * 2 + 1) == 26 * 1 + 2


def test_a_double_is_two_actions_of_one_player(game):
    state = game.new_initial_state()
    state.play("2-1, 13/11 6/5, 6-6")
    assert state.current_player() == 1
    state.play("24/18(2),")
    assert (state.current_player(), state.to_text()[-10:]) == (1, "6-6 second")
    state.play("13/7(2),")
    assert state.is_chance_node()
    assert state.viewer() == 1
    assert to_position(state, 1)[0][17] == to_position(state, 1)[0][6] == 2


def test_a_double_ends_when_no_half_move_is_left():
    state = from_position(points_of(p24=1, p1=14, p12=-2, p18=-2, p13=-11), NONE, NONE, (3, 3))
    assert names(state) == {"24/21"}
    state.play("24/21,")
    assert state.is_chance_node()
    two = from_position(points_of(p24=2, p1=13, p18=-15), NONE, NONE, (3, 3))
    two.play("24/21(2),")  # blocked on 18 now
    assert two.is_chance_node()


# -- results -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("points", "bar", "off", "value"),
    [
        (points_of(p1=1, p24=-14), NONE, (14, 1), 1),
        (points_of(p1=1, p24=-15), NONE, (14, 0), 2),
        (points_of(p1=1, p7=-1, p24=-14), NONE, (14, 0), 2),
        (points_of(p1=1, p6=-1, p24=-14), NONE, (14, 0), 3),
        (points_of(p1=1, p24=-14), (0, 1), (14, 0), 3),
        (points_of(p1=1, p6=-1, p24=-13), NONE, (14, 1), 1),
    ],
)
def test_single_gammon_and_backgammon(points, bar, off, value, player):
    state = from_position(points, bar, off, (2, 1), player=player)
    assert names(state) == {"1/off"}
    assert state.returns() == [0.0, 0.0]
    state.play("1/off")
    assert state.is_terminal()
    assert state.returns() == ([value, -value] if player == 0 else [-value, value])
    assert state.viewer() == player


def test_random_play_agrees_with_the_known_shares(game):
    """37 % single, 36 % gammon, 27 % backgammon."""
    count = 12_000
    ends = np.concatenate(
        [returns for _, returns in play_compiled(game, compile_kernels(game.kernels), 11, count, 10_000)]
    )
    assert len(ends) == count
    shares = [float((np.abs(ends[:, 0]) == level).mean()) for level in (1, 2, 3)]
    sigma = 0.5 / math.sqrt(count)
    assert shares == pytest.approx([0.37, 0.36, 0.27], abs=5 * sigma + 0.005)
    assert float(ends[:, 0].mean()) == pytest.approx(0.0, abs=5 * 2.1 / math.sqrt(count))


def test_random_play_has_about_112_actions_per_game(game):
    games = 150
    actions = sum(1 for _ in play_positions(game, random.Random(12), games))
    assert actions / games == pytest.approx(112, abs=5 * 40 / math.sqrt(games))


# -- phases and observations -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("points", "bar", "phase", "kind"),
    [
        (START, NONE, "contact", "contact"),
        (points_of(p6=15, p7=-15), NONE, "race", "race"),
        (points_of(p8=15, p7=-15), NONE, "contact", "contact"),
        (points_of(p6=15, p19=-15), NONE, "race", "bearoff"),
        (points_of(p6=14, p19=-15), (1, 0), "contact", "contact"),
    ],
)
def test_phases(points, bar, phase, kind):
    for dice in (None, (2, 1)):
        state = from_position(points, bar, NONE, dice)
        assert state.game.info.phases[state.phase()] == phase
    assert state.game.info.decision_classes[state.decision_class()] == kind


def test_the_observation_has_the_documented_layout():
    state = from_position(points_of(p6=7, p8=1, p24=-9), (1, 2), (6, 4), (5, 3))
    seen = state.observation_tensor()
    assert len(seen) == 275
    own, other, common = seen[:128], seen[128:256], seen[256:]
    assert own[25:30].tolist() == pytest.approx([1, 1, 1, 1, 3 / 4])
    assert own[35:40].tolist() == [1, 0, 0, 0, 0]
    pips = 7 * 6 + 8 + 25
    assert own[120:].tolist() == pytest.approx([1, 0, 0, 6 / 15, 1, pips / 100, 1, 0])
    assert other[:5].tolist() == pytest.approx([1, 1, 1, 1, 5 / 4])
    assert other[120:].tolist() == pytest.approx([1, 1, 0, 4 / 15, 1, (9 + 50) / 100, 1, 0])
    assert common.tolist() == pytest.approx([(pips - 59) / 50, 1, 1, 0, 0, *one_hot(5), *one_hot(3), 0, 0])
    assert np.array_equal(state.observation_tensor(1)[:128], other)
    assert np.count_nonzero(seen[:120]) == 6


def one_hot(face):
    return [float(face == other) for other in range(1, 7)]


# -- positions ---------------------------------------------------------------------------------------------------------


def test_positions_are_read_from_either_view(game):
    state = game.new_initial_state()
    assert to_position(state, 0) == to_position(state, 1) == (START, NONE, NONE)
    moved = from_position(START, NONE, NONE, (3, 1)).child(26 * 8 + 6)
    points = list(START)
    points[7], points[5], points[4] = 2, 4, 2
    assert to_position(moved, 0) == (tuple(points), NONE, NONE)
    assert to_position(moved, 1)[0] == tuple(-count for count in reversed(points))
    for seat in (0, 1):
        for position in make_positions(seed=9, count=20)[seat::2]:
            again = from_position(*to_position(position, position.current_player()), dice_of(position),
                                  player=position.current_player())  # fmt: skip
            assert again.key() == position.key()
    assert from_position(START).chance_outcomes()[0][1] == pytest.approx(1 / 36)
    over = from_position(points_of(p24=-2), NONE, (15, 13))
    assert over.is_terminal()
    assert over.returns() == [1.0, -1.0]


def dice_of(state):
    return [int(die) for die in state.to_text().rpartition("dice ")[2].split("-")]


@pytest.mark.parametrize(
    ("position", "message"),
    [
        ((points_of(p6=16, p19=-15), NONE, NONE), "16 checkers of player 0 and 15 of player 1, expected 15 each"),
        ((points_of(p6=14, p19=-15), NONE, NONE), "14 checkers of player 0"),
        ((points_of(p6=15, p19=-15), (-1, 0), (1, 0)), "at least 0"),
        ((points_of(p1=-3), NONE, (15, 12), (6, 5)), "finished game"),
        (([0] * 24, NONE, (15, 15)), "two players without checkers"),
        (([0] * 23, NONE, NONE), "23 points"),
        ((points_of(p6=15, p19=-15), NONE, NONE, (7, 1)), r"dice \[7, 1\], expected two from 1 to 6"),
        ((points_of(p6=15, p19=-15), NONE, NONE, (6,)), "expected two from 1 to 6"),
        (([0.5] * 24, NONE, NONE), "expected an integer"),
        (([10**30] * 24, NONE, NONE), "expected at most 15"),
        (
            (
                points_of(p1=2, p2=2, p3=2, p4=2, p5=2, p6=2, p19=-2, p20=-2, p21=-2, p22=-2, p23=-2, p24=-2),
                (3, 3),
                NONE,
            ),
            "both players on the bar",
        ),
    ],
)
def test_impossible_positions_raise_one_line(position, message):
    with pytest.raises(PositionError, match=message) as error:
        from_position(*position)
    assert "\n" not in str(error.value)


def test_other_numbers_of_checkers_need_their_game():
    with pytest.raises(PositionError, match="checkers=N"):
        from_position(points_of(p6=6, p19=-6), NONE, NONE)
    six = load_game("backgammon", start="bearoff", checkers=6)
    assert from_position(points_of(p6=6, p19=-6), NONE, NONE, (2, 1), game=six).legal_actions()
    hyper = from_position(points_of(p6=3, p19=-3), NONE, NONE)
    assert hyper.game.params["checkers"] == 3
    with pytest.raises(PositionError, match="expected 0 or 1"):
        to_position(hyper, 2)


# -- parameters --------------------------------------------------------------------------------------------------------


def test_hypergammon_starts_with_three_checkers():
    state = load_game("backgammon", checkers=3).new_initial_state()
    assert to_position(state, 0)[0] == tuple(points_of(p24=1, p23=1, p22=1, p1=-1, p2=-1, p3=-1))
    state.play("6-5")
    assert "24/13" in names(state)


@pytest.mark.parametrize(
    ("start", "checkers", "span", "events"), [("race", 15, 12, 30), ("bearoff", 15, 6, None), ("bearoff", 1, 6, 4)]
)
def test_random_starts_have_no_contact(start, checkers, span, events):
    game, draw = load_game("backgammon", start=start, checkers=checkers), random.Random(3)
    off = set()
    for _ in range(30):
        state, count = game.new_initial_state(), 0
        while " to roll" not in state.to_text():
            assert state.chance_outcomes()
            state.apply_action(state.sample_outcome(draw.random()))
            count += 1
        assert events in (None, count)
        for player in (0, 1):
            points, bar, gone = to_position(state, player)
            assert min(points[:span]) >= 0
            assert bar == NONE
            assert sum(points[:span]) + gone[0] == checkers
            off.add(gone[0])
        assert len(state.chance_outcomes()) == 21
        assert state.game.info.phases[state.phase()] == "race"
    assert max(off) < checkers
    assert len(off) > 8 if (start, checkers) == ("bearoff", 15) else off == {0}


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"start": "middle"}, "start is 'middle', expected standard, race or bearoff"),
        ({"checkers": 16}, "checkers is 16, expected 1 to 15"),
        ({"checkers": True}, "checkers is True"),
        ({"checkers": 7}, "expected 15, or 3 for hypergammon"),
    ],
)
def test_invalid_parameters(params, message):
    with pytest.raises(GameError, match=message):
        load_game("backgammon", **params)


@pytest.mark.parametrize("place", range(32, 39))
def test_the_cube_and_the_match_score_have_a_place_in_the_state(game, place):
    vector = game.new_initial_state().vector.copy()
    vector[place] = 1
    with pytest.raises(PositionError, match="cube and the match score, expected zeros"):
        game.state_from_vector(vector)
