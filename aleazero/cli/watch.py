"""``aleazero watch``: look at games that were played, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag
from aleazero.errors import ConfigError, ReplayError

if TYPE_CHECKING:
    from aleazero.evaluation.game_file import GameFile, RecordedGame
    from aleazero.games.base import Game


def watch(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Games, as `aleazero gate --replays` writes them.", show_default=False),
    ],
    game: Annotated[int, typer.Option("--game", metavar="N", help="Which game of the file, from 0.")] = 0,
    delay: Annotated[float, typer.Option("--delay", metavar="T", help="Seconds between steps.", min=0, max=60)] = 0.0,
    json: JsonFlag = False,
) -> None:
    """Show a played game step by step: who did what, the luck that came, and the board after it.

    Every step is checked against the rules. The game's rules are run: watch what you trust.

    **Examples**

    - `aleazero gate greedy random --game pig --replays games.json`, then `aleazero watch games.json`

    - `aleazero watch games.json --game 3 --delay 0.5`
    """
    from aleazero.cli.failure import rules_of
    from aleazero.cli.show import print_json
    from aleazero.evaluation.game_file import GameFile

    games = GameFile.read(file)
    if not 0 <= game < len(games.games):
        raise ConfigError(f"--game is {game}, expected one of the {len(games.games)} games of {file.name}, from 0")
    with rules_of(games.game):
        loaded = _load(games)
        if loaded.info.version != games.rules_version:
            raise ReplayError(
                f"{file.name}: got rules of version {games.rules_version}, expected {loaded.info.version} of {loaded!r}"
            )
        record = games.games[game]
        try:
            told = list(_steps(record, loaded))
        except ReplayError as error:
            raise ReplayError(f"{file.name}, game {game}, {error}") from None
    if json:
        print_json({
            "game": games.game, "params": games.params, "number": game, "pair": record.pair, "seed": record.seed,
            "players": list(record.players), "steps": told, "returns": list(record.returns),
        })  # fmt: skip
        return
    _show(record, loaded, told, f"game {game} of {len(games.games)}", delay)


def _load(games: GameFile) -> Game:
    from aleazero.cli.specs import OPENSPIEL
    from aleazero.games.objects import from_openspiel
    from aleazero.games.registry import load_game

    if games.game.startswith(OPENSPIEL):
        return from_openspiel(games.game.removeprefix(OPENSPIEL), **games.params)
    return load_game(games.game, **games.params)


def _steps(record: RecordedGame, game: Game) -> Any:
    """Each step by name, with the position it led to."""
    before = None
    for number, (state, step) in enumerate(record.positions(game)):
        if step is None or before is None:
            yield {"step": 0, "player": None, "name": "", "position": state.to_text(), "board": str(state)}
        else:
            name = before.action_to_string(step[1])
            yield {"step": number, "player": step[0], "action": step[1], "name": name,
                   "position": state.to_text(), "board": str(state)}  # fmt: skip
        before = state
    if before is None or not before.is_terminal() or tuple(before.returns()) != record.returns:
        raise ReplayError(f"step {len(record.steps)}: the game does not end as recorded, {list(record.returns)}")


def _show(record: RecordedGame, game: Game, told: list[dict[str, Any]], which: str, delay: float) -> None:
    import time

    from rich.text import Text

    from aleazero.cli.show import make_console

    console = make_console()
    console.print(Text(f"{game!r}, {which}, pair {record.pair}, seed {record.seed}", style="bold"), soft_wrap=True)
    for seat, name in enumerate(record.players):
        console.print(Text(f"player {seat}: {name}", style="dim"), soft_wrap=True)
    for step in told:
        if step["player"] is not None:
            who = "chance" if step["player"] < 0 else f"player {step['player']}"
            console.print(Text(f"\n{step['step']:>4}  {who}: {step['name']}", style="cyan"), soft_wrap=True)
            if delay:
                time.sleep(delay)
        console.print(Text(step["board"]), soft_wrap=True)
    returns = "   ".join(f"player {seat} {value:+g}" for seat, value in enumerate(record.returns))
    console.print(Text(f"\nthe game is over: {returns}", style="bold green"), soft_wrap=True)
