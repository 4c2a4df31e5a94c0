"""Yatzy: comparison with an independent implementation over lists of dice; positions and text."""

import random
import sys
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for tests/yatzy_by_hand.py

from yatzy_by_hand import slow_score

from aleazero.errors import GameError, IllegalActionError, PositionError
from aleazero.games.check import check_game
from aleazero.games.dice import HANDS
from aleazero.games.game_dice import played_outcome
from aleazero.games.registry import load_game
from aleazero.games.yatzy import rules as yatzy
from aleazero.games.yatzy.card import CATEGORIES, SCORES, Board

FULL = 0x7FFF


class SlowGame:
    """An independent implementation over lists and dictionaries: one card per player, dice as a sorted list."""

    def __init__(self, players):
        self.cards = [{} for _ in range(players)]
        self.mover, self.rerolls, self.dice = 0, 2, None

    def total(self, player):
        card = self.cards[player]
        upper = sum(card.get(name, 0) for name in CATEGORIES[:6])
        return sum(card.values()) + (50 if upper >= 63 else 0)

    def boards(self):
        for player, card in enumerate(self.cards):
            avail = sum(1 << (14 - c) for c, name in enumerate(CATEGORIES) if name not in card)
            yield [avail, min(63, sum(card.get(name, 0) for name in CATEGORIES[:6])), self.total(player)]

    def roll(self, rolled):
        self.dice = sorted((self.dice or []) + rolled)

    def keep(self, mask):
        self.dice = [die for i, die in enumerate(self.dice) if mask >> (4 - i) & 1]
        self.rerolls -= 1

    def mark(self, category):
        name = CATEGORIES[category]
        assert name not in self.cards[self.mover]
        self.cards[self.mover][name] = slow_score(self.dice, name)
        self.mover, self.rerolls, self.dice = (self.mover + 1) % len(self.cards), 2, None

    def over(self):
        return all(len(card) == 15 for card in self.cards)


def roll_equal(draw, k):
    """Roll dice that are often equal, so that rare scores occur."""
    return [draw.choice([draw.randint(1, 6), 6, 5]) for _ in range(k)]


def test_every_score_agrees_with_an_independent_scorer():
    hands = list(combinations_with_replacement(range(1, 7), 5))
    assert SCORES.shape == (len(hands), 15) == (252, 15)
    for row, hand in enumerate(hands):
        assert SCORES[row].tolist() == [slow_score(hand, name) for name in CATEGORIES], hand


def test_scores_of_difficult_cases():
    def says(hand, name):
        return int(SCORES[yatzy.multiset(hand) - HANDS, CATEGORIES.index(name)])

    assert says([4, 4, 4, 4, 1], "two_pairs") == 0
    assert says([3, 3, 3, 3, 3], "house") == 0
    assert says([2, 2, 5, 5, 6], "pair") == 10
    assert says([2, 2, 2, 6, 6], "three_kind") == 6
    assert says([1, 2, 3, 4, 6], "small_straight") == 0


@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_games_agree_with_the_independent_implementation(players):
    draw, game = random.Random(players), load_game("yatzy", players=players)
    for _ in range(6):
        state, slow, decisions = game.new_initial_state(), SlowGame(players), 0
        while not slow.over():
            assert state.vector[4:].reshape(players, 3).tolist() == list(slow.boards())
            if state.is_chance_node():
                rolled = roll_equal(draw, 5 - len(slow.dice or []))
                outcome = yatzy.multiset(rolled)
                state.apply_action(outcome)
                slow.roll(rolled)
                continue
            decisions += 1
            assert (state.current_player(), state.viewer()) == (slow.mover, slow.mover)
            assert state.decision_class() == (slow.rerolls == 0)
            if slow.rerolls:
                mask = draw.randrange(32)  # the rules accept all masks, the list has canonical ones
                state.apply_action(mask)
                slow.keep(mask)
            else:
                open_marks = [32 + c for c, name in enumerate(CATEGORIES) if name not in slow.cards[slow.mover]]
                assert state.legal_actions() == open_marks
                action = draw.choice(open_marks)
                state.apply_action(action)
                slow.mark(action - 32)
        totals = [slow.total(player) for player in range(players)]
        assert state.is_terminal()
        assert decisions == 45 * players
        best = [total == max(totals) for total in totals]
        share = 1 / sum(best) * (1 - (sum(best) - 1) / max(1, players - 1))
        lost = -1 / max(1, players - 1)
        assert state.returns() == (totals if players == 1 else pytest.approx([share if b else lost for b in best]))


