from __future__ import annotations

import pytest

from aleazero.evaluation.estimate import Estimate


def test_mean_error_and_interval_by_hand():
    estimate = Estimate.of([1.0, 2.0, 3.0, 6.0])
    assert (estimate.count, estimate.mean) == (4, 3.0)
    assert estimate.error == pytest.approx((14 / 3) ** 0.5 / 2)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.959964 * estimate.error)
    assert Estimate.of([5]).to_dict() == {"count": 1, "mean": 5.0, "error": 0.0, "low": 5.0, "high": 5.0}
