"""Multisets of dice, compared with counting over all sequences of dice."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aleazero.errors import PositionError
from aleazero.games import dice
from aleazero.games.check_states import chi_square

HAND = st.lists(st.integers(1, 6), min_size=5, max_size=5)


def counts(faces):
    return tuple(sum(face == wanted for face in faces) for wanted in range(1, 7))


def test_number_of_multisets():
    assert [dice.FIRST[k + 1] - dice.FIRST[k] for k in range(6)] == [comb(k + 5, 5) for k in range(6)]
    assert [comb(k + 5, 5) for k in range(6)] == [1, 6, 21, 56, 126, 252]
    assert (len(dice.HISTOGRAMS), dice.NUM_HANDS) == (462, 252)
    assert int(dice.NUM_KEEPS.sum()) == 4368
    assert (dice.NUM_KEEPS.min(), dice.NUM_KEEPS.max()) == (6, 32)


@pytest.mark.parametrize("k", range(6))
def test_probabilities_equal_those_of_all_sequences(k):
    seen = Counter(counts(faces) for faces in product(range(1, 7), repeat=k))
    numbers = [dice.outcome_of_histogram(histogram) for histogram in seen]
    assert sorted(numbers) == list(range(dice.FIRST[k], dice.FIRST[k + 1]))
    for histogram, ways in seen.items():
        assert dice.histogram_probability(histogram) == pytest.approx(float(Fraction(ways, 6**k)), rel=1e-15)
        assert dice.histogram_of_outcome(dice.outcome_of_histogram(histogram)) == histogram
        assert counts(dice.dice_of_histogram(histogram)) == histogram
    assert dice.CHANCES[dice.FIRST[k] : dice.FIRST[k + 1]].sum() == pytest.approx(1.0, abs=1e-12)


def test_single_faces_are_the_outcomes_one_to_six():
    assert [dice.outcome_of_histogram(counts([face])) for face in range(1, 7)] == [1, 2, 3, 4, 5, 6]


@given(HAND, st.integers(0, 31))
def test_masks_keep_the_dice_of_their_bits_and_the_canonical_mask_is_the_smallest(hand, mask):
    ordered = sorted(hand)
    kept = {m: counts([die for i, die in enumerate(ordered) if m >> (4 - i) & 1]) for m in range(32)}
    assert dice.kept_histogram(hand, mask) == kept[mask]
    assert dice.canonical_mask(hand, mask) == min(m for m in range(32) if kept[m] == kept[mask])
    row = dice.outcome_of_histogram(counts(hand)) - dice.HANDS
    canonical = [m for m in range(32) if dice.canonical_mask(hand, m) == m]
    assert dice.KEEPS[row, : dice.NUM_KEEPS[row]].tolist() == canonical
    assert len({kept[m] for m in canonical}) == len(canonical) == len(set(kept.values()))


def test_a_keep_and_a_roll_make_a_hand():
    for kept in range(len(dice.HISTOGRAMS)):
        missing = 5 - int(dice.SIZES[kept])
        rolls = range(dice.FIRST[missing], dice.FIRST[missing + 1])
        hands = dice.HAND_AFTER[dice.ROLLS_FROM[kept] : dice.ROLLS_FROM[kept + 1]]
        assert len(hands) == len(rolls)
        np.testing.assert_array_equal(
            dice.HISTOGRAMS[hands], dice.HISTOGRAMS[kept] + dice.HISTOGRAMS[rolls.start : rolls.stop]
        )


def test_adding_a_die():
    for number in range(dice.HANDS):
        for face in range(6):
            more = list(dice.histogram_of_outcome(number))
            more[face] += 1
            assert dice.ADD[number, face] == dice.outcome_of_histogram(more)


@pytest.mark.parametrize("k", range(6))
def test_draws_invert_the_distribution(k):
    below = Fraction(0)
    for number in range(dice.FIRST[k], dice.FIRST[k + 1]):
        share = Fraction(int(dice.WAYS[number]), 6**k)
        assert dice.draw_roll(k, float(below) + 1e-9) == number
        below += share
        assert dice.draw_roll(k, float(below) - 1e-9) == number
    assert below == 1
    assert dice.draw_roll(k, 1.0 - 2.0**-53) == dice.FIRST[k + 1] - 1


def test_sampled_histograms_are_fair_and_reproducible():
    seen = Counter(dice.sample_histogram(2, seed) for seed in range(8000))
    histograms = [dice.histogram_of_outcome(number) for number in range(7, 28)]
    assert set(seen) == set(histograms)
    off, bound = chi_square([seen[h] for h in histograms], [dice.histogram_probability(h) for h in histograms])
    assert off < bound
    assert [dice.sample_histogram(5, s) for s in range(20)] == [dice.sample_histogram(5, s) for s in range(20)]
    assert dice.sample_histogram(0, 3) == (0,) * 6


@pytest.mark.parametrize(
    "call",
    [
        lambda: dice.histogram_of_dice([1, 2, 7]),
        lambda: dice.histogram_of_dice([1] * 6),
        lambda: dice.dice_of_histogram([1, 0, 0]),
        lambda: dice.outcome_of_histogram([3, 3, 0, 0, 0, 0]),
        lambda: dice.outcome_of_histogram([-1, 1, 0, 0, 0, 0]),
        lambda: dice.histogram_of_outcome(462),
        lambda: dice.kept_histogram([1, 2, 3], 4),
        lambda: dice.kept_histogram([1, 2, 3, 4, 5], 32),
        lambda: dice.canonical_mask([1, 2, 3, 4, 9], 3),
        lambda: dice.sample_histogram(6, 1),
    ],
)
def test_invalid_dice_raise_one_line(call):
    with pytest.raises(PositionError, match="expected") as error:
        call()
    assert "\n" not in str(error.value)
