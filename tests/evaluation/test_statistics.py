"""Means and their intervals: the coverage with few pairs, with lopsided pairs and after a sequential test."""

from __future__ import annotations

import numpy as np
import pytest
from pair_distributions import PAIRS, draw
from scipy.stats import t

from aleazero.evaluation.gate_rules import Hypotheses, decide
from aleazero.evaluation.statistics import SCORES, Mean, PairMean, any_time_quantile, interval, t_cdf, t_quantile

REPEATS = 2000
BAND = 0.015
"""Three standard errors of a share near 95 %."""


def test_mean_error_and_interval_by_hand():
    found = Mean.of([1.0, 2.0, 3.0, 6.0])
    assert (found.count, found.mean) == (4, 3.0)
    assert found.error == pytest.approx((14 / 3) ** 0.5 / 2)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * found.error)
    assert Mean.of([5]).to_dict() == {"count": 1, "mean": 5.0, "error": 0.0, "low": 5.0, "high": 5.0}


def coverage(pairs, mean, any_time=False, counts=None):
    covered = 0
    counts = np.full(len(pairs), pairs.shape[1]) if counts is None else counts
    for row, count in zip(pairs, counts, strict=True):
        some = row[:count]
        low, high = interval(count, some.mean(), some.std(ddof=1), SCORES, 0.95, any_time)
        covered += low - 1e-9 <= mean <= high + 1e-9
    return covered / len(pairs)


def plain_coverage(pairs, mean):
    reach = 1.96 * pairs.std(axis=1, ddof=1) / np.sqrt(pairs.shape[1])
    return float((np.abs(pairs.mean(axis=1) - mean) <= reach).mean())


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(("count", "mean"), [(10, 0.5), (20, 0.98), (100, 0.7)])
def test_intervals_have_the_stated_coverage(name, count, mean):
    assert coverage(draw(name, mean, REPEATS, count, seed=count), mean) >= 0.95 - BAND


def test_normal_intervals_do_not_have_the_stated_coverage():
    assert plain_coverage(draw("shared dice", 0.98, REPEATS, 20), 0.98) < 0.75


def test_intervals_are_not_too_wide():
    pairs = draw("with draws", 0.5, REPEATS, 200)
    assert coverage(pairs, 0.5) <= 0.95 + BAND


@pytest.mark.parametrize("name", ["with draws", "shared dice"])
def test_any_time_intervals_cover_after_a_sequential_test(name):
    test = Hypotheses(0.5, 0.55, 0.05, 0.05, SCORES, 0.25)
    for mean in (0.5, 0.525, 0.6):
        pairs = draw(name, mean, 1000, 500, seed=7)
        counts, _ = decide(pairs, test)
        assert coverage(pairs, mean, True, counts) >= 0.95 - 0.021
        if mean == 0.525:
            assert coverage(pairs, mean, False, counts) < 0.93  # the interval for a fixed number of pairs


def test_intervals_computed_by_hand():
    alike = PairMean.of([0.5] * 10)
    unseen = 1 - 0.025**0.1  # share of other values that ten equal pairs do not exclude
    assert (alike.low, alike.high) == pytest.approx((0.5 - unseen / 2, 0.5 + unseen / 2))
    assert alike.error == 0.0
    assert PairMean.of([1.0] * 10).low == pytest.approx(0.025**0.1)  # the Clopper-Pearson bound
    wide = PairMean.of([3.0, 5.0], None)
    assert (wide.low, wide.high) == pytest.approx((4 - 12.7062, 4 + 12.7062), rel=1e-4)
    assert PairMean.of([3.0], None).to_dict() == {"count": 1, "mean": 3.0, "error": 0.0, "low": None, "high": None}
    assert any_time_quantile(100, 0.05) > 2.5 > 1.96


def rarely(shares, count, seed=1):
    """Return differences that are nearly always 0, with ``shares`` of others."""
    values = np.array([0.0, *shares])
    chances = np.array([1.0 - sum(shares.values()), *shares.values()])
    return np.random.default_rng(seed).choice(values, (REPEATS, count), p=chances), float(values @ chances)


@pytest.mark.parametrize("any_time", [False, True])
@pytest.mark.parametrize("count", [20, 50, 200])
@pytest.mark.parametrize("shares", [{20.0: 0.02}, {20.0: 0.02, -20.0: 0.02}], ids=str)
def test_intervals_cover_rare_differences(shares, count, any_time):
    pairs, mean = rarely(shares, count)
    found = [PairMean.of_differences(row, 374.0, any_time=any_time) for row in pairs]
    assert np.mean([one.low <= mean <= one.high for one in found]) >= 0.95 - BAND


def test_students_interval_covers_a_third_of_rare_differences():
    pairs, mean = rarely({20.0: 0.02}, 20)
    assert plain_coverage(pairs, mean) < 0.4


def test_differences_that_are_not_rare_have_students_interval():
    pairs = np.random.default_rng(2).normal(1.5, 20.0, (REPEATS, 150))
    found = [PairMean.of_differences(row, 374.0) for row in pairs]
    assert np.mean([one.low <= 1.5 <= one.high for one in found]) == pytest.approx(0.95, abs=BAND)
    wide = PairMean.of_differences([3.0, 5.0], None)
    assert (wide.low, wide.high) == pytest.approx((4 - 12.7062, 4 + 12.7062), rel=1e-4)


def test_equal_differences_are_limited_by_the_bounds_only():
    unseen = 1 - 0.025**0.1
    alike = PairMean.of_differences([0.0] * 10, 374.0)
    assert (alike.low, alike.high) == pytest.approx((-374 * unseen, 374 * unseen))
    assert PairMean.of_differences([2.5] * 10, None).low is None
    assert PairMean.of_differences([2.5], None).high is None


@pytest.mark.parametrize("freedom", [1, 2, 7, 99, 9999, 20_000])
def test_quantiles_match_scipy(freedom):
    for chance in (0.025, 0.5, 0.9, 0.95, 0.975, 0.9999):
        near = 1e-9 if freedom <= 10_000 else 1e-3  # the normal approximation
        assert t_quantile(chance, freedom) == pytest.approx(t.ppf(chance, freedom), rel=near, abs=1e-9)


def test_cdf_matches_scipy():
    for freedom in (1, 5, 200):
        for x in (-40.0, -1.3, 0.0, 0.2, 3.0):
            assert t_cdf(x, freedom) == pytest.approx(t.cdf(x, freedom), rel=1e-9)
