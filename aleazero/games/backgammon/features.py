"""Inputs of value networks for backgammon; compiled. The layout is documented in docs/games/backgammon.md.

Masks have bit p for point p of their player, and bit 25 for the bar, as in ``moves``. Inputs are scaled to about -1 to
1, and those that are rarely 0 are centred.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from aleazero.games.backgammon.board import BAR, HOME_POINTS, NUM_POINTS, NUM_ROLLS, OFF, POINTS, ROLLS, Vector
from aleazero.games.backgammon.moves import BAR_BIT, place_of

# The inputs of one seat. The first ones are also written in a race.
STACKS, STACK_SIZE = 0, 4
"""25 places (points, then the bar): exactly 1, exactly 2, at least 3 checkers; checkers above 3."""
OFF_AT, PIPS = 100, 103
OUTSIDE = 104
"""Pips to bring all checkers into the home board."""
SHOTS = 105
"""24 points: chance that the opponent's next roll hits the blot there."""
HIT, LOSS = 129, 130
"""Chance that the next roll hits any blot; expected pips lost by it."""
REAR_ESCAPE, LEAST_ESCAPE, LEAST_SQUARED, MEAN_ESCAPE = 131, 132, 133, 134
PRIME, HOME, CLOSED, BEHIND = 135, 136, 137, 138
"""Length of the longest prime; made home points; their square if the opponent is on the bar; checkers in contact."""
CONTACT_PIPS, PAST_PIPS, MOBILITY, SPREAD, BACK, ANCHORS, BLOCKED, BLOTS = 139, 140, 141, 142, 143, 144, 145, 146
LEAVING, SAVING, SAVING_MORE = 147, 148, 149
"""In a race: pips to leave the opponent's home board; rolls by which the opponent is ahead of the player's escape from
a gammon, and from a backgammon."""
BLOCK_SIZE: Final = 150
PIP_LEAD: Final = 2 * BLOCK_SIZE
COMMON_FEATURES: Final = 1

PIPS_PER_ROLL: Final = 8.17
LONGEST_SHOT: Final = 12
PLACES_AHEAD: Final = (1 << LONGEST_SHOT) - 1
BETWEEN: Final = (1 << LONGEST_SHOT - 1) - 1
HALF: Final = 11
"""Sets of rolls have 21 bits. Their probability is the sum of two tables, for the first 11 bits and the rest."""


def _escapes() -> NDArray[np.float64]:
    """(4096,) chance that one checker can move both dice, by the mask of the blocked points 1 to 12 ahead of it."""
    masks = np.arange(PLACES_AHEAD + 1)
    found = np.zeros(len(masks), np.float64)
    for high, low in ROLLS.tolist():
        first, second, both = (masks >> (steps - 1) & 1 for steps in (high, low, high + low))
        found += (1 - both) * (1 - first * second) * (1 if high == low else 2) / 36
    return found


def _shots() -> NDArray[np.int32]:
    """(13, 2048) rolls that hit a blot, by its distance and the mask of the blocked points before it."""
    masks = np.arange(BETWEEN + 1)
    found = np.zeros((LONGEST_SHOT + 1, len(masks)), np.int32)
    for roll, (high, low) in enumerate(ROLLS.tolist()):
        if high == low:
            ways = [[high * step for step in range(1, count + 1)] for count in (1, 2, 3, 4)]
        else:
            ways = [[high], [low], [high, high + low], [low, high + low]]
        for *stops, distance in ways:
            if distance <= LONGEST_SHOT:
                needed = sum(1 << (stop - 1) for stop in stops)
                found[distance, masks & needed == 0] |= 1 << roll
    return found


def _chances(first: int, count: int) -> NDArray[np.float64]:
    """Return the probability of each set of ``count`` rolls from ``first`` on."""
    chances = [(1 if high == low else 2) / 36 for high, low in ROLLS[first : first + count]]
    return np.array([sum(c for bit, c in enumerate(chances) if s >> bit & 1) for s in range(1 << count)], np.float64)


ESCAPES = _escapes()
HITTING = _shots()
FIRST_ROLLS, LAST_ROLLS = _chances(0, HALF), _chances(HALF, NUM_ROLLS - HALF)


