"""Backgammon: race fifteen checkers around the board by two dice; a gammon counts 2 points, a backgammon 3.

There is no doubling cube, but the state vector has room for it (``board``). A roll is a chance node, and so is the
opening roll. A move with two different dice is one action, a double is two actions of two half-moves. Positions are in
``board``, legal moves in ``moves``, names and texts in ``text`` and ``notation``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import GameError, PositionError
from aleazero.games.backgammon import text as texts
from aleazero.games.backgammon.board import (
    BAR,
    BEAROFF,
    COUNTING,
    HIGH,
    HOME_POINTS,
    KIND,
    LAYOUTS,
    LOW,
    MOST_CHECKERS,
    NUM_ACTIONS,
    NUM_POINTS,
    NUM_ROLLS,
    OFF,
    OPENING,
    PASS,
    PLACES,
    PLACING,
    PLAYER,
    PLAYING,
    POINTS,
    RACE_POINTS,
    RACE_START,
    ROLLS,
    SECOND,
    SETUP,
    STANDARD,
    STARTS,
    STATE_SIZE,
    Position,
    position_of,
    start_points,
    vector_of,
)
from aleazero.games.backgammon.board import check as check_board
from aleazero.games.backgammon.drawing import draw as draw
from aleazero.games.backgammon.features import BLOCK_SIZE, COMMON_FEATURES
from aleazero.games.backgammon.features import features as features
from aleazero.games.backgammon.moves import canonical as canonical
from aleazero.games.backgammon.moves import is_at, move, scan, sources
from aleazero.games.backgammon.moves import legal as legal
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Features, Game, GameInfo

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

Vector = NDArray[np.int64]

CHECKERS = MOST_CHECKERS
START = STANDARD
LAYOUT = np.array(start_points(MOST_CHECKERS), np.int64)
"""(24,) the points at the start."""

FACES = 6
ROLL_CHANCES = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0) / FACES**2
"""(21,) their probabilities."""
PAIRS = np.array([roll for roll in range(NUM_ROLLS) if ROLLS[roll, 0] > ROLLS[roll, 1]], np.int64)
"""(15,) the rolls of two different dice. An opening roll is one of them, or 21 + one of them if player 1 starts."""
NUM_OPENINGS = 2 * len(PAIRS)
ROLL_OF_36 = np.array([max(i, j) * (max(i, j) + 1) // 2 + min(i, j) for i in range(6) for j in range(6)], np.int64)
"""(36,) the roll of two dice in order, for sampling."""

POINT_SIZE, SEAT_SIZE = 5, NUM_POINTS * 5 + 8
COMMON_SIZE = 5 + 2 * FACES + 2
CONTACT, RACE, BEARING_OFF = 0, 1, 2


def describe(start: str = "standard", checkers: int = MOST_CHECKERS) -> GameInfo:
    """Describe the game.

    Args:
        start: ``standard``, ``race`` (random positions without contact) or ``bearoff`` (random home boards).
        checkers: checkers of each player, 15; 3 for hypergammon; 1 to 15 with a random start.
    """
    if start not in STARTS:
        raise GameError(f"backgammon: start is {start!r}, expected {', '.join(STARTS[:-1])} or {STARTS[-1]}")
    if isinstance(checkers, bool) or not isinstance(checkers, int) or not 1 <= checkers <= MOST_CHECKERS:
        raise GameError(f"backgammon: checkers is {checkers!r}, expected 1 to {MOST_CHECKERS}")
    if start == "standard" and checkers not in LAYOUTS:
        raise GameError(
            f"backgammon: checkers is {checkers} with start 'standard', expected 15, or 3 for hypergammon; start "
            f"'race' and 'bearoff' allow 1 to 15"
        )
    layout = start_points(checkers) if checkers in LAYOUTS else (0,) * NUM_POINTS
    return GameInfo(
        name="backgammon",
        num_players=2,
        num_actions=NUM_ACTIONS,
        max_outcomes=NUM_OPENINGS,
        utility=(-3.0, 3.0),
        levels=3,
        state_size=STATE_SIZE,
        state_dtype="int8",
        observation_size=2 * SEAT_SIZE + COMMON_SIZE,
        observation_schema="backgammon-1",
        features=Features(schema="backgammon-value-1", block=BLOCK_SIZE, common=COMMON_FEATURES),
        decision_classes=("contact", "race", "bearoff"),
        phases=("contact", "race"),
        constants={"CHECKERS": checkers, "START": STARTS.index(start), "LAYOUT": np.array(layout, np.int64)},
    )


def init(state: Vector) -> None:
    """The standard position before the opening roll; or an empty board, on which chance places the checkers."""
    state[KIND] = CHANCE
    state[SETUP] = OPENING
    if START == BEAROFF:
        state[SETUP] = COUNTING
    elif START == RACE_START:
        state[SETUP] = PLACING
    else:
        for i in range(NUM_POINTS):
            state[POINTS + i] = LAYOUT[i]


def kind(state: Vector) -> int:
    """CHANCE before a roll, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The player to move; at a chance node the player who rolls, and at the end the winner."""
    return state[PLAYER]


def viewer(state: Vector) -> int:
    """The player to move; between turns the player who moved last; player 0 before the opening roll."""
    if state[KIND] == CHANCE and state[SETUP] == PLAYING:
        return 1 - state[PLAYER]
    return state[PLAYER]


def turn(state: Vector) -> int:
    """The player: turns alternate."""
    return state[PLAYER]


# -- turns ------------------------------------------------------------------------------------------------------------


def apply(state: Vector, action: int) -> None:
    """Play the dice, then pass the turn, continue a double, or end the game."""
    player = state[PLAYER]
    first, second = action // PLACES, action % PLACES
    high, low = state[HIGH], state[LOW]
    complete = first != PASS and second != PASS
    if not complete:
        if first != PASS:
            move(state, player, first, high)
        if second != PASS:
            move(state, player, second, low)
    elif is_at(state, player, first):
        move(state, player, first, high)
        move(state, player, second, low)
    else:  # the lower die brings a checker to the place of the higher die
        move(state, player, second, low)
        move(state, player, first, high)
    if state[OFF + player] == CHECKERS:
        state[KIND] = TERMINAL
    elif complete and high == low and state[SECOND] == 0:
        own, _, clear, _ = scan(state)
        if sources(own, clear, high) != 0:
            state[SECOND] = 1
            return
    state[HIGH] = state[LOW] = state[SECOND] = 0
    if state[KIND] != TERMINAL:
        state[KIND] = CHANCE
        state[PLAYER] = 1 - player


def outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    """The 21 rolls; the 30 opening rolls; or a random number or place of checkers, for random starts."""
    stage = state[SETUP]
    if stage == PLAYING:
        for i in range(NUM_ROLLS):
            ids[i] = i
            probabilities[i] = ROLL_CHANCES[i]
        return NUM_ROLLS
    if stage == OPENING:
        for i in range(len(PAIRS)):
            ids[i] = PAIRS[i]
            ids[len(PAIRS) + i] = NUM_ROLLS + PAIRS[i]
            probabilities[i] = probabilities[len(PAIRS) + i] = 1.0 / NUM_OPENINGS
        return NUM_OPENINGS
    count = _setup_outcomes(stage)
    for i in range(count):
        ids[i] = i + 1
        probabilities[i] = 1.0 / count
    return count


def _setup_outcomes(stage: int) -> int:
    if stage == COUNTING:
        return CHECKERS
    return HOME_POINTS if START == BEAROFF else RACE_POINTS


def sample(state: Vector, u: float) -> int:
    """An outcome for a uniform number u in [0, 1)."""
    stage = state[SETUP]
    if stage == PLAYING:
        return ROLL_OF_36[int(u * FACES * FACES)]
    if stage == OPENING:
        number = int(u * NUM_OPENINGS)
        return PAIRS[number % len(PAIRS)] + NUM_ROLLS * (number // len(PAIRS))
    return 1 + int(u * _setup_outcomes(stage))


def apply_outcome(state: Vector, outcome: int) -> None:
    """Set the dice. The player with the higher die of the opening roll starts; random starts place a checker."""
    stage = state[SETUP]
    if stage == COUNTING:
        state[OFF + state[PLAYER]] = CHECKERS - outcome
        state[SETUP] = PLACING
        return
    if stage == PLACING:
        _place_checker(state, outcome)
        return
    if stage == OPENING:
        state[SETUP] = PLAYING
        state[PLAYER] = outcome // NUM_ROLLS
        outcome %= NUM_ROLLS
    state[HIGH] = ROLLS[outcome, 0]
    state[LOW] = ROLLS[outcome, 1]
    state[KIND] = DECISION


def _place_checker(state: Vector, place: int) -> None:
    """Place a checker of a random start. After the last of player 0 come those of player 1, then the first roll."""
    player = state[PLAYER]
    sign = 1 - 2 * player
    state[POINTS + (place - 1 if player == 0 else NUM_POINTS - place)] += sign
    placed = state[OFF + player]
    for i in range(NUM_POINTS):
        placed += max(0, sign * state[POINTS + i])
    if placed == CHECKERS:
        state[PLAYER] = 1 - player
        state[SETUP] = PLAYING if player == 1 else COUNTING if START == BEAROFF else PLACING


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """The points of the winner, and minus as many of the loser: 1, 2 (gammon) or 3 (backgammon); 0 before the end."""
    out[0] = out[1] = 0.0
    if state[KIND] != TERMINAL:
        return
    winner = state[PLAYER]
    loser = 1 - winner
    value = 1.0
    if state[OFF + loser] == 0:
        behind = state[BAR + loser]  # checkers on the bar and in the winner's home board
        for i in range(HOME_POINTS):
            behind += abs(state[POINTS + (i if winner == 0 else NUM_POINTS - 1 - i)])
        value = 3.0 if behind > 0 else 2.0
    out[winner] = value
    out[loser] = -value


# -- observations ------------------------------------------------------------------------------------------------------


def furthest(state: Vector, player: int) -> int:
    """The point of a player's checker that is furthest back; 25 on the bar, 0 without checkers."""
    if state[BAR + player] > 0:
        return NUM_POINTS + 1
    for place in range(NUM_POINTS, 0, -1):
        if is_at(state, player, place):
            return place
    return 0


