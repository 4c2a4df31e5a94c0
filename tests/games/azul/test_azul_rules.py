"""Rules of Azul, by cases that were worked out by hand."""

import random

import numpy as np
import pytest
from azul_positions import (
    BLACK,
    BLUE,
    CENTRE,
    FLOOR,
    RED,
    WHITE,
    YELLOW,
    action,
    board,
    count_tiles,
    position,
    tiles,
    wall,
)

from aleazero import check_game, load_game, make_player
from aleazero.errors import GameError, IllegalActionError
from aleazero.games.azul import from_position, is_capped, to_position
from aleazero.games.game_dice import GameDice


def last_draft(*boards, colour=WHITE, to=FLOOR, mover=None, negative=False, **parts):
    """Let the last player (or ``mover``) draft the only tile on display; return the state after the round."""
    mover = len(boards) - 1 if mover is None else mover
    parts = {"next_start": 0, **parts}
    centre = [0] * 5
    centre[colour] = 1
    state = from_position(position(*boards, to_move=mover, centre=centre, **parts), negative_scores=negative)
    state.apply_action(action(CENTRE[len(boards)], colour, to))
    return state


def score_of(state, player=0):
    return to_position(state)["boards"][player]["score"]


# -- the end of a round ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "penalty"), list(enumerate([0, 1, 2, 4, 6, 8, 11, 14])))
def test_every_floor_total(count, penalty):
    state = last_draft(board(score=50, floor=(RED,) * count), board())
    assert (score_of(state), state.is_chance_node()) == (50 - penalty, True)
    assert to_position(state)["lid"] == tiles(red=count, white=1)


def test_the_marker_counts_as_a_floor_tile_and_does_not_go_to_the_lid():
    state = last_draft(board(score=9, floor=("marker", RED)), board(), next_start=0)
    after = to_position(state)
    assert (score_of(state), after["lid"], after["boards"][0]["floor"]) == (7, tiles(red=1, white=1), [])


PLACEMENTS = {
    "isolated": ((), 0, BLUE, 1),
    "beside a gap": (("..XX.",), 0, BLUE, 1),
    "diagonal neighbours": ((".....", ".X.X."), 0, RED, 1),
    "row of two": ((".X...",), 0, BLUE, 2),
    "row on both sides": (("XX.X.",), 0, RED, 4),
    "row of four": ((".XXX.",), 0, BLUE, 4),
    "column of two": ((".....", "X...."), 0, BLUE, 2),
    "column of four": ((".....", "X....", "X....", "X...."), 0, BLUE, 4),
    "full column": (("..X..", "..X..", ".....", "..X..", "..X.."), 2, BLUE, 5),
    "corner": ((".X...", "X...."), 0, BLUE, 4),
    "cross": (("..X..", "..X..", ".X.X.", "..X.."), 2, BLUE, 7),
    "largest": (("..X..", "..X..", "XX.XX", "..X..", "..X.."), 2, BLUE, 10),
}


@pytest.mark.parametrize(("rows", "line", "colour", "points"), PLACEMENTS.values(), ids=PLACEMENTS)
def test_points_of_a_placement(rows, line, colour, points):
    own = board(score=20, wall=wall(*rows), lines={line: (colour, line + 1)})
    state = last_draft(own, board())
    after = to_position(state)["boards"][0]
    full_row = sum(after["wall"][line]) == 5
    full_column = all(row[(colour + line) % 5] for row in after["wall"])
    assert after["score"] == 20 + points + 2 * full_row + 7 * (full_column and full_row)
    assert after["wall"][line][(colour + line) % 5] == 1
    assert after["lines"][line] == [None, 0]
    assert to_position(state)["lid"][colour] == line
    assert state.is_terminal() == full_row


def test_later_lines_of_a_round_see_the_tiles_of_earlier_ones():
    # Column 0 from the top: blue 1, white 2, black 3 points. The fourth line is not full.
    state = last_draft(board(lines={0: (BLUE, 1), 1: (WHITE, 2), 2: (BLACK, 3), 3: (RED, 3)}), board())
    assert score_of(state) == 1 + 2 + 3
    assert to_position(state)["boards"][0]["lines"] == [[None, 0]] * 3 + [[RED, 3], [None, 0]]
    assert to_position(state)["lid"] == tiles(white=1 + 1, black=2)


