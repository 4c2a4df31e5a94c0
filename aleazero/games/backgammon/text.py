"""Texts of backgammon: names of rolls, a position in one line, and the board.

A line is a position id of GNU Backgammon, followed by the player and the dice::

    4HPwATDgc/ABMA player 0 dice 3-1
"""

from __future__ import annotations

import re

from aleazero.errors import PositionError, shortened
from aleazero.games.backgammon.board import (
    BAR,
    COUNTING,
    HIGH,
    KIND,
    LOW,
    NUM_ROLLS,
    OFF,
    OPENING,
    PLACING,
    PLAYER,
    PLAYING,
    POINTS,
    ROLLS,
    SECOND,
    SETUP,
    Vector,
    position_of,
    vector_of,
)
from aleazero.games.backgammon.notation import action_text as action_text
from aleazero.games.backgammon.notation import parse_action as parse_action
from aleazero.games.backgammon.position_id import PATTERN, decode, encode
from aleazero.games.base import CHANCE, DECISION, TERMINAL

EXAMPLES = "a position id with the dice, '4HPwATDgc/ABMA dice 3-1', or '4HPwATDgc/ABMA player 1 to roll'"
STAGES = {COUNTING: "counting", PLACING: "placing"}


def outcome_text(state: Vector, outcome: int) -> str:
    """``6-4``. At the opening roll the first die is that of player 0; random starts have a number or a point."""
    if state[SETUP] == COUNTING:
        return f"{outcome} checkers" if outcome > 1 else "1 checker"
    if state[SETUP] == PLACING:
        return f"point {outcome}"
    high, low = (int(die) for die in ROLLS[outcome % NUM_ROLLS])
    return f"{low}-{high}" if outcome >= NUM_ROLLS else f"{high}-{low}"


def text(state: Vector) -> str:
    """The position in one line."""
    player = int(state[PLAYER])
    line = encode(position_of(state, player))
    if state[SETUP] == OPENING:
        return f"{line} opening"
    if state[SETUP] != PLAYING:
        return f"{line} player {player} {STAGES[int(state[SETUP])]} off {state[OFF]}-{state[OFF + 1]}"
    if state[KIND] == TERMINAL:
        return f"{line} player {player} won"
    if state[KIND] == CHANCE:
        return f"{line} player {player} to roll"
    return f"{line} player {player} dice {state[HIGH]}-{state[LOW]}{' second' if state[SECOND] else ''}"


_LINE = re.compile(
    rf"({PATTERN})(?: (opening)|(?: player ([01]))?(?: to roll| (won)| dice ([1-6])-?([1-6])( second)?"
    r"| (counting|placing) off ([0-9]{1,2})-([0-9]{1,2}))?)"
)


def parse(line: str, checkers: int) -> Vector:
    """Read what ``text`` writes. Without a player it is player 0, and without dice the position is before the roll."""
    found = _LINE.fullmatch(" ".join(line.split()))
    if found is None:
        raise PositionError(f"backgammon: cannot read position {shortened(line, 80, 40)!r}, expected {EXAMPLES}")
    player, dice = int(found[3] or 0), (int(found[5]), int(found[6])) if found[5] else None
    points, bar, off = decode(found[1], checkers)
    state = vector_of(points, bar, off, dice, player, second=bool(found[7]))
    if found[2]:
        state[SETUP] = OPENING
    elif found[8]:
        state[SETUP] = COUNTING if found[8] == "counting" else PLACING
        state[OFF], state[OFF + 1] = int(found[9]), int(found[10])
        state[KIND], state[PLAYER] = CHANCE, player
    elif (state[KIND] == TERMINAL) != bool(found[4]) or state[PLAYER] != player:
        raise PositionError(
            f"backgammon: got {line!r} with {off[0]} and {off[1]} checkers off, expected 'player N won' when all "
            f"{checkers} of player N are off, and only then"
        )
    return state


# -- the board ---------------------------------------------------------------------------------------------------------

ROWS = 5
SIDES = ("X", "O")


def render(state: Vector) -> str:
    """The board from the side of player 0 (X), who bears off at the lower right; player 1 (O) at the upper right.

    Points have the numbers of the player who moves or rolls. These are the numbers of the moves in notation.
    """
    top = _half(state, range(13, 25), upper=True)
    bottom = _half(state, range(12, 0, -1), upper=False)
    high, low = "+13-14-15-16-17-18------19-20-21-22-23-24-+", "+12-11-10--9--8--7-------6--5--4--3--2--1-+"
    if state[PLAYER] == 1:
        high, low = low, high
    lines = [
        f" {high}",
        *(f" |{row}|" for row in top),
        " |                  |BAR|                  |",
        *(f" |{row}|" for row in reversed(bottom)),
        f" {low}",
    ]
    for player, at in ((1, 1), (0, len(lines) - 2)):
        lines[at] += f"  {SIDES[player]}: player {player}, {pips(state, player)} pips, {state[OFF + player]} off"
    lines.append(_status(state))
    return "\n".join(line.rstrip() for line in lines)


def _half(state: Vector, places: range, upper: bool) -> list[str]:
    """Return the five rows of one half of the board, from the edge to the middle."""
    rows = []
    bar_player = 0 if upper else 1  # checkers on the bar are on the side where they enter
    for depth in range(ROWS):
        cells = [_cell(int(state[POINTS + place - 1]), depth) for place in places]
        on_bar = int(state[BAR + bar_player])
        bar = _cell(on_bar if bar_player == 0 else -on_bar, ROWS - 1 - depth).strip() or " "
        rows.append(f"{''.join(cells[:6])}|{bar:^3}|{''.join(cells[6:])}")
    return rows


def _cell(count: int, depth: int) -> str:
    """Return three characters: a checker; the number of checkers in the last row if there are more; or spaces."""
    if depth >= min(ROWS, abs(count)):
        return "   "
    if depth == ROWS - 1 and abs(count) > ROWS:
        return f"{abs(count):^3}"
    return f" {SIDES[count < 0]} "


def pips(state: Vector, player: int) -> int:
    """The points that a player's checkers have to move until all are off."""
    points, bar, _ = position_of(state, player)
    return 25 * bar[0] + sum((i + 1) * max(0, count) for i, count in enumerate(points))


def _status(state: Vector) -> str:
    player = int(state[PLAYER])
    name = f"player {player} ({SIDES[player]})"
    if state[SETUP] != PLAYING:
        return "the opening roll is next" if state[SETUP] == OPENING else f"{name}: checkers are placed at random"
    if state[KIND] == TERMINAL:
        return f"the game is over, {name} has won"
    if state[KIND] == DECISION:
        rest = ", the last two half-moves" if state[SECOND] else ""
        return f"{name} plays {state[HIGH]}-{state[LOW]}{rest}"
    return f"{name} rolls"
