"""Rates of progress bars at given times, and the width of a bar."""

from __future__ import annotations

import io
import re
import time

import pytest

from aleazero.cli import show
from aleazero.cli.progress import Rate, progress_bar
from aleazero.cli.show import SafeConsole


def test_the_rate_is_the_mean_since_the_start():
    rate = Rate(0.0)
    assert rate.at(0, 0.0) == 0.0
    assert rate.at(10, 5.0) == pytest.approx(2.0)
    assert rate.at(40, 10.0) == pytest.approx(4.0)


def test_a_group_of_results_does_not_make_the_rate_jump():
    rate = Rate(0.0)
    for done in range(1, 17):
        found = rate.at(done, 2.0 + done * 1e-4)
    assert found == pytest.approx(8.0, rel=0.01)


def test_earlier_work_does_not_count():
    rate = Rate(0.0)
    rate.at(101, 1.0)
    assert rate.at(120, 10.0) == pytest.approx(2.0)


def test_a_smaller_number_starts_again():
    rate = Rate(0.0)
    rate.at(200, 1.0)
    rate.at(1, 11.0)
    assert rate.at(20, 21.0) == pytest.approx(2.0)


def test_a_bar_fits_into_80_columns(monkeypatch):
    screen = io.StringIO()
    console = SafeConsole(file=screen, force_terminal=True, width=80, color_system=None)
    monkeypatch.setattr(show, "make_console", lambda stderr: console)
    monkeypatch.setattr(console, "quiet", False)
    with progress_bar("12/12 evaluate champion", "pairs") as update:
        for done in (1, 10, 120):
            time.sleep(0.15)
            update(done, 100_000, "strength so far: random 100.0%, rollout 99.8%, " + 9 * "a long text ")
    lines = [line.split("\r")[-1] for line in re.sub(r"\x1b\[[\d?]*[a-zA-Z]", "", screen.getvalue()).splitlines()]
    bars = [line for line in lines if "12/12" in line]
    assert any(re.search(r"12/12 evaluate champion .* 120/100000 \d+ pairs/s .*(s|min) left", line) for line in bars)
    notes = [line for line in lines if "strength so far: random 100.0%" in line]
    assert notes
    assert max(len(line.rstrip()) for line in bars + notes) <= 80
