"""Harvest, a test game: two players take turns, and each maximizes its own score.

SAFE scores 1. GAMBLE scores 0 or, with probability 1/2, 3 points for the first player and 5 for the second. So a turn
is worth 1.5 points to the first player and 2.5 to the second in every state.
"""

from aleazero import CHANCE, DECISION, TERMINAL, GameInfo

TURNS = 4
SCORE, LEFT, PLAYER, KIND = 0, 2, 4, 5
SAFE, GAMBLE = 0, 1


def describe(turns: int = 4) -> GameInfo:
    return GameInfo(
        name="harvest",
        num_players=2,
        num_actions=2,
        max_outcomes=2,
        utility=(0.0, 5.0 * turns),
        state_size=6,
        state_dtype="int16",
        constants={"TURNS": turns},
    )


def init(state):
    state[LEFT] = TURNS
    state[LEFT + 1] = TURNS


def kind(state):
    return state[KIND]


def to_play(state):
    return state[PLAYER]


def legal(state, out):
    out[0] = SAFE
    out[1] = GAMBLE
    return 2


def reap(state, gained):
    player = state[PLAYER]
    state[SCORE + player] += gained
    state[LEFT + player] -= 1
    state[PLAYER] = 1 - player
    state[KIND] = TERMINAL if state[LEFT + 1] == 0 else DECISION


def apply(state, action):
    if action == SAFE:
        reap(state, 1)
    else:
        state[KIND] = CHANCE


def outcomes(state, ids, probabilities):
    for i in range(2):
        ids[i] = i
        probabilities[i] = 0.5
    return 2


def apply_outcome(state, outcome):
    reap(state, outcome * (3 + 2 * state[PLAYER]))


def returns(state, out):
    out[0] = state[SCORE]
    out[1] = state[SCORE + 1]


def observe(state, player, out):
    """Turns left by seat, then the player, because the players score differently."""
    out[0] = state[LEFT + player] / TURNS
    out[1] = state[LEFT + 1 - player] / TURNS
    out[2] = player
    out[3] = 1.0 if state[PLAYER] == player else 0.0
    out[4] = out[0] * player
    out[5] = out[1] * player
