"""Azul's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aleazero.evaluation.azul.floor_moves import MOVE_WARNINGS
from aleazero.games.azul.text import TYPING_HELP, parse_play
from aleazero.games.base import Game
from aleazero.games.kit import Example, GameKit

EXAMPLES = (
    Example(
        "Player 1 drafts near the end of round 3: which tiles, and to which line?",
        "draft round 3 drafts 25 player 1 next 0 bag b7y3r11k9w10 lid b7y4rk6w centre by4rk factories - byr2 - - - / "
        "10 wall ...kw,..yr.,..by.,.....,..k.. lines r1,k2,w3,y3,- floor m / "
        "7 wall by...,wb...,..b..,.....,..... lines r1,y2,-,r2,w4 floor -",
    ),
)
NOTES = {
    "lookahead": "A player that searches the rest of the round, five drafts deep, for the highest lead in points.",
}


def kit(game: Game) -> GameKit:
    """Return the kit of Azul."""
    return GameKit(
        no_oracle="Azul is too large to be solved",
        players={name: partial(_player, name) for name in ("greedy", "lookahead", "rollouts")},
        reference="lookahead",
        move_warnings=MOVE_WARNINGS,
        parse_play=parse_play,
        typing_help=TYPING_HELP,
        examples=EXAMPLES if game.num_players == 2 else (),
        notes=NOTES,
    )


def _player(name: str, game: Game, settings: Mapping[str, str]) -> Any:
    from aleazero.evaluation.azul import players

    return getattr(players, f"make_{name}")(game, settings)
