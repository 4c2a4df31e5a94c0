"""Short 2048: the rules of 2048, but the game is over after a few moves. The return is the score.

Small enough to be solved exactly, so that a search of 2048's own moves and tiles can be measured against the truth.
"""

import numpy as np

from aleazero import CHANCE, DECISION, TERMINAL, GameError, GameInfo, PositionError
from aleazero.games import twenty48 as whole

MOVES = 3  # the parameter `moves` changes it
MOST = 100  # moves of a game or a position

# The state vector is that of 2048 with the moves left behind it.
KIND, LEFT = whole.KIND, whole.STATE_SIZE

kind, to_play, legal, outcomes, sample, returns = (
    whole.kind, whole.to_play, whole.legal, whole.outcomes, whole.sample, whole.returns,
)  # fmt: skip
action_text, outcome_text, render = whole.action_text, whole.outcome_text, whole.render
slide, place = whole.apply, whole.apply_outcome


def describe(moves: int = 3) -> GameInfo:
    if not 1 <= moves <= MOST:
        raise GameError(f"short_2048: moves is {moves}, expected 1 to {MOST}")
    return GameInfo(
        name="short_2048",
        num_players=1,
        num_actions=4,
        max_outcomes=2 * whole.CELLS,
        utility=None,
        state_size=whole.STATE_SIZE + 1,
        state_dtype="int32",
        constants={"MOVES": moves},
    )


def init(state):
    state[KIND] = CHANCE
    state[LEFT] = MOVES


def apply(state, action):
    slide(state, action)
    state[LEFT] -= 1


def apply_outcome(state, outcome):
    place(state, outcome)
    if state[LEFT] == 0:
        state[KIND] = TERMINAL


def text(state):
    """That of 2048 and the moves left: ``2 . . 4/. . . ./8 . . ./. . . . score 12 moves 3``."""
    return f"{whole.text(state)} moves {state[LEFT]}"


def parse(line):
    board, _, moves = line.partition(" moves ")
    if not moves.strip().isdecimal():
        raise PositionError(f"short_2048: cannot read position {line!r}, expected '… moves 3' at its end")
    state = np.append(whole.parse(board), int(moves))
    if state[LEFT] == 0 and state[KIND] != CHANCE:
        state[KIND] = TERMINAL
    return state


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    if not 0 <= state[LEFT] <= MOST:  # a position may have more moves left than a game begins with
        raise PositionError(f"short_2048: got {state[LEFT]} moves left, expected 0 to {MOST}")
    board = state[:LEFT].copy()
    if state[LEFT] == 0:
        if board[KIND] == DECISION:
            raise PositionError("short_2048: got a decision with no moves left, expected the end")
        if board[KIND] == TERMINAL and not whole.is_stuck(board):
            board[KIND] = DECISION  # out of moves, where 2048 itself would go on
    whole.check(board)
