"""The sequential test has the stated error rates for several distributions, and needs fewer pairs than a fixed test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from pair_distributions import PAIRS, draw

from aleazero.evaluation.gate_rules import KEEP, OPEN, PROMOTE, Hypotheses, decide, log_martingales, passes
from aleazero.evaluation.statistics import SCORES

GATES = 2000
TEST = Hypotheses(0.5, 0.55, 0.05, 0.05, SCORES, 0.25)
BAND = 3 * math.sqrt(0.05 * 0.95 / GATES)


def shares(pairs, test=TEST):
    counts, verdicts = decide(pairs, test)
    return [float((verdicts == verdict).mean()) for verdict in (PROMOTE, KEEP, OPEN)] + [float(counts.mean())]


@pytest.mark.parametrize("name", PAIRS)
def test_error_rates_are_as_stated_with_fewer_pairs_than_a_fixed_test(name):
    equal, better = draw(name, 0.5, GATES, 800), draw(name, 0.55, GATES, 800, seed=1)
    promoted, kept, undecided, pairs = shares(equal)
    assert promoted <= 0.05 + BAND  # false-promotion rate
    assert kept >= 0.9
    assert undecided <= 0.05
    if name not in ("shared dice", "nearly always split"):
        assert promoted >= 0.05 / 2  # the test does promote
    found, missed, undecided, more_pairs = shares(better)
    assert missed <= 0.05 + BAND  # false-rejection rate
    assert found >= 0.9
    assert undecided <= 0.05
    # Pairs of a fixed test with the same error rates, by the normal approximation. It is poor if nearly all pairs are
    # split.
    fixed = (2 * 1.6449) ** 2 * max(float(equal.var()), float(better.var())) / 0.05**2
    assert max(pairs, more_pairs) < fixed * (3 if name == "nearly always split" else 1)


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "nearly always split"])
def test_the_fixed_test_needs_more_pairs_for_the_same_error_rates(name):
    """With the mean number of pairs of the sequential test, the t test rejects more of the better candidates."""
    equal, better = draw(name, 0.5, GATES, 800), draw(name, 0.55, GATES, 800, seed=1)
    _, _, _, pairs = shares(equal)
    found, _, _, more_pairs = shares(better)
    mean = int(max(pairs, more_pairs))
    assert float(passes(better[:, :mean], TEST).mean()) < found - 0.02
    assert float(passes(equal[:, :mean], TEST).mean()) <= 0.05 + BAND


def likelihood_shares(pairs, least=16):
    """The usual sequential test: a likelihood ratio with the variance estimated so far."""
    count = np.arange(1, pairs.shape[1] + 1)
    mean = np.cumsum(pairs, axis=1) / count
    spread = np.maximum(np.cumsum(pairs**2, axis=1) / count - mean**2, 1e-6)
    ratio = 0.05 * count * (mean - 0.525) / spread
    ratio[:, :least] = 0.0
    ended = np.abs(ratio) >= math.log(19)
    last = ended.argmax(axis=1)
    return float((ratio[np.arange(len(pairs)), last] < 0).mean())


def test_a_likelihood_ratio_test_rejects_three_times_as_many_better_candidates():
    """Most pairs are split, so the usual test underestimates the variance at first."""
    assert likelihood_shares(draw("shared dice", 0.55, GATES, 400, seed=1)) > 0.1
    assert likelihood_shares(draw("nearly always split", 0.55, GATES, 400, seed=1)) > 0.2


def test_small_differences():
    test = Hypotheses(0.5, 0.52, 0.05, 0.05, SCORES, 0.25)
    promoted, _, undecided, pairs = shares(draw("shared dice", 0.5, GATES, 1500), test)
    assert promoted <= 0.05 + BAND
    assert undecided <= 0.02
    assert pairs < 600


@pytest.mark.parametrize("bounds", [(-374.0, 374.0), None])
def test_differences_of_scores(bounds):
    """One-player games: nearly normal differences with a standard deviation of 45 points."""
    rng = np.random.Generator(np.random.Philox(key=5))
    noise = 45 * rng.standard_normal((GATES, 800))
    test = Hypotheses(0.0, 7.5, 0.05, 0.05, bounds, 46.75 if bounds else 75.0)
    promoted, _, undecided, pairs = shares(noise, test)
    assert 0.025 <= promoted <= 0.05 + BAND
    assert undecided <= 0.03
    assert pairs < 10.8 * (45 / 7.5) ** 2
    assert shares(noise + 7.5, test)[1] <= 0.05 + BAND


def reference_test(pairs, test):
    """Run one gate pair by pair."""
    up = down = squares = 0.0
    for number, pair in enumerate(pairs):
        weight = (test.high - test.low) / ((8 * test.spread**2 + squares) / (8 + number))
        up += math.log1p(min(weight, 0.9 / (test.low - test.bounds[0])) * (pair - test.low))
        down += math.log1p(min(weight, 0.9 / (test.bounds[1] - test.high)) * (test.high - pair))
        if up >= math.log(1 / test.alpha):
            return number + 1, PROMOTE
        if down >= math.log(1 / test.beta):
            return number + 1, KEEP
        squares += (pair - (test.low + test.high) / 2) ** 2
    return len(pairs), OPEN


def test_vectorized_test_matches_the_reference_implementation():
    pairs = draw("with draws", 0.53, 60, 250)
    counts, verdicts = decide(pairs, TEST)
    assert [(int(c), int(v)) for c, v in zip(counts, verdicts, strict=True)] == [
        reference_test(row, TEST) for row in pairs
    ]
    assert {PROMOTE, KEEP, OPEN} == set(verdicts.tolist())


def test_later_pairs_do_not_change_the_verdict():
    pairs = draw("with draws", 0.5, 40, 400)
    counts, verdicts = decide(pairs, TEST)
    for row, count, verdict in zip(pairs, counts, verdicts, strict=True):
        again, same = decide(row[None, :count], TEST)
        assert (int(again[0]), int(same[0])) == (count, verdict)
        if count > 1:
            assert decide(row[None, : count - 1], TEST)[1][0] == OPEN


def test_martingales_stay_positive():
    worst = np.array([[0.0] * 50, [1.0] * 50])
    assert np.isfinite(log_martingales(worst, TEST)).all()
