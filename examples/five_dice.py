"""Five dice: roll five dice, then stand or reroll some of them, at most twice. A one-player game.

The score is the highest of: the sum of the dice of one face, 25 for a straight, 50 for five of a kind. An outcome is
the number of dice of each face, so five dice have C(10, 5) = 252 outcomes, not 6^5.
"""

import re
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from aleazero import CHANCE, DECISION, TERMINAL, GameInfo, PositionError

DICE, FACES, REROLLS = 5, 6, 2
STRAIGHT, FIVE_OF_A_KIND = 25, 50

# The state vector: how many dice show each face, the rerolls left, and the kind of state.
LEFT, KIND = 6, 7
STAND, REROLL_REST, REROLL_ALL = 0, 1, 2

# Every roll of one to five dice as counts by face, and its probability. The outcome id is the number of the row.
ROLLS = np.array([
    [rolled.count(face) for face in range(FACES)]
    for size in range(1, DICE + 1)
    for rolled in combinations_with_replacement(range(FACES), size)
])  # fmt: skip
FIRST = np.searchsorted(ROLLS.sum(axis=1), np.arange(DICE + 2))  # rolls of n dice are FIRST[n] to FIRST[n + 1]
CHANCES = np.array([
    factorial(sum(row)) / prod(factorial(count) for count in row) / FACES ** sum(row) for row in ROLLS.tolist()
])  # fmt: skip


def describe() -> GameInfo:
    return GameInfo(
        name="five_dice",
        num_players=1,
        num_actions=3,
        max_outcomes=252,
        utility=(0.0, float(FIVE_OF_A_KIND)),
        state_size=8,
        state_dtype="int8",
    )


def init(state):
    state[LEFT] = REROLLS
    state[KIND] = CHANCE


def kind(state):
    return state[KIND]


def to_play(state):
    return 0


def legal(state, out):
    """Stand, reroll all dice except those of the most common face, or reroll all dice."""
    out[0] = STAND
    out[1] = REROLL_REST
    out[2] = REROLL_ALL
    if state[LEFT] == 0 or state[_commonest(state)] == DICE:
        return 1
    return 3


def _commonest(state):
    """The most common face; the highest one among equals."""
    found = 0
    for face in range(FACES):
        if state[face] >= state[found]:
            found = face
    return found


def apply(state, action):
    if action == STAND:
        state[KIND] = TERMINAL
        return
    kept = _commonest(state) if action == REROLL_REST else -1
    for face in range(FACES):
        if face != kept:
            state[face] = 0
    state[LEFT] -= 1
    state[KIND] = CHANCE


def _missing(state):
    """Number of dice to roll."""
    missing = DICE
    for face in range(FACES):
        missing -= state[face]
    return missing


def outcomes(state, ids, probabilities):
    missing = _missing(state)
    first = FIRST[missing]
    count = FIRST[missing + 1] - first
    for i in range(count):
        ids[i] = first + i
        probabilities[i] = CHANCES[first + i]
    return count


def sample(state, u):
    missing = _missing(state)
    last = FIRST[missing + 1] - 1
    below = 0.0
    for roll in range(FIRST[missing], last):
        below += CHANCES[roll]
        if u < below:
            return roll
    return last


def apply_outcome(state, outcome):
    for face in range(FACES):
        state[face] += ROLLS[outcome, face]
    state[KIND] = DECISION


def returns(state, out):
    """The score of the dice."""
    best = 0
    faces = 0
    for face in range(FACES):
        best = max(best, state[face] * (face + 1))
        faces += state[face] > 0
        if state[face] == DICE:
            best = FIVE_OF_A_KIND
    if faces == DICE and (state[0] == 0 or state[FACES - 1] == 0):
        best = max(best, STRAIGHT)
    out[0] = best


def action_text(state, action):
    return ("stand", "reroll-rest", "reroll-all")[action]


def text(state):
    """``2 2 3 5 6 rerolls 2``, followed by ``rolling`` at a chance node and by ``over`` at the end."""
    dice = " ".join(str(face + 1) for face in range(FACES) for _ in range(state[face]))
    line = f"{dice or '-'} rerolls {state[LEFT]}"
    return line + {CHANCE: " rolling", TERMINAL: " over"}.get(int(state[KIND]), "")


def parse(line):
    """Read what ``text`` writes."""
    match = re.fullmatch(r"((?:[1-6] )+|- )rerolls ([0-2])( rolling| over)?", line)
    dice = match[1].replace("-", "").split() if match else []
    kind_of = {" rolling": CHANCE, " over": TERMINAL}.get(match[3], DECISION) if match else DECISION
    if match is None or len(dice) > DICE or (len(dice) == DICE) == (kind_of == CHANCE):
        raise PositionError(f"five_dice: cannot read position {line!r}, expected e.g. '2 2 3 5 6 rerolls 2'")
    return np.array([dice.count(str(face + 1)) for face in range(FACES)] + [int(match[2]), kind_of])


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    counts, left, kind_of = state[:FACES].tolist(), int(state[LEFT]), int(state[KIND])
    dice_fit = sum(counts) < DICE if kind_of == CHANCE else sum(counts) == DICE
    if min(counts) < 0 or not dice_fit or not 0 <= left <= REROLLS or kind_of not in (DECISION, CHANCE, TERMINAL):
        raise PositionError(
            f"five_dice: got dice by face {counts}, {left} rerolls and kind {kind_of}, expected {DICE} dice, or fewer "
            f"before a roll, and 0 to {REROLLS} rerolls"
        )
