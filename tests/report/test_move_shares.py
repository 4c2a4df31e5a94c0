"""Shares of warning moves in the strength table of a report."""

from __future__ import annotations

from aleazero.report.source import Sourced
from aleazero.report.tables import NOTHING, _move_share


def share(value: float, warning: bool) -> str:
    one = {"share": value, "count": 3, "decisions": 1234, "limit": 0.08, "warning": warning}
    return _move_share(Sourced(one, "events:7/results/moves/floor"))


def test_a_share_has_its_decisions_and_a_warning_above_the_limit() -> None:
    low, high = share(0.031, False), share(0.12, True)
    assert "1,234</span> decisions" in low
    assert "limit" not in low
    assert "above the limit of" in high
    assert 'data-from="events:7/results/moves/floor/share"' in high
    assert _move_share(Sourced(None, "events:7")) == NOTHING
