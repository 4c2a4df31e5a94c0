"""Scores of Azul: placements on the wall, floor penalties, bonuses, and the tiling of a board at the end of a round.

A wall is one integer of 25 bits, bit 5 × row + column. These functions read the boards only, so that they are the same
for every number of players. ``board`` is the index of a board in the state vector.
"""

from __future__ import annotations

import numpy as np

from aleazero.games.azul.board import (
    COLUMN,
    FLOOR,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    MARKER,
    NUM_ROWS,
    SCORE,
    WALL,
    Vector,
)

PENALTIES = np.array([0, 1, 2, 4, 6, 8, 11, 14], np.int64)
"""(8,) points lost by the number of occupied floor slots."""
ROW_BONUS, COLUMN_BONUS, COLOUR_BONUS = 2, 7, 10
FULL_ROW = 0b11111


def _run(mask: int, at: int) -> int:
    """Return the number of consecutive bits of a mask around a set bit; 0 if it is not set."""
    low = high = at
    while low >= 0 and mask >> low & 1:
        low -= 1
    while mask >> high & 1:
        high += 1
    return max(0, high - low - 1)


RUNS = np.array([[_run(mask, at) for at in range(NUM_ROWS)] for mask in range(32)], np.int64)
"""(32, 5) length of the run through a place, by the mask of a row or a column."""
COLUMN_BITS = np.array([sum(1 << (5 * row + column) for row in range(5)) for column in range(5)], np.int64)
"""(5,) the columns of a wall."""
COLOUR_BITS = np.array([sum(1 << (5 * row + int(COLUMN[row, c])) for row in range(5)) for c in range(5)], np.int64)
"""(5,) the places of each colour on a wall."""


def wall_of(state: Vector, board: int) -> int:
    """Return the wall of a board as 25 bits."""
    wall = 0
    for row in range(NUM_ROWS):
        wall |= int(state[board + WALL + row]) << (5 * row)
    return wall


def placement_points(wall: int, row: int, column: int) -> int:
    """Return the points for placing a tile on a wall: 1 if isolated, else the runs through it longer than 1."""
    across = RUNS[(wall >> (5 * row)) & FULL_ROW | 1 << column, column]
    mask = 1 << row
    for other in range(NUM_ROWS):
        mask |= ((wall >> (5 * other + column)) & 1) << other
    down = RUNS[mask, row]
    if across == 1:
        return down
    return across + (down if down > 1 else 0)


def complete_rows(wall: int) -> int:
    """Return the number of complete rows of a wall."""
    rows = 0
    for row in range(NUM_ROWS):
        if (wall >> (5 * row)) & FULL_ROW == FULL_ROW:
            rows += 1
    return rows


def bonus(wall: int) -> int:
    """Return the points at the end of the game: 2 per complete row, 7 per column, 10 per colour."""
    points = ROW_BONUS * complete_rows(wall)
    for i in range(NUM_ROWS):
        if wall & COLUMN_BITS[i] == COLUMN_BITS[i]:
            points += COLUMN_BONUS
        if wall & COLOUR_BITS[i] == COLOUR_BITS[i]:
            points += COLOUR_BONUS
    return points


def tile(state: Vector, board: int, negative: int) -> tuple[int, int]:
    """Return the score and the wall of a board after tiling its full lines, from the top row, and the floor penalty.

    The board does not change.

    Args:
        state: the state vector.
        board: index of the board.
        negative: 1 if the score may fall below 0, else 0.
    """
    wall = wall_of(state, board)
    score = int(state[board + SCORE])
    for row in range(NUM_ROWS):
        if state[board + LINE_SIZE + row] == row + 1:
            column = COLUMN[row, state[board + LINE_COLOUR + row] - 1]
            score += placement_points(wall, row, column)
            wall |= 1 << (5 * row + column)
    score -= PENALTIES[state[board + FLOOR_SIZE]]
    if score < 0 and negative == 0:
        score = 0
    return score, wall


def tile_board(state: Vector, board: int, negative: int) -> None:
    """Tile a board at the end of a round: score it, and move the other tiles of full lines and the floor to the lid."""
    score, wall = tile(state, board, negative)
    state[board + SCORE] = score
    for row in range(NUM_ROWS):
        state[board + WALL + row] = (wall >> (5 * row)) & FULL_ROW
        if state[board + LINE_SIZE + row] == row + 1:
            state[LID + state[board + LINE_COLOUR + row] - 1] += row
            state[board + LINE_SIZE + row] = 0
            state[board + LINE_COLOUR + row] = 0
    for slot in range(FLOOR_SLOTS):
        held = state[board + FLOOR + slot]
        if 0 < held < MARKER:
            state[LID + held - 1] += 1
        state[board + FLOOR + slot] = 0
    state[board + FLOOR_SIZE] = 0
