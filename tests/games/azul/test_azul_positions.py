"""Positions of Azul as dicts and as text, names of drafts, the 500-id encoding, and errors."""

import json
import random

import pytest
from azul_positions import BLACK, BLUE, CENTRE, FLOOR, RED, YELLOW, action, board, position, tiles, wall

from aleazero import load_game
from aleazero.errors import GameError, IllegalActionError, PositionError
from aleazero.games.azul import from_position, from_seed_id, is_capped, to_position, to_seed_id


@pytest.mark.parametrize("players", [2, 3, 4])
def test_positions_of_a_game_come_back(players):
    game, draw = load_game("azul", players=players), random.Random(players)
    state = game.new_initial_state()
    phases = set()
    while not state.is_terminal():
        choices = state.legal_actions()
        state.apply_action(draw.choice(choices))
        found = to_position(state)
        phases.add(found["phase"])
        assert json.loads(json.dumps(found)) == found
        assert from_position(found).key() == state.key()
        if found["phase"] == "draft":
            assert from_position({key: part for key, part in found.items() if key != "phase"}).key() == state.key()
    assert phases == {"draft", "refill", "over"}


def test_a_position_keeps_the_order_of_its_factories():
    start = position(board(), board(), factories=[[0] * 5, tiles(white=4), tiles(blue=4)])
    state = from_position(start)
    assert to_position(state) == {**start, "phase": "draft"}
    assert {a // 30 for a in state.legal_actions()} == {1, 2}


def test_without_a_phase_a_position_without_tiles_is_a_refill_or_over():
    assert to_position(from_position(position(board(), board())))["phase"] == "refill"
    assert to_position(from_position(position(board(wall=wall("XXXXX")), board())))["phase"] == "over"
    before = from_position(position(board(), board(), to_move=1))
    assert before.key() == from_position(position(board(), board(), next_start=1, marker=False)).key()


def test_factories_of_a_refill_have_no_order():
    some = [tiles(white=4), tiles(blue=4), tiles(blue=1, red=3)]
    one, other = (from_position(position(board(), board(), phase="refill", factories=f)) for f in (some, some[::-1]))
    assert one.key() == other.key()


def test_a_position_that_is_over_without_another_reason_is_at_the_cap():
    state = from_position(position(board(), board(), phase="over"))
    assert (is_capped(state), to_position(state)["drafts"]) == (True, 1000)


def refuse(match, *boards, **parts):
    with pytest.raises(PositionError, match=match) as error:
        from_position(position(*(boards or (board(), board())), **parts))
    assert "expected" in str(error.value)
    assert "\n" not in str(error.value)


def test_positions_that_break_conservation_name_the_tile_counts():
    refuse(r"got 19 yellow tiles \(bag \[19\], lid \[0\]", bag=[20, 19, 20, 20, 20])
    refuse(r"got 21 blue, 16 red tiles", bag=[17, 20, 16, 20, 20], factories=[tiles(blue=4)])
    refuse("got 21 black tiles", bag=[20] * 5, lid=tiles(black=1))
    refuse("got -1 for the tiles in bag", bag=[-1, 20, 20, 20, 20], lid=tiles(blue=1))
    refuse(r"expected an integer from 0 to 20", bag=[21, 20, 20, 20, 20])


def test_positions_that_break_the_rules_are_rejected():
    draft = {"factories": [tiles(blue=4)]}
    refuse("5 tiles .* in factory 0", factories=[tiles(blue=5)])
    refuse("row 0 of the wall has blue", board(wall=wall("X...."), lines={0: (BLUE, 1)}), board(), **draft)
    refuse("for the tiles in line 1 of board 0", board(lines={1: (BLUE, 3)}), board(), **draft)
    refuse("line 1 of board 0", board(lines={1: (None, 1)}), board(), bag=[20] * 5)
    refuse("line 1 of board 0", board(lines={1: (RED, 0)}), board(), **draft)
    refuse("8 tiles on the floor", board(floor=(RED,) * 8), board(), **draft)
    refuse("complete row", board(wall=wall("XXXXX")), board(), **draft)
    refuse("score -1 of board 1", board(), board(score=-1), **draft)
    refuse("without tiles", phase="draft")
    refuse("already tiled", board(lines={0: (RED, 1)}), board(), phase="refill")
    refuse("already tiled", board(floor=(RED,)), board())
    refuse("complete row", board(wall=wall("XXXXX")), board(), phase="refill")
    refuse("tiles in the centre", phase="refill", centre=tiles(blue=1))
    refuse("in the factories", phase="over", **draft)
    refuse("4 tiles in the others", phase="refill", factories=[tiles(blue=3)])
    refuse("expected an empty factory", phase="refill", factories=[tiles(blue=4)] * 2 + [tiles(red=4)] * 3)


def test_markers_that_break_the_rules_are_rejected():
    draft = {"factories": [tiles(blue=4)]}
    refuse("marker in the centre and next_start 1", next_start=1, marker=True, **draft)
    refuse("marker not in the centre and next_start None", marker=False, **draft)
    refuse("markers on the floors", board(floor=("marker",)), board(), **draft)
    refuse("markers on the floors", board(floor=("marker",)), board(), next_start=1, **draft)
    refuse("markers on the floors", board(floor=("marker", "marker")), board(), next_start=0, **draft)
    refuse("for marker", marker=None)
    refuse("for next_start", next_start=2)


def test_nobody_has_the_marker_between_rounds():
    start = load_game("azul").new_initial_state().to_text()
    with pytest.raises(PositionError, match="expected an empty centre and the marker in it"):
        load_game("azul").state_from_text(start.replace("next -", "next 0"))


def test_malformed_positions_are_rejected():
    good = position(board(), board())
    for wrong, match in (
        ([], "expected a dict"),
        ({key: part for key, part in good.items() if key != "lid"}, "without 'lid'"),
        ({**good, "colour": 1}, "with 'colour'"),
        ({**good, "players": 5}, "5 for players"),
        ({**good, "players": 3}, "5 entries in factories, expected 7"),
        ({**good, "to_move": 2}, "to_move"),
        ({**good, "to_move": "first"}, "'first' for to_move"),
        ({**good, "phase": "night"}, "phase 'night'"),
        ({**good, "bag": [20] * 4}, "4 entries in bag"),
        ({**good, "bag": "20"}, "expected a list"),
        ({**good, "boards": [board()]}, "1 entries in boards"),
        ({**good, "boards": [board(), {"score": 0}]}, "board 1 without 'wall'"),
        ({**good, "boards": [board(), {**board(), "wall": [[2] * 5] * 5}]}, "row 0 of the wall of board 1"),
        ({**good, "boards": [board(), {**board(), "floor": ["x"]}]}, "the floor of board 1"),
        ({**good, "drafts": -1}, "drafts"),
        ({**good, "round": 0}, "round"),
    ):
        with pytest.raises(PositionError, match=match) as error:
            from_position(wrong)
        assert "\n" not in str(error.value)


def test_negative_scores_need_the_parameter():
    start = position(board(score=-5), board(), factories=[tiles(blue=4)])
    assert to_position(from_position(start, negative_scores=True))["boards"][0]["score"] == -5


# -- text --------------------------------------------------------------------------------------------------------------

LINE = (
    "draft round 2 drafts 11 player 1 next 0 bag b19y18r15k19w20 lid y centre r factories - b - k - / "
    "12 wall .y...,.....,.....,.....,..... lines -,-,r3,-,- floor mr / 3 wall .....,.....,.....,.....,..... lines "
    "-,-,-,-,- floor -"
)


def test_a_position_in_one_line():
    game = load_game("azul")
    state = game.state_from_text(LINE)
    assert state.to_text() == LINE
    found = to_position(state)
    own = board(score=12, wall=wall(".X..."), lines={2: (RED, 3)}, floor=("marker", RED))
    assert found["boards"][0] == own
    assert (found["round"], found["drafts"], found["to_move"], found["next_start"]) == (2, 11, 1, 0)
    assert (found["factories"][1], found["lid"], found["centre"]) == (tiles(blue=1), tiles(yellow=1), tiles(red=1))


@pytest.mark.parametrize(
    "line",
    [
        *("", "draft", LINE.replace("draft", "dinner"), LINE.replace(" / 3", " | 3"), LINE + " / 0 wall"),
        *(LINE.replace(".y...", "y...."), LINE.replace("b - k -", "b - k"), LINE.replace("lid y", "lid b5")),
        *(LINE.replace("- b -", "- b5 -"), LINE.replace("player 1", "player 2"), LINE.replace("r3", "r4")),
        *(LINE.replace("floor mr", "floor rr"), LINE.replace("next 0", "next 7"), LINE.replace("bag b19", "bag b999")),
    ],
)
def test_invalid_lines_raise_one_line(line):
    with pytest.raises(PositionError, match="expected") as error:
        load_game("azul").state_from_text(line)
    assert "\n" not in str(error.value)


OWN = 29
"""Index of the first board in the state vector."""


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        *(({place: 3}, "expected 0 to 2, 0 to 1 and 0 to 2") for place in (0, 1, 2)),
        ({5: 20, 10: -1}, r"\[-1, 1, 0, 0, 0\] in the lid, .* expected at least 0 of each colour"),
        ({20: 126}, "expected 0 to 125 in the first 5"),
        ({20: -1}, "expected 0 to 125 in the first 5"),
        ({28: 1}, "expected 0 to 125 in the first 5"),
        ({OWN + 1: 32}, "a wall from 0 to 31"),
        ({OWN + 11: 2, OWN + 6: 1}, "in line 0 of board 0 .* at most 1 tiles"),
        ({OWN + 13: 0}, "0 tiles of colour 2 in line 2 of board 0"),
        ({OWN + 16: 8}, "8 slots of the floor of board 0"),
        ({OWN + 16: 1}, "1 slots of the floor of board 0"),
        ({OWN + 17: 7}, "numbers from 1 to 6"),
        ({OWN + 17: -1}, "numbers from 1 to 6"),
    ],
)
def test_impossible_numbers_of_a_state_vector_are_rejected(changes, match):
    game = load_game("azul")
    vector = game.state_from_text(LINE).vector.copy()
    for place, number in changes.items():
        vector[place] = number
    with pytest.raises(PositionError, match=match):
        game.state_from_vector(vector)


