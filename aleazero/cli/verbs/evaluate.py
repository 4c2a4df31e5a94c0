"""``aleazero evaluate``: how good a player is, measured against exact values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import (
    JsonFlag,
    PairWorkersOption,
    ParamOption,
    ThreadsOption,
    blame_rules,
    cores,
    read_game,
    refuse_ignored,
)
from aleazero.errors import ConfigError, nearest

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.regret import Group, RegretReport

GAMES = ("yatzy",)
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
        str, typer.Option("--game", metavar="GAME", help="A name from `aleazero games`, or `path/file.py:NAME`.")
    ] = "yatzy",
    pairs: Annotated[
        int, typer.Option("--pairs", metavar="N", help="Pairs against each opponent.", min=2, max=10**6)
    ] = 100,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="NAMES", help="Some of `random,rollout,oracle` [default: all there are]."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same dice.")] = 0,
    player_seed: Annotated[
        int, typer.Option("--player-seed", metavar="S", help="Seed of the players' own luck; never that of the dice.")
    ] = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure a player: against random, a search of 200 playouts and the oracle's player, and by regret.

    All opponents meet the same dice, pair by pair with seats swapped. Regret is on fixed positions, where each action's
    exact value is known. In Yatzy for several the oracle's player is the one who is best alone; for two, regret is in
    points at positions where both cards are the same, as if one played alone.

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
    from aleazero.native.random import check_seed
    from aleazero.players.spec import parse_spec

    if player is None:
        raise ConfigError("--player is missing, expected a player's text, e.g. --player greedy")
    parse_spec(player, "--player")
    for number in (seed, player_seed):
        check_seed(number)
    loaded = read_game(game, param)
    names = None if against is None else [word.strip() for word in against.split(",")]
    with blame_rules(game), progress_bar("playing", "pairs") as tell:
        report = evaluate_player(
            player, loaded, pairs=pairs, against=names, seed=seed, player_seed=player_seed, workers=workers,
            threads=threads or cores(), source=game, progress=lambda name, done, of: tell(done, of, f"against {name}"),
        )  # fmt: skip
    if json:
        print_json(report.to_dict())
    else:
        _show_strength(report.to_dict(), make_console())


@app.command("regret")
def regret(
    player: PlayerOption,
    set_name: Annotated[
        str, typer.Option("--set", metavar="NAME", help="`small` (153 positions), `standard` (1,530), or a file.json.")
    ] = "small",
    game: Annotated[str, typer.Option("--game", metavar="NAME", help="The game of the set.")] = "yatzy",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the player's own luck.")] = 0,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Measure what a player's decisions give away, against the exact value of every action.

    Regret is in points of the final score, a decision. There is no luck of dice in it; the interval of 95 % is of the
    positions and of the player's own luck. Actions that tie for the best are all optimal. Same seed, same report.

    **Examples**

    - `aleazero evaluate regret --player greedy`

    - `aleazero evaluate regret --set standard --player search:sims=500,evaluator=rollout,chance=stratified`

    - `aleazero evaluate regret --game yatzy --set mine.json --player plan:horizon=turn,evaluator=oracle --json`
    """
    from aleazero.cli.oracle import load_oracle
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.regret import measure_regret
    from aleazero.evaluation.yatzy_sets import classify, load_set, solitaire
    from aleazero.native.random import check_seed
    from aleazero.oracles.judge import YatzyJudge
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    if game not in GAMES:
        raise ConfigError(f"--game is {game!r}, {nearest(game, GAMES)}")
    parse_spec(player, "--player")
    check_seed(seed, "--seed")
    states = [position.state() for position in load_set(set_name)]
    judge = YatzyJudge(load_oracle())
    chooser = make_player(player, solitaire(), threads=threads or cores())
    with progress_bar("deciding", "decisions") as tell:
        report = measure_regret(chooser, states, judge, seed=seed, classify=classify, progress=tell)
    if json:
        print_json({"game": game, "set": set_name, "player": player, "seed": seed, **report.to_dict()})
        return
    _show(report, make_console(), f"{player}, set {set_name} of {game}")


@app.command("solitaire")
def solitaire(
    player: PlayerOption,
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to play.", min=1, max=10**7)] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same dice.")] = 0,
    player_seed: Annotated[
        int, typer.Option("--player-seed", metavar="S", help="Seed of the player's own luck; never that of the dice.")
    ] = 0,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Let a player play Yatzy alone: its scores, and how far it is behind best play with the same dice.

    **Examples**

    - `aleazero evaluate solitaire --player greedy --games 200`

    - `aleazero evaluate solitaire --player search:sims=1000,chance=stratified --games 20 --json`
    """
    from aleazero.cli.oracle import load_oracle
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import estimate_text, make_console, print_json, print_scores
    from aleazero.evaluation.solitaire import play_solitaire
    from aleazero.evaluation.yatzy_sets import solitaire as load_solitaire
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player
    from aleazero.players.spec import parse_spec

    parse_spec(player, "--player")
    check_seed(seed, "--seed")
    check_seed(player_seed, "--player-seed")
    oracle = load_oracle()
    chooser = make_player(player, load_solitaire(), threads=threads or cores())
    with progress_bar("playing", "games") as tell:
        report = play_solitaire(chooser, games, oracle, seed=seed, player_seed=player_seed, progress=tell)
    if json:
        print_json({"player": player, "games": games, "seed": seed, "player_seed": player_seed, **report.to_dict()})
        return
    facts = {"best play": f"{report.best.mean.mean:.2f} with the same dice", "behind": estimate_text(report.behind)}
    print_scores(report.scores, make_console(), facts)


def _show_strength(data: dict[str, Any], console: Console) -> None:
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
        level = (
            " (points, where both cards are the same)"
            if data["game"] == "yatzy" and data["params"].get("players") == 2
            else ""
        )
        facts = facts_table()
        facts.add_row(
            "regret",
            f"{mean_text(regret, '.4f')} a decision, {regret['optimal']:.1%} optimal of {regret['count']:,}{level}",
        )
        console.print(facts)


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


def _group_cells(group: Group) -> list[Any]:
    interval = f"{max(0.0, group.regret.low):.3f} to {group.regret.high:.3f}"
    return [f"{group.regret.count:,}", f"{group.regret.mean:.3f}", interval, f"{group.optimal:.1%}", str(group.tied)]
