"""Bust: two players roll a die. A 1 loses the points of the turn; stop in time to keep them. TARGET points win.

A turn begins with a roll, and a roll can end it: a bust leads from the roll of one player to the roll of the other.
Such a game needs `turn`. Try `aleazero check examples/bust.py` and `aleazero train examples/bust.py --minutes 1`.
"""

from aleazero import CHANCE, DECISION, TERMINAL, Features, GameError, GameInfo, PositionError

TARGET = 30  # points that win; the parameter `target` changes it

# The state vector: the scores of both players, the player that rolls or decides, the kind of state, the points at risk.
SCORE, PLAYER, KIND, RISK = 0, 2, 3, 4
ROLL, STOP = 0, 1
BUST = 1  # the face that loses the turn


def describe(target: int = 30) -> GameInfo:
    if not 2 <= target <= 100:
        raise GameError(f"bust: target is {target}, expected 2 to 100")
    return GameInfo(
        name="bust",
        num_players=2,
        num_actions=2,
        max_outcomes=6,
        utility=(-1.0, 1.0),
        features=Features(schema="bust-scores-1", block=1, common=1),
        state_size=5,
        state_dtype="int16",
        constants={"TARGET": target},
    )


def init(state):
    state[KIND] = CHANCE


def kind(state):
    return state[KIND]


def to_play(state):
    """The player whose turn it is. At the first roll of a turn this is already the player that rolls."""
    return state[PLAYER]


def turn(state):
    """A new turn begins when the player changes, by a decision or by a bust."""
    return state[PLAYER]


def legal(state, out):
    """Points at risk that win must be kept, so that every turn ends."""
    if state[SCORE + state[PLAYER]] + state[RISK] >= TARGET:
        out[0] = STOP
        return 1
    out[0] = ROLL
    out[1] = STOP
    return 2


def apply(state, action):
    state[KIND] = CHANCE
    if action == STOP:
        mover = state[PLAYER]
        state[SCORE + mover] += state[RISK]
        state[RISK] = 0
        if state[SCORE + mover] >= TARGET:
            state[KIND] = TERMINAL
        else:
            state[PLAYER] = 1 - mover  # the other player rolls


def outcomes(state, ids, probabilities):
    for i in range(6):
        ids[i] = i + 1
        probabilities[i] = 1.0 / 6.0
    return 6


def apply_outcome(state, outcome):
    if outcome == BUST:
        state[RISK] = 0
        state[PLAYER] = 1 - state[PLAYER]  # still CHANCE: the other player rolls
    else:
        state[RISK] += outcome
        state[KIND] = DECISION


def returns(state, out):
    won = 1.0 if state[KIND] == TERMINAL else 0.0
    out[state[PLAYER]] = won
    out[1 - state[PLAYER]] = -won


def features(state, player, out):
    """Both scores, then the points at risk: positive in the turn of `player`, otherwise negative."""
    out[0] = state[SCORE + player] / TARGET
    out[1] = state[SCORE + 1 - player] / TARGET
    out[2] = state[RISK] / TARGET if state[PLAYER] == player else -state[RISK] / TARGET


def action_text(state, action):
    return ("roll", "stop")[action]


def outcome_text(state, outcome):
    return "bust" if outcome == BUST else str(outcome)


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    scores, over = [int(state[SCORE]), int(state[SCORE + 1])], state[KIND] == TERMINAL
    if state[PLAYER] not in (0, 1) or state[KIND] not in (DECISION, CHANCE, TERMINAL):
        raise PositionError(f"bust: got player and kind {state[PLAYER : KIND + 1].tolist()}, which no play reaches")
    reached = [score >= TARGET for score in scores]
    if min(scores) < 0 or max(scores) > TARGET + 5 or reached != [over and state[PLAYER] == p for p in (0, 1)]:
        raise PositionError(f"bust: got the scores {scores}, expected 0 to {TARGET - 1}, and {TARGET} or more if over")
    least, missing = 2 if state[KIND] == DECISION else 0, TARGET - scores[state[PLAYER]]
    most = 0 if over else missing + 5 if state[KIND] == DECISION else missing - 1
    if not least <= state[RISK] <= most:
        raise PositionError(f"bust: got {state[RISK]} points at risk, expected {least} to {most}")
