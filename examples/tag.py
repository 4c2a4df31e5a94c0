"""Tag: two runners on one path, from its two ends. Who lands on the other sends them back; who is across first wins.

A win counts 2 points where the loser is not past the middle, and 3 where they stand at their start: `levels=3`. As long
as the runners have not met they can tag each other, afterwards they only run: two `phases`. Try
`aleazero train examples/tag.py --minutes 1`.
"""

from aleazero import CHANCE, DECISION, TERMINAL, Features, GameError, GameInfo, PositionError

LENGTH = 12  # squares from end to end; the parameter `length` changes it

# The state vector: how far each runner is, whose turn it is, the kind of state, and how they run.
SQUARE, PLAYER, KIND, PACE = 0, 2, 3, 4
WALK, DASH = 0, 1
FALL = 3
CONTACT, RACE = 0, 1


def describe(length: int = 12) -> GameInfo:
    if not 2 <= length <= 100:
        raise GameError(f"tag: length is {length}, expected 2 to 100")
    return GameInfo(
        name="tag",
        num_players=2,
        num_actions=2,
        max_outcomes=6,
        utility=(-3.0, 3.0),
        levels=3,
        phases=("contact", "race"),
        features=Features(schema="tag-squares-1", block=length + 1, common=2),
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
    state[PACE] = action
    state[KIND] = CHANCE


def outcomes(state, ids, probabilities):
    faces = 6 if state[PACE] == DASH else 3
    for i in range(faces):
        ids[i] = i + 1
        probabilities[i] = 1.0 / faces
    return faces


def apply_outcome(state, outcome):
    runner, other = SQUARE + state[PLAYER], SQUARE + 1 - state[PLAYER]
    if state[PACE] == DASH and outcome == 1:
        state[runner] = max(0, state[runner] - FALL)
    else:
        state[runner] = min(LENGTH, state[runner] + outcome)
    if state[runner] < LENGTH and state[runner] + state[other] == LENGTH:
        state[other] = 0  # tagged
    state[PACE] = WALK
    state[KIND] = TERMINAL if state[runner] == LENGTH else DECISION
    if state[KIND] == DECISION:
        state[PLAYER] = 1 - state[PLAYER]


def returns(state, out):
    """Whole points, which one wins and the other loses."""
    points = 0.0
    if state[KIND] == TERMINAL:
        behind = state[SQUARE + 1 - state[PLAYER]]
        points = 3.0 if behind == 0 else 2.0 if 2 * behind <= LENGTH else 1.0
    out[state[PLAYER]] = points
    out[1 - state[PLAYER]] = -points


def phase(state):
    """Whether the runners can still meet."""
    return CONTACT if state[SQUARE] + state[SQUARE + 1] < LENGTH else RACE


def features(state, player, out):
    """A place for each square of each runner; then how a roll that is pending is run."""
    for i in range(len(out)):
        out[i] = 0.0
    out[state[SQUARE + player]] = 1.0
    out[LENGTH + 1 + state[SQUARE + 1 - player]] = 1.0
    if state[KIND] == CHANCE:
        out[2 * (LENGTH + 1) + state[PACE]] = 1.0


def action_text(state, action):
    return ("walk", "dash")[action]


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    squares, over = [int(state[SQUARE]), int(state[SQUARE + 1])], state[KIND] == TERMINAL
    paces = (WALK, DASH) if state[KIND] == CHANCE else (WALK,)
    if state[PLAYER] not in (0, 1) or state[KIND] not in (DECISION, CHANCE, TERMINAL) or state[PACE] not in paces:
        raise PositionError(f"tag: got player, kind and pace {state[PLAYER:].tolist()}, which cannot happen")
    arrived = [square == LENGTH for square in squares]
    if min(squares) < 0 or max(squares) > LENGTH or arrived != [over and state[PLAYER] == p for p in (0, 1)]:
        raise PositionError(f"tag: got the squares {squares}, expected 0 to {LENGTH - 1}, and {LENGTH} if over")
