"""Print reviews as text: a game move by move, its worst decisions, and the totals of the players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from aleazero.cli.show import note_hidden_rows, quiet_table
from aleazero.errors import count_text
from aleazero.serving.review import Review, ReviewRow, roll_text, scale_of, totals_by_name
from aleazero.serving.scale import Scale

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from aleazero.serving.ledger import Ledger, PlayerTotals

SHOWN_WORST: Final = 5
LONGEST_POSITION: Final = 40
"""Characters of a position that fits into a table."""
STYLES: Final = {"error": "yellow", "blunder": "bold red", "": ""}
SIGNS: Final = {"error": "?", "blunder": "??", "": ""}
"""Signs of errors and blunders, as in the notation of chess and backgammon."""


def print_review(review: Review, console: Console) -> None:
    """Print a game move by move, its worst decisions and its totals."""
    ledger, scale = review.ledger, scale_of(review.studied.game)
    console.print(Text(f"{review.studied.game!r}, {review.studied.source}", style="bold"), soft_wrap=True)
    _print_judge(ledger, scale, console)
    several, has_luck = review.studied.game.num_players > 1, scale.has_luck
    table = quiet_table(
        ("", "right"), *[("player", "left")] * several, *[("roll", "left"), ("luck", "right")] * has_luck,
        ("move", "left"), (scale.name, "right"), ("cost", "right"), ("", "left"), ("best", "left"),
    )  # fmt: skip
    for row in review.rows:
        who = [Text(ledger.totals[row.player].name)] if several else []
        rolls = [Text(" ".join(map(roll_text, row.rolls)), "magenta"), Text(scale.luck(row.luck))] if has_luck else []
        table.add_row(str(row.number), *who, *rolls, *_cells(row, scale))
    console.print(table)
    numbers = {row.decision.step: row.number for row in review.rows if row.decision is not None}
    _print_worst(ledger, scale, console, numbers)
    console.print(_totals_table(ledger.totals, scale))


def print_summary(review: Review, console: Console) -> None:
    """Print the worst decisions and the totals of a game."""
    ledger, scale = review.ledger, scale_of(review.studied.game)
    _print_judge(ledger, scale, console)
    _print_worst(ledger, scale, console)
    console.print(_totals_table(ledger.totals, scale))


def print_reviews(reviews: Sequence[Review], console: Console, name: str) -> None:
    """Print the totals of each game, and of all games."""
    game, scale = reviews[0].studied.game, scale_of(reviews[0].studied.game)
    console.print(Text(f"{game!r}, {count_text(len(reviews), 'game')} of {name}", style="bold"), soft_wrap=True)
    _print_judge(reviews[0].ledger, scale, console)
    table = quiet_table(("game", "right"), ("player", "left"), ("best", "right"), ("errors", "right"),
                        ("blunders", "right"), ("regret", "right"), ("luck", "right"), ("result", "right"),
                        ("adjusted", "right"))  # fmt: skip
    for number, review in enumerate(reviews):
        for seat, one in enumerate(review.ledger.totals):
            _, best, errors, blunders, _, *rest = _totals_texts(one, scale)
            table.add_row("" if seat else str(number), Text(one.name), best, errors, blunders, *rest)
    console.print(table)
    console.print(Text("all games (luck and results are means per game)", style="bold"), soft_wrap=True)
    console.print(_totals_table(totals_by_name(reviews), scale))


def _print_judge(ledger: Ledger, scale: Scale, console: Console) -> None:
    """Print what judged the game, and the thresholds."""
    exact = "" if ledger.exact else ", estimates"
    error, blunder = (scale.cost(cost) for cost in (ledger.thresholds.error, ledger.thresholds.blunder))
    text = f"judge: {ledger.judge}{exact}; error (?) from {error}, blunder (??) from {blunder}"
    console.print(Text(text, style="dim"), soft_wrap=True)


def _cells(row: ReviewRow, scale: Scale) -> list[Text]:
    """Return the cells of a row from the move on."""
    one = row.decision
    value = Text(scale.value(row.value[row.player]))
    if one is None:
        return [Text(), value]
    cells = [Text(one.name, STYLES[one.mark] or "bold"), value]
    if one.is_best:
        return cells
    return [*cells, Text(scale.cost(one.cost)), Text(SIGNS[one.mark], STYLES[one.mark]), Text(one.best, "dim")]


def _print_worst(ledger: Ledger, scale: Scale, console: Console, numbers: Mapping[int, int] | None = None) -> None:
    """Print the worst decisions, without long positions; ``numbers`` has the number of each by its step."""
    shown, several = ledger.worst[:SHOWN_WORST], len(ledger.totals) > 1
    if not shown:
        return
    with_position = all(len(one.position) <= LONGEST_POSITION for one in shown)
    table = quiet_table(
        *[("", "right")] * (numbers is not None), *[("player", "left")] * several, ("move", "left"), ("best", "left"),
        ("cost", "right"), ("", "left"), *[("position", "left")] * with_position, title="worst decisions",
    )  # fmt: skip
    for one in shown:
        number = [] if numbers is None else [str(numbers[one.step])]
        who = [Text(ledger.totals[one.player].name)] if several else []
        table.add_row(
            *number, *who, Text(one.name, STYLES[one.mark]), Text(one.best), scale.cost(one.cost),
            Text(SIGNS[one.mark], STYLES[one.mark]), *[Text(one.position, "dim")] * with_position,
        )  # fmt: skip
    note_hidden_rows(table, len(ledger.worst) - SHOWN_WORST, "decision")
    console.print(table)


FACTS: Final = ("decisions", "best decisions", "errors", "blunders", "regret per decision", "regret", "luck", "result",
                "luck-adjusted")  # fmt: skip


def _totals_table(players: Sequence[PlayerTotals], scale: Scale) -> Table:
    """Return a table with one column per player."""
    table = quiet_table(("", "left"), *((one.name, "right") for one in players))
    for fact, *texts in zip(FACTS, *(_totals_texts(one, scale) for one in players), strict=True):
        if scale.has_luck or not fact.startswith("luck"):
            table.add_row(fact, *texts)
    return table


def _totals_texts(one: PlayerTotals, scale: Scale) -> list[str]:
    """Return the totals of a player as texts, in the order of ``FACTS``."""
    return [
        f"{one.decisions:,}",
        "–" if one.best is None else f"{100 * one.best:.1f} %",
        str(one.errors),
        str(one.blunders),
        "–" if one.regret_per_decision is None else scale.cost(one.regret_per_decision, digits=1),
        scale.cost(one.regret),
        scale.luck(one.luck),
        scale.value(one.result),
        scale.value(one.luck_adjusted),
    ]
