"""``aleazero review``: errors, blunders and luck of a recorded game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import JsonFlag, argument, cores, load, option
from aleazero.errors import ConfigError, fields_named

if TYPE_CHECKING:
    from aleazero.serving.session_file import StudiedGame


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
            show_default="the oracle, or the player of the bundled network, or search:sims=1000",
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
    from aleazero.cli.show_review import print_review, print_reviews
    from aleazero.serving.judge import make_judge
    from aleazero.serving.ledger import thresholds_with
    from aleazero.serving.review import review_data, review_game
    from aleazero.serving.session_file import read_studied

    _check_thresholds(error, blunder)
    with fields_named({"index": "--index"}):
        games = read_studied(file, load=load, index=index)
    if html is not None:
        _check_page(games, html, file)
    with blame_rules(games[0].text):
        chosen = make_judge(games[0].game, judge, threads=cores())
        thresholds = thresholds_with(games[0].game, error, blunder)
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


def _check_page(games: Sequence[StudiedGame], html: Path, file: Path) -> None:
    """Raise ConfigError before the game is judged if the page cannot be written."""
    from aleazero.serving.review_page import why_no_page

    if len(games) > 1:
        raise ConfigError(f"--html shows one game and the file has {len(games)}, expected --index N")
    why = why_no_page()
    if why is not None:
        raise ConfigError(why)
    if html.is_dir() or not html.resolve().parent.is_dir():
        raise ConfigError(f"--html is {str(html)!r}, expected a file in a folder that exists")
    if html.resolve() == file.resolve():
        raise ConfigError(f"--html is {str(html)!r}, which is the file of the game, expected another one")


def _check_thresholds(error: float | None, blunder: float | None) -> None:
    """Raise ConfigError before the file is read if the options are invalid."""
    for name, value in (("--error", error), ("--blunder", blunder)):
        if value is not None and not (isfinite(value) and value > 0):
            raise ConfigError(f"{name} is {value:g}, expected a finite number above 0")
    if error is not None and blunder is not None and error > blunder:
        raise ConfigError(f"--error is {error:g} and --blunder is {blunder:g}, expected error ≤ blunder")
