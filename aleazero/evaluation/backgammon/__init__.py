"""Backgammon's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from aleazero.games.backgammon.board import MOST_CHECKERS
from aleazero.games.backgammon.notation import format_move, parse_move
from aleazero.games.base import Game
from aleazero.games.kit import Example, GameKit, ReviewThresholds, WrittenGame

SETS_FOLDER: Final = Path(__file__).parent / "sets"
"""Sets of judged decisions, made by ``benchmarks/backgammon/judged_set.py``."""
EXAMPLES = (
    Example(
        "Two checkers left, the opponent needs two rolls: how should 2-1 be played?",
        "BwAAIAIAAAAAAA player 0 dice 2-1",
    ),
)
TYPING_HELP = (
    "type a move such as 8/5 6/5, 13/7(2), bar/22 or 6/off, a double in one line: 24/18(2) 13/7(2). The player to move "
    "goes from point 24 down to 1 and off"
)
TERMS = {
    "value": "equity", "win_2": "win g", "win_3": "win bg", "lose_2": "lose g", "lose_3": "lose bg",
    "points_1": "a single game", "points_2": "a gammon", "points_3": "a backgammon",
}  # fmt: skip

AFTERSTATE: Final = {
    "plies": 0,  # sample the dice: a planned turn would have 21 rolls
    "target": "lambda",
    "exact": True,  # exact values at the end of games, from the bear-off table
    "td_lambda": 0.7,
    "final_lambda": 0.5,
    "net": {"hidden": (256,)},
    "explore": 0.02,
    "lanes": 512,  # a round with few lanes spends most of its time in Python, where threads wait for each other
    "warmup": 15,
    "replay": 50_000,
    "updates": 8,  # as many samples as the round adds: more steps fit the noise of the dice
    "batch_size": 256,
    "learning_rate": 0.002,
    "final_rate": 0.03,
    "ema": 0.999,
}
"""Settings of the recipe ``afterstate`` for games from the standard start, chosen by error rates after short runs."""


def kit(game: Game) -> GameKit:
    """Return the kit of backgammon for the parameters of a game."""
    from aleazero.evaluation.backgammon.tables import exact_parts

    engines = {name: partial(_engine, name=name) for name in ("gnubg", "bgsage", "pubeval")}
    parts: dict[str, Any] = {"examples": EXAMPLES, "players": {"heuristic": _heuristic, **engines}, **exact_parts(game)}
    parts |= {"format_play": format_move, "parse_play": parse_move, "typing_help": TYPING_HELP, "terms": TERMS}
    parts |= {"rolls_dice": True, "review": ReviewThresholds(0.02, 0.08)}  # the usual thresholds of money play
    if game.params["start"] == "standard":
        parts |= {"afterstate": AFTERSTATE}
    if (game.params["start"], game.params["checkers"]) == ("standard", MOST_CHECKERS):
        parts |= {"read_games": {".mat": _mat_games}}
    if parts["oracle"] is None:
        parts |= {"reference": "heuristic"}
    if game.params["checkers"] == MOST_CHECKERS:
        parts |= {"judge": "bgsage:ply=3", "judged": {"standard": partial(_judged_set, "standard", game)}}
    return GameKit(**parts)


def _heuristic(game: Game, settings: Mapping[str, str]) -> Any:
    from aleazero.evaluation.backgammon.heuristic import make_heuristic

    return make_heuristic(game, settings)


def _engine(game: Game, settings: Mapping[str, str], name: str) -> Any:
    from aleazero.evaluation.backgammon.engines import make_engine_player

    return make_engine_player(game, settings, name=name)


def _mat_games(text: str) -> Sequence[WrittenGame]:
    from aleazero.games.backgammon.mat import read_mat_games

    return read_mat_games(text)


def _judged_set(name: str, game: Game) -> Any:
    from aleazero.evaluation.errors import load_set

    return load_set(SETS_FOLDER / f"{name}.safetensors", game)
