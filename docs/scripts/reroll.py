"""Reroll: one player, one die, three rolls. Keep what you see, or roll again; the last roll stands."""

from aleazero import CHANCE, DECISION, TERMINAL, GameInfo

ROLLS = 3
FACE, LEFT, KIND = 0, 1, 2  # the state vector
ROLL, KEEP = 0, 1


def describe(rolls: int = 3) -> GameInfo:
    return GameInfo(
        name="reroll", num_players=1, num_actions=2, max_outcomes=6, utility=(0.0, 6.0), state_size=3,
        constants={"ROLLS": rolls},
    )  # fmt: skip


def init(state):
    state[LEFT] = ROLLS


def kind(state):
    return state[KIND]


def to_play(state):
    return 0


def legal(state, out):
    out[0] = ROLL
    out[1] = KEEP
    return 1 if state[FACE] == 0 else 2


def apply(state, action):
    state[KIND] = CHANCE if action == ROLL else TERMINAL


def outcomes(state, ids, probabilities):
    for i in range(6):
        ids[i] = i + 1
        probabilities[i] = 1 / 6
    return 6


def apply_outcome(state, outcome):
    state[FACE] = outcome
    state[LEFT] -= 1
    state[KIND] = DECISION if state[LEFT] > 0 else TERMINAL


def returns(state, out):
    out[0] = state[FACE]


def action_text(state, action):
    return ("roll", "keep")[action]
