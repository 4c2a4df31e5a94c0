"""Race: two runners on a track. Walk 1 to 3 squares, or dash up to 6; a runner who dashes 1 falls back 3 squares.

A game is a file like this one: plain functions over a vector of integers. Try `aleazero check examples/race.py` and
`aleazero analyse examples/race.py --sims 2000`.
"""

from aleazero import CHANCE, DECISION, TERMINAL, GameError, GameInfo, PositionError

LENGTH = 12  # squares to the finish; the parameter `length` changes it

# The state vector: the squares of the two runners, the player to move, the kind of state, and the chosen pace.
SQUARE, PLAYER, KIND, PACE = 0, 2, 3, 4
WALK, DASH = 0, 1
FALL = 3


def describe(length: int = 12) -> GameInfo:
    """Name and sizes of the game."""
    if not 1 <= length <= 100:
        raise GameError(f"race: length is {length}, expected 1 to 100")
    return GameInfo(
        name="race",
        num_players=2,
        num_actions=2,
        max_outcomes=6,
        utility=(-1.0, 1.0),
        state_size=5,
        state_dtype="int8",
        constants={"LENGTH": length},
    )


def kind(state):
    return state[KIND]


def to_play(state):
    return state[PLAYER]


def legal(state, out):
    out[0] = WALK
    out[1] = DASH
    return 2


def apply(state, action):
    """Choosing a pace is deterministic. It leads to a chance node, where the die is rolled."""
    state[PACE] = action
    state[KIND] = CHANCE


def outcomes(state, ids, probabilities):
    faces = 6 if state[PACE] == DASH else 3
    for i in range(faces):
        ids[i] = i + 1
        probabilities[i] = 1.0 / faces
    return faces


def apply_outcome(state, outcome):
    runner = SQUARE + state[PLAYER]
    if state[PACE] == DASH and outcome == 1:
        state[runner] = max(0, state[runner] - FALL)
    else:
        state[runner] = min(LENGTH, state[runner] + outcome)
    state[PACE] = WALK
    state[KIND] = TERMINAL if state[runner] == LENGTH else DECISION
    if state[KIND] == DECISION:
        state[PLAYER] = 1 - state[PLAYER]


def returns(state, out):
    winner = 1.0 if state[KIND] == TERMINAL else 0.0
    out[state[PLAYER]] = winner
    out[1 - state[PLAYER]] = -winner


def action_text(state, action):
    return ("walk", "dash")[action]


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    squares, over = [int(state[SQUARE]), int(state[SQUARE + 1])], state[KIND] == TERMINAL
    paces = (WALK, DASH) if state[KIND] == CHANCE else (WALK,)
    if state[PLAYER] not in (0, 1) or state[KIND] not in (DECISION, CHANCE, TERMINAL) or state[PACE] not in paces:
        raise PositionError(f"race: got player, kind and pace {state[PLAYER:].tolist()}, which no play reaches")
    arrived = [square == LENGTH for square in squares]
    if min(squares) < 0 or max(squares) > LENGTH or arrived != [over and state[PLAYER] == p for p in (0, 1)]:
        raise PositionError(f"race: got the squares {squares}, expected 0 to {LENGTH - 1}, and {LENGTH} if over")
