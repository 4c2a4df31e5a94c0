"""Azul's state vector: its layout, the contents of factories as numbers, and the places of colours on the wall.

Colours are numbered 0 to 4: blue, yellow, red, black, white. The layout is the same for every number of players, except
for the number of boards at the end.
"""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.int64]

COLOURS: Final = ("blue", "yellow", "red", "black", "white")
LETTERS: Final = "byrkw"
"""One letter per colour in texts; k is black."""
NUM_COLOURS, TILES_PER_COLOUR, NUM_ROWS = 5, 20, 5
FACTORY_TILES, FLOOR_SLOTS, MOST_FACTORIES = 4, 7, 9
PLAYER_COUNTS: Final = (2, 3, 4)
PHASES: Final = ("draft", "refill", "over")
"""Names of the kinds of states: DECISION, CHANCE, TERMINAL."""
MOST_DRAFTS = 1000
"""A game ends after the round in which this draft falls."""

# The state vector. STARTER is 1 + the player that took the first-player marker in this round; 0 while the marker lies
# in the centre, and between rounds. PLAYER is the player to move; between rounds the player that starts the next one.
KIND, PLAYER, STARTER, ROUND, DRAFTS = 0, 1, 2, 3, 4
BAG, LID, CENTRE = 5, 10, 15  # tiles by colour
FACTORY = 20  # contents of the factories; 0 is empty. There is room for nine.
BOARDS = 29  # the boards by player

# A board: the score; the rows of the wall, as masks of columns; colours of the lines + 1, 0 if empty; tiles in them;
# number of occupied floor slots; what lies in them: colour + 1, or MARKER.
SCORE, WALL, LINE_COLOUR, LINE_SIZE, FLOOR_SIZE, FLOOR = 0, 1, 6, 11, 16, 17
BOARD = 24
MARKER = 6

# An action is (source × 5 + colour) × 6 + destination. Sources are the factories, then the centre. Destinations are the
# lines 0 to 4 and the floor.
DESTINATIONS, TO_FLOOR = 6, 5

_ALL = sorted(
    (tiles for tiles in product(range(FACTORY_TILES + 1), repeat=NUM_COLOURS) if sum(tiles) <= FACTORY_TILES),
    key=lambda tiles: (sum(tiles), tiles),
)
CONTENTS = np.array(_ALL, np.int64)
"""(126, 5) the tiles by colour of each content of a factory: ordered by their number, then by colours; 0 is empty."""
FIRST = np.array([sum(sum(tiles) < size for tiles in _ALL) for size in range(FACTORY_TILES + 2)], np.int64)
"""(6,) the first content with this number of tiles: 0, 1, 6, 21, 56, 126."""
POWERS = np.array([(FACTORY_TILES + 1) ** (NUM_COLOURS - 1 - colour) for colour in range(NUM_COLOURS)], np.int64)
"""(5,) place values of the code of a content, a number of five digits in base 5."""
CODES = CONTENTS @ POWERS
"""(126,) the code of each content."""
CONTENT_OF = np.full((FACTORY_TILES + 1) ** NUM_COLOURS, -1, np.int64)
"""(3125,) the content of each code; −1 if it has more than four tiles."""
CONTENT_OF[CODES] = np.arange(len(CODES))
MOST_OUTCOMES = int(FIRST[5] - FIRST[4])
"""The 70 ways to fill a factory with four tiles."""

COMBINATIONS = np.array(
    [[comb(n, k) for k in range(FACTORY_TILES + 1)] for n in range(NUM_COLOURS * TILES_PER_COLOUR + 1)], np.float64
)
"""(101, 5) binomial coefficients."""

COLUMN = np.array([[(colour + row) % 5 for colour in range(5)] for row in range(NUM_ROWS)], np.int64)
"""(5, 5) the column of the wall by row and colour."""


def num_factories(players: int) -> int:
    """Return the number of factories: 5, 7 or 9."""
    return 2 * players + 1


def num_actions(players: int) -> int:
    """Return the number of action ids: 180, 240 or 300."""
    return (num_factories(players) + 1) * NUM_COLOURS * DESTINATIONS


def num_boards(state: Vector) -> int:
    """Return the number of players of a state vector."""
    return (len(state) - BOARDS) // BOARD


def content_of(tiles: Vector | list[int]) -> int:
    """Return the number of the content with these tiles by colour."""
    return int(CONTENT_OF[sum(int(count) * int(power) for count, power in zip(tiles, POWERS, strict=True))])


def tiles_of(state: Vector, place: int) -> list[int]:
    """Return the five counts that start at a place of the state vector: BAG, LID or CENTRE."""
    return [int(count) for count in state[place : place + NUM_COLOURS]]
