"""Inputs of value networks for Azul; compiled. The layout is documented in docs/games/azul.md.

The inputs of a seat describe its board, and how the tiles on display fit the lines of this board: the *fits*. Fits of
begun and of empty lines are worth more than a larger network. Between rounds there is nothing on display, and tiles of
an unfinished refill count as tiles of the bag.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.azul.board import (
    BAG,
    BOARD,
    BOARDS,
    CENTRE,
    COLUMN,
    CONTENTS,
    FACTORY,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    KIND,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    NUM_COLOURS,
    NUM_ROWS,
    PLAYER,
    ROUND,
    SCORE,
    STARTER,
    Vector,
)
from aleazero.games.azul.tiling import PENALTIES, bonus, placement_points, tile
from aleazero.games.base import DECISION

# The inputs of one seat.
TILES, LINES, FLOOR_AT, FILLS = 0, 25, 100, 107
"""The wall, by row and column; lines, one of (colour, number of tiles); occupied floor slots; tiles in each row, column
and colour after tiling the full lines, one of 1 to 5."""
DUE, STANDING, CLAMPED = 182, 183, 184
"""Points of the full lines and the floor; the score with them and with bonuses; whether the floor has tiles and the
score after the tiling is 0."""
MOVES, STARTS, CAN_START = 185, 186, 187
"""Whether the seat is to move; has the first-player marker; whether the marker lies in the centre."""
FACTORIES_LEFT, CENTRE_COLOURS = 188, 193
"""One of 0 to 4 or more factories with tiles; one of 0 to 5 colours in the centre."""
GAIN, SUPPLY = 199, 204
"""By begun line: points for its tile on the wall; tiles of its colour in the bag."""
BEGUN, BEGUN_SIZE = 209, 5
"""By begun line: sources with exactly as many tiles as it needs, with more, with fewer; whether the centre has exactly
as many; points, if any source has."""
EMPTY, EMPTY_SIZE = 234, 5
"""By empty line: drafts that fill it exactly, overfill it, leave one place; whether one from the centre fills it; the
most points of those that fill it exactly."""
SAFE, FORCED, LEAST, BEST = 259, 264, 265, 266
"""One of 0 to 4 or more drafts without tiles for the floor; drafts that fit no line; fewest tiles for the floor in a
draft; points of the two best pairs of a line and a colour that completes it, less those that the floor costs."""
BLOCK_SIZE: Final = 268

# The common inputs.
LEAD, STACKS, CENTRE_AT, BAG_AT, LID_AT, ROUND_AT = 0, 1, 21, 26, 31, 36
"""Lead in points; factories with exactly 1 to 4 tiles of each colour; tiles in the centre, the bag and the lid; one of
the rounds 1 to 8 or more."""
COMMON_SIZE: Final = 44
LONGEST_ROUND: Final = 8

LEAD_UNIT: Final = 50.0
LINE_START = np.array([0, 5, 15, 30, 50], np.int64)
"""(5,) the first input of each line: 5 colours × its number of places."""
MOST_STACKED: Final = 4
"""Factories have at most four tiles of a colour."""
COLOUR_AT = np.array([(column - row) % 5 for row in range(5) for column in range(5)], np.int64)
"""(25,) the colour of each place of the wall."""
PLACE_OF = np.array([next((i for i in range(25) if (1 << i) % 29 == rest), 0) for rest in range(29)], np.int64)
"""(29,) the place of a bit of the wall, by the bit modulo 29."""

# Working memory. By colour: factories with at least 0, 1, ..., 6 tiles of it; then tiles in the bag; then, by line,
# what ``EMPTY`` counts.
STACK_SIZE: Final = 7
IN_BAG, FITS, WORK_SIZE = 35, 40, 55
NOTHING: Final = -20
"""Less than the worth of any draft."""
THREE_BITS: Final = 7


def write_features(
    state: Vector, player: int, players: int, factories: int, negative: int, out: NDArray[np.float32]
) -> None:
    """Write the inputs of all seats, the player's own first, then the common ones.

    Args:
        state: the state vector.
        player: the player whose block comes first.
        players: number of players.
        factories: number of factories.
        negative: 1 if scores may fall below 0, else 0.
        out: (players × BLOCK_SIZE + COMMON_SIZE,) the inputs.
    """
    common = players * BLOCK_SIZE
    for i in range(common + COMMON_SIZE):
        out[i] = 0.0
    work = np.zeros(WORK_SIZE, np.int64)
    drafting = state[KIND] == DECISION
    left = 0
    for colour in range(NUM_COLOURS):
        work[IN_BAG + colour] = state[BAG + colour]
    for factory in range(factories):
        content = state[FACTORY + factory]
        if content > 0:
            left += 1
            for colour in range(NUM_COLOURS):
                tiles = CONTENTS[content, colour]
                if drafting:
                    for size in range(tiles + 1):
                        work[STACK_SIZE * colour + size] += 1
                else:
                    work[IN_BAG + colour] += tiles
    lead = 0
    for seat in range(players):
        who, at = (player + seat) % players, BLOCK_SIZE * seat
        standing, wall = _write_board(state, who, negative, work, out, at)
        if seat < 2:
            lead += standing if seat == 0 else -standing
        if drafting:
            _write_display(state, who, left, out, at)
            _write_drafts(state, who, wall, work, out, at)
    out[common + LEAD] = lead / LEAD_UNIT
    for colour in range(NUM_COLOURS):
        for size in range(1, MOST_STACKED + 1):
            stacks = work[STACK_SIZE * colour + size] - work[STACK_SIZE * colour + size + 1]
            out[common + STACKS + MOST_STACKED * colour + size - 1] = 0.5 * stacks
        out[common + CENTRE_AT + colour] = 0.25 * state[CENTRE + colour]
        out[common + BAG_AT + colour] = 0.1 * work[IN_BAG + colour]
        out[common + LID_AT + colour] = 0.1 * state[LID + colour]
    out[common + ROUND_AT + min(LONGEST_ROUND, int(state[ROUND])) - 1] = 1.0


def _write_board(
    state: Vector, who: int, negative: int, work: Vector, out: NDArray[np.float32], at: int
) -> tuple[int, int]:
    """Write the board of a player; return the score if the game ended with it, and the wall after tiling."""
    board = BOARDS + BOARD * who
    score, wall = tile(state, board, negative)
    standing = score + bonus(wall)
    full = 0  # bits of the full lines
    for row in range(NUM_ROWS):
        size = int(state[board + LINE_SIZE + row])
        if size > 0:
            colour = int(state[board + LINE_COLOUR + row]) - 1
            out[at + LINES + LINE_START[row] + colour * (row + 1) + size - 1] = 1.0
            if size == row + 1:
                full |= 1 << (5 * row + COLUMN[row, colour])
            else:
                out[at + GAIN + row] = 0.1 * placement_points(wall, row, COLUMN[row, colour])
                out[at + SUPPLY + row] = 0.05 * work[IN_BAG + colour]
    tiles, fills = wall, 0  # the numbers of tiles in rows, columns and colours have three bits each
    while tiles:
        bit = tiles & -tiles
        tiles ^= bit
        place = PLACE_OF[bit % 29]
        if bit & full == 0:
            out[at + TILES + place] = 1.0
        fills += (1 << (3 * (place // 5))) + (1 << (15 + 3 * (place % 5))) + (1 << (30 + 3 * COLOUR_AT[place]))
    for i in range(3 * NUM_ROWS):
        fill = (fills >> (3 * i)) & THREE_BITS
        if fill > 0:
            out[at + FILLS + 5 * i + fill - 1] = 1.0
    floor = int(state[board + FLOOR_SIZE])
    if floor > 0:
        out[at + FLOOR_AT + floor - 1] = 1.0
        out[at + CLAMPED] = 1.0 if score == 0 else 0.0
    out[at + DUE] = 0.1 * (score - int(state[board + SCORE]))
    out[at + STANDING] = 0.02 * standing
    out[at + MOVES] = 1.0 if state[PLAYER] == who else 0.0
    return standing, wall


def _write_display(state: Vector, who: int, left: int, out: NDArray[np.float32], at: int) -> None:
    """Write the size of the display and the place of the marker."""
    out[at + STARTS] = 1.0 if state[STARTER] == who + 1 else 0.0
    out[at + CAN_START] = 1.0 if state[STARTER] == 0 else 0.0
    out[at + FACTORIES_LEFT + min(4, left)] = 1.0
    colours = 0
    for colour in range(NUM_COLOURS):
        if state[CENTRE + colour] > 0:
            colours += 1
    out[at + CENTRE_COLOURS + colours] = 1.0


def _write_drafts(state: Vector, who: int, wall: int, work: Vector, out: NDArray[np.float32], at: int) -> None:
    """Write how the tiles on display fit the lines of a player; ``wall`` is the wall after tiling full lines."""
    board = BOARDS + BOARD * who
    floor, marker = int(state[board + FLOOR_SIZE]), 1 if state[STARTER] == 0 else 0
    for i in range(FITS, WORK_SIZE):
        work[i] = 0
    safe, forced, least, best, second = 0, 0, FLOOR_SLOTS, NOTHING, NOTHING
    for colour in range(NUM_COLOURS):
        stacks, middle = STACK_SIZE * colour, int(state[CENTRE + colour])
        drafts = work[stacks + 1] + (1 if middle > 0 else 0)
        if drafts == 0:
            continue
        widest = 0
        for row in range(NUM_ROWS):
            size, held = int(state[board + LINE_SIZE + row]), int(state[board + LINE_COLOUR + row])
            place = 5 * row + COLUMN[row, colour]
            if size == row + 1 or (wall >> place) & 1 or (size > 0 and held != colour + 1):
                continue
            room = row + 1 - size
            widest = max(widest, room)
            exact = work[stacks + room] - work[stacks + room + 1] + (1 if middle == room else 0)
            more = work[stacks + room + 1] + (1 if middle > room else 0)
            points = 0
            if exact + more > 0:
                points = placement_points(wall, row, COLUMN[row, colour])
                worth = points  # the best draft that completes the line
                if exact == (1 if middle == room else 0):
                    worth -= _least_overflow(work, stacks, room, middle, marker, floor)
                if worth > best:
                    best, second = worth, best
                else:
                    second = max(second, worth)
            if size > 0:
                own = at + BEGUN + BEGUN_SIZE * row
                out[own] = 0.5 * min(2, exact)
                out[own + 1] = 0.5 * min(2, more)
                out[own + 2] = min(3, drafts - exact - more) / 3.0
                out[own + 3] = 1.0 if middle == room else 0.0
                out[own + 4] = 0.1 * points if exact > 0 else 0.0
            else:
                own = at + EMPTY + EMPTY_SIZE * row
                work[FITS + 3 * row] += exact
                work[FITS + 3 * row + 1] += more
                if room > 1:
                    one_short = work[stacks + room - 1] - work[stacks + room]
                    work[FITS + 3 * row + 2] += one_short + (1 if middle == room - 1 else 0)
                if middle == room:
                    out[own + 3] = 1.0
                if exact > 0:
                    out[own + 4] = max(out[own + 4], np.float32(0.1 * points))
        if widest == 0:
            forced += drafts
        safe += work[stacks + 1] - work[stacks + widest + 1] + (1 if 0 < middle <= widest else 0)
        for size in range(1, MOST_STACKED + 1):
            if work[stacks + size] > work[stacks + size + 1]:
                least = min(least, max(0, size - widest))
                break
        if middle > 0:
            least = min(least, max(0, middle - widest) + marker)
    for row in range(NUM_ROWS):
        for fit in range(3):
            out[at + EMPTY + EMPTY_SIZE * row + fit] = min(3, work[FITS + 3 * row + fit]) / 3.0
    out[at + SAFE + min(4, safe)] = 1.0
    out[at + FORCED] = 0.25 * forced
    out[at + LEAST] = 0.25 * least
    if best > NOTHING:
        out[at + BEST] = 0.1 * best
        out[at + BEST + 1] = 0.1 * max(0, second)


def _least_overflow(work: Vector, stacks: int, room: int, middle: int, marker: int, floor: int) -> int:
    """The points that the cheapest draft costs which completes a line, if no factory has exactly as many tiles."""
    extra = FLOOR_SLOTS
    for size in range(room + 1, MOST_STACKED + 1):
        if work[stacks + size] > work[stacks + size + 1]:
            extra = size - room
            break
    if middle >= room:
        extra = min(extra, middle - room + marker)
    return PENALTIES[min(FLOOR_SLOTS, floor + extra)] - PENALTIES[floor]