def test_a_state_that_is_over_has_a_reason():
    start = load_game("azul").new_initial_state().to_text()
    with pytest.raises(PositionError, match="expected empty factories and a complete row, no tiles to draw or 1000"):
        load_game("azul").state_from_text(start.replace("refill", "over"))


@pytest.mark.parametrize("line", [LINE.replace("round 2", "round 0"), LINE.replace("drafts 11", "drafts 1101")])
def test_rounds_and_drafts_have_limits(line):
    with pytest.raises(PositionError, match=r"expected a round from 1 to 1,000 and 0 to 1,100 drafts"):
        load_game("azul").state_from_text(line)


def test_the_boards_show_tiles_floor_and_scores():
    shown = str(load_game("azul").state_from_text(LINE))
    assert shown.splitlines() == [
        "round 2   bag 91: b19 y18 r15 k19 w20   lid 1: b0 y1 r0 k0 w0",
        "factories  F1 -   F2 B   F3 -   F4 K   F5 -",
        "centre     R",
        "",
        "  player 0: 12              → player 1: 3",
        "1         . | b Y r k w     1         . | b y r k w",
        "2       . . | w b y r k     2       . . | w b y r k",
        "3     R R R | k w b y r     3     . . . | k w b y r",
        "4   . . . . | r k w b y     4   . . . . | r k w b y",
        "5 . . . . . | y r k w b     5 . . . . . | y r k w b",
        "floor m R . . . . . -2      floor . . . . . . .",
        "",
        "player 1 drafts; player 0 starts the next round",
    ]
    four = str(load_game("azul", players=4).new_initial_state())
    assert max(map(len, four.splitlines())) <= 100


