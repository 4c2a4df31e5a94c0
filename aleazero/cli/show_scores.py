"""How the scores of many games look in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aleazero.cli.show import facts_table, quiet_table, share_bar
from aleazero.evaluation.scores import BIN

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.scores import Scores
    from aleazero.evaluation.statistics import Mean


def estimate_text(estimate: Mean, digits: int = 2) -> str:
    """A mean, and its interval of 95 %."""
    return f"{estimate.mean:.{digits}f} ({estimate.low:.{digits}f} to {estimate.high:.{digits}f})"


def print_scores(scores: Scores, console: Console, more: Mapping[str, str]) -> None:
    """The mean and its interval, the bonus, percentiles, and a histogram."""
    facts = facts_table()
    facts.add_row("games", f"{len(scores.totals):,}")
    facts.add_row("mean", estimate_text(scores.mean))
    for name, text in more.items():
        facts.add_row(name, text)
    facts.add_row("bonus", f"{scores.bonus_rate:.1%}")
    facts.add_row("percentiles", "  ".join(f"{percent}%: {score:.0f}" for percent, score in scores.percentiles.items()))
    console.print(facts)
    table = quiet_table(("score", "right"), ("games", "right"), ("share", "right"), ("", "left"))
    counts = scores.histogram
    most = max(counts.values())
    for low, count in counts.items():
        table.add_row(
            f"{low}-{low + BIN - 1}",
            f"{count:,}",
            f"{count / len(scores.totals):.1%}",
            share_bar(count / most, console),
        )
    console.print(table)