def features(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """The checkers of both players, each from its own view, and what they threaten; the player's own come first."""
    for i in range(2 * BLOCK_SIZE + COMMON_FEATURES):
        out[i] = 0.0
    zero = one = zero_blots = one_blots = 0
    for i in range(NUM_POINTS):
        count = state[POINTS + i]
        if count > 0:
            zero |= 2 << i
            if count == 1:
                zero_blots |= 2 << i
        elif count < 0:
            one |= 1 << (NUM_POINTS - i)
            if count == -1:
                one_blots |= 1 << (NUM_POINTS - i)
    own, other = (zero, one) if player == 0 else (one, zero)
    own_blots, other_blots = (zero_blots, one_blots) if player == 0 else (one_blots, zero_blots)
    own_rear, own_left, own_pips = _write_checkers(state, player, own, out, 0)
    other_rear, other_left, other_pips = _write_checkers(state, 1 - player, other, out, BLOCK_SIZE)
    out[PIP_LEAD] = (own_pips - other_pips) * 0.03
    if own_rear + other_rear <= NUM_POINTS:
        _write_escape(state, player, own, other_left, other_pips, out, 0)
        _write_escape(state, 1 - player, other, own_left, own_pips, out, BLOCK_SIZE)
        return
    _write_shots(own_blots, own ^ own_blots, BAR_BIT if state[BAR + 1 - player] > 0 else other, out, 0)
    _write_shots(other_blots, other ^ other_blots, BAR_BIT if state[BAR + player] > 0 else own, out, BLOCK_SIZE)
    made, other_made = own ^ own_blots, other ^ other_blots
    _write_structure(state, player, own, own_blots, own_rear, other_made, other_rear, out, 0)
    _write_structure(state, 1 - player, other, other_blots, other_rear, made, own_rear, out, BLOCK_SIZE)


def _checkers_at(state: Vector, who: int, place: int) -> int:
    """The number of checkers of a player on a point of that player."""
    return int(state[POINTS + place - 1]) if who == 0 else -int(state[POINTS + NUM_POINTS - place])


def _write_checkers(state: Vector, who: int, occupied: int, out: NDArray[np.float32], at: int) -> tuple[int, int, int]:
    """Write checkers, off and pips; return the place of the last checker (25 for the bar), their number, the pips."""
    rear = checkers = pips = outside = 0
    left = occupied
    while left:
        bit = left & -left
        left ^= bit
        place = place_of(bit)
        count = _checkers_at(state, who, place)
        _write_stack(count, out, at + STACK_SIZE * (place - 1))
        checkers += count
        pips += place * count
        outside += max(0, place - HOME_POINTS) * count
        rear = place
    bar = int(state[BAR + who])
    if bar > 0:
        rear = NUM_POINTS + 1
        _write_stack(bar, out, at + STACK_SIZE * NUM_POINTS)
        checkers += bar
        pips += rear * bar
        outside += (rear - HOME_POINTS) * bar
    off = int(state[OFF + who])
    for part in range(3):
        out[at + OFF_AT + part] = min(5, max(0, off - 5 * part)) * 0.2
    out[at + PIPS] = (pips - 100) * 0.015
    out[at + OUTSIDE] = outside * 0.02
    return rear, checkers, pips


def _write_stack(count: int, out: NDArray[np.float32], at: int) -> None:
    """Write the checkers at one place."""
    out[at + min(count, 3) - 1] = 1.0
    out[at + 3] = max(0, count - 3) * 0.5


def _write_escape(
    state: Vector, who: int, occupied: int, other_left: int, other_pips: int, out: NDArray[np.float32], at: int
) -> None:
    """Write how far a player without checkers off is from saving a gammon and a backgammon in a race."""
    if state[OFF + who] > 0:
        return
    leaving = 0
    left = occupied >> (NUM_POINTS - HOME_POINTS + 1)
    while left:
        bit = left & -left
        left ^= bit
        pips = place_of(bit) + 1
        leaving += pips * _checkers_at(state, who, NUM_POINTS - HOME_POINTS + pips)
    rolls = max(other_pips / PIPS_PER_ROLL, other_left * 0.5)
    out[at + LEAVING] = leaving * 0.1
    ahead = float(out[at + OUTSIDE]) / (0.02 * PIPS_PER_ROLL) + 0.5 - rolls
    out[at + SAVING] = min(2.0, max(-2.0, ahead * 0.3))
    if leaving > 0:
        ahead = leaving / PIPS_PER_ROLL + 0.5 - rolls
        out[at + SAVING_MORE] = min(2.0, max(-2.0, ahead * 0.3))


def _write_shots(blots: int, made: int, hitters: int, out: NDArray[np.float32], at: int) -> None:
    """Write the chances to be hit by the opponent's next roll, if that player moves single checkers."""
    rolls = 0
    loss = 0.0
    left = blots
    while left:
        bit = left & -left
        left ^= bit
        point = place_of(bit)
        hitting = 0
        target = NUM_POINTS + 1 - point  # the hitter's number of the point
        near = hitters >> (target + 1) & PLACES_AHEAD
        while near:
            hitter = near & -near
            near ^= hitter
            distance = place_of(hitter) + 1
            # Bit i of the mask is the point i + 1 ahead of the hitter.
            hitting |= HITTING[distance, made >> (NUM_POINTS + 2 - target - distance) & BETWEEN]
        if hitting:
            loss += _chance(hitting & ~rolls) * (NUM_POINTS + 1 - point)
            out[at + SHOTS + point - 1] = 2.0 * _chance(hitting)
            rolls |= hitting
    if rolls:
        out[at + HIT] = 2.0 * _chance(rolls)
        out[at + LOSS] = 0.1 * loss


def _chance(rolls: int) -> float:
    """The probability of a set of rolls."""
    return FIRST_ROLLS[rolls & ((1 << HALF) - 1)] + LAST_ROLLS[rolls >> HALF]


def _write_structure(
    state: Vector,
    who: int,
    occupied: int,
    blots: int,
    rear: int,
    other_made: int,
    other_rear: int,
    out: NDArray[np.float32],
    at: int,
) -> None:
    """Write escapes, primes, home board, contact, mobility and anchors of a player."""
    made = occupied ^ blots
    least, total = 1.0, 0.0
    for place in range(16, NUM_POINTS + 2):
        escape = ESCAPES[other_made >> (NUM_POINTS + 2 - place) & PLACES_AHEAD]
        least = min(least, escape)
        total += escape
    out[at + REAR_ESCAPE] = (ESCAPES[other_made >> (NUM_POINTS + 2 - rear) & PLACES_AHEAD] - 0.6) * 1.5
    out[at + LEAST_ESCAPE] = (0.6 - least) * 1.5
    out[at + LEAST_SQUARED] = ((1.0 - least) * (1.0 - least) - 0.25) * 1.5
    out[at + MEAN_ESCAPE] = (total * 0.1 - 0.75) * 2.0
    prime, left = 0, made
    while left:
        left &= left >> 1
        prime += 1
    out[at + PRIME] = max(0, prime - 2) * 0.4
    home = _count(made & ((2 << HOME_POINTS) - 1))
    out[at + HOME] = (home - 3) * 0.35
    waiting = int(state[BAR + 1 - who])
    if waiting > 0:
        out[at + CLOSED] = home * home * 0.04
        out[at + BLOCKED] = home * home * min(3, waiting) / 36.0
    line = NUM_POINTS - other_rear  # the last point that no checker of the opponent has to pass
    behind = back = int(state[BAR + who])
    contact, past, spread = (NUM_POINTS + 1 - line) * behind, 0, 16**2 * behind
    mobility = (NUM_POINTS + 1 - HOME_POINTS) * behind * ESCAPES[other_made >> 1 & PLACES_AHEAD]
    left = occupied
    while left:
        bit = left & -left
        left ^= bit
        place = place_of(bit)
        count = _checkers_at(state, who, place)
        if place > line:
            behind += count
            contact += (place - line) * count
        else:
            past += place * count
        if place > HOME_POINTS:
            mobility += (place - HOME_POINTS) * count * ESCAPES[other_made >> (NUM_POINTS + 2 - place) & PLACES_AHEAD]
            if place > NUM_POINTS - HOME_POINTS:
                back += count
            spread += max(0, place - 9) ** 2 * count
    out[at + BEHIND] = (behind - 6) * 0.15
    out[at + CONTACT_PIPS] = (contact - 50) * 0.02
    out[at + PAST_PIPS] = past * 0.02
    out[at + MOBILITY] = (mobility - 25.0) * 0.03
    out[at + SPREAD] = (spread - 400) * 0.002
    out[at + BACK] = max(0, back - 2) * 0.5
    out[at + ANCHORS] = _count(made >> (NUM_POINTS - HOME_POINTS + 1)) * 0.6
    out[at + BLOTS] = (_count(blots) - 2) * 0.3


def _count(mask: int) -> int:
    """The number of bits."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count