def test_drafts_are_typed_in_several_spellings():
    state = load_game("azul").state_from_text(LINE)
    assert [state.action_to_string(a) for a in state.legal_actions()[:2]] == ["F2 blue 1", "F2 blue 2"]
    for text in ("F2 blue 3", "f2 b 3", "F2-blue-3", "2b3", "2 b 3"):
        assert state.string_to_action(text) == action(1, BLUE, 2)
    for text in ("centre red floor", "center red floor", "c r f", "Centre-Red-Floor", "crf"):
        assert state.string_to_action(text) == action(CENTRE[2], RED, FLOOR)
    assert state.string_to_action("F4 black floor") == action(3, BLACK, FLOOR)
    for text in ("F6 blue 1", "F2 blue 6", "F2 blau 3", "blue 3", ""):
        with pytest.raises(IllegalActionError):
            state.string_to_action(text)


# -- the 500-id encoding -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seed_ids_are_another_numbering_of_all_actions(players):
    actions = range(load_game("azul", players=players).num_actions)
    ids = [to_seed_id(a, players) for a in actions]
    assert len(set(ids)) == len(actions) == {2: 180, 3: 240, 4: 300}[players]
    assert [from_seed_id(seed_id, players) for seed_id in ids] == list(actions)
    for unused in set(range(500)) - set(ids):
        with pytest.raises(IllegalActionError, match="expected"):
            from_seed_id(unused, players)


def test_seed_ids_by_hand():
    assert to_seed_id(action(2, YELLOW, 3)) == ((2 * 5 + 1) * 2 + 0) * 5 + 3
    assert to_seed_id(action(2, YELLOW, FLOOR)) == ((2 * 5 + 1) * 2 + 1) * 5
    assert to_seed_id(action(CENTRE[3], RED, 0), players=3) == (9 * 5 + 2) * 10


@pytest.mark.parametrize("wrong", [-1, 180, 1.5, "3", None])
def test_unknown_ids_are_rejected(wrong):
    with pytest.raises(IllegalActionError, match="expected 0 to 179"):
        to_seed_id(wrong)
    with pytest.raises(IllegalActionError, match="expected"):
        from_seed_id(500 if wrong == 180 else wrong)
    with pytest.raises(GameError, match="expected 2, 3 or 4"):
        to_seed_id(0, players=5)
