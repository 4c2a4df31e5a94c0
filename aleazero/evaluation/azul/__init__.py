"""Azul's ``GameKit``. Each part is one line in ``kit``; what it needs is imported when it is used."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from aleazero.evaluation.azul.floor_moves import MOVE_WARNINGS
from aleazero.games.azul.text import TYPING_HELP, parse_play
from aleazero.games.base import Game
from aleazero.games.kit import Example, GameKit

EXAMPLES: Final = (
    Example(
        "Player 1 drafts near the end of round 3: which tiles, and to which line?",
        "draft round 3 drafts 25 player 1 next 0 bag b7y3r11k9w10 lid b7y4rk6w centre by4rk factories - byr2 - - - / "
        "10 wall ...kw,..yr.,..by.,.....,..k.. lines r1,k2,w3,y3,- floor m / "
        "7 wall by...,wb...,..b..,.....,..... lines r1,y2,-,r2,w4 floor -",
    ),
)
NOTES: Final = {
    "lookahead": "A player that searches the rest of the round, five drafts deep, for the highest lead in points.",
}
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
"""Temperature of the priors of value networks: 0.1 in the value, from −1 to 1, is one unit of a logit."""
NET_SEARCH: Final = {"c": 0.5, "first_play": "logits"}
"""Settings of a search with a value network: drafts that are not tried yet have the value of the network."""


def kit(game: Game) -> GameKit:
    """Return the kit of Azul for the number of players of a game."""
    net: dict[str, Any] = {"kind": "towers", "hidden": (64,)} if game.num_players == 2 else {"hidden": (128,)}
    return GameKit(
        no_oracle="Azul is too large to be solved",
        players={name: partial(_player, name) for name in ("greedy", "lookahead", "rollouts")},
        reference="lookahead",
        move_warnings=MOVE_WARNINGS,
        afterstate={**AFTERSTATE, "net": net},
        prior_temperature=PRIOR_TEMPERATURE,
        net_search=NET_SEARCH,
        parse_play=parse_play,
        typing_help=TYPING_HELP,
        examples=EXAMPLES if game.num_players == 2 else (),
        notes=NOTES,
    )


def _player(name: str, game: Game, settings: Mapping[str, str]) -> Any:
    from aleazero.evaluation.azul import players

    return getattr(players, f"make_{name}")(game, settings)
