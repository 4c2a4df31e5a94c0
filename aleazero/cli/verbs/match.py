"""``aleazero match`` and ``aleazero gate``: players against each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import (
    GameOption,
    JsonFlag,
    LuckOption,
    PairWorkersOption,
    ParamOption,
    PlayerSeedOption,
    SeedOption,
    ThreadsOption,
    blame_rules,
    cores,
    read_game,
    refuse_ignored,
    shares_luck,
)
from aleazero.errors import ConfigError, fields_named
from aleazero.files import os_errors_as

if TYPE_CHECKING:
    from aleazero.evaluation.pairs import PairTable
    from aleazero.games.base import Game


SETTINGS = ("rule", "pairs", "unit", "score0", "score1", "gain0", "gain1", "alpha", "beta")
OPTIONS = {**{name: f"--{name}" for name in SETTINGS}, "deterministic_chance": "--luck", "seed_set": "--seed-set"}
"""The option of each setting of a gate."""


def match(
    context: typer.Context,
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC SPEC…",
            help="Two, or one a seat: `random`, `greedy`, `search:sims=200`, `net:PATH,sims=64`, `oracle`, …",
            show_default=False,
        ),
    ],
    game: GameOption,
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to play.", min=1, max=10**7)] = 100,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    luck: LuckOption = "shared",
    param: ParamOption = None,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Let players play against each other, each at every seat in turn with the same dice.

    Two players play pairs: the same dice for each seating; the score of the first, with its interval of 95 %, and its
    Elo. In a game of one player they play it side by side. More players have their games counted. A number of games
    that does not fill the last pair is rounded up.

    **Examples**

    - `aleazero match search:sims=200 random --game pig --games 200`

    - `aleazero match net:net.safetensors,sims=64 search:sims=200,evaluator=rollout --game yatzy --games 400 --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json, print_pairs, quiet_table
    from aleazero.evaluation.match import game_seeds, play_rotation
    from aleazero.evaluation.pairs import play_pairs, seatings
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player

    alone = None if len(players) == 2 else "it is of matches of two players, which play pairs"
    refuse_ignored(context, {"luck": alone, "workers": alone})
    loaded = read_game(game, param)
    for number in (seed, player_seed):
        check_seed(number)
    shared, told = shares_luck(luck), None
    with blame_rules(game), progress_bar("playing", "games") as tell:
        if len(players) == 2:
            size = len(seatings(loaded.num_players))
            table = play_pairs(
                loaded, players[0], players[1], game_seeds(seed, -(-games // size)), player_seed=player_seed,
                deterministic_chance=shared, workers=workers, threads=threads or cores(), source=game,
                progress=lambda done, of: tell(size * done, size * of),
            )  # fmt: skip
            told, rows = table.to_dict(), _rows(players, table, loaded)
        else:
            made = [make_player(spec, loaded, threads=threads or cores()) for spec in players]
            found = play_rotation(loaded, made, games, seed=seed, player_seed=player_seed, progress=tell)
            rows = [{"player": spec, **tally.to_dict()} for spec, tally in zip(players, found, strict=True)]
    if json:
        pairs = {} if told is None else {"pairs": told}
        print_json({"game": game, "seed": seed, "player_seed": player_seed, "players": rows, **pairs})
        return
    table_of_rows = quiet_table(("player", "left"), ("games", "right"), ("wins", "right"), ("draws", "right"),
                                ("losses", "right"), ("mean return", "right"))  # fmt: skip
    for row in rows:
        table_of_rows.add_row(row["player"], f"{row['games']:,}", f"{row['wins']:,}", f"{row['draws']:,}",
                              f"{row['losses']:,}", f"{row['mean_return']:+.4f}")  # fmt: skip
    console = make_console()
    console.print(table_of_rows)
    if told is not None:
        print_pairs(told, console)


def _rows(players: list[str], table: PairTable, game: Game) -> list[dict[str, Any]]:
    """What either player's games came to; alone, each has half of them."""
    games = table.games // 2 if game.num_players == 1 else table.games
    counts = [(table.wins, table.draws, table.losses), (table.losses, table.draws, table.wins)]
    return [
        {"player": spec, "games": games, "wins": wins, "draws": draws, "losses": losses,
         "mean_return": float(returns.mean())}
        for spec, (wins, draws, losses), returns in zip(players, counts, table.returns, strict=True)
    ]  # fmt: skip


SPEC_HELP = "A player by text: `net:PATH`, `plan:horizon=turn,net=PATH`, `search:sims=200`, …"