@pytest.mark.parametrize(("players", "compiled"), [(1, True), (3, False), (4, False)])
def test_passes_the_checks(players, compiled):
    # The two-player game is checked with all bundled games, in test_check_game.py.
    report = check_game(
        load_game("yatzy", players=players), episodes=1, max_states=120, seconds=None, compiled=compiled
    )
    assert report.max_length == 90 * players  # every decision follows a roll
    assert report.max_outcomes == 252


@pytest.mark.long
@pytest.mark.parametrize("players", [1, 2, 3, 4])
def test_passes_the_checks_in_many_games(players):
    assert check_game(load_game("yatzy", players=players), seconds=None).states > 800


def test_every_roll_is_a_chance_node():
    state = load_game("yatzy").new_initial_state()
    rolls = {}
    for word in ["roll-11345", "keep-none", "roll-11345", "keep-11", "roll-116", "pair"]:
        if state.is_chance_node():
            rolls[len(rolls)] = (len(state.chance_outcomes()), state.viewer())
        state.play(word)
    assert rolls == {0: (252, 0), 1: (252, 0), 2: (56, 0)}
    assert (len(state.chance_outcomes()), state.viewer(), state.vector[2]) == (
        252,
        0,
        1,
    )  # player 1 rolls, player 0 has scored


def test_keeping_all_dice_uses_a_reroll_and_has_one_outcome():
    state = yatzy.from_position([(FULL, 0)], dice=[1, 1, 3, 4, 5])
    state.apply_action(31)
    assert state.chance_outcomes() == [(0, 1.0)]
    state.play("roll-none")
    assert state.to_text().endswith("dice 11345 rerolls 1")
    assert state.canonical_action(40) == -1


def test_equivalent_masks_are_accepted_and_impossible_actions_are_not():
    state = yatzy.from_position([(FULL, 0)], dice=[2, 2, 3, 4, 5])
    assert 8 in state.legal_actions()
    assert 16 not in state.legal_actions()
    assert state.child(16).key() == state.child(8).key()
    for action in (-1, 32, 46, 47):
        with pytest.raises(IllegalActionError, match="expected one of"):
            state.apply_action(action)
    state = yatzy.from_position([(FULL & ~1, 0)], dice=[2, 2, 3, 4, 5], rerolls_left=0)
    for action in (0, 31, 46):
        with pytest.raises(IllegalActionError, match="expected one of"):
            state.apply_action(action)


@pytest.mark.parametrize(
    ("upper", "dice", "points", "after"),
    [(60, [3, 1, 1, 1, 2], 53, 63), (59, [3, 1, 1, 1, 2], 3, 62), (62, [3] * 5, 65, 63), (63, [3] * 5, 15, 63)],
)
def test_the_bonus_is_added_once_when_the_upper_total_reaches_it(upper, dice, points, after):
    state = yatzy.from_position([(1 << 12, upper)], dice=dice, rerolls_left=0)
    before = state.returns()[0]
    state.play("threes")
    assert (state.returns()[0] - before, state.vector[5]) == (points, after)
    assert state.is_terminal()


