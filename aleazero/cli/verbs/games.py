"""``aleazero games``, ``models``, ``check``, ``cache`` and ``demo``: list games and networks, and check a game."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import GameArgument, JsonFlag, ParamOption, option, read_game
from aleazero.errors import count_text
from aleazero.untrusted import printable

if TYPE_CHECKING:
    from aleazero.games.check import CheckReport
    from aleazero.games.kit import Example
    from aleazero.native.cache import CacheInfo
    from aleazero.search.result import SearchResult


def games(json: JsonFlag = False) -> None:
    """List the bundled games with their parameters.

    Your own games need no installation: `aleazero analyse path/file.py`. If OpenSpiel is installed, its
    perfect-information games can be searched as well: `aleazero analyse openspiel:pig`.
    """
    from rich.text import Text

    from aleazero.cli.show import make_console, print_json, quiet_table
    from aleazero.games.registry import game_names, load_game
    from aleazero.serving.plain_data import describe_game

    rows = [describe_game(load_game(name)) for name in game_names()]
    if json:
        print_json(rows)
        return
    table = quiet_table(("game", "left"), ("players", "right"), ("actions", "right"), ("outcomes", "right"),
                        ("parameters", "left"), ("about", "left"))  # fmt: skip
    for row in rows:
        table.add_row(
            Text(row["name"], style="bold"),
            str(row["players"]),
            str(row["actions"]),
            str(row["max_outcomes"] or "no chance"),
            Text("\n".join(f"{key}={value}" for key, value in row["params"].items())),
            Text(row["description"]),
        )
    make_console().print(table)


def models(json: JsonFlag = False) -> None:
    """List the bundled networks with their measured strength.

    `aleazero play` and `aleazero analyse` use them by default. The row `player` has the player spec of `play`. In a
    player spec, `net:champion` is the bundled network of the game.

    **Examples**

    - `aleazero play yatzy`

    - `aleazero match yatzy net:champion search:sims=200`
    """
    from aleazero.cli.show import facts_table, make_console, print_json, time_text
    from aleazero.players.champions import champions

    found = champions()
    if json:
        print_json([{"file": one.path.name, "bytes": one.path.stat().st_size, **one.figures} for one in found])
        return
    console = make_console()
    for one in found:
        figures = one.figures
        took = time_text(60 * figures["minutes"])
        table = facts_table()
        table.add_row("player", one.engine)
        table.add_row("trained", f"recipe {figures['recipe']}, seed {figures['seed']}, {took}")
        for name, text in figures["lines"].items():
            table.add_row(name, text)
        table.add_row("file", f"{one.path.name}, {one.path.stat().st_size / 1e6:.2f} MB")
        console.print(one.game, style="bold")
        console.print(table)


SIMULATIONS = 64
SECONDS = 10.0
"""Default of ``check_game``, which is not imported for the help."""


def check(
    game: GameArgument,
    param: ParamOption = None,
    episodes: Annotated[int, option("--episodes", "N", "Random episodes to play.", min=1)] = 10,
    states: Annotated[int, option("--states", "N", "Maximum number of different states to check.", min=1)] = 2_000,
    seconds: Annotated[
        float, option("--seconds", "SECONDS", "Approximate time limit, without compilation.", min=0.1)
    ] = SECONDS,
    seed: Annotated[int, option("--seed", "SEED", "Seed of the random episodes.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Check the rules of a game, then compile and run its search.

    Checks, among other things, that probabilities sum to 1, sampling agrees with them, clones are independent, texts
    can be read back, returns stay in range, features have the declared size, and compiled rules agree with plain
    Python. The first failed check is printed as one line, with exit code 2.

    **Examples**

    - `aleazero check my_game.py:my_game`

    - `aleazero check 'pig(target=20)'`

    - `aleazero check my_game.py --states 200 --seconds 60`
    """
    from aleazero.cli.progress import progress_bar, timed_search
    from aleazero.cli.show import print_json
    from aleazero.games.check import check_game
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    with blame_rules(game):
        the_game = read_game(game, param)
        with progress_bar(f"checking {the_game.name}", "states") as show:
            report = check_game(
                the_game, episodes=episodes, seed=seed, max_states=states, seconds=seconds, progress=show
            )
        state = the_game.new_initial_state()
        result, took = timed_search(the_game, state, "rollout", SearchConfig(num_simulations=SIMULATIONS, seed=seed))
    compiled = isinstance(the_game, KernelGame)
    if json:
        search = {"compiled": compiled, "simulations": result.stats.simulations, "seconds": took}
        print_json({**asdict(report), "search": search})
        return
    _show_check(report, result, compiled)


