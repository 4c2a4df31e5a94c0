"""``aleazero check``: whether a game keeps the laws of the contract, compiles, and can be searched."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.failure import rules_of
from aleazero.cli.options import GameArgument, JsonFlag, ParamOption

if TYPE_CHECKING:
    from aleazero.games.contract import CheckReport
    from aleazero.search.result import SearchResult

SIMULATIONS = 64


def check(
    game: GameArgument,
    param: ParamOption = None,
    episodes: Annotated[int, typer.Option("--episodes", metavar="N", help="Random episodes to play.", min=1)] = 10,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the episodes.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Check that a game keeps the laws of the contract, and that its search compiles and runs.

    Probabilities sum to 1, sampling agrees with them, a clone is independent, texts read back, returns stay in
    range, compiled rules say the same as plain Python, and more. The first broken law is one line and exit
    code 2.

    **Examples**

    - `aleazero check my_game.py:my_game`

    - `aleazero check pig --param target=20`
    """
    from aleazero.cli.searching import timed_search
    from aleazero.cli.show import print_json
    from aleazero.cli.specs import read_game
    from aleazero.games.contract import check_game
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    with rules_of(game):
        the_game = read_game(game, param)
        report = check_game(the_game, episodes=episodes, seed=seed)
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
    console.print(Text(f"{report.game} keeps the laws", style="bold green"), soft_wrap=True)
    facts = facts_table()
    facts.add_row(
        "episodes", f"{report.episodes}, {report.mean_length:,.1f} steps on average, {report.max_length:,} the longest"
    )
    facts.add_row("states", f"{report.states:,} checked{_census(report.census)}")
    facts.add_row("choices", f"at most {report.max_legal} legal actions, at most {report.max_outcomes} outcomes")
    facts.add_row("laws", Text(", ".join(report.laws)))
    how = "compiled" if compiled else "plain Python: only kernel games compile"
    facts.add_row("search", f"{result.stats.simulations} simulations ran ({how})")
    console.print(facts)
    if report.capped:
        console.print(
            Text(f"{report.capped} of {report.episodes} episodes were cut off: the game may never end", "bold yellow")
        )


def _census(census: dict[str, int] | None) -> str:
    if census is None:
        return ", those that the episodes met: there are too many for all"
    counts: Any = ", ".join(f"{count:,} {kind}" for kind, count in census.items())
    return f"; there are {counts}"
