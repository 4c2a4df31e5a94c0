"""``aleazero match``: players against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import (
    GameOption,
    JsonFlag,
    LuckOption,
    PairWorkersOption,
    ParamOption,
    ThreadsOption,
    cores,
    shares_luck,
)

if TYPE_CHECKING:
    from aleazero.evaluation.pair_table import PairTable
    from aleazero.games.base import Game


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
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same dice.")] = 0,
    player_seed: Annotated[
        int, typer.Option("--player-seed", metavar="S", help="Seed of the players' own luck; never that of the dice.")
    ] = 0,
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
    from aleazero.cli.failure import rules_of
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json, quiet_table
    from aleazero.cli.show_pairs import print_pairs
    from aleazero.cli.specs import read_game, refuse_ignored
    from aleazero.evaluation.match import game_seeds
    from aleazero.evaluation.pairs import play_pairs, seatings
    from aleazero.evaluation.rotation import play_rotation
    from aleazero.native.random import check_seed
    from aleazero.players.make import make_player

    alone = None if len(players) == 2 else "it is of matches of two players, which play pairs"
    refuse_ignored(context, {"luck": alone, "workers": alone})
    loaded = read_game(game, param)
    for number in (seed, player_seed):
        check_seed(number)
    shared, told = shares_luck(luck), None
    with rules_of(game), progress_bar("playing", "games") as tell:
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
