"""A fixed evaluation of boards for the player ``heuristic``, in pips; docs/games/backgammon.md has the formula.

The weights never change, so that results against this player can be compared over time. A changed formula would get
another name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from aleazero.games.backgammon.board import BAR, HOME_POINTS, NUM_ACTIONS, NUM_POINTS, OFF, POINTS, Vector
from aleazero.games.base import DECISION
from aleazero.games.kernel import KernelGame, Kernels
from aleazero.native.compile import loop_of

POINT = np.array(
    [0, 0, 2, 5, 7, 8, 7, 6, 4, 2, 2, 1, 1, 2, 1, 1, 2, 2, 4, 1, 6, 5, 3, 1, 1],
    np.int64,
)
"""(25,) value of at least two own checkers on each point 1 to 24, while there is contact."""
SHOTS = np.array([0, 11, 12, 14, 15, 15, 17, 6, 6, 5, 3, 2, 3], np.int64)
"""(13,) number of the 36 rolls that hit a blot at each distance, if no point between is blocked."""
ROLLS_OF_TWO_DICE = 36
BLOT = 6
"""Loss in addition to the pips of a checker that is hit."""
STACK, HIGH_STACK = 1, 3
"""Loss for each checker on a point above the first three."""
ENTRY = 3
"""Value of each own point in the home board for each checker of the other player on the bar, and the reverse."""
BORNE_OFF = 4
"""Value of each checker off, once there is no contact."""


def evaluate(state: Vector, player: int) -> float:
    """The value in pips of a board to a player whose turn has just ended; higher is better."""
    own_pips, own_back, own_home = _count(state, player)
    other_pips, other_back, other_home = _count(state, 1 - player)
    score = float(other_pips - own_pips)
    if own_back + other_back <= NUM_POINTS:
        return score + BORNE_OFF * state[OFF + player]
    for place in range(1, NUM_POINTS + 1):
        checkers = checkers_at(state, player, place)
        if checkers >= 2:
            score += POINT[place] - STACK * max(0, checkers - HIGH_STACK)
        elif checkers == 1:
            score -= _shots(state, player, place) * (NUM_POINTS + 1 - place + BLOT) / ROLLS_OF_TWO_DICE
    return score + ENTRY * (own_home * state[BAR + 1 - player] - other_home * state[BAR + player])


def checkers_at(state: Vector, player: int, place: int) -> int:
    """The number of checkers of a player on a point of this player; negative for those of the other player."""
    return state[POINTS + place - 1] if player == 0 else -state[POINTS + NUM_POINTS - place]


def _count(state: Vector, player: int) -> tuple[int, int, int]:
    """Pips of a player, the point of the checker that is furthest back, and the number of own home points."""
    pips, back, home = 0, 0, 0
    for place in range(1, NUM_POINTS + 1):
        checkers = checkers_at(state, player, place)
        if checkers > 0:
            pips += place * checkers
            back = place
            home += 1 if checkers > 1 and place <= HOME_POINTS else 0
    if state[BAR + player] > 0:
        pips += (NUM_POINTS + 1) * state[BAR + player]
        back = NUM_POINTS + 1
    return pips, back, home


def _shots(state: Vector, player: int, place: int) -> int:
    """The sum of the rolls that hit a blot from each place with checkers of the other player, at most 36."""
    shots = 0
    for distance in range(1, min(len(SHOTS) - 1, place) + 1):
        source = place - distance
        there = state[BAR + 1 - player] if source == 0 else -checkers_at(state, player, source)
        if there > 0:
            shots += SHOTS[distance]
    return min(shots, ROLLS_OF_TWO_DICE)


class HeuristicScores:
    """The values of the actions of a position: that of the best board at the end of the turn."""

    def __init__(self, game: KernelGame) -> None:
        self._list = loop_of(game, "heuristic", make_list_scores)
        self._actions = np.zeros(NUM_ACTIONS, np.int64)
        self._seconds = np.zeros(NUM_ACTIONS, np.int64)
        self._scores = np.zeros(NUM_ACTIONS)
        self._boards = np.zeros((2, game.info.state_size), np.int64)

    def by_action(self, state: Vector) -> dict[int, float]:
        """Return the value of each legal action of a decision."""
        count = self._list(state, self._actions, self._scores, self._seconds, self._boards)
        return dict(zip(self._actions[:count].tolist(), self._scores[:count].tolist(), strict=True))


def make_list_scores(kernels: Kernels) -> Any:
    """Make ``list_scores(state, actions, scores, seconds, boards)`` of a game, which returns the number of actions."""
    legal, apply, kind_of, player_of = kernels.legal, kernels.apply, kernels.kind, kernels.to_play

    def list_scores(state: Any, actions: Any, scores: Any, seconds: Any, boards: Any) -> int:
        player = player_of(state)
        count = legal(state, actions)
        for i in range(count):
            boards[0, :] = state
            apply(boards[0], actions[i])
            if kind_of(boards[0]) != DECISION:
                scores[i] = evaluate(boards[0], player)
                continue
            scores[i] = -np.inf  # the first action of a double
            for k in range(legal(boards[0], seconds)):
                boards[1, :] = boards[0]
                apply(boards[1], seconds[k])
                scores[i] = max(scores[i], evaluate(boards[1], player))
        return count

    return list_scores
