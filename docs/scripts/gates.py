"""Print the table of simulated error rates in ``docs/benchmarks/gates.md``: ``python docs/scripts/gates.py``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "evaluation"))

from pair_distributions import PAIRS, draw
from test_sprt import GATES, likelihood_shares, shares

HEAD = ("pairs", "equal, promoted", "better, rejected", "mean pairs, equal", "pairs of a fixed test",
        "likelihood ratio: better, rejected")  # fmt: skip
MOST = 800
NORMAL = 1.6449
"""Quantile of the normal distribution at 95 %."""


def row(name: str) -> list[str]:
    equal, better = draw(name, 0.5, GATES, MOST), draw(name, 0.55, GATES, MOST, seed=1)
    promoted, _, _, pairs = shares(equal)
    _, missed, _, _ = shares(better)
    fixed = (2 * NORMAL) ** 2 * max(float(equal.var()), float(better.var())) / 0.05**2
    return [name, _percent(promoted), _percent(missed), f"{pairs:.0f}", f"{fixed:.0f}",
            _percent(likelihood_shares(better))]  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table() -> str:
    rows = [f"| {' | '.join(cells)} |" for cells in (HEAD, *map(row, PAIRS))]
    return "\n".join([rows[0], "|---|" + (len(HEAD) - 1) * "---:|", *rows[1:]])


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