def phase(state: Vector) -> int:
    """CONTACT while a checker of one player is still in front of one of the other, else RACE."""
    return CONTACT if furthest(state, 0) + furthest(state, 1) > NUM_POINTS else RACE


def decision_class(state: Vector) -> int:
    """CONTACT, RACE, or BEARING_OFF if there is no contact and all checkers are in the home boards."""
    mine, theirs = furthest(state, 0), furthest(state, 1)
    if mine + theirs > NUM_POINTS:
        return CONTACT
    return BEARING_OFF if max(mine, theirs) <= HOME_POINTS else RACE


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """The checkers of both players, each from its own view, then the dice; laid out as in docs/games/backgammon.md."""
    for i in range(2 * SEAT_SIZE + COMMON_SIZE):
        out[i] = 0.0
    pips = 0
    for seat in range(2):
        who = player if seat == 0 else 1 - player
        sign = 1 - 2 * who
        first = seat * SEAT_SIZE
        own_pips = 25 * state[BAR + who]
        for place in range(1, NUM_POINTS + 1):
            count = sign * state[POINTS + (place - 1 if who == 0 else NUM_POINTS - place)]
            if count > 0:
                own_pips += place * count
                at = first + POINT_SIZE * (place - 1)
                for i in range(min(count, POINT_SIZE - 1)):
                    out[at + i] = 1.0
                out[at + POINT_SIZE - 1] = max(0, count - POINT_SIZE + 1) / 4.0
        at = first + POINT_SIZE * NUM_POINTS
        bar, off = state[BAR + who], state[OFF + who]
        out[at] = 1.0 if bar > 0 else 0.0
        out[at + 1] = 1.0 if bar > 1 else 0.0
        out[at + 2] = max(0, bar - 2) / 4.0
        out[at + 3] = off / CHECKERS
        out[at + 4] = 1.0 if off > 0 else 0.0
        out[at + 5] = own_pips / 100.0
        back = furthest(state, who)
        out[at + 6] = back / 25.0
        out[at + 7] = 1.0 if back <= HOME_POINTS else 0.0
        pips += own_pips if seat == 0 else -own_pips
    at = 2 * SEAT_SIZE
    out[at] = pips / 50.0
    out[at + 1] = 1.0 if phase(state) == CONTACT else 0.0
    out[at + 2] = 1.0 if state[PLAYER] == player else 0.0
    out[at + 3] = 1.0 if state[KIND] == CHANCE else 0.0
    out[at + 4] = 1.0 if state[SETUP] != PLAYING else 0.0
    if state[HIGH] > 0:
        out[at + 4 + state[HIGH]] = 1.0
        out[at + 4 + FACES + state[LOW]] = 1.0
        out[at + 5 + 2 * FACES] = 1.0 if state[HIGH] == state[LOW] else 0.0
        out[at + 6 + 2 * FACES] = 1.0 if state[SECOND] == 1 else 0.0


