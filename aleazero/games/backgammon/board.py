"""Backgammon's state vector: its layout, positions from counts of checkers, and the check of positions from outside.

Points are numbered from 1 (ace point) to 24 from the view of each player. A player moves from high to low points and
bears off from points 1 to 6. Point p of one player is point 25 − p of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import CHANCE, DECISION, KIND_NAMES, TERMINAL

Vector = NDArray[np.int64]

# The state vector. The 24 points are those of player 0, ace point first: checkers of player 0 count positive, those of
# player 1 negative. The dice are 0 before a roll. SECOND is 1 at the second action of a double.
POINTS, BAR, OFF, HIGH, LOW, SECOND, SETUP = 0, 24, 26, 28, 29, 30, 31
# The doubling cube and the match score have their place, so that rules with a cube need no other layout: the logarithm
# of the cube, its owner (player + 1; 0 centred), 1 while a double is offered, the match length (0: none), the scores of
# both players, 1 in the Crawford game. All are 0 now. Actions of the cube would have ids from 676.
CUBE, MATCH_END = 32, 39
PLAYER, KIND = 39, 40
STATE_SIZE = 41

# An action is 26 × the place of the higher die + the place of the lower die. Places are 0 for the bar, the points 1 to
# 24 of the mover, and 25 for a die that is not played.
PLACES, PASS = 26, 25
NUM_ACTIONS = PLACES * PLACES

NUM_ROLLS = 21
ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], np.int64)
"""(21, 2) the higher and the lower die of each roll: 1-1, 2-1, 2-2, 3-1, …"""

# SETUP: what the next chance event decides. The counts and the points of checkers are drawn for random starts only.
PLAYING, OPENING, COUNTING, PLACING = 0, 1, 2, 3

NUM_POINTS, HOME_POINTS, RACE_POINTS = 24, 6, 12
MOST_CHECKERS = 15
STARTS: Final = ("standard", "race", "bearoff")
STANDARD, RACE_START, BEAROFF = 0, 1, 2
LAYOUTS: Final = {15: {24: 2, 13: 5, 8: 3, 6: 5}, 3: {24: 1, 23: 1, 22: 1}}
"""Number of checkers by point at the start, by number of checkers: backgammon and hypergammon."""

Position = tuple[tuple[int, ...], tuple[int, int], tuple[int, int]]
"""24 points (own checkers positive, other's negative, own ace point first), bar and off as (own, other)."""


def position_of(state: Vector, player: int) -> Position:
    """Return the points, the bar and the checkers off from the view of a player."""
    points = [int(count) for count in state[POINTS : POINTS + NUM_POINTS]]
    if player == 1:
        points = [-count for count in reversed(points)]
    bar, off = ((int(state[at + player]), int(state[at + 1 - player])) for at in (BAR, OFF))
    return tuple(points), bar, off


def vector_of(
    points: Sequence[int],
    bar: Sequence[int],
    off: Sequence[int],
    dice: Sequence[int] | None,
    player: int = 0,
    second: bool = False,
) -> Vector:
    """Return the vector of a position from the view of the player to move; ``check`` it before it is used.

    If one side has no checkers left, the game is over.
    """
    if len(points) != NUM_POINTS or len(bar) != 2 or len(off) != 2:
        raise PositionError(
            f"backgammon: got {len(points)} points, {len(bar)} numbers for the bar and {len(off)} for off, expected "
            f"{NUM_POINTS}, 2 and 2"
        )
    counts = [_integer("a point", count) for count in points]
    own_bar, other_bar = (_integer("the bar", count) for count in bar)
    own_off, other_off = (_integer("off", count) for count in off)
    state = np.zeros(STATE_SIZE, np.int64)
    if player not in (0, 1):
        raise PositionError(f"backgammon: got player {player!r}, expected 0 or 1")
    try:
        state[POINTS : POINTS + NUM_POINTS] = counts if player == 0 else [-count for count in reversed(counts)]
        state[BAR + player], state[BAR + 1 - player] = own_bar, other_bar
        state[OFF + player], state[OFF + 1 - player] = own_off, other_off
    except OverflowError:
        raise PositionError("backgammon: got a count of checkers above 64 bits, expected at most 15") from None
    state[PLAYER] = player
    if dice is not None:
        faces = sorted((_integer("a die", die) for die in dice), reverse=True)
        if len(faces) != 2 or not 1 <= faces[1] <= faces[0] <= 6:
            raise PositionError(f"backgammon: got the dice {list(dice)}, expected two from 1 to 6")
        state[HIGH], state[LOW] = faces
    state[SECOND] = int(second)
    left = [own_bar + sum(max(0, n) for n in counts), other_bar + sum(max(0, -n) for n in counts)]
    if min(left) > 0:
        state[KIND] = CHANCE if dice is None else DECISION
    else:
        state[KIND] = TERMINAL
        state[PLAYER] = player if left[0] == 0 else 1 - player
    return state


def _integer(what: str, number: Any) -> int:
    try:
        return index(number)
    except TypeError:
        raise PositionError(f"backgammon: got {number!r} for {what}, expected an integer") from None


def start_points(checkers: int) -> tuple[int, ...]:
    """Return the 24 points of the standard start of this number of checkers."""
    layout = LAYOUTS[checkers]
    return tuple(layout.get(p, 0) - layout.get(NUM_POINTS + 1 - p, 0) for p in range(1, NUM_POINTS + 1))


def check(state: Vector, checkers: int, start: int) -> None:
    """Reject a state vector that no play reaches, in a game with this number of checkers and this start."""
    player, kind, setup = int(state[PLAYER]), int(state[KIND]), int(state[SETUP])
    if player not in (0, 1) or kind not in (DECISION, CHANCE, TERMINAL):
        raise PositionError(f"backgammon: got player {player} and kind {kind}, expected 0 or 1 and 0, 1 or 2")
    if state[CUBE:MATCH_END].any():
        raise PositionError(
            f"backgammon: got {state[CUBE:MATCH_END].tolist()} for the cube and the match score, expected zeros"
        )
    if setup != PLAYING:
        _check_setup(state, checkers, start)
        return
    totals = _totals(state)
    if totals != [checkers, checkers]:
        hint = ", or load the game with checkers=N" if totals[0] == totals[1] and checkers == MOST_CHECKERS else ""
        raise PositionError(
            f"backgammon: got {totals[0]} checkers of player 0 and {totals[1]} of player 1, expected {checkers} each, "
            f"on points, on the bar and off{hint}"
        )
    over = [int(state[OFF + who]) == checkers for who in (0, 1)]
    if all(over):
        raise PositionError("backgammon: got two players without checkers left, expected at most one")
    dice = [int(state[HIGH]), int(state[LOW]), int(state[SECOND])]
    if (kind == TERMINAL) != any(over) or (any(over) and not over[player]):
        raise PositionError(
            f"backgammon: got a {KIND_NAMES[kind]} state of player {player} with {state[OFF : OFF + 2].tolist()} "
            f"checkers off, expected the game to be over when all {checkers} of a player are off"
        )
    if kind != DECISION and dice != [0, 0, 0]:
        what = "a finished game" if kind == TERMINAL else "a position before the roll"
        raise PositionError(f"backgammon: got the dice {dice[:2]} in {what}, expected none")
    if kind == DECISION and not (1 <= dice[1] <= dice[0] <= 6 and dice[2] in (0, 1)):
        raise PositionError(f"backgammon: got the dice {dice[:2]}, expected two from 1 to 6, the higher first")
    if dice[2] and dice[0] != dice[1]:
        raise PositionError(f"backgammon: got a second action with the dice {dice[:2]}, expected a double")
    if min(state[BAR : BAR + 2]) > 0 and all(_is_closed(state, who) for who in (0, 1)):
        raise PositionError(
            "backgammon: got both players on the bar against six made points, expected that one of them can enter"
        )


def _totals(state: Vector) -> list[int]:
    """Return the number of checkers of both players; raise PositionError for counts that are negative."""
    counts = [int(count) for count in state[POINTS : POINTS + NUM_POINTS]]
    bar_off = [int(count) for count in state[BAR : OFF + 2]]
    if min(bar_off) < 0:
        raise PositionError(f"backgammon: got {bar_off[:2]} on the bar and {bar_off[2:]} off, expected at least 0")
    return [
        sum(max(0, n) for n in counts) + bar_off[0] + bar_off[2],
        sum(max(0, -n) for n in counts) + bar_off[1] + bar_off[3],
    ]


def _is_closed(state: Vector, player: int) -> bool:
    """Return whether a player holds all six points of the home board, so that the other cannot enter."""
    return min(position_of(state, player)[0][:HOME_POINTS]) >= 2


def _check_setup(state: Vector, checkers: int, start: int) -> None:
    """Reject a state before the first roll of a game that play does not reach."""
    player, setup = int(state[PLAYER]), int(state[SETUP])
    points, bar, off = position_of(state, player)
    totals = _totals(state)
    fits = state[KIND] == CHANCE and not state[HIGH : SECOND + 1].any() and bar == (0, 0)
    if setup == OPENING:
        fits = fits and start == STANDARD and player == 0 and off == (0, 0) and points == start_points(checkers)
    elif setup in (COUNTING, PLACING):
        span = RACE_POINTS if start == RACE_START else HOME_POINTS
        fits = fits and start != STANDARD and (setup == PLACING or start == BEAROFF)
        fits = fits and not any(points[span:-span]) and min(points[:span]) >= 0 and max(points[-span:]) <= 0
        fits = fits and (start == BEAROFF or off == (0, 0)) and max(off) < checkers
        # Player 0 comes first: player 1 has no checkers before, and player 0 has all of them after.
        fits = fits and totals[player] < checkers and totals[1 - player] == (checkers if player == 1 else 0)
        fits = fits and (setup == PLACING or totals[player] == 0)
    else:
        fits = False
    if not fits:
        raise PositionError(
            f"backgammon: got set-up stage {setup} of player {player} with {totals} checkers placed, which the start "
            f"{STARTS[start]!r} with {checkers} checkers does not reach, expected stage 0 once the game has begun"
        )
