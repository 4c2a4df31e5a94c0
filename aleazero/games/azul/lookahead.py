"""Alpha-beta search within a round on current points; docs/games/azul.md has the definition.

There is no chance inside a round, so the search is exact up to its depth, except for drafts beyond the best ``width``
of each node. The end of a round is a leaf. With more than two players it is a *paranoid* search: all other players
minimize the lead of the player at the root.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from aleazero.games.azul.board import BOARD, BOARDS, KIND, PLAYER, SCORE, Vector, num_boards
from aleazero.games.azul.policy import rank
from aleazero.games.azul.tiling import tile
from aleazero.games.base import DECISION, TERMINAL
from aleazero.games.kernel import LIST_SLACK, KernelGame, Kernels
from aleazero.native.compile import loop_of

FAR = 1_000_000
"""More than every possible lead."""


def current_points(state: Vector, player: int, negative: int) -> int:
    """Return the score that a player would have if the round ended now; bonuses count only if the game is over."""
    board = BOARDS + BOARD * player
    if state[KIND] == TERMINAL:
        return state[board + SCORE]
    return tile(state, board, negative)[0]


def lead(state: Vector, player: int, negative: int) -> int:
    """Return the current points of a player minus the highest ones of the others."""
    highest = -FAR
    for other in range(num_boards(state)):
        if other != player:
            highest = max(highest, current_points(state, other, negative))
    return current_points(state, player, negative) - highest


class Levels(NamedTuple):
    """The nodes between the root and the one that is expanded, by depth d."""

    states: Any  # (d, state size)
    moves: Any  # (d, actions) the drafts to try, best first
    ranks: Any  # (d, actions)
    counts: Any  # (d,) number of drafts to try
    tried: Any  # (d,)
    best: Any  # (d,) the best lead so far, for the player to move there
    alpha: Any  # (d,)
    beta: Any  # (d,)


class Lookahead:
    """Selects drafts of a game by alpha-beta search.

    Args:
        game: the game.
        depth: number of drafts to look ahead.
        width: most drafts per node.
        root: most drafts at the root.
    """

    def __init__(self, game: KernelGame, depth: int, width: int, root: int) -> None:
        self._run = loop_of(game, "lookahead", make_lookahead)
        self._numbers = depth, width, root, int(game.params["negative_scores"])
        size = game.num_actions + LIST_SLACK
        numbers = [np.zeros(depth + 1, np.int64) for _ in range(5)]
        lists = [np.zeros((depth + 1, size), np.int64) for _ in range(2)]
        self._levels = Levels(np.zeros((depth + 1, game.info.state_size), np.int64), *lists, *numbers)
        self._listed = np.zeros(size, np.int64)

    def best(self, state: Vector, actions: Sequence[int]) -> int:
        """Return the best of some legal actions: the highest lead, among equals the first in the greedy order."""
        self._listed[: len(actions)] = actions
        return self._run(state, len(actions), self._listed, *self._numbers, self._levels)


def make_lookahead(kernels: Kernels) -> Callable[..., int]:
    """Make ``lookahead(state, count, listed, depth, width, root, negative, levels) -> action`` of a game."""
    legal, apply = kernels.legal, kernels.apply

    def lookahead(state: Any, count: Any, listed: Any, depth: Any, width: Any, root: Any, negative: Any,
                  levels: Levels) -> Any:  # fmt: skip
        states, best, alpha, beta, tried = levels.states, levels.best, levels.alpha, levels.beta, levels.tried
        player = state[PLAYER]
        states[0, :] = state
        alpha[0], beta[0] = -FAR, FAR
        open_node(levels, 0, listed, count, root, player)
        found = np.int64(levels.moves[0, 0])
        d = 0
        while True:
            if tried[d] < levels.counts[d] and alpha[d] < beta[d]:
                states[d + 1, :] = states[d]
                apply(states[d + 1], levels.moves[d, tried[d]])
                tried[d] += 1
                if d + 1 < depth and states[d + 1, KIND] == DECISION:
                    d += 1
                    alpha[d], beta[d] = alpha[d - 1], beta[d - 1]
                    open_node(levels, d, listed, legal(states[d], listed), width, player)
                    continue
                value = np.int64(lead(states[d + 1], player, negative))
            elif d == 0:
                return found
            else:
                value = best[d]
                d -= 1
            if states[d, PLAYER] == player:
                if value > best[d]:
                    best[d] = value
                    if d == 0:
                        found = np.int64(levels.moves[0, tried[0] - 1])
                alpha[d] = max(alpha[d], value)
            else:
                best[d] = min(best[d], value)
                beta[d] = min(beta[d], value)

    return lookahead


def open_node(levels: Levels, d: int, listed: Vector, count: int, width: int, player: int) -> None:
    """Start the node at depth d with the first ``width`` of the listed drafts in the greedy order."""
    state, moves, ranks = levels.states[d], levels.moves[d], levels.ranks[d]
    for i in range(count):  # insertion sort; equal ranks keep the order of their ids
        value = rank(state, listed[i])
        j = min(i, width)
        if j == width and value <= ranks[width - 1]:
            continue
        if j == width:
            j -= 1
        while j > 0 and ranks[j - 1] < value:
            ranks[j] = ranks[j - 1]
            moves[j] = moves[j - 1]
            j -= 1
        ranks[j] = value
        moves[j] = listed[i]
    levels.counts[d] = min(count, width)
    levels.tried[d] = 0
    levels.best[d] = -FAR if state[PLAYER] == player else FAR
