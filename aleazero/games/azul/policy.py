"""The greedy worth of drafts, and the fixed policy of playouts; docs/games/azul.md has the definitions.

They never change, so that results against the players that use them can be compared over time. Another definition
would get another name. The functions read the state only, so that they are the same for every number of players.
"""

from __future__ import annotations

from aleazero.games.azul.board import (
    BOARD,
    BOARDS,
    CENTRE,
    COLUMN,
    CONTENTS,
    DESTINATIONS,
    FACTORY,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    LINE_COLOUR,
    LINE_SIZE,
    NUM_COLOURS,
    NUM_ROWS,
    PLAYER,
    STARTER,
    TO_FLOOR,
    Vector,
)
from aleazero.games.azul.tiling import PENALTIES, placement_points, wall_of

EXPLORATION = 0.2
"""Probability of a random action in playouts."""
PRIOR_POINTS = 2.0
"""Points of worth by which the prior of an action changes by a factor of e."""
MORE_THAN_TILES = 32
"""A number above every possible number of tiles of one colour."""


def worth(state: Vector, action: int) -> int:
    """Return the points that a draft adds for its player, if the round ended right after it.

    These are the points of the tiling with the draft minus those without it: placements of full lines minus the floor
    penalty. The score may fall below 0, and bonuses do not count.
    """
    board = BOARDS + BOARD * state[PLAYER]
    to = action % DESTINATIONS
    floor = state[board + FLOOR_SIZE]
    dropped = tiles_taken(state, action)
    points = 0
    if to != TO_FLOOR:
        room = to + 1 - state[board + LINE_SIZE + to]
        if dropped >= room:
            points = completion_points(state, board, to, action // DESTINATIONS % NUM_COLOURS)
        dropped = max(0, dropped - room)
    if state[STARTER] == 0 and action // (NUM_COLOURS * DESTINATIONS) == centre_of(state):
        dropped += 1
    return points - PENALTIES[min(FLOOR_SLOTS, floor + dropped)] + PENALTIES[floor]


def completion_points(state: Vector, board: int, row: int, colour: int) -> int:
    """Return the points that a full line adds to a tiling: its placement, and longer runs for full lines below it."""
    wall = wall_of(state, board)
    for above in range(row):
        if state[board + LINE_SIZE + above] == above + 1:
            wall |= 1 << (5 * above + COLUMN[above, state[board + LINE_COLOUR + above] - 1])
    column = COLUMN[row, colour]
    points = placement_points(wall, row, column)
    tiled = wall | 1 << (5 * row + column)
    for below in range(row + 1, NUM_ROWS):
        if state[board + LINE_SIZE + below] == below + 1:
            column = COLUMN[below, state[board + LINE_COLOUR + below] - 1]
            points += placement_points(tiled, below, column) - placement_points(wall, below, column)
            wall |= 1 << (5 * below + column)
            tiled |= 1 << (5 * below + column)
    return points


def centre_of(state: Vector) -> int:
    """Return the number of the source that is the centre: the number of factories."""
    return 2 * ((len(state) - BOARDS) // BOARD) + 1


def tiles_taken(state: Vector, action: int) -> int:
    """Return the number of tiles that a draft takes, without the marker."""
    source, colour = action // (NUM_COLOURS * DESTINATIONS), action // DESTINATIONS % NUM_COLOURS
    if source == centre_of(state):
        return state[CENTRE + colour]
    return CONTENTS[state[FACTORY + source], colour]


def rank(state: Vector, action: int) -> int:
    """Return a number that is higher for the better draft: by worth, then by the number of tiles."""
    return MORE_THAN_TILES * worth(state, action) + tiles_taken(state, action)


def best(state: Vector, actions: Vector, count: int) -> int:
    """Return the greedy action: the first of the best by ``rank``; actions ascend."""
    found, highest = actions[0], rank(state, actions[0])
    for i in range(1, count):
        value = rank(state, actions[i])
        if value > highest:
            found, highest = actions[i], value
    return found


def explore(state: Vector, actions: Vector, count: int, u: float) -> int:
    """Return the action of a playout: random if u is below 0.2, else the greedy one."""
    if u < EXPLORATION:
        return actions[int(u / EXPLORATION * count)]
    return best(state, actions, count)