def test_tied_winners_share_the_return():
    for totals, expected in (
        ((100, 100, 90, 80), [1 / 3, 1 / 3, -1 / 3, -1 / 3]),
        ((100, 100, 100, 80), [1 / 9, 1 / 9, 1 / 9, -1 / 3]),
        ((100, 100), [0, 0]),
        ((99, 100), [-1, 1]),
    ):
        assert yatzy.from_position([(0, 20, t) for t in totals]).returns() == pytest.approx(expected)


# -- game dice -------------------------------------------------------------------------------------------------


def test_golden_dice():
    assert yatzy.event_dice(123456789, 0, 0, 1) == [3, 5, 6, 5, 2]
    assert yatzy.event_dice(123456789, 1, 0, 0) == [5, 2, 6, 5, 6]
    assert [yatzy.event_dice(2001, 0, 0, roll) for roll in range(3)] == [
        [1, 4, 1, 2, 3],
        [2, 1, 6, 5, 3],
        [4, 3, 6, 1, 4],
    ]


def test_rolls_take_the_first_dice_of_their_event():
    state = load_game("yatzy").new_initial_state()
    assert state.action_to_string(played_outcome(state, 2001, 0)) == "roll-11234"
    state.play("roll-11234 keep-11")
    assert state.action_to_string(played_outcome(state, 2001, 77)) == "roll-126"
    state.play("roll-126 keep-none")
    assert state.action_to_string(played_outcome(state, 2001, 0)) == "roll-13446"
    state.play("roll-13446 fours")
    assert played_outcome(state, 123456789, 0) == yatzy.multiset([5, 2, 6, 5, 6])


def test_the_same_event_has_the_same_dice_whatever_was_played():
    one = yatzy.from_position([(FULL & ~(1 << 14), 3), (FULL & ~1, 0)], dice=[1, 2], rerolls_left=1, rolling=True)
    other = yatzy.from_position([(FULL & ~1, 0), (FULL & ~2, 0)], dice=[6, 6], rerolls_left=1, rolling=True)
    assert all(played_outcome(one, seed, 4) == played_outcome(other, seed, 9) for seed in range(200))
    later = yatzy.from_position([(FULL & ~3, 0), (FULL & ~3, 0)], dice=[6, 6], rerolls_left=1, rolling=True)
    assert any(played_outcome(one, seed, 4) != played_outcome(later, seed, 4) for seed in range(20))


# -- positions and text ----------------------------------------------------------------------------------------


def random_state(draw, players):
    state = load_game("yatzy", players=players).new_initial_state()
    for _ in range(draw.randrange(90 * players + 1)):
        if state.is_terminal():
            break
        chance = state.is_chance_node()
        state._apply(state.sample_outcome(draw.random()) if chance else draw.choice(state.legal_actions()))
    return state


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_positions_are_restored_from_text_numbers_and_parts(seed, players):
    state = random_state(random.Random(seed), players)
    game = state.game
    assert game.state_from_text(state.to_text()).key() == state.key()
    assert game.deserialize(state.serialize()).key() == state.key()
    text = state.to_text()
    rolling = " kept " in text
    word = text.split()
    named = word[word.index("dice" if "dice" in word else "kept") + 1] if "dice" in word or rolling else None
    again = yatzy.from_position(
        [Board(*row) for row in state.vector[4:].reshape(players, 3).tolist()],
        dice=None if named is None else [int(die) for die in named.replace("none", "")],
        rerolls_left=int(state.vector[1]),
        player=int(state.vector[2]),
        rolling=rolling,
    )
    assert again.key() == state.key()


def test_text_of_a_position():
    state = yatzy.from_position(
        [(FULL & ~0b100000100000000, 3, 11), (FULL & ~(1 << 9), 18, 18)], dice=[4, 1, 1, 2, 3], player=1
    )
    assert state.to_text() == (
        "filled ones pair upper 3 total 11 / filled sixes upper 18 total 18 / player 1 dice 11234 rerolls 2"
    )


EXAMPLE = "filled ones upper 3 / player 0 dice 11234 rerolls 2"


