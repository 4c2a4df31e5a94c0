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

# Where a tree stands. What it stopped for:
DONE: Final = 0


WAITING: Final = 1


FULL: Final = 2


EVALUATIONS_SPENT: Final = 3


PAUSED: Final = 4


FAILED: Final = 5


# What is to be done with it:
IDLE: Final = 6  # nothing: it has no state


PLANTED: Final = 7  # begin at its state


READY: Final = 8  # go on


ANSWERED: Final = 9  # take the evaluator's answer, and go on


MAX_CHANCE_RUN: Final = 256
"""More chance events than this in a row, and the game is taken to be in a loop."""


EXTERNAL: Final = 0


UNIFORM: Final = 1


ROLLOUT: Final = 2