# -- texts and positions -----------------------------------------------------------------------------------------------


def check(state: Vector) -> None:
    """Reject numbers that no play reaches."""
    check_board(state, CHECKERS, START)


def action_text(state: Vector, action: int) -> str:
    """The move in standard notation: ``8/5 6/5``, ``bar/22*``, ``13/7(2)``, ``6/off``; ``pass``."""
    return texts.action_text(state, action)


def parse_action(state: Vector, line: str) -> int:
    """Read a move in standard notation that is not exactly a name: ``6/5 8/5``."""
    return texts.parse_action(state, line)


def outcome_text(state: Vector, outcome: int) -> str:
    """The roll: ``6-4``. At the opening roll, the die of player 0 comes first."""
    return texts.outcome_text(state, outcome)


def text(state: Vector) -> str:
    """The position in one line, with a position id of GNU Backgammon."""
    return texts.text(state)


def parse(line: str) -> Vector:
    """Read what ``text`` writes."""
    return texts.parse(line, CHECKERS)


def render(state: Vector) -> str:
    """The board from the side of player 0, with the point numbers of the player to move."""
    return texts.render(state)


def from_position(
    points: Sequence[int],
    bar: Sequence[int] = (0, 0),
    off: Sequence[int] = (0, 0),
    dice: Sequence[int] | None = None,
    *,
    player: int = 0,
    game: Game | None = None,
) -> KernelState:
    """Return the state of a position, from the view of the player to move.

    Args:
        points: 24 numbers of checkers, own ace point first; own checkers are positive, the other's negative.
        bar: checkers on the bar, (own, other).
        off: checkers that were borne off, (own, other).
        dice: the rolled dice; None before the roll, and if the game is over.
        player: the player to move.
        game: the game of the state; default: backgammon or, with three checkers each, hypergammon.

    Returns:
        The state.

    Raises:
        PositionError: no play reaches the position.
    """
    from aleazero.games.registry import load_game

    vector = vector_of(points, bar, off, dice, player)
    if game is None:
        both = sum(abs(int(count)) for count in (*points, *bar, *off))
        game = load_game("backgammon", checkers=both // 2 if both // 2 in LAYOUTS and both % 2 == 0 else MOST_CHECKERS)
    return cast("KernelGame", game).state_from_vector(vector)


def to_position(state: KernelState, player: int) -> Position:
    """Return the points, the bar and the checkers off of a state.

    Args:
        state: a state of backgammon.
        player: the player whose view is taken.

    Returns:
        (points, bar, off): 24 numbers, own ace point first, own checkers positive; (own, other); (own, other).
    """
    if player not in (0, 1):
        raise PositionError(f"backgammon: got player {player!r}, expected 0 or 1")
    return position_of(state.vector, player)
