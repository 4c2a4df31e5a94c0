from __future__ import annotations

import pytest
from scipy.stats import t

from aleazero.evaluation.student import t_cdf, t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 7, 99, 9999, 20_000])
def test_quantiles_are_scipys(freedom):
    for chance in (0.025, 0.5, 0.9, 0.95, 0.975, 0.9999):
        near = 1e-9 if freedom <= 10_000 else 1e-3  # the normal's, then
        assert t_quantile(chance, freedom) == pytest.approx(t.ppf(chance, freedom), rel=near, abs=1e-9)


def test_chances_are_scipys():
    for freedom in (1, 5, 200):
        for x in (-40.0, -1.3, 0.0, 0.2, 3.0):
            assert t_cdf(x, freedom) == pytest.approx(t.cdf(x, freedom), rel=1e-9)
