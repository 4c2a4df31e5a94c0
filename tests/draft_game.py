"""Drafts, a test game: players alternately take 1 to 3 tiles from a pile; chance refills it in two steps.

A draft is a turn. The player that takes the last tile loses a point and starts the next round, so a player can move
twice in a row across a refill. Tiles score 1, 2 or 4 points.
"""

from aleazero import CHANCE, DECISION, TERMINAL, GameInfo

ROUNDS = 3
KIND, PLAYER, PILE, SCORE, ROUND, STEP, TURNS = 0, 1, 2, 3, 5, 6, 7


def describe(rounds: int = 3) -> GameInfo:
    return GameInfo(
        name="drafts",
        num_players=2,
        num_actions=3,
        max_outcomes=3,
        utility=(-1.0, 1.0),
        state_size=8,
        state_dtype="int16",
        constants={"ROUNDS": rounds},
    )


def init(state):
    state[KIND] = CHANCE


def kind(state):
    return state[KIND]


def to_play(state):
    return state[PLAYER]


def turn(state):
    return state[TURNS]


def legal(state, out):
    count = min(3, state[PILE])
    for action in range(count):
        out[action] = action
    return count


def apply(state, action):
    state[PILE] -= action + 1
    state[SCORE + state[PLAYER]] += 1 << action
    state[TURNS] += 1
    if state[PILE] > 0:
        state[PLAYER] = 1 - state[PLAYER]
        return
    state[SCORE + state[PLAYER]] -= 1
    state[ROUND] += 1
    state[KIND] = TERMINAL if state[ROUND] == ROUNDS else CHANCE


def outcomes(state, ids, probabilities):
    for i in range(3):
        ids[i] = i
        probabilities[i] = 0.5 if i == 1 else 0.25
    return 3


def apply_outcome(state, outcome):
    state[PILE] += outcome + 1
    state[STEP] = 1 - state[STEP]
    if state[STEP] == 0:
        state[KIND] = DECISION


def returns(state, out):
    lead = state[SCORE] - state[SCORE + 1]
    out[0] = 0.0
    if state[KIND] == TERMINAL and lead != 0:
        out[0] = 1.0 if lead > 0 else -1.0
    out[1] = -out[0]