@pytest.mark.parametrize(
    "text",
    [
        *("", "over", "player 0 to roll", "filled ones upper 3 total 3", EXAMPLE + " / over"),
        *(EXAMPLE.replace("ones", "one"), EXAMPLE.replace("r 3", "r 6"), EXAMPLE.replace("r 3", "r 2 total 3")),
        *(EXAMPLE.replace("11234", "1123"), EXAMPLE.replace("11234", "11237"), EXAMPLE.replace("11234", "none")),
        *(EXAMPLE.replace("rerolls 2", "rerolls 3"), EXAMPLE.replace("player 0", "player 1")),
        *(EXAMPLE.replace("dice", "kept"), EXAMPLE.replace("upper 3", "upper x"), EXAMPLE.replace("upper 3", "")),
        *("open none upper 0 / player 0 to roll", "open none upper 0 / player 0 dice 11234 rerolls 0"),
        *("filled ones upper 3 / over", "filled none upper 3 / player 0 to roll"),
        "filled chance upper 0 total 0 / player 0 to roll",
        "open sixes sixes upper 40 / player 0 to roll",
    ],
)
def test_invalid_texts_raise_one_line(text):
    assert load_game("yatzy", players=1).state_from_text(EXAMPLE)
    with pytest.raises(PositionError, match=r"expected|did you mean") as error:
        load_game("yatzy", players=1).state_from_text(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("boards", "more"),
    [
        ([], {}),
        ([(FULL, 0)] * 5, {}),
        ([(FULL,)], {}),
        ([(FULL, 0.5)], {}),
        ([("all", 0)], {}),
        ([(FULL & ~(1 << 13), 4, 4.5)], {}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 5.5]}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 5], "rerolls_left": 1.5}),
        ([(FULL, 0)], {"player": "0"}),
        ([(FULL + 1, 0)], {}),
        ([(-1, 0)], {}),
        ([(FULL, 1)], {}),
        ([(FULL & ~(1 << 13), 5)], {}),
        ([(FULL & ~(1 << 13), 12)], {}),
        ([(FULL & ~(1 << 13), 4, 5)], {}),
        ([(FULL & ~(1 << 13), 4, -4)], {}),
        ([(0, 64)], {}),
        ([(0, 63, 112)], {}),
        ([(0, 63, 375)], {}),
        ([(FULL, 0)], {"dice": [1, 2, 3]}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 7]}),
        ([(FULL, 0)], {"dice": [1] * 6, "rolling": True, "rerolls_left": 1}),
        ([(FULL, 0)], {"dice": [1, 2], "rolling": True}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 5], "rerolls_left": 3}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 5], "rerolls_left": -1}),
        ([(FULL, 0)], {"dice": [1, 2], "rolling": True, "rerolls_left": None}),
        ([(FULL, 0)], {"dice": [1, 2], "rolling": True, "rerolls_left": 1.0}),
        ([(FULL, 0)], {"rerolls_left": None}),
        ([(FULL, 0)], {"rerolls_left": 1}),
        ([(FULL, 0)], {"player": 1}),
        ([(FULL, 0)], {"player": -1}),
        ([(FULL, 0)], {"player": 10**30}),
        ([(FULL, 0, 10**30)], {}),
        ([(FULL, 0)], {"dice": [1, 2, 3, 4, 5], "rerolls_left": 10**30}),
        ([(0, 0)], {"dice": [1, 2, 3, 4, 5]}),
        ([(FULL, 0), (FULL & ~1, 0)], {}),
        ([(FULL & ~3, 0), (FULL, 0)], {"player": 1}),
        ([(FULL & ~1, 0), (FULL, 0)], {"player": 0}),
    ],
)
def test_impossible_positions_raise_one_line(boards, more):
    with pytest.raises(PositionError, match="expected") as error:
        yatzy.from_position(boards, **more)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "numbers",
    ["500,2,0,0,32767,0,0", "-3,1,0,1,32767,0,0", "0,1,0,0,32767,0,0", "0,2,0,2,32767,0,0", "210,2,0,1,32767,0,0"],
)
def test_invalid_vectors_are_rejected(numbers):
    with pytest.raises(PositionError, match="expected"):
        load_game("yatzy", players=1).deserialize(numbers)


