"""Aiming at one category, compared with expectations over all sequences of dice; and playouts."""

import random
from functools import cache
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest

from aleazero import Rollout, Search, SearchConfig
from aleazero.games.dice import KEPT, histogram_of_outcome, kept_histogram
from aleazero.games.registry import load_game
from aleazero.games.yatzy.card import ABOVE_PAR, AIM, BRINGS, CATEGORIES, PAR, SCORES

HANDS = list(combinations_with_replacement(range(1, 7), 5))
ROW = {hand: row for row, hand in enumerate(HANDS)}


@cache
def kept_brings(kept, rerolls, category):
    """Return the expected score after keeping some dice, the mean over all sequences of the others."""
    rolls = list(product(range(1, 7), repeat=5 - len(kept)))
    return sum(brings(tuple(sorted(kept + roll)), rerolls - 1, category) for roll in rolls) / len(rolls)


@cache
def brings(hand, rerolls, category):
    if rerolls == 0:
        return int(SCORES[ROW[hand], category])
    keeps = {kept for size in range(6) for kept in combinations(hand, size)}
    return max(kept_brings(kept, rerolls, category) for kept in keeps)


@pytest.mark.parametrize("category", ["sixes", "pair", "two_pairs", "small_straight", "house", "chance", "yatzy"])
def test_aiming_with_one_reroll_is_optimal(category):
    c = CATEGORIES.index(category)
    for hand in random.Random(category).sample(HANDS, 6):
        assert BRINGS[1, ROW[hand], c] == pytest.approx(brings(hand, 1, c), abs=1e-12)
        kept = histogram_of_outcome(int(KEPT[ROW[hand], AIM[0, ROW[hand], c]]))
        dice = tuple(face for face, count in enumerate(kept, start=1) for _ in range(count))
        assert kept_brings(dice, 1, c) == pytest.approx(brings(hand, 1, c), abs=1e-12)


def test_aiming_with_two_rerolls_in_known_cases():
    # Aiming at yatzy for a complete turn: 50 times the known probability of 4.6029 %.
    first = sum(np.bincount(hand, minlength=7)[1:].max() == 5 for hand in product(range(1, 7), repeat=5)) / 6**5
    assert first == pytest.approx(6 / 6**5)
    shares = [
        np.prod(np.arange(1, 6)) / np.prod([np.prod(np.arange(1, n + 1)) for n in np.bincount(hand)]) / 6**5
        for hand in HANDS
    ]
    assert np.dot(shares, BRINGS[2, :, CATEGORIES.index("yatzy")]) == pytest.approx(50 * 0.0460286, abs=1e-4)
    # Chance: a die that may be rolled three times is worth 14/3, independently of the others.
    assert np.dot(shares, BRINGS[2, :, CATEGORIES.index("chance")]) == pytest.approx(5 * 14 / 3, abs=1e-9)


def test_a_completed_category_is_kept():
    straight = ROW[1, 2, 3, 4, 5]
    assert AIM[:, straight, CATEGORIES.index("small_straight")].tolist() == [31, 31]
    assert BRINGS[:, straight, CATEGORIES.index("small_straight")].tolist() == [15.0, 15.0, 15.0]
    fours = AIM[1, ROW[1, 4, 4, 4, 6], CATEGORIES.index("fours")]
    assert kept_histogram([1, 4, 4, 4, 6], int(fours)) == (0, 0, 0, 3, 0, 0)


def test_upper_points_include_a_share_of_the_bonus():
    sixes, house = ROW[1, 6, 6, 6, 6], ROW[2, 2, 3, 3, 3]
    assert ABOVE_PAR[0, sixes, CATEGORIES.index("sixes")] == pytest.approx(24 * 113 / 63 - PAR[5])
    assert ABOVE_PAR[0, house, CATEGORIES.index("house")] == 13 - PAR[12]


@pytest.mark.parametrize(
    ("position", "action"),
    [
        ("filled none upper 0 / player 0 dice 12345 rerolls 2", "keep-all"),
        ("filled small_straight upper 0 / player 0 dice 13345 rerolls 2", "keep-33"),
        ("filled none upper 0 / player 0 dice 14446 rerolls 1", "keep-444"),
        ("filled none upper 0 / player 0 dice 66666 rerolls 0", "yatzy"),
        ("open ones chance upper 20 / player 0 dice 45566 rerolls 0", "chance"),
        ("open ones chance upper 20 / player 0 dice 11123 rerolls 0", "ones"),
    ],
)
def test_playouts_in_simple_positions(position, action):
    state = load_game("yatzy", players=1).state_from_text(position)
    assert state.action_to_string(state.playout_action(0.5)) == action


@pytest.mark.parametrize("players", [1, 3])
def test_playouts_are_legal_and_do_not_depend_on_random_numbers(players):
    draw = random.Random(players)
    for _ in range(20):
        state = load_game("yatzy", players=players).new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state._apply(state.sample_outcome(draw.random()))
                continue
            action = state.playout_action(draw.random())
            assert action in state.legal_actions()
            assert action == state.playout_action(0.0)
            # Also visit states that playouts would not reach.
            state._apply(action if draw.random() < 0.5 else draw.choice(state.legal_actions()))


def mean_of_playouts(game, count):
    """Return the mean of this many playouts from the start: the value of a tree that may not grow."""
    config = SearchConfig(num_simulations=count, max_depth=1, seed=1)
    return Search(game, Rollout(), config).run(game.new_initial_state()).value[0]


def test_the_mean_score_of_playouts():
    assert mean_of_playouts(load_game("yatzy", players=1), 10_000) == pytest.approx(223.5, abs=5 * 45 / 100)
