"""Legal moves of backgammon, found with masks that have one bit per point; compiled.

Each side of the board is scanned into masks from the mover's view. The places from which a die can be played are then
a few shifts. Nothing here depends on the parameters of the game.
"""

from __future__ import annotations

import numpy as np

from aleazero.games.backgammon.board import (
    BAR,
    HIGH,
    HOME_POINTS,
    LOW,
    NUM_ACTIONS,
    NUM_POINTS,
    OFF,
    PASS,
    PLACES,
    PLAYER,
    POINTS,
    Vector,
)

# Masks have bit p for point p of the mover, and bit 25 for the bar.
BAR_BIT = 1 << PASS
ON_BOARD = (1 << PASS) - 2
HOME_END = 1 << (HOME_POINTS + 1)
"""A mask below this has no checkers outside the home board."""
HIGHEST = np.array([1 << mask.bit_length() >> 1 for mask in range(HOME_END)], np.int64)
"""(128,) the highest bit of a mask of the home board."""
DE_BRUIJN = 0x077CB531
PLACE_OF = np.zeros(32, np.int64)
"""(32,) the number of a bit: a de Bruijn sequence has different five bits for each shift."""
for _bit in range(32):
    PLACE_OF[(DE_BRUIJN << _bit & 0xFFFFFFFF) >> 27] = _bit
SCRATCH = NUM_ACTIONS - PLACES
"""Actions are listed in rows, one per place of the higher die. The row of place p is kept at SCRATCH + p of the list
while it is made. A position has at most 15 × 31 actions, so the list does not reach it."""


def scan(state: Vector) -> tuple[int, int, int, int]:
    """Masks from the mover's view: own checkers, own single checkers, points that may be entered, other's blots."""
    player = state[PLAYER]
    own = single = blocked = blots = 0
    for place in range(1, NUM_POINTS + 1):
        count = state[POINTS + place - 1] if player == 0 else -state[POINTS + NUM_POINTS - place]
        bit = 1 << place
        own |= bit if count > 0 else 0
        single |= bit if count == 1 else 0
        blocked |= bit if count < -1 else 0
        blots |= bit if count == -1 else 0
    bar = state[BAR + player]
    own |= BAR_BIT if bar > 0 else 0
    single |= BAR_BIT if bar == 1 else 0
    return own, single, ON_BOARD & ~blocked, blots


def place_of(bit: int) -> int:
    """The number of a mask's only bit."""
    return PLACE_OF[(bit * DE_BRUIJN & 0xFFFFFFFF) >> 27]


def sources(own: int, clear: int, die: int) -> int:
    """Mask of the places from which a die can be played: the bar first; bearing off from the home board."""
    if own & BAR_BIT:
        return BAR_BIT & (clear << die)
    found = own & (clear << die)
    if own < HOME_END:
        # A die that is higher than all checkers takes the one that is furthest back.
        found |= HIGHEST[own] if own >> die == 0 else own & (1 << die)
    return found


def moved(own: int, single: int, bit: int, die: int) -> int:
    """Mask of the own checkers after a half-move; ``single`` are places that become empty."""
    return (own & ~(single & bit)) | ((bit >> die) & ON_BOARD)


def legal(state: Vector, out: Vector) -> int:
    """All ways to play both dice; if there is none, the higher die, else the lower die, else a pass.

    Every action leads to a different board. Two actions lead to the same board in two cases only, and the one with the
    smaller id is listed: the same checker moves with both dice, in either order and without a hit between; or the same
    two checkers are borne off.
    """
    own, single, clear, blots = scan(state)
    high, low = int(state[HIGH]), int(state[LOW])
    first_high = sources(own, clear, high)
    if high == low:
        rows = _rows_of_double(own, single, clear, high, first_high, out)
        first_low = 0
    else:
        first_low = sources(own, clear, low)
        rows = _rows(own, single, clear, high, low, first_high, first_low, out)
    if rows == 0:
        return _list_single(first_high, first_low, out)
    count = 0
    if rows & BAR_BIT:
        count = _list_row(out[SCRATCH + PASS], 0, out, count)
        rows ^= BAR_BIT
    while rows:
        bit = rows & -rows
        rows ^= bit
        place = place_of(bit)
        row = out[SCRATCH + place]
        if high != low:
            row = _without_duplicates(row, place, bit, high, low, blots, out)
        count = _list_row(row, PLACES * place, out, count)
    return count


def _rows(own: int, single: int, clear: int, high: int, low: int, first_high: int, first_low: int, out: Vector) -> int:
    """Write the places of the lower die by place of the higher die; return the mask of rows."""
    for place in range(1, PLACES):
        out[SCRATCH + place] = 0
    rows = 0
    left = first_high
    while left:
        bit = left & -left
        left ^= bit
        row = sources(moved(own, single, bit, high), clear, low)
        if row:
            rows |= bit
            out[SCRATCH + place_of(bit)] = row
    # The lower die first. If the higher die could also be played first from the same place, the action is listed.
    left = first_low
    while left:
        bit = left & -left
        left ^= bit
        more = sources(moved(own, single, bit, low), clear, high) & ~first_high
        rows |= more
        while more:
            other = more & -more
            more ^= other
            out[SCRATCH + place_of(other)] |= bit
    return rows


