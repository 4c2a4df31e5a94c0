"""How pairs look in a terminal: score with interval, pair table, Elo, points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aleazero.cli.show import facts_table, share_bar

if TYPE_CHECKING:
    from rich.console import Console


def print_pairs(told: dict[str, Any], console: Console, more: dict[str, str] | None = None) -> None:
    """What ``PairTable.to_dict`` tells, and some facts more, above it."""
    facts = facts_table()
    for name, words in (more or {}).items():
        facts.add_row(name, words)
    for name, words in pair_facts(told).items():
        facts.add_row(name, words)
    most = max(told["pair_table"].values())
    for number, (score, count) in enumerate(told["pair_table"].items()):
        facts.add_row(
            "pairs by score" if number == 0 else "", f"{score:<6} {count:>7,}  {share_bar(count / most, console)}"
        )
    console.print(facts, soft_wrap=True)


def pair_facts(told: dict[str, Any]) -> dict[str, str]:
    """The facts by name."""
    facts = {
        "score": f"{mean_text(told['score'], '.3f')}, {told['pairs']:,} pairs ({told['games']:,} games)",
        "games": f"{told['wins']:,} won, {told['draws']:,} drawn, {told['losses']:,} lost",
        "elo": elo_text(told["elo"]),
        "returns": f"{mean_text(told['return_difference'], '+,.3f')} ahead",
    }
    if "points" in told:
        points = told["points"]
        ahead = mean_text(points["difference"], "+,.2f")
        facts["points"] = f"{points['first']:,.2f} against {points['second']:,.2f}, {ahead} ahead"
    return facts


def mean_text(told: dict[str, Any], form: str) -> str:
    """A mean with its interval of 95 %."""
    if told["low"] is None:
        return format(told["mean"], form)
    return f"{told['mean']:{form}} ({told['low']:{form}} to {told['high']:{form}})"


def elo_text(elo: dict[str, float | None]) -> str:
    """A difference of ratings with its interval; where a score of 0 or 1 is possible, it has no end."""
    low = "-∞" if elo["low"] is None else f"{elo['low']:+.0f}"
    high = "+∞" if elo["high"] is None else f"{elo['high']:+.0f}"
    return f"({low} to {high})" if elo["mean"] is None else f"{elo['mean']:+.0f} ({low} to {high})"