def gate(
    context: typer.Context,
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help=SPEC_HELP, show_default=False)],
    champion: Annotated[str, typer.Argument(metavar="CHAMPION", help="Likewise.", show_default=False)],
    game: GameOption,
    rule: Annotated[
        str,
        typer.Option("--rule", metavar="sprt|fixed", help="Stop when the verdict is clear, or play all pairs."),
    ] = "sprt",
    pairs: Annotated[int, typer.Option("--pairs", metavar="N", help="Pairs; with `sprt`, at most.")] = 1000,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            metavar="wins|returns",
            help="What counts [default: wins if the game's returns are wins and losses, else returns].",
            show_default=False,
        ),
    ] = "auto",
    score0: Annotated[float, typer.Option("--score0", metavar="P", help="A candidate like this may not pass.")] = 0.5,
    score1: Annotated[float, typer.Option("--score1", metavar="P", help="One like this should.")] = 0.55,
    gain0: Annotated[float, typer.Option("--gain0", metavar="X", help="The same in returns.")] = 0.0,
    gain1: Annotated[
        float | None, typer.Option("--gain1", metavar="X", help="The same in returns [default: 2 % of their range].")
    ] = None,
    alpha: Annotated[float, typer.Option("--alpha", metavar="P", help="Share of equal ones that may pass.")] = 0.05,
    beta: Annotated[float, typer.Option("--beta", metavar="P", help="Share of better ones that may not.")] = 0.05,
    luck: LuckOption = "shared",
    seeds: Annotated[
        str | None,
        typer.Option(
            "--seed-set",
            metavar="NAME",
            help="Seeds of the dice: `small`, `standard`, `large`, or a file of one number a line [default: fresh].",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Same seed and iteration, same gate.")] = 0,
    iteration: Annotated[int, typer.Option("--iteration", metavar="I", help="Other rounds have other luck.")] = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the report, e.g. to `gate_report.json`.")
    ] = None,
    replays: Annotated[
        Path | None, typer.Option("--replays", metavar="FILE", help="Write games, for `aleazero watch FILE`.")
    ] = None,
    replay_pairs: Annotated[
        int, typer.Option("--replay-pairs", metavar="N", help="Pairs whose games are written.", min=1)
    ] = 10,
    json: JsonFlag = False,
) -> None:
    """Let a candidate challenge a champion, on the same luck with seats swapped; a verdict with its error rates.

    The exit code is 0 whatever the verdict. The report has no times: the same gate gives the same bytes.

    **Examples**

    - `aleazero gate greedy random --game pig`

    - `aleazero gate net:new.safetensors net:old.safetensors --game yatzy --score1 0.52 --out gate_report.json`

    - `aleazero gate oracle greedy --game yatzy -p players=1 --rule fixed --pairs 200 --replays games.json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.gate import run_gate
    from aleazero.evaluation.gate_rules import GateConfig

    for name, file in (("--out", out), ("--replays", replays)):
        if file is not None and (file.is_dir() or not file.resolve().parent.is_dir()):
            raise ConfigError(f"{name} is {str(file)!r}, expected a file in a folder that exists")
    loaded = read_game(game, param)
    settings: dict[str, Any] = {"rule": rule, "unit": unit}
    shared = shares_luck(luck)
    with fields_named(OPTIONS):
        config = GateConfig(
            **settings, pairs=pairs, score0=score0, score1=score1, gain0=gain0, gain1=gain1, alpha=alpha, beta=beta,
            deterministic_chance=shared, seed_set=seeds,
        )  # fmt: skip
        counts = config.unit_of(loaded)
        other = {"wins": "score0, --score1 or --unit returns", "returns": "gain0, --gain1 or --unit wins"}[counts]
        why = f"this gate of {loaded!r} counts {counts}, expected --{other}"
        refuse_ignored(context, {
            **dict.fromkeys(("gain0", "gain1") if counts == "wins" else ("score0", "score1"), why),
            "beta": "a gate with --rule fixed has no second error rate" if rule == "fixed" else None,
            "iteration": "--seed-set names the seeds of the dice" if seeds is not None else None,
            "replay_pairs": "--replays is not given" if replays is None else None,
        })  # fmt: skip
        config.hypotheses(loaded)
    with blame_rules(game), progress_bar("playing", "pairs") as tell:
        report = run_gate(
            loaded, candidate, champion, config, seed=seed, iteration=iteration, workers=workers,
            threads=threads or cores(), source=game, replays=replay_pairs if replays is not None else 0, progress=tell,
        )  # fmt: skip
    for file, write in ((out, report.write), (replays, report.games.write)):
        if file is not None:
            with os_errors_as(ConfigError, f"cannot write {str(file)!r}"):
                write(file)
    if json:
        print_json(report.data)
        return
    console = make_console()
    _show(report.data, console)
    for file in (out, replays):
        if file is not None:
            console.print(f"written to {file}", markup=False, soft_wrap=True)


def _show(data: dict[str, Any], console: Any) -> None:
    from rich.text import Text

    from aleazero.cli.show import print_pairs

    style = "bold green" if data["verdict"] == "promoted" else "bold yellow"
    console.print(Text(f"{data['verdict']}: {data['reason']}", style=style), soft_wrap=True)
    players = {"candidate": data["candidate"], "champion": data["champion"]}
    print_pairs(data["results"], console, players)
    console.print(Text(data["error_rates"]["in_words"], style="dim"), soft_wrap=True)
