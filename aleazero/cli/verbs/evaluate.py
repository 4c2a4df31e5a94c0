"""``aleazero evaluate``: how good a player is, measured against exact values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import (
    GameOption,
    JsonFlag,
    PairWorkersOption,
    ParamOption,
    PlayerSeedOption,
    SeedOption,
    ThreadsOption,
    blame_rules,
    cores,
    read_game,
    refuse_ignored,
)
from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.regret import RegretReport, RegretSummary

PLAYER_HELP = (
    "Who decides: `random`, `greedy`, `oracle`, `search:sims=200,evaluator=rollout,chance=stratified`, "
    "`plan:horizon=turn,evaluator=uniform`, a network as `net:PATH,sims=64`, or `human`."
)
PlayerOption = Annotated[str, typer.Option("--player", metavar="SPEC", help=PLAYER_HELP, show_default=False)]

app = typer.Typer(help="Measure a player: against fixed opponents, and against exact values.")


@app.callback(invoke_without_command=True)
def evaluate(
    context: typer.Context,
    player: Annotated[str | None, typer.Option("--player", metavar="SPEC", help=PLAYER_HELP)] = None,
    game: Annotated[
        str | None, typer.Option("--game", metavar="GAME", help="A name from `aleazero games`, or `path/file.py:NAME`.")
    ] = None,
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="N", help="Pairs against each opponent.", min=2, max=10**6)
    ] = 100,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="NAMES", help="Some of `random,rollout,oracle` [default: all there are]."),
    ] = None,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure a player: against random, a search of 200 playouts and the oracle's player, and by regret.

    All opponents meet the same dice, pair by pair with seats swapped. Regret is measured at fixed positions, if the
    exact value of each action is known. A game without exact values may have a reference player in the oracle's place.

    **Examples**

    - `aleazero evaluate --player greedy --game pig -p target=30`

    - `aleazero evaluate --player net:net.safetensors --game yatzy --pairs 500 --against random,oracle --json`
    """
    if context.invoked_subcommand is not None:
        why = f"it stands before {context.invoked_subcommand}, expected it after that word"
        refuse_ignored(context, {parameter.name or "": why for parameter in context.command.params})
        return
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.strength import evaluate_player
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.players.spec import parse_spec

    if player is None:
        raise ConfigError("--player is missing, expected a player's text, e.g. --player greedy")
    if game is None:
        raise ConfigError("--game is missing, expected a name from `aleazero games`, or path/file.py:NAME")
    loaded = read_game(game, param)
    parse_spec(player, "--player", kit_of(loaded).players)
    for number in (seed, player_seed):
        check_seed(number)
    names = None if against is None else [word.strip() for word in against.split(",")]
    with blame_rules(game), progress_bar("playing", "pairs") as tell:
        report = evaluate_player(
            player, loaded, pairs=pairs, against=names, seed=seed, player_seed=player_seed, workers=workers,
            threads=threads or cores(), source=game, progress=lambda name, done, of: tell(done, of, f"against {name}"),
        )  # fmt: skip
    if json:
        print_json(report.to_dict())
    else:
        _show_strength(report.to_dict(), kit_of(loaded).notes, make_console())


@app.command("regret")
def regret(
    player: PlayerOption,
    game: GameOption,
    set_name: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="NAME",
            help="A fixed set of the game, or a file.json [default: its first set, or else decisions of random play].",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the player's own luck.")] = 0,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure what a player's decisions give away, against the exact value of every action.

    Regret is in the unit of the game's return, per decision. There is no luck of dice in it; the interval of 95 % is of
    the positions and of the player's own luck. Actions that tie for the best are all optimal. Same seed, same report.

    **Examples**

    - `aleazero evaluate regret --player greedy --game pig -p target=30`

    - `aleazero evaluate regret --player search:sims=500,evaluator=rollout --game yatzy -p players=1 --set standard`

    - `aleazero evaluate regret --player mine.py:careful --game path/file.py --set mine.json --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.regret import measure_regret
    from aleazero.evaluation.strength import fixed_positions, positions_oracle
    from aleazero.games.kit import kit_of
    from aleazero.native.random import check_seed
    from aleazero.oracles.oracle import require_oracle
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    check_seed(seed, "--seed")
    with blame_rules(game), progress_bar("deciding", "decisions") as tell:
        loaded = read_game(game, param)
        kit = kit_of(loaded)
        parse_spec(player, "--player", kit.players)
        states = fixed_positions(loaded, set_name)
        oracle = positions_oracle(loaded) or require_oracle(loaded)
        chooser = make_player(player, loaded, threads=threads or cores())
        report = measure_regret(chooser, states, oracle, seed=seed, classify=kit.classify, progress=tell)
    used = set_name or next(iter(kit.positions), "random play")
    if json:
        given = {"game": game, "params": loaded.params, "set": used, "player": player, "seed": seed}
        print_json({**given, **report.to_dict()})
        return
    _show(report, make_console(), f"{player}, set {used} of {loaded!r}")


def _show_strength(data: dict[str, Any], notes: Mapping[str, str], console: Console) -> None:
    from rich.text import Text

    from aleazero.cli.show import elo_text, facts_table, mean_text, quiet_table

    params = ", ".join(f"{key}={value}" for key, value in data["params"].items())
    console.print(Text(f"{data['player']} at {data['game']}({params})", style="bold"), soft_wrap=True)
    points = any("points" in told for told in data["against"].values())
    table = quiet_table(("against", "left"), ("pairs", "right"), ("score", "right"), ("Elo", "right"),
                        *([("points", "right"), ("theirs", "right")] if points else []))  # fmt: skip
    for name, told in data["against"].items():
        scores = [f"{told['points'][side]:,.1f}" for side in ("first", "second")] if points else []
        table.add_row(name, f"{told['pairs']:,}", mean_text(told["score"], ".3f"), elo_text(told["elo"]), *scores)
    console.print(table)
    if data["regret"] is not None:
        regret = data["regret"]
        facts = facts_table()
        facts.add_row(
            "regret",
            f"{mean_text(regret, '.4f')} a decision, {regret['optimal']:.1%} optimal of {regret['count']:,}",
        )
        console.print(facts)
    for term, note in notes.items():
        console.print(Text(f"{term}: {note}", style="dim"))


def _show(report: RegretReport, console: Console, heading: str) -> None:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    console.print(Text(heading, style="bold"), soft_wrap=True)
    table = quiet_table(("", "left"), ("decisions", "right"), ("regret", "right"), ("95 %", "right"),
                        ("optimal", "right"), ("tied", "right"))  # fmt: skip
    table.add_row("all", *_group_cells(report.overall), style="bold", end_section=True)
    for groups in (report.by_kind, report.by_stage):
        for name, group in groups.items():
            table.add_row(name, *_group_cells(group))
        table.add_section()
    console.print(table)
    if report.worst:
        console.print(Text("the worst", style="bold"))
        for decision in report.worst:
            best = " or ".join(decision.best)
            console.print(Text(f"{decision.regret:7.3f}  {decision.action}, best {best}"), soft_wrap=True)
            console.print(Text(f"         {decision.position}", style="dim"), soft_wrap=True)


def _group_cells(group: RegretSummary) -> list[Any]:
    interval = f"{max(0.0, group.regret.low):.3f} to {group.regret.high:.3f}"
    return [f"{group.regret.count:,}", f"{group.regret.mean:.3f}", interval, f"{group.optimal:.1%}", str(group.tied)]