def test_tiles_are_placed_from_the_top_row():
    # Yellow makes a row of two, then blue a column of two. In the other order, blue would score 1 and yellow 2 + 2.
    own = board(wall=wall("X....", "....."), lines={0: (YELLOW, 1), 1: (BLUE, 2)})
    state = last_draft(own, board())
    assert score_of(state) == 2 + 2


def test_the_score_does_not_fall_below_zero_by_the_rulebook():
    own = board(score=3, lines={0: (BLUE, 1)}, floor=(RED,) * 7)
    assert score_of(last_draft(own, board())) == 0
    assert score_of(last_draft(own, board(), negative=True)) == 3 + 1 - 14
    assert score_of(last_draft(board(score=2), board(), negative=True)) == 2


def test_the_floor_is_subtracted_after_the_placements():
    own = board(score=0, lines={0: (BLUE, 1)}, floor=(RED, RED))
    assert score_of(last_draft(own, board())) == 0
    own = board(score=0, wall=wall(".XX.."), lines={0: (BLUE, 1)}, floor=(RED, RED))
    assert score_of(last_draft(own, board())) == 3 - 2


def test_the_holder_of_the_marker_starts_the_next_round_also_with_two_drafts_in_a_row():
    state = last_draft(board(), board(floor=("marker",)), next_start=1)
    after = to_position(state)
    assert (after["to_move"], after["next_start"], after["marker"], after["phase"]) == (1, None, True, "refill")
    while state.is_chance_node():
        state.apply_action(state.sample_outcome(0.5))
    assert state.current_player() == 1


# -- drafts ------------------------------------------------------------------------------------------------------------


def test_a_draft_from_a_factory_moves_the_other_tiles_to_the_centre():
    start = position(
        board(), board(), factories=[tiles(blue=2, red=1, white=1), tiles(black=4)], centre=tiles(red=1, yellow=1)
    )
    state = from_position(start)
    state.apply_action(action(0, BLUE, 2))
    after = to_position(state)
    assert after["factories"][:2] == [[0] * 5, tiles(black=4)]
    assert after["centre"] == tiles(yellow=1, red=2, white=1)
    assert after["boards"][0] == board(lines={2: (BLUE, 2)})
    assert (after["to_move"], after["marker"], after["drafts"]) == (1, True, 1)


def test_the_first_draft_from_the_centre_takes_the_marker_before_the_tiles():
    start = position(board(), board(), factories=[tiles(black=4)], centre=tiles(red=3, blue=1))
    state = from_position(start)
    state.apply_action(action(CENTRE[2], RED, 0))
    after = to_position(state)
    assert after["boards"][0] == board(lines={0: (RED, 1)}, floor=("marker", RED, RED))
    assert (after["marker"], after["next_start"], after["centre"]) == (False, 0, tiles(blue=1))
    state.apply_action(action(CENTRE[2], BLUE, 0))
    assert to_position(state)["boards"][1] == board(lines={0: (BLUE, 1)})
    assert to_position(state)["next_start"] == 0


def test_a_full_floor_has_no_room_for_the_marker_but_its_taker_starts():
    floor = (RED, RED, BLUE, BLUE, BLUE, WHITE, WHITE)
    start = position(board(floor=floor), board(), factories=[tiles(black=4)], centre=tiles(red=3))
    state = from_position(start)
    state.apply_action(action(CENTRE[2], RED, FLOOR))
    after = to_position(state)
    assert after["boards"][0]["floor"] == list(floor)
    assert (after["next_start"], after["marker"], after["lid"]) == (0, False, tiles(red=3))
    state.apply_action(action(0, BLACK, 3))
    assert to_position(state)["to_move"] == 0


def test_with_one_free_slot_the_marker_takes_it_and_the_tiles_go_to_the_lid():
    state = from_position(position(board(floor=(RED,) * 6), board(), factories=[tiles(black=4)], centre=tiles(blue=2)))
    state.apply_action(action(CENTRE[2], BLUE, FLOOR))
    after = to_position(state)
    assert after["boards"][0]["floor"] == [RED] * 6 + ["marker"]
    assert (after["next_start"], after["lid"]) == (0, tiles(blue=2))