def test_a_missing_total_is_the_lowest_possible():
    assert yatzy.from_position([(FULL & ~(1 << 12) & ~(1 << 1), 9)]).returns() == [14.0]  # threes 9, chance 5
    assert yatzy.from_position([(0, 63)]).returns() == [63 + 50 + 5]


@pytest.mark.parametrize("players", [0, 5, 2.0, "2", True])
def test_invalid_numbers_of_players_are_rejected(players):
    with pytest.raises(GameError, match="players is"):
        load_game("yatzy", players=players)


# -- observations ----------------------------------------------------------------------------------------------


def test_fields_of_the_observation():
    boards = [(FULL & ~(1 << 14), 3, 3), (FULL & ~(1 << 9) & ~1, 18, 68)]
    state = yatzy.from_position([boards[1], boards[0]], dice=[1, 1, 2, 3, 6], player=1, rerolls_left=1)
    seen = state.observation_tensor()
    assert len(seen) == 2 * 38 + 11
    own, other, dice = seen[:38], seen[38:76], seen[76:]
    assert own[:15].tolist() == [0.0] + [1.0] * 14
    assert other[:15].tolist() == [1.0] * 5 + [0.0] + [1.0] * 8 + [0.0]
    scores = [0, 2, 3, 0, 0, 6, 2, 0, 0, 0, 0, 0, 0, 13, 0]
    assert own[15:30] * 50 == pytest.approx(scores, abs=1e-5)
    assert other[15:30] * 50 == pytest.approx([2, 2, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 13, 0], abs=1e-5)
    assert own[30:] == pytest.approx([3 / 63, 60 / 63, (3 + 60 - 63) / 63, 1, 3 / 374, 0, 14 / 15, 1])
    assert other[30:] == pytest.approx([18 / 63, 45 / 63, 0, 1, 68 / 374, -0.65, 13 / 15, 0])
    assert dice == pytest.approx([0.4, 0.2, 0.2, 0, 0, 0.2, 0, 0, 1, 0, 0])
    state.play("keep-11")
    after = state.observation_tensor()[76:]
    assert after == pytest.approx([0.4, 0, 0, 0, 0, 0, 0.6, 1, 0, 0, 1])
    assert not state.observation_tensor()[15:30].any()


def test_the_observed_score_of_a_category_includes_the_bonus():
    state = yatzy.from_position([(1 << 9, 45)], dice=[6, 6, 6, 1, 2], rerolls_left=0)
    assert state.observation_tensor()[15 + 5] * 50 == pytest.approx(68)
    assert state.child(32 + 5).returns()[0] - state.returns()[0] == 68


def test_between_turns_the_viewer_is_the_player_who_scored():
    state = yatzy.from_position([(FULL & ~1, 0, 50), (FULL, 0)], player=1)
    assert state.viewer() == 0
    seen = state.observation_tensor()
    assert (seen[37], seen[75]) == (0.0, 1.0)
    np.testing.assert_array_equal(seen, state.observation_tensor(0))
    assert load_game("yatzy").new_initial_state().viewer() == 0


@pytest.mark.parametrize("players", [1, 2, 3])
def test_compiled_game_dice_equal_those_of_python(players: int) -> None:
    game = load_game("yatzy", players=players)
    rng = np.random.default_rng(players)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            for seed in (0, (1 << 64) - 1, int(rng.integers(1 << 63))):
                with np.errstate(over="ignore"):
                    found = int(game.kernels.played_outcome_bits(state.vector, np.uint64(seed), 0))
                assert found == played_outcome(state, seed, 0)
            state.apply_action(found)
        else:
            state.apply_action(int(rng.choice(state.legal_actions())))
