"""``aleazero games``: what can be searched and played."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aleazero.cli.options import JsonFlag

if TYPE_CHECKING:
    from aleazero.games.base import Game


def games(json: JsonFlag = False) -> None:
    """List the games, with their parameters and what they are about.

    Your own games need no installation: `aleazero analyse path/file.py:NAME`. With OpenSpiel installed its
    perfect-information games can be searched too: `aleazero analyse openspiel:pig`.
    """
    from rich.text import Text

    from aleazero.cli.show import make_console, print_json, quiet_table
    from aleazero.games.registry import game_names, load_game

    rows = [_describe(load_game(name)) for name in game_names()]
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


def _describe(game: Game) -> dict[str, Any]:
    return {
        "name": game.name,
        "players": game.num_players,
        "actions": game.num_actions,
        "chance": game.info.max_outcomes > 0,
        "max_outcomes": game.info.max_outcomes,
        "params": game.params,
        "description": about(game),
    }


def about(game: Game) -> str:
    """The first sentence of what a game's file or class says about it, without its name."""
    text = (getattr(getattr(game, "module", None), "__doc__", None) or "").strip().partition("\n")[0]
    name, colon, rest = text.partition(": ")
    sentence = rest if colon and len(name.split()) <= 3 else text
    return sentence[:1].upper() + sentence[1:]
