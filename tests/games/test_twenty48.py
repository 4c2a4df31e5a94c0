"""2048: comparison with an independent implementation (text and regular expressions) and with OpenSpiel; text."""

import random
import re

import numpy as np
import pyspiel
import pytest

from aleazero.errors import PositionError
from aleazero.games import twenty48
from aleazero.games.check_states import chi_square
from aleazero.games.registry import load_game

EMPTY = [[0] * 4 for _ in range(4)]


def slide_left(row):
    """Slide a row of tiles left and return it with its reward. Tiles are letters, merged by a regular expression."""
    letters = "".join(chr(ord("a") + value.bit_length()) for value in row if value)
    reward = 0

    def merge(match):
        nonlocal reward
        merged = chr(ord(match[1]) + 1)
        reward += 1 << (ord(merged) - ord("a") - 1)
        return merged.upper()

    letters = re.sub(r"(.)\1", merge, letters).lower()
    values = [1 << (ord(letter) - ord("a") - 1) for letter in letters]
    return values + [0] * (4 - len(values)), reward


def slide(rows, action):
    """Slide the board in a direction, by rotating it until this direction is left."""
    turns = {3: 0, 0: 1, 1: 2, 2: 3}[action]
    board = np.rot90(np.array(rows), turns)
    lines = [slide_left(line) for line in board.tolist()]
    after = np.rot90(np.array([line for line, _ in lines]), -turns).tolist()
    return after, sum(reward for _, reward in lines)