def _show_check(report: CheckReport, result: SearchResult, compiled: bool) -> None:
    from rich.text import Text

    from aleazero.cli.show import facts_table, make_console

    console = make_console()
    console.print(Text(f"{report.game} passes all checks", style="bold green"), soft_wrap=True)
    facts = facts_table()
    facts.add_row(
        "episodes", f"{report.episodes}, {report.mean_length:,.1f} steps on average, at most {report.max_length:,}"
    )
    facts.add_row("states", f"{report.states:,} checked{_extent(report)}")
    facts.add_row("choices", f"at most {report.max_legal} legal actions, at most {report.max_outcomes} outcomes")
    if report.compiled_games:
        facts.add_row("compiled", f"{report.compiled_games:,} random games played to the end")
    facts.add_row("checks", Text(", ".join(report.checks)))
    how = "compiled" if compiled else "plain Python: only kernel games are compiled"
    facts.add_row("search", f"{result.stats.simulations} simulations ran ({how})")
    console.print(facts)
    if report.capped:
        console.print(
            Text(f"{report.capped} of {report.episodes} episodes were cut off: the game may never end", "bold yellow")
        )
    for warning in report.warnings:
        console.print(Text(f"warning: {warning}", "bold yellow"), soft_wrap=True)


def _extent(report: CheckReport) -> str:
    """Return whether all states were checked, and how many there are."""
    if report.out_of_time:
        return "; the time limit ended the check early (--seconds)"
    if report.census is None:
        return ", those of the episodes; the game has more states than --states"
    counts: Any = ", ".join(f"{count:,} {kind}" for kind, count in report.census.items())
    return f", all of the game: {counts}"


def cache_info(json: JsonFlag = False) -> None:
    """Show the folder and size of the compiled code.

    It is the folder `kernels` in `$ALEAZERO_CACHE_DIR` or in the user's cache folder. Each cache file is named
    by a fingerprint of the code, constants and versions that it depends on, so changed rules are compiled again. With
    more than 1,024 files the oldest are deleted.
    """
    from aleazero.native.cache import cache_info as read_info

    _show_cache(read_info(), "contains", json)


def cache_clear(json: JsonFlag = False) -> None:
    """Delete all compiled code. Each game is compiled again at its next use."""
    from aleazero.native.cache import clear_cache

    _show_cache(clear_cache(), "is empty; deleted", json)


def _show_cache(cache: CacheInfo, verb: str, json: bool) -> None:
    from aleazero.cli.show import print_json

    if json:
        data: dict[str, Any] = {"folder": str(cache.folder), "files": cache.files, "bytes": cache.bytes}
        print_json(data)
        return
    typer.echo(printable(f"{cache.folder} {verb} {count_text(cache.files, 'file')}, {cache.bytes / 1e6:.1f} MB"))


def demo(
    sims: Annotated[int, option("--sims", "N", "Simulations per search.", min=1)] = 2000,
    seed: Annotated[int, option("--seed", "SEED", "Seed of the searches and dice.")] = 0,
) -> None:
    """Analyse a position of each bundled game, then watch a short game.

    The first run compiles each game, which takes about 20 seconds per game. Later runs take a few seconds.
    """
    from rich.text import Text

    from aleazero.cli.progress import prepare, timed_search
    from aleazero.cli.show import make_console, print_position, print_result
    from aleazero.cli.terminal_game import TerminalGame
    from aleazero.games.registry import load_game
    from aleazero.players.make import make_player
    from aleazero.search.config import SearchConfig
    from aleazero.serving.session import Session

    console = make_console()
    config = SearchConfig(num_simulations=sims, seed=seed)
    examples = all_examples()
    for name, example in examples:
        if example.position is None:
            continue
        game = load_game(name, **example.params)
        state = game.state_from_text(example.position)
        prepare(game, state)
        console.rule(Text(name, "bold"), align="left", style="dim")
        print_position(state, console, example.caption)
        print_result(state, *timed_search(game, state, "rollout", config), console, top=8)
        console.print()
    for name, example in examples:
        if example.position is None:
            console.rule(Text(example.caption, "bold"), align="left", style="dim")
            game = load_game(name, **example.params)
            player = make_player(f"search:sims={sims}", game)
            seats = dict.fromkeys(range(game.num_players), player)
            TerminalGame(Session(game.new_initial_state(), seed, seats), player, console).play()
            console.print()
            console.print(f"Next: aleazero play {name}, or aleazero analyse {name}")


def all_examples() -> list[tuple[str, Example]]:
    """Return the examples of all bundled games, each with the name of its game."""
    from aleazero.games.kit import kit_of
    from aleazero.games.registry import game_names, load_game

    return [(name, example) for name in game_names() for example in kit_of(load_game(name)).examples]
