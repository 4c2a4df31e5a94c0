"""``aleazero demo``: a position of each game that ships, and one watched game."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

TARGET: Final = {"target": 30}
"""Pig to 30: one compiled search serves the positions and the watched game, which is short."""

POSITIONS: Final[tuple[tuple[str, dict[str, Any], str, str], ...]] = (
    ("dice_game", {}, "16", "16 points of at most 25: stop, or roll once more?"),
    ("pig", TARGET, "14-22 turn 12 player 0", "Twelve points at stake, eight behind: hold, or roll again?"),
    ("pig", TARGET, "14-22 turn 12 player 0 rolling", "The same, with the die in the air: what each face is worth"),
    ("tic_tac_toe", {}, "x.o/.x./..o", "x to move, and o threatens: a game without luck"),
    ("2048", {}, "2 4 8 16/4 8 16 32/2 4 64 128/. 2 4 256 score 2800", "Where to slide, when new tiles are luck"),
    (
        "yatzy",
        {"players": 1},
        "open sixes four_kind house upper 45 / player 0 dice 33566 rerolls 1",
        "One reroll left: one die for the house, or three for sixes and the bonus?",
    ),
)


def demo(
    sims: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations a position.", min=1)] = 5000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the searches and of the dice.")] = 1,
) -> None:
    """Show what there is: analyse a position of each game, then watch a short game of pig.

    The first time, each game's search is compiled (some seconds a game); after that it takes a moment.
    """
    from rich.text import Text

    from aleazero.cli.play import TerminalGame
    from aleazero.cli.searching import prepare, timed_search
    from aleazero.cli.show import make_console, print_position, print_result
    from aleazero.games.registry import load_game
    from aleazero.players.make import make_player
    from aleazero.search.config import SearchConfig
    from aleazero.serving.session import Session

    console = make_console()
    config = SearchConfig(num_simulations=sims, seed=seed)
    for name, params, position, question in POSITIONS:
        game = load_game(name, **params)
        state = game.state_from_text(position)
        prepare(game, state)
        console.rule(Text(name, "bold"), align="left", style="dim")
        print_position(state, console, question)
        print_result(state, *timed_search(game, state, "rollout", config), console, top=8)
        console.print()
    console.rule(Text("a game of pig to 30, watched", "bold"), align="left", style="dim")
    game = load_game("pig", **TARGET)
    player = make_player(f"search:sims={sims}", game)
    TerminalGame(Session(game.new_initial_state(), seed, {0: player, 1: player}), player, None, console).play()
    console.print()
    console.print("Now you: aleazero play pig, or aleazero analyse pig --position '12-30 turn 18'")
