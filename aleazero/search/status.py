"""What steps of the compiled loop came to, and what an evaluator's word is worth, as numbers it can compare."""

from __future__ import annotations

from typing import Final

# Beside the statuses of the engine (engine.py), which begin at 0.
LEAF: Final = 10
COLLISION: Final = 11
NO_ROOM: Final = 12
GROW_NODES: Final = 13
GROW_EDGES: Final = 14
# From here on, what is wrong with a game or a position.
BAD_PROBABILITIES: Final = 15
ENDLESS_CHANCE: Final = 16
UNLISTED_OUTCOMES: Final = 17
BROKEN_RULES: Final = 18
GAME_OVER: Final = 19

# As in ``games.base.Trust``.
ASK_NEVER: Final = 0
ASK_EXACT: Final = 2
