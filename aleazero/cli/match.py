"""``aleazero match``: players against each other."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from aleazero.cli.options import GameOption, JsonFlag, ParamOption, ThreadsOption, cores


def match(
    players: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC SPEC…",
            help="One a seat: `random`, `greedy`, `search:sims=200`, `net:PATH,sims=64`, `oracle`, …",
            show_default=False,
        ),
    ],
    game: GameOption,
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to play.", min=1, max=10**7)] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same dice.")] = 0,
    player_seed: Annotated[
        int, typer.Option("--player-seed", metavar="S", help="Seed of the players' own luck; never that of the dice.")
    ] = 0,
    param: ParamOption = None,
    threads: ThreadsOption = None,
    json: JsonFlag = False,
) -> None:
    """Let players play against each other, each at every seat in turn with the same dice; the counts.

    With two players, games come in pairs: the same seed of dice twice, with the seats swapped. A number of games that
    is no multiple of the players is rounded up.

    **Examples**

    - `aleazero match search:sims=200 random --game pig --games 200`

    - `aleazero match net:net.safetensors,sims=64 search:sims=200,evaluator=rollout --game yatzy --games 400 --json`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json, quiet_table
    from aleazero.cli.specs import read_game
    from aleazero.evaluation.rotation import play_rotation
    from aleazero.games.luck import check_seed
    from aleazero.players.make import make_player

    loaded = read_game(game, param)
    for number in (seed, player_seed):
        check_seed(number)
    made = [make_player(spec, loaded, threads=threads or cores()) for spec in players]
    with progress_bar("playing", "games") as tell:
        found = play_rotation(loaded, made, games, seed=seed, player_seed=player_seed, progress=tell)
    rows: list[dict[str, Any]] = [
        {"player": spec, **tally.to_dict()} for spec, tally in zip(players, found, strict=True)
    ]
    if json:
        print_json({"game": game, "seed": seed, "player_seed": player_seed, "players": rows})
        return
    table = quiet_table(("player", "left"), ("games", "right"), ("wins", "right"), ("draws", "right"),
                        ("losses", "right"), ("mean return", "right"))  # fmt: skip
    for row in rows:
        table.add_row(row["player"], f"{row['games']:,}", f"{row['wins']:,}", f"{row['draws']:,}",
                      f"{row['losses']:,}", f"{row['mean_return']:+.4f}")  # fmt: skip
    make_console().print(table)