def random_boards(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        fill, top = draw.random(), draw.randint(1, 17)
        rows = [[1 << draw.randint(1, top) if draw.random() < fill else 0 for _ in range(4)] for _ in range(4)]
        if 0 < sum(map(sum, rows)) <= twenty48.HIGHEST_TOTAL:  # higher sums are impossible
            yield rows


def played_boards(count, seed):
    draw, game, boards = random.Random(seed), load_game("2048"), 0
    while boards < count:
        state = game.new_initial_state()
        while not state.is_terminal() and boards < count:
            if state.is_chance_node():
                state._apply(state.sample_outcome(draw.random()))
                continue
            boards += 1
            yield twenty48.to_board(state)
            state._apply(draw.choice(state.legal_actions()))


@pytest.mark.parametrize("boards", [random_boards, played_boards])
def test_moves_boards_and_rewards_agree_with_the_independent_implementation(boards):
    checked = 0
    for rows in boards(7_000, seed=11):
        state = twenty48.from_board(rows, score=100)
        slid = {action: slide(rows, action) for action in range(4)}
        legal = [action for action, (after, _) in slid.items() if after != rows]
        assert state.is_terminal() == (not legal)
        assert state.legal_actions() == legal
        for action in legal:
            after = state.clone()
            after._apply(action)
            assert (twenty48.to_board(after), after.returns()[0] - 100) == slid[action]
            assert after.is_chance_node()
        checked += 1
    assert checked > 5_000


def test_the_independent_implementation_in_known_cases():
    assert slide_left([2, 2, 2, 2]) == ([4, 4, 0, 0], 8)
    assert slide_left([4, 2, 2, 0]) == ([4, 4, 0, 0], 4)
    assert slide_left([2, 2, 2, 0]) == ([4, 2, 0, 0], 4)
    assert slide([[2, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0], [0, 0, 0, 8]], 2)[0] == [
        *([0, 0, 0, 0], [0, 0, 0, 0], [4, 0, 0, 0], [4, 0, 0, 8])
    ]


def test_agrees_with_openspiel_for_moves_that_it_allows():
    # OpenSpiel 2.0.2 omits some legal moves; the boards and rewards of the other moves are correct.
    draw = random.Random(3)
    theirs_game, ours_game = pyspiel.load_game("2048"), load_game("2048")
    moves = 0
    for _ in range(12):
        ours, theirs = ours_game.new_initial_state(), theirs_game.new_initial_state()
        while not theirs.is_terminal():
            assert [int(x) for x in str(theirs).split()] == [x for row in twenty48.to_board(ours) for x in row]
            if ours.is_chance_node():
                assert theirs.is_chance_node()
                assert ours.chance_outcomes() == [(o, pytest.approx(p)) for o, p in theirs.chance_outcomes()]
                step = ours.sample_outcome(draw.random())
            else:
                assert set(theirs.legal_actions()) <= set(ours.legal_actions())
                step = draw.choice(theirs.legal_actions())
                moves += 1
            ours.apply_action(step)
            theirs.apply_action(step)
            assert ours.returns() == theirs.returns()
    assert moves > 500


def test_a_new_game_places_two_tiles_by_chance():
    state = load_game("2048").new_initial_state()
    assert state.is_chance_node()
    assert len(state.chance_outcomes()) == 32
    state.play("2@a1")
    assert state.is_chance_node()
    assert len(state.chance_outcomes()) == 30
    state.play("4@d4")
    assert state.to_text() == "2 . . ./. . . ./. . . ./. . . 4 score 0"
    assert not state.is_chance_node()


def test_new_tiles_are_2_or_4_on_each_empty_cell_with_90_and_10_percent():
    state = twenty48.from_board([[2, 4, 8, 16], [4, 8, 16, 32], [2, 4, 8, 16], [2, 2, 0, 0]])
    state.play("right")
    assert twenty48.to_board(state)[3] == [0, 0, 0, 4]
    outcomes = state.chance_outcomes()
    assert [o for o, _ in outcomes] == [24, 25, 26, 27, 28, 29]
    assert [p for _, p in outcomes] == pytest.approx([0.3, 0.1 / 3] * 3)
    draw = random.Random(1)
    counts = dict.fromkeys([o for o, _ in outcomes], 0)
    for _ in range(20_000):
        counts[state.sample_outcome(draw.random())] += 1
    off, bound = chi_square(list(counts.values()), [p for _, p in outcomes])
    assert off < bound


def test_sample_inverts_the_listed_distribution():
    for rows in random_boards(300, seed=8):
        if all(map(all, rows)):
            continue
        state = twenty48.from_board(rows)
        state.vector[twenty48.KIND] = 1
        below = 0.0
        for outcome, share in state.chance_outcomes():
            assert state.sample_outcome(below + 1e-9) == outcome
            below += share
            assert state.sample_outcome(below - 1e-9) == outcome
        assert state.sample_outcome(1.0 - 2.0**-53) == outcome


def test_a_board_without_a_move_ends_the_game():
    stuck = [[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 4, 2]]
    assert twenty48.from_board(stuck, score=40).is_terminal()
    assert twenty48.from_board(stuck, score=40).returns() == [40.0]
    state = twenty48.from_board([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [4, 2, 8, 0]])
    state.play("right 4@a4")
    assert twenty48.to_board(state)[3] == [4, 4, 2, 8]
    assert not state.is_terminal()
    state = twenty48.from_board([[2, 4, 2, 4], [4, 2, 4, 2], [2, 4, 2, 4], [16, 32, 8, 0]])
    state.play("right 4@a4")
    assert state.is_terminal()


def test_from_board_and_to_board_are_inverse():
    rows = [[2, 0, 0, 131072], [0, 4, 0, 0], [0, 0, 8, 0], [1024, 0, 0, 16]]
    state = twenty48.from_board(rows, score=12)
    assert twenty48.to_board(state) == rows
    assert state.returns() == [12.0]
    assert twenty48.from_board(EMPTY).key() == load_game("2048").new_initial_state().key()


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        ([[2, 4], [2, 4]], 0),
        ([[3, 0, 0, 0], *EMPTY[1:]], 0),
        ([[1, 0, 0, 0], *EMPTY[1:]], 0),
        ([[-2, 0, 0, 0], *EMPTY[1:]], 0),
        ([[262144, 0, 0, 0], *EMPTY[1:]], 0),
        ([[2, 2, 0, 0], *EMPTY[1:]], -4),
    ],
)
def test_invalid_boards_are_rejected(rows, score):
    with pytest.raises(PositionError, match="expected"):
        twenty48.from_board(rows, score)


@pytest.mark.parametrize(
    "text",
    [
        *("", "2 4", "2 . . ./. . . ./. . . . score 0", "2 . . ./. . . ./. . . ./. . . . score x"),
        *(
            "3 . . ./. . . ./. . . ./. . . .",
            ". . . ./. . . ./. . . ./. . . . score 0",
            "2.. . . ./. . . ./. . . ./. . . .",
        ),
        "2 4 2 4/4 2 4 2/2 4 2 4/4 2 4 2 score 0 spawning",
    ],
)
def test_invalid_texts_raise_one_line(text):
    with pytest.raises(PositionError, match="expected") as error:
        load_game("2048").state_from_text(text)
    assert "\n" not in str(error.value)


def test_text_may_have_zeros_and_no_score():
    state = load_game("2048").state_from_text("2 0 0 0/0 0 0 0/0 0 0 0/0 0 4 0")
    assert state.to_text() == "2 . . ./. . . ./. . . ./. . 4 . score 0"


def test_observation_is_one_hot_by_cell():
    seen = twenty48.from_board([[2, 0, 0, 4], *EMPTY[1:]]).observation_tensor()
    cells = seen[:-1].reshape(16, 18)
    assert cells.sum(axis=1).tolist() == [1.0] * 16
    assert cells.argmax(axis=1).tolist() == [1, 0, 0, 2] + [0] * 12
    assert seen[-1] == 0.0
