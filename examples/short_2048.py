"""Short 2048: the rules of 2048, but the game ends after a few moves. The return is the score.

The game is small enough to be solved exactly, so that searches can be compared with exact values.
"""

import numpy as np

from aleazero import CHANCE, DECISION, TERMINAL, GameError, GameInfo, PositionError
from aleazero.games import twenty48

MOVES = 3  # the parameter `moves` changes it
MOST = 100  # maximum number of moves

# The state vector is that of 2048, followed by the number of moves left.
KIND, LEFT = twenty48.KIND, twenty48.STATE_SIZE

kind, to_play, legal, outcomes, sample, returns = (
    twenty48.kind, twenty48.to_play, twenty48.legal, twenty48.outcomes, twenty48.sample, twenty48.returns,
)  # fmt: skip
action_text, outcome_text, render = twenty48.action_text, twenty48.outcome_text, twenty48.render
slide, place = twenty48.apply, twenty48.apply_outcome


def describe(moves: int = 3) -> GameInfo:
    if not 1 <= moves <= MOST:
        raise GameError(f"short_2048: moves is {moves}, expected 1 to {MOST}")
    return GameInfo(
        name="short_2048",
        num_players=1,
        num_actions=4,
        max_outcomes=2 * twenty48.CELLS,
        utility=None,
        state_size=twenty48.STATE_SIZE + 1,
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
    """The text of 2048 and the moves left: ``2 . . 4/. . . ./8 . . ./. . . . score 12 moves 3``."""
    return f"{twenty48.text(state)} moves {state[LEFT]}"


def parse(line):
    board, _, moves = line.partition(" moves ")
    if not moves.strip().isdecimal():
        raise PositionError(f"short_2048: cannot read position {line!r}, expected '… moves 3' at its end")
    state = np.append(twenty48.parse(board), int(moves))
    if state[LEFT] == 0 and state[KIND] != CHANCE:
        state[KIND] = TERMINAL
    return state


def check(state):
    """Reject numbers that no play reaches. It is called for every position that is read."""
    if not 0 <= state[LEFT] <= MOST:  # a position may have more moves left than the start of a game
        raise PositionError(f"short_2048: got {state[LEFT]} moves left, expected 0 to {MOST}")
    board = state[:LEFT].copy()
    if state[LEFT] == 0:
        if board[KIND] == DECISION:
            raise PositionError("short_2048: got a decision with no moves left, expected the end")
        if board[KIND] == TERMINAL and not twenty48.is_stuck(board):
            board[KIND] = DECISION  # no moves left, although 2048 would continue
    twenty48.check(board)
