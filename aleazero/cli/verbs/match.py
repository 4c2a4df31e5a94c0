"""``aleazero match`` and ``aleazero gate``: players against each other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import (
    DiceOption,
    GameArgument,
    JsonFlag,
    PairWorkersOption,
    ParamOption,
    PlayerSeedOption,
    SeedOption,
    ThreadsOption,
    argument,
    cores,
    option,
    read_game,
    refuse_ignored,
    shares_dice,
)
from aleazero.errors import ConfigError, count_text, fields_named
from aleazero.files import os_errors_as

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.evaluation.pairs import PairTable
    from aleazero.games.base import Game


def match(
    context: typer.Context,
    game: GameArgument,
    players: Annotated[
        list[str],
        argument(
            "PLAYER PLAYER…",
            "Two player specs, or one for each seat: `random`, `greedy`, `search:sims=200`, `net:FILE,sims=64`, "
            "`oracle`, …",
        ),
    ],
    pairs: Annotated[
        int, option("--pairs", "N", "Number of pairs; a pair is all games of one seed.", min=1, max=10**6)
    ] = 100,
    seed: SeedOption = 0,
    player_seed: PlayerSeedOption = 0,
    dice: DiceOption = "shared",
    param: ParamOption = None,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    save: Annotated[
        Path | None, option("--save", "FILE", "Record all games for `aleazero watch FILE` and `aleazero review FILE`.")
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Let players play against each other, on the same dice and at every seat.

    In a two-player game, a pair is two games on the same dice with the seats swapped. In a one-player game, each player
    plays one game. In a game with n > 2 seats, give two player specs (each plays every seat among copies of the other,
    2n games per pair) or n specs (they rotate through the seats). With two specs, the output shows the score of
    the first player, with its 95 % confidence interval, and the Elo difference.

    **Examples**

    - `aleazero match pig search:sims=200 random`

    - `aleazero match yatzy net:champion search:sims=200,evaluator=rollout --pairs 200 --json`

    - `aleazero match pig greedy random --pairs 5 --save games.json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json, print_pairs, quiet_table
    from aleazero.evaluation.game_file import GameFile, RecordedGame
    from aleazero.evaluation.match import PlayedGame, game_seeds, play_rotation
    from aleazero.evaluation.pairs import PairTable, collect_pairs
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player

    if save is not None:
        _require_folder("--save", save)
    why = None if len(players) == 2 else "it applies to matches of two players"
    refuse_ignored(context, {"dice": why, "workers": why})
    loaded = read_game(game, param)
    expected = sorted({2, loaded.num_players})
    if len(players) not in expected:
        numbers = " or ".join(map(str, expected))
        raise ConfigError(f"got {count_text(len(players), 'player')}, expected {numbers} for {loaded!r}")
    check_seed(seed, "--seed")
    check_seed(player_seed, "--player-seed")
    shared, data = shares_dice(dice), None
    with blame_rules(game), progress_bar("playing", "pairs") as show:
        if len(players) == 2:
            played = collect_pairs(
                loaded, players[0], players[1], game_seeds(seed, pairs), player_seed=player_seed,
                deterministic_chance=shared, workers=workers, threads=threads or cores(), source=game, progress=show,
            )  # fmt: skip
            table = PairTable.of(played, loaded)
            data, rows = table.to_dict(), _rows(players, table, loaded)
            file = GameFile.of(loaded, game, (players[0], players[1]), played)
        else:
            made = [make_player(spec, loaded, threads=threads or cores()) for spec in players]
            games, recorded = pairs * len(players), list[RecordedGame]()

            def record(one: PlayedGame, order: Sequence[int]) -> None:
                names = tuple(players[index] for index in order)
                recorded.append(RecordedGame(one.number, names, one.seed, tuple(one.steps), tuple(one.returns)))

            found = play_rotation(
                loaded, made, games, seed=seed, player_seed=player_seed, progress=show, on_game=record
            )
            rows = [{"player": spec, **tally.to_dict()} for spec, tally in zip(players, found, strict=True)]
            file = GameFile.of_games(loaded, game, recorded)
    if save is not None:
        with os_errors_as(ConfigError, f"cannot write {str(save)!r}"):
            file.write(save)
    if json:
        more = {} if data is None else {"pairs": data}
        print_json({"game": game, "seed": seed, "player_seed": player_seed, "players": rows, **more})
        return
    result = quiet_table(("player", "left"), ("games", "right"), ("wins", "right"), ("draws", "right"),
                         ("losses", "right"), ("mean return", "right"))  # fmt: skip
    for row in rows:
        result.add_row(row["player"], f"{row['games']:,}", f"{row['wins']:,}", f"{row['draws']:,}",
                       f"{row['losses']:,}", f"{row['mean_return']:+.4f}")  # fmt: skip
    console = make_console()
    console.print(result)
    if data is not None:
        print_pairs(data, console)
    if save is not None:
        console.print(f"written to {save}", soft_wrap=True)


def _rows(players: list[str], table: PairTable, game: Game) -> list[dict[str, Any]]:
    """Return the results of both players; in a one-player game each of them played half of the games."""
    games = table.games // 2 if game.num_players == 1 else table.games
    counts = [(table.wins, table.draws, table.losses), (table.losses, table.draws, table.wins)]
    return [
        {"player": spec, "games": games, "wins": wins, "draws": draws, "losses": losses,
         "mean_return": float(returns.mean())}
        for spec, (wins, draws, losses), returns in zip(players, counts, table.returns, strict=True)
    ]  # fmt: skip


SETTINGS = ("rule", "pairs", "unit", "score0", "score1", "gain0", "gain1", "alpha", "beta")
GATE_OPTIONS = {**{name: f"--{name}" for name in SETTINGS}, "deterministic_chance": "--dice", "seed_set": "--seed-set"}
"""Option of each setting of a gate."""
SPEC_HELP = "`net:FILE`, `plan:horizon=turn,net=FILE`, `search:sims=200`, …"


def gate(
    context: typer.Context,
    game: GameArgument,
    candidate: Annotated[str, argument("CANDIDATE", f"Player spec of the candidate: {SPEC_HELP}")],
    champion: Annotated[str, argument("CHAMPION", f"Player spec of the champion: {SPEC_HELP}")],
    rule: Annotated[
        str,
        option("--rule", "sprt|fixed", "`sprt`: stop as soon as the result is significant. `fixed`: play all pairs."),
    ] = "sprt",
    pairs: Annotated[int, option("--pairs", "N", "Number of pairs; with `--rule sprt`, the maximum.")] = 1000,
    unit: Annotated[
        str,
        option(
            "--unit",
            "wins|returns",
            "Quantity that is compared in each pair: games won, or the difference of returns.",
            show_default="wins if returns are wins and losses, else returns",
        ),
    ] = "auto",
    score0: Annotated[
        float,
        option(
            "--score0",
            "SCORE",
            "Null hypothesis H0: a candidate with this score or less is promoted with probability at most alpha.",
        ),
    ] = 0.5,
    score1: Annotated[
        float,
        option(
            "--score1",
            "SCORE",
            "Alternative H1: a candidate with this score or more is rejected early with probability at most beta. "
            "If the pairs run out first, the champion is kept.",
        ),
    ] = 0.55,
    gain0: Annotated[
        float,
        option(
            "--gain0",
            "RETURN",
            "Null hypothesis H0, as `--score0`, for differences of returns.",
        ),
    ] = 0.0,
    gain1: Annotated[
        float | None,
        option(
            "--gain1",
            "RETURN",
            "Alternative H1, as `--score1`, for differences of returns.",
            show_default="2 % of the range of returns",
        ),
    ] = None,
    alpha: Annotated[float, option("--alpha", "P", "False-promotion rate.")] = 0.05,
    beta: Annotated[float, option("--beta", "P", "Rate of false early rejections.")] = 0.05,
    dice: DiceOption = "shared",
    seeds: Annotated[
        str | None,
        option(
            "--seed-set",
            "NAME",
            "Fixed seeds of the dice: `small`, `standard`, `large`, or a file with one number per line.",
            show_default="new seeds for each --seed and --iteration",
        ),
    ] = None,
    seed: Annotated[int, option("--seed", "SEED", "Random seed. The same seed gives the same report.")] = 0,
    iteration: Annotated[int, option("--iteration", "N", "Index of the gate. Each index has its own dice.")] = 0,
    workers: PairWorkersOption = 1,
    threads: ThreadsOption = None,
    param: ParamOption = None,
    out: Annotated[Path | None, option("--out", "FILE", "Write the report to this JSON file.")] = None,
    replays: Annotated[
        Path | None, option("--replays", "FILE", "Record games for `aleazero watch FILE` and `aleazero review FILE`.")
    ] = None,
    replay_pairs: Annotated[int, option("--replay-pairs", "N", "Number of pairs to record.", min=1)] = 10,
    json: JsonFlag = False,
) -> None:
    """Test whether a candidate is stronger than a champion, with error rates that you choose.

    Both play pairs of games on the same dice, with the seats swapped. The exit code is 0 for both verdicts. The report
    contains no times, so the same gate writes a byte-identical report.

    **Examples**

    - `aleazero gate pig greedy random`

    - `aleazero gate yatzy net:new.safetensors net:old.safetensors --score1 0.52 --out gate_report.json`

    - `aleazero gate 'yatzy(players=1)' oracle greedy --rule fixed --pairs 200 --replays games.json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.evaluation.gate import run_gate
    from aleazero.evaluation.gate_rules import GateConfig

    for name, file in (("--out", out), ("--replays", replays)):
        if file is not None:
            _require_folder(name, file)
    loaded = read_game(game, param)
    settings: dict[str, Any] = {"rule": rule, "unit": unit}
    shared = shares_dice(dice)
    with fields_named(GATE_OPTIONS):
        config = GateConfig(
            **settings, pairs=pairs, score0=score0, score1=score1, gain0=gain0, gain1=gain1, alpha=alpha, beta=beta,
            deterministic_chance=shared, seed_set=seeds,
        )  # fmt: skip
        used = config.unit_of(loaded)
        other = {"wins": "score0, --score1 or --unit returns", "returns": "gain0, --gain1 or --unit wins"}[used]
        why = f"this gate measures {used}, expected --{other}"
        refuse_ignored(context, {
            **dict.fromkeys(("gain0", "gain1") if used == "wins" else ("score0", "score1"), why),
            "beta": "--rule fixed has no second error rate" if rule == "fixed" else None,
            "iteration": "--seed-set fixes the dice" if seeds is not None else None,
            "replay_pairs": "it requires --replays" if replays is None else None,
        })  # fmt: skip
        config.hypotheses(loaded)
    with blame_rules(game), progress_bar("playing", "pairs") as show:
        report = run_gate(
            loaded, candidate, champion, config, seed=seed, iteration=iteration, workers=workers,
            threads=threads or cores(), source=game, replays=replay_pairs if replays is not None else 0, progress=show,
        )  # fmt: skip
    for file, write in ((out, report.write), (replays, report.games.write)):
        if file is not None:
            with os_errors_as(ConfigError, f"cannot write {str(file)!r}"):
                write(file)
    if json:
        print_json(report.data)
        return
    console = make_console()
    _show_gate(report.data, console)
    for file in (out, replays):
        if file is not None:
            console.print(f"written to {file}", soft_wrap=True)


def _require_folder(option: str, file: Path) -> None:
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise ConfigError(f"{option} is {str(file)!r}, expected a file in a folder that exists")


def _show_gate(data: dict[str, Any], console: Console) -> None:
    from rich.text import Text

    from aleazero.cli.show import print_pairs

    verdict = {"promoted": "candidate promoted", "kept": "champion kept"}[data["verdict"]]
    style = "bold green" if data["verdict"] == "promoted" else "bold yellow"
    console.print(Text(f"{verdict}: {data['reason']}", style=style), soft_wrap=True)
    print_pairs(data["results"], console, {name: data[name] for name in ("candidate", "champion")})
    console.print(Text(data["error_rates"]["in_words"], style="dim"), soft_wrap=True)
