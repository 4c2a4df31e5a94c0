"""``aleazero demo``: positions of the bundled games, and a watched game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from aleazero.games.kit import Example


def demo(
    sims: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations a position.", min=1)] = 5000,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the searches and of the dice.")] = 1,
) -> None:
    """Show what there is: analyse a position of each game, then watch a short game.

    The first time, each game's search is compiled (some seconds a game); after that it takes a moment.
    """
    from rich.text import Text

    from aleazero.cli.episode import Episode
    from aleazero.cli.play import Table
    from aleazero.cli.searching import prepare, timed_search
    from aleazero.cli.show import make_console, print_position, print_result
    from aleazero.games.registry import load_game
    from aleazero.players.make import make_player
    from aleazero.search.config import SearchConfig

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
            Table(Episode(game.new_initial_state(), seed), player, None, console).play()
            console.print()
            console.print(f"Now you: aleazero play {name}, or aleazero analyse {name}", markup=False)


def all_examples() -> list[tuple[str, Example]]:
    """The examples of the kits of all games, with the game's name."""
    from aleazero.games.kit import kit_of
    from aleazero.games.registry import game_names, load_game

    return [(name, example) for name in game_names() for example in kit_of(load_game(name)).examples]
