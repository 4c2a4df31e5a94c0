"""Backgammon's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from typing import Any

from aleazero.games.base import Game
from aleazero.games.kit import Example, GameKit

EXAMPLES = (
    Example(
        "Two checkers left, the opponent needs two rolls: how should 2-1 be played?",
        "BwAAIAIAAAAAAA player 0 dice 2-1",
    ),
)


def kit(game: Game) -> GameKit:
    """Return the kit of backgammon for the parameters of a game."""
    from aleazero.evaluation.backgammon.tables import exact_parts

    parts: dict[str, Any] = {"examples": EXAMPLES, **exact_parts(game)}
    return GameKit(**parts)
