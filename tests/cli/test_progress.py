"""Rates of progress bars, with a clock by hand."""

from __future__ import annotations

import pytest

from aleazero.cli.progress import Rate


def test_over_all_the_time():
    rate = Rate(0.0)
    assert rate.at(0, 0.0) == 0.0
    assert rate.at(10, 5.0) == pytest.approx(2.0)
    assert rate.at(40, 10.0) == pytest.approx(4.0)


def test_a_heap_that_comes_at_once_does_not_leap():
    rate = Rate(0.0)
    for done in range(1, 17):
        found = rate.at(done, 2.0 + done * 1e-4)
    assert found == pytest.approx(8.0, rel=0.01)


def test_what_was_done_before_does_not_count():
    rate = Rate(0.0)
    rate.at(101, 1.0)
    assert rate.at(120, 10.0) == pytest.approx(2.0)


def test_the_next_part_starts_anew():
    rate = Rate(0.0)
    rate.at(200, 1.0)
    rate.at(1, 11.0)
    assert rate.at(20, 21.0) == pytest.approx(2.0)