def _rows_of_double(own: int, single: int, clear: int, die: int, first: int, out: Vector) -> int:
    """Write the rows of a double: the order of the two places does not matter, so the smaller id comes first."""
    for place in range(1, PLACES):
        out[SCRATCH + place] = 0
    rows = 0
    left = first
    while left:
        bit = left & -left
        left ^= bit
        row = sources(moved(own, single, bit, die), clear, die)
        smaller = row & (bit - 1) if bit != BAR_BIT else 0  # the bar has the id 0
        row ^= smaller
        if row:
            rows |= bit
            out[SCRATCH + place_of(bit)] |= row
        rows |= smaller
        while smaller:
            other = smaller & -smaller
            smaller ^= other
            out[SCRATCH + place_of(other)] |= bit
    return rows


def _without_duplicates(row: int, place: int, bit: int, high: int, low: int, blots: int, out: Vector) -> int:
    """Remove the lower places from a row with which an action of a smaller id leads to the same board."""
    via_high, via_low = bit >> high, bit >> low
    if row & via_high & ON_BOARD and out[SCRATCH + place - low] & bit and not blots & (via_high | via_low):
        row ^= via_high  # one checker, higher die first; the lower die first has a smaller id
    entry = BAR_BIT >> high
    if row == BAR_BIT and place == PASS - low and out[SCRATCH + PASS] & entry and not blots & (entry | bit):
        return 0  # one checker from the bar, lower die first; the higher die first has a smaller id
    if place <= low:
        smaller = row & (bit - 1)
        while smaller:
            other = smaller & -smaller
            smaller ^= other
            if out[SCRATCH + place_of(other)] & bit:
                row ^= other  # two checkers borne off
    return row


def _list_row(row: int, first: int, out: Vector, count: int) -> int:
    """Append the actions of a row. A row is the bar alone, or points."""
    if row & BAR_BIT:
        out[count] = first
        return count + 1
    while row:
        bit = row & -row
        row ^= bit
        out[count] = first + place_of(bit)
        count += 1
    return count


def _list_single(first_high: int, first_low: int, out: Vector) -> int:
    """The ways to play one die, the higher one if possible; a pass if there is none."""
    left, step, rest = (first_high, PLACES, PASS) if first_high else (first_low, 1, PLACES * PASS)
    if left == 0:
        out[0] = NUM_ACTIONS - 1
        return 1
    if left & BAR_BIT:
        out[0] = rest
        return 1
    count = 0
    while left:
        bit = left & -left
        left ^= bit
        out[count] = step * place_of(bit) + rest
        count += 1
    return count


def canonical(state: Vector, action: int) -> int:
    """The smallest action that leads to the same board; −1 if both dice cannot be played like this."""
    first, second = action // PLACES, action % PLACES
    if first == PASS or second == PASS:
        return action
    own, single, clear, blots = scan(state)
    high, low = int(state[HIGH]), int(state[LOW])
    if not _playable(own, single, clear, first, high, second, low):
        return -1
    if high == low:
        return PLACES * min(first, second) + max(first, second)
    one, other = 1 << (first or PASS), 1 << (second or PASS)
    other_way, via = action, 0
    if other == one >> high:  # one checker, higher die first
        other_way, via = PLACES * place_of(one >> low) + first, other | (one >> low)
    elif one == other >> low and other >> high > 1:  # one checker, lower die first
        other_way, via = PLACES * second + place_of(other >> high), one | (other >> high)
    elif max(one, other) <= 1 << low:  # two checkers borne off
        other_way = PLACES * second + first
    if other_way >= action or blots & via:
        return action
    if _playable(own, single, clear, other_way // PLACES, high, other_way % PLACES, low):
        return other_way
    return action


def _playable(own: int, single: int, clear: int, first: int, high: int, second: int, low: int) -> bool:
    """Whether the higher die can be played from ``first`` and the lower die from ``second``, in either order."""
    one, other = 1 << (first or PASS), 1 << (second or PASS)
    if sources(own, clear, high) & one and sources(moved(own, single, one, high), clear, low) & other:
        return True
    low_first = sources(own, clear, low) & other and sources(moved(own, single, other, low), clear, high) & one
    return low_first != 0


def is_at(state: Vector, player: int, place: int) -> bool:
    """Whether a player has a checker at a place."""
    if place == 0:
        return state[BAR + player] > 0
    return state[POINTS + place - 1] > 0 if player == 0 else state[POINTS + NUM_POINTS - place] < 0


def move(state: Vector, player: int, place: int, die: int) -> None:
    """Move a checker from a place by a die: hit a blot, or bear off."""
    sign = 1 - 2 * player
    if place == 0:
        state[BAR + player] -= 1
        place = NUM_POINTS + 1
    else:
        state[POINTS + (place - 1 if player == 0 else NUM_POINTS - place)] -= sign
    place -= die
    if place <= 0:
        state[OFF + player] += 1
        return
    at = POINTS + (place - 1 if player == 0 else NUM_POINTS - place)
    if state[at] == -sign:
        state[at] = 0
        state[BAR + 1 - player] += 1
    state[at] += sign
