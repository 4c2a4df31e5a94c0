"""Backgammon's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from aleazero.games.backgammon.board import MOST_CHECKERS
from aleazero.games.base import Game
from aleazero.games.kit import Example, GameKit

SETS_FOLDER: Final = Path(__file__).parent / "sets"
"""Sets of judged decisions, made by ``benchmarks/backgammon/judged_set.py``."""
EXAMPLES = (
    Example(
        "Two checkers left, the opponent needs two rolls: how should 2-1 be played?",
        "BwAAIAIAAAAAAA player 0 dice 2-1",
    ),
)


def kit(game: Game) -> GameKit:
    """Return the kit of backgammon for the parameters of a game."""
    from aleazero.evaluation.backgammon.tables import exact_parts

    engines = {name: partial(_engine, name=name) for name in ("gnubg", "bgsage", "pubeval")}
    parts: dict[str, Any] = {"examples": EXAMPLES, "players": {"heuristic": _heuristic, **engines}, **exact_parts(game)}
    if parts["oracle"] is None:
        parts |= {"reference": "heuristic"}  # always available
    if game.params["checkers"] == MOST_CHECKERS:
        parts |= {"judge": "bgsage:ply=3", "judged": {"standard": partial(_judged_set, "standard", game)}}
    return GameKit(**parts)


def _heuristic(game: Game, settings: Mapping[str, str]) -> Any:
    from aleazero.evaluation.backgammon.heuristic import make_heuristic

    return make_heuristic(game, settings)


def _engine(game: Game, settings: Mapping[str, str], name: str) -> Any:
    from aleazero.evaluation.backgammon.engines import make_engine_player

    return make_engine_player(game, settings, name=name)


def _judged_set(name: str, game: Game) -> Any:
    from aleazero.evaluation.errors import load_set

    return load_set(SETS_FOLDER / f"{name}.safetensors", game)
