"""Azul's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from typing import Any, Final

from aleazero.games.azul.text import TYPING_HELP
from aleazero.games.base import Game
from aleazero.games.kit import GameKit

AFTERSTATE: Final = {
    "plies": 0,  # sample the refill, which has too many outcomes to plan
    "target": "lambda",
    "td_lambda": 0.8,
    "final_lambda": 0.8,
    "explore": 0.0,
    "lanes": 256,
    "replay": 20_000,
    "updates": 8,
    "batch_size": 128,
    "learning_rate": 0.002,
    "final_rate": 0.05,
    "ema": 0.999,
}
"""Settings of the recipe ``afterstate``."""
PRIOR_TEMPERATURE: Final = 0.05
"""Of value networks in a search. A difference of 0.1 in the value, from −1 to 1, is one unit of a logit."""


def kit(game: Game) -> GameKit:
    """Return the kit of Azul for the number of players of a game."""
    net: dict[str, Any] = {"kind": "towers", "hidden": (64,)} if game.num_players == 2 else {"hidden": (128,)}
    return GameKit(
        no_oracle="Azul is too large to be solved",
        typing_help=TYPING_HELP,
        afterstate={**AFTERSTATE, "net": net},
        prior_temperature=PRIOR_TEMPERATURE,
    )
