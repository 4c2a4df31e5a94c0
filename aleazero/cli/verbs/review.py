"""``aleazero review``: errors, blunders and luck of a recorded game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import JsonFlag, argument, cores, option
from aleazero.errors import ConfigError, count_text

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.kit import ReviewThresholds
    from aleazero.serving.ledger import PlayerTotals
    from aleazero.serving.review import Review, Scale
    from aleazero.serving.session_file import StudiedGame

SHOWN_WORST = 5
STYLES = {"error": "yellow", "blunder": "bold red", "": ""}


def review(
    file: Annotated[
        Path,
        argument("FILE", "Games of `aleazero match --save`, `gate --replays` or `play --save`, or a `.mat` file."),
    ],
    index: Annotated[
        int | None, option("--index", "N", "Index of the game in the file, from 0.", show_default="all games")
    ] = None,
    judge: Annotated[
        str | None,
        option(
            "--judge",
            "SPEC",
            "What values the decisions: `oracle`, a plan as `plan:plies=1,net=FILE`, a network as `net:FILE`, or a "
            "search as `search:sims=2000`.",
            show_default="the oracle, or a plan with the bundled network, or search:sims=1000",
        ),
    ] = None,
    error: Annotated[
        float | None,
        option(
            "--error",
            "COST",
            "Mark decisions that cost at least this as errors, in units of the game's returns.",
            show_default="by game",
        ),
    ] = None,
    blunder: Annotated[
        float | None,
        option(
            "--blunder",
            "COST",
            "Mark decisions that cost at least this as blunders, in units of the game's returns.",
            show_default="by game",
        ),
    ] = None,
    html: Annotated[
        Path | None, option("--html", "OUT", "Write an HTML page with the board at each step.", show_default="none")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Review recorded games: errors, blunders and luck, move by move.

    The cost of a decision is the value of the best action minus that of the chosen one. The luck of a roll is the value
    after it minus the expectation before it, so it is zero on average. The luck-adjusted result is the result minus the
    luck. The first lines of the output show what judged the game and whether its values are exact.

    The game's rules are executed, so review only files that you trust.

    **Examples**

    - `aleazero match pig greedy random --pairs 5 --save games.json`, then `aleazero review games.json`

    - `aleazero review games.json --index 3 --html game.html`

    - `aleazero review match.mat --index 0 --error 0.04`

    - `aleazero review games.json --judge search:sims=5000 --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.serving.judge import make_judge
    from aleazero.serving.review import review_data, review_game

    limits = _thresholds(error, blunder)
    with blame_rules(str(file)):
        games = _read(file, index)
        if html is not None:
            _check_page(games, html)
        chosen = make_judge(games[0].game, judge, threads=cores())
        thresholds = limits(games[0].game)
        reviews = []
        with progress_bar("judging", "steps") as show:
            for number, one in enumerate(games):
                note = f"game {number + 1} of {len(games)}" if len(games) > 1 else ""
                reviews.append(review_game(one, chosen, thresholds, partial(_show, show, note)))
    if html is not None:
        from aleazero.serving.review_page import write_page

        write_page(reviews[0], html)
    if json:
        print_json(review_data(reviews, file.name))
    elif html is not None:
        from aleazero.untrusted import printable

        typer.echo(printable(str(html)))
    else:
        console = make_console()
        if len(reviews) == 1:
            print_review(reviews[0], console)
        else:
            print_reviews(reviews, console, file.name)


def _show(show: Any, note: str, done: int, of: int) -> None:
    show(done, of, note)


def _read(file: Path, index: int | None) -> list[StudiedGame]:
    from aleazero.serving.session_file import read_studied

    games = read_studied(file)
    if index is None:
        return games
    if not 0 <= index < len(games):
        raise ConfigError(f"--index is {index}, expected 0 to {len(games) - 1}, the games of {file.name}")
    return [games[index]]


def _check_page(games: Sequence[StudiedGame], html: Path) -> None:
    """Raise ConfigError before the game is judged if the page cannot be written."""
    from aleazero.serving.review_page import why_no_page

    if len(games) > 1:
        raise ConfigError(f"--html shows one game and the file has {len(games)}, expected --index N")
    why = why_no_page()
    if why is not None:
        raise ConfigError(why)
    if not html.parent.is_dir():
        raise ConfigError(f"--html is {str(html)!r}, expected a file in an existing directory")


def _thresholds(error: float | None, blunder: float | None) -> Any:
    """Check the options; return a function from the game to its thresholds, None for the defaults."""
    from math import isfinite

    for name, value in (("--error", error), ("--blunder", blunder)):
        if value is not None and not (isfinite(value) and value > 0):
            raise ConfigError(f"{name} is {value:g}, expected a finite number above 0")
    if error is not None and blunder is not None and error > blunder:
        raise ConfigError(f"--error is {error:g} and --blunder is {blunder:g}, expected error ≤ blunder")

    def of(game: Any) -> ReviewThresholds | None:
        from aleazero.games.kit import ReviewThresholds
        from aleazero.serving.ledger import thresholds_of

        if error is None and blunder is None:
            return None
        if error is not None and blunder is not None:
            return ReviewThresholds(error, blunder)
        default = thresholds_of(game)
        if error is not None:
            return ReviewThresholds(error, max(error, default.blunder))
        assert blunder is not None
        return ReviewThresholds(min(blunder, default.error), blunder)

    return of


def print_review(review: Review, console: Console) -> None:
    """Print a game move by move, its worst decisions and its totals."""
    from rich.text import Text

    from aleazero.cli.show import note_hidden_rows, quiet_table
    from aleazero.serving.review import Scale

    ledger, scale = review.ledger, Scale(review.studied.game)
    console.print(Text(f"{review.studied.game!r}, {review.studied.source}", style="bold"), soft_wrap=True)
    console.print(Text(judge_text(review, scale), style="dim"), soft_wrap=True)
    several = review.studied.game.num_players > 1
    table = quiet_table(
        ("", "right"), *([("player", "left")] if several else []), ("roll", "left"), ("luck", "right"),
        ("move", "left"), (scale.name, "right"), ("cost", "right"), ("", "left"),
    )  # fmt: skip
    for row in review.rows:
        decision = row.decision
        mark = "" if decision is None else decision.mark
        note = "" if decision is None or decision.is_best else f"best: {decision.best}"
        cells = [
            str(row.number),
            *([ledger.totals[row.player].name] if several else []),
            Text(" ".join(roll.name for roll in row.rolls), "magenta"),
            "" if row.luck is None else scale.difference(row.luck),
            "" if decision is None else Text(decision.name, STYLES[mark] or "bold"),
            scale.value(row.value[row.player]),
            "" if decision is None or decision.forced or decision.is_best else scale.difference(-decision.cost),
            Text.assemble((f"{mark}  " if mark else "", STYLES[mark]), (note, "dim")),
        ]
        table.add_row(*cells)
    console.print(table)
    worst = quiet_table(("", "right"), ("player", "left"), ("move", "left"), ("best", "left"), ("cost", "right"),
                        ("position", "left"), title="worst decisions")  # fmt: skip
    numbers = {row.decision.step: row.number for row in review.rows if row.decision is not None}
    for one in ledger.worst[:SHOWN_WORST]:
        worst.add_row(str(numbers[one.step]), ledger.totals[one.player].name, Text(one.name, STYLES[one.mark]),
                      Text(one.best), scale.difference(-one.cost), Text(one.position, "dim"))  # fmt: skip
    if ledger.worst:
        note_hidden_rows(worst, len(ledger.worst) - SHOWN_WORST, "decision")
        console.print(worst)
    console.print(totals_table(ledger.totals, scale))


def print_reviews(reviews: Sequence[Review], console: Console, name: str) -> None:
    """Print the totals of each game, and of all games."""
    from rich.text import Text

    from aleazero.cli.show import quiet_table
    from aleazero.serving.review import Scale, totals_by_name

    game, scale = reviews[0].studied.game, Scale(reviews[0].studied.game)
    console.print(Text(f"{game!r}, {count_text(len(reviews), 'game')} of {name}", style="bold"), soft_wrap=True)
    console.print(Text(judge_text(reviews[0], scale), style="dim"), soft_wrap=True)
    table = quiet_table(("game", "right"), ("player", "left"), ("best", "right"), ("errors", "right"),
                        ("blunders", "right"), ("regret", "right"), ("luck", "right"), ("result", "right"),
                        ("adjusted", "right"))  # fmt: skip
    for number, review in enumerate(reviews):
        for seat, one in enumerate(review.ledger.totals):
            _, best, errors, blunders, _, *rest = totals_texts(one, scale)
            table.add_row("" if seat else str(number), one.name, best, errors, blunders, *rest)
    console.print(table)
    console.print(totals_table(totals_by_name(reviews), scale, "all games (luck and results are means per game)"))


def judge_text(review: Review, scale: Scale) -> str:
    """Return the line with the judge and the thresholds."""
    ledger = review.ledger
    marks = ledger.thresholds
    exact = "" if ledger.exact else ", estimates"
    return (
        f"judge: {ledger.judge}{exact}; error from {scale.difference(marks.error, signed=False)}, "
        f"blunder from {scale.difference(marks.blunder, signed=False)}"
    )


FACTS = ("decisions", "best decisions", "errors", "blunders", "regret per decision", "regret", "luck", "result",
         "luck-adjusted")  # fmt: skip


def totals_table(players: Sequence[PlayerTotals], scale: Scale, title: str | None = None) -> Any:
    """Return a table with one column per player."""
    from aleazero.cli.show import quiet_table

    table = quiet_table(("", "left"), *((one.name, "right") for one in players), title=title)
    for fact, *texts in zip(FACTS, *(totals_texts(one, scale) for one in players), strict=True):
        table.add_row(fact, *texts)
    return table


def totals_texts(one: PlayerTotals, scale: Scale) -> list[str]:
    """Return the totals of a player as texts, in the order of ``FACTS``."""
    return [
        f"{one.decisions:,}",
        "–" if one.best is None else f"{100 * one.best:.1f} %",
        str(one.errors),
        str(one.blunders),
        scale.difference(one.regret_per_decision, signed=False, digits=1),
        scale.difference(one.regret, signed=False),
        scale.difference(one.luck),
        scale.value(one.result),
        scale.value(one.luck_adjusted),
    ]
