"""``aleazero check``: check the requirements of the game contract, and that a game compiles and can be searched."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.failure import rules_of
from aleazero.cli.options import GameArgument, JsonFlag, ParamOption

if TYPE_CHECKING:
    from aleazero.games.check import CheckReport
    from aleazero.search.result import SearchResult

SIMULATIONS = 64
SECONDS = 10.0
"""That of ``check_game``, which is not imported for the help."""


def check(
    game: GameArgument,
    param: ParamOption = None,
    episodes: Annotated[int, typer.Option("--episodes", metavar="N", help="Random episodes to play.", min=1)] = 10,
    states: Annotated[
        int, typer.Option("--states", metavar="N", help="Check at most this many different states.", min=1)
    ] = 2_000,
    seconds: Annotated[
        float,
        typer.Option(
            "--seconds", metavar="S", help="Stop after about this many seconds, plus the time to compile.", min=0.1
        ),
    ] = SECONDS,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the episodes.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Check a game against the requirements of the contract, and compile and run its search.

    Probabilities sum to 1, sampling agrees with them, a clone is independent, texts read back, returns stay in
    range, features have the declared size, compiled rules agree with plain Python, and more. The first check that
    fails is one line and exit code 2.

    **Examples**

    - `aleazero check my_game.py:my_game`

    - `aleazero check pig --param target=20`

    - `aleazero check my_game.py --states 200 --seconds 60`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.searching import timed_search
    from aleazero.cli.show import print_json
    from aleazero.cli.specs import read_game
    from aleazero.games.check import check_game
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    with rules_of(game):
        the_game = read_game(game, param)
        with progress_bar(f"checking {the_game.name}", "states") as tell:
            report = check_game(
                the_game, episodes=episodes, seed=seed, max_states=states, seconds=seconds, progress=tell
            )
        state = the_game.new_initial_state()
        result, took = timed_search(the_game, state, "rollout", SearchConfig(num_simulations=SIMULATIONS, seed=seed))
    compiled = isinstance(the_game, KernelGame)
    if json:
        search = {"compiled": compiled, "simulations": result.stats.simulations, "seconds": took}
        print_json({**asdict(report), "search": search})
        return
    _show(report, result, compiled)


def _show(report: CheckReport, result: SearchResult, compiled: bool) -> None:
    from rich.text import Text

    from aleazero.cli.show import facts_table, make_console

    console = make_console()
    console.print(Text(f"{report.game} passes all checks", style="bold green"), soft_wrap=True)
    facts = facts_table()
    facts.add_row(
        "episodes", f"{report.episodes}, {report.mean_length:,.1f} steps on average, {report.max_length:,} the longest"
    )
    facts.add_row("states", f"{report.states:,} checked{_extent(report)}")
    facts.add_row("choices", f"at most {report.max_legal} legal actions, at most {report.max_outcomes} outcomes")
    if report.compiled_games:
        facts.add_row("ends", f"those of {report.compiled_games:,} random games of the compiled rules")
    facts.add_row("checks", Text(", ".join(report.checks)))
    how = "compiled" if compiled else "plain Python: only kernel games compile"
    facts.add_row("search", f"{result.stats.simulations} simulations ran ({how})")
    console.print(facts)
    if report.capped:
        console.print(
            Text(f"{report.capped} of {report.episodes} episodes were cut off: the game may never end", "bold yellow")
        )
    for warning in report.warnings:
        console.print(Text(f"warning: {warning}", "bold yellow"), soft_wrap=True)


def _extent(report: CheckReport) -> str:
    """How far the check got."""
    if report.out_of_time:
        return "; the budget of seconds ended the check early (--seconds)"
    if report.census is None:
        return ", those of the episodes; the game has more states than --states"
    counts: Any = ", ".join(f"{count:,} {kind}" for kind, count in report.census.items())
    return f"; there are {counts}"