def test_with_only_the_marker_in_the_centre_nothing_is_drafted_from_it():
    state = from_position(position(board(), board(), factories=[tiles(black=4), tiles(white=4)]))
    assert {a // 30 for a in state.legal_actions()} == {0, 1}
    with pytest.raises(IllegalActionError):
        state.apply_action(action(CENTRE[2], BLACK, FLOOR))


@pytest.mark.parametrize("mover", [0, 1, 2])
def test_if_nobody_takes_the_marker_the_player_after_the_last_mover_starts(mover):
    state = from_position(position(board(), board(), board(), factories=[tiles(black=4)], to_move=mover))
    state.apply_action(action(0, BLACK, 3))
    after = to_position(state)
    assert (after["to_move"], after["phase"]) == ((mover + 1) % 3, "refill")
    assert after["boards"][mover]["score"] == 1


def test_lines_that_can_take_a_colour():
    # Row 0 has blue; line 1 holds yellow; line 2 is full of blue; line 3 holds one blue; line 4 is empty.
    own = board(wall=wall("X...."), lines={1: (YELLOW, 1), 2: (BLUE, 3), 3: (BLUE, 1)})
    state = from_position(position(own, board(), factories=[tiles(blue=4), tiles(yellow=4)]))
    drafts = {(a // 30, a // 6 % 5): [] for a in state.legal_actions()}
    for a in state.legal_actions():
        drafts[a // 30, a // 6 % 5].append(a % 6)
    assert drafts == {(0, BLUE): [3, 4, FLOOR], (1, YELLOW): [0, 1, 4, FLOOR]}
    state.apply_action(action(0, BLUE, 3))
    assert to_position(state)["boards"][0]["lines"][3] == [BLUE, 4]
    assert to_position(state)["boards"][0]["floor"] == [BLUE]


def test_equal_factories_are_drafted_once_and_the_other_ids_are_accepted():
    same, other = tiles(blue=2, red=2), tiles(blue=2, red=1, white=1)
    state = from_position(position(board(), board(), factories=[other, same, same, [0] * 5, same]))
    assert {a // 30 for a in state.legal_actions()} == {0, 1}
    children = [state.child(action(source, RED, 4)) for source in (1, 2, 4)]
    assert len({child.key() for child in children}) == 1
    assert to_position(children[1])["factories"] == [other, [0] * 5, same, [0] * 5, same]
    for wrong in (action(3, RED, 4), action(2, WHITE, 4), action(5, RED, 4)):
        with pytest.raises(IllegalActionError):
            state.child(wrong)


def test_drafts_in_either_order_from_equal_factories_reach_one_state():
    same, other = tiles(blue=3, red=1), tiles(red=1, white=3)
    state = from_position(position(board(), board(), board(), factories=[same, same, other, other]))
    ways = [(1, BLUE), (3, WHITE), (1, BLUE)], [(0, BLUE), (2, WHITE), (1, BLUE)]
    ends = []
    for way in ways:
        after = state.clone()
        for source, colour in way:
            after.apply_action(action(source, colour, 4))
        ends.append(after.key())
    assert ends[0] == ends[1]


# -- the end of the game -----------------------------------------------------------------------------------------------


def test_two_players_complete_a_row_in_one_round():
    first = board(score=10, wall=wall("XXXX."), lines={0: (WHITE, 1)})
    second = board(score=12, wall=wall("....X", "XXXX."), lines={1: (BLACK, 2)})
    state = last_draft(first, second)
    after = to_position(state)
    assert (after["phase"], state.is_terminal(), state.current_player()) == ("over", True, -4)
    # Player 0: a row of five and 2 for the row. Player 1: a row of five, a column of two, 2 for the row, floor −1.
    assert [own["score"] for own in after["boards"]] == [10 + 5 + 2, 12 + 5 + 2 + 2 - 1]
    assert state.returns() == [-1.0, 1.0]


BONUSES = {
    "row": (("XXXX.",), 5, 2),
    "row and column": (("XXXX.", "....X", "....X", "....X", "....X"), 5 + 5, 2 + 7),
    "row and colour": (("XXXX.", "X....", ".X...", "..X..", "...X."), 5, 2 + 10),
    "another column and colour": (("XXXX.", "XX...", "X.X..", "X..X.", "X...X"), 5, 2 + 7 + 10),
}


@pytest.mark.parametrize(("rows", "points", "bonus"), BONUSES.values(), ids=BONUSES)
def test_bonuses_at_the_end(rows, points, bonus):
    state = last_draft(board(score=30, wall=wall(*rows), lines={0: (WHITE, 1)}), board())
    assert state.is_terminal()
    assert score_of(state) == 30 + points + bonus


def test_all_bonuses_at_once():
    # The last column is tiled from the top: 5, 5 + 2, 5 + 3, 5 + 4, 5 + 5 points.
    lines = {row: ((4 - row) % 5, row + 1) for row in range(5)}
    state = last_draft(board(wall=wall(*["XXXX."] * 5), lines=lines), board())
    assert score_of(state) == 5 + 7 + 8 + 9 + 10 + 5 * (2 + 7 + 10)
    assert to_position(state)["boards"][0]["wall"] == wall(*["XXXXX"] * 5)


def test_without_any_tile_the_game_ends_and_bonuses_count():
    # Board p has all tiles of the wall except those of colour p, which are in its lines: four complete colours each.
    boards = []
    for player in range(4):
        rows = [[int((column - row) % 5 != player) for column in range(5)] for row in range(5)]
        lines = {1: (player, 1), 4: (player, 4)} if player else {4: (player, 4)}
        boards.append(board(score=10 * player, wall=rows, lines=lines, floor=("marker",) if player == 3 else ()))
    start = position(*boards, centre=tiles(blue=1), next_start=3)
    assert start["bag"] == [0] * 5
    state = from_position(start)
    state.apply_action(action(CENTRE[4], BLUE, 1))
    assert (state.is_terminal(), is_capped(state)) == (True, False)
    assert [score_of(state, player) for player in range(4)] == [40, 50, 60, 69]
    state = from_position(start)
    state.apply_action(action(CENTRE[4], BLUE, FLOOR))  # a tile on the floor can be drawn again
    assert state.is_chance_node()
    state.play("b")
    assert (state.legal_actions()[0] // 6, state.current_player()) == (BLUE, 3)


def test_ties_are_decided_by_complete_rows():
    both = board(score=20, wall=wall("XXXXX", "XXXXX"))
    one = board(score=20, wall=wall("XXXXX"))
    assert from_position(position(one, both, phase="over")).returns() == [-1.0, 1.0]
    assert from_position(position(both, {**one, "score": 21}, phase="over")).returns() == [-1.0, 1.0]
    tied = from_position(position(one, one, phase="over"))
    assert tied.returns() == [0.0, 0.0]
    assert str(tied).endswith("the game is over, players 0 and 1 share the first place")
    assert from_position(position(one, both, board(score=3), phase="over")).returns() == [-0.5, 1.0, -0.5]
    assert from_position(position(one, one, board(score=3), phase="over")).returns() == [0.25, 0.25, -0.5]
    four = from_position(position(one, one, board(score=3), one, phase="over"))
    assert four.returns() == pytest.approx([1 / 9, 1 / 9, -1 / 3, 1 / 9])
    assert sum(four.returns()) == pytest.approx(0.0)


def test_returns_are_zero_before_the_end():
    assert from_position(position(board(score=9), board(), phase="refill")).returns() == [0.0, 0.0]


@pytest.mark.parametrize(("drafts", "ends"), [(998, False), (999, True), (1005, True)])
def test_the_game_ends_after_the_round_of_draft_1000(drafts, ends):
    full = board(score=5, wall=wall("X....", "X....", "X....", "X....", "X...."))
    state = last_draft(full, board(score=4), drafts=drafts)
    assert (state.is_terminal(), is_capped(state)) == (ends, ends)
    assert score_of(state) == (5 + 7 if ends else 5)
    assert ("cap of 1000 drafts" in str(state)) == ends
    if ends:
        assert state.returns() == [1.0, -1.0]


def test_a_round_continues_after_draft_1000():
    state = from_position(position(board(), board(), factories=[tiles(blue=4), tiles(red=4)], drafts=999))
    state.apply_action(action(0, BLUE, 4))
    assert (state.current_player(), is_capped(state)) == (1, False)
    state.apply_action(action(1, RED, 4))
    assert is_capped(state)


def test_a_complete_row_at_the_cap_is_not_flagged():
    state = last_draft(board(wall=wall("XXXX."), lines={0: (WHITE, 1)}), board(), drafts=999)
    assert (state.is_terminal(), is_capped(state)) == (True, False)


# -- whole games -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_check_game(players, compiled):
    game = load_game("azul", players=players)
    report = check_game(game, episodes=2, max_states=60, seconds=None, compiled=compiled)
    assert (report.capped, report.warnings, report.out_of_time) == (0, (), False)
    assert report.compiled_games == (10_000 if compiled else 0)
    assert 60 <= report.max_outcomes <= 70
    assert "equivalent actions" in report.checks


def test_a_game_of_the_search_keeps_all_tiles(interpreted):
    game = load_game("azul")
    player = make_player("search:evaluator=uniform,sims=3", game)
    state, dice, drafts = game.new_initial_state(), GameDice(3), 0
    while not state.is_terminal():
        drafts += not state.is_chance_node()
        state.apply_action(dice.draw(state) if state.is_chance_node() else player.select(state, seed=drafts))
        assert count_tiles(to_position(state)) == [20] * 5
    assert drafts > 20


def test_observations_rotate_the_seats():
    boards = [board(score=10 * (player + 1), lines={1: (player, 1)}) for player in range(3)]
    state = from_position(position(*boards, factories=[tiles(blue=4)], to_move=2))
    one, two = state.observation_tensor(0), state.observation_tensor(2)
    assert one[:54].tolist() == two[54:108].tolist()
    assert two[52] == pytest.approx(0.3)
    assert state.viewer() == 2
    leads = 3 * 54
    assert two[leads : leads + 2].tolist() == pytest.approx([20 / 50, 10 / 50])


@pytest.mark.parametrize("players", [2, 4])
def test_observations_have_no_constant_numbers(players):
    game, draw, seen = load_game("azul", players=players), random.Random(players), []

    def refill(state):
        while state.is_chance_node():
            game.kernels.apply_outcome(state.vector, state.sample_outcome(draw.random()))
        seen.append(state.observation_tensor())

    for _ in range(300):  # of factories in order, the last one rarely has the first colour
        refill(game.new_initial_state())
    for _ in range(10):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                seen.append(state.observation_tensor())
                refill(state)
            game.kernels.apply(state.vector, draw.choice(state.legal_actions()))
            if draw.random() < 0.2 and not state.is_terminal():
                seen.append(state.observation_tensor())
    numbers = np.array(seen)
    assert np.flatnonzero(numbers.min(axis=0) == numbers.max(axis=0)).tolist() == []
    assert np.abs(numbers).max() <= 2.0


def test_points_are_the_scores_if_the_game_ended_now():
    game = load_game("azul")
    own = board(score=10, wall=wall("XXXX."), lines={0: (WHITE, 1)}, floor=(RED, RED))
    state = from_position(position(own, board(score=1, floor=(RED,) * 3), factories=[tiles(blue=4)]))
    out = [0.0, 0.0]
    game.kernels.uncompiled["points"](state.vector, out)
    assert out == pytest.approx([(10 + 5 - 2 + 2) / 100, 0.0])


@pytest.mark.parametrize("params", [{"players": 1}, {"players": 5}, {"players": "2"}, {"players": True}])
def test_invalid_numbers_of_players_are_rejected(params):
    with pytest.raises(GameError, match="expected 2, 3 or 4"):
        load_game("azul", **params)


def test_invalid_negative_scores_are_rejected():
    with pytest.raises(GameError, match="negative_scores"):
        load_game("azul", negative_scores=3)
