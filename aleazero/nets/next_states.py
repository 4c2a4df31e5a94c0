"""Decisions after which the turn is over: one compiled loop lists the next states of many decisions.

Plans of such decisions have a graph of one level, and making a graph per decision would take longer than the network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.kernel import LIST_SLACK, KernelGame, Kernels
from aleazero.native.compile import borrow, cached_njit, kernel_dtype, loop_of
from aleazero.search.plan.horizon import CHANCE_RUNS, DECISIONS, MOVER, TURN, horizon_at
from aleazero.search.plan.loop import one_turn

Ints = NDArray[np.int64]
ROOM: Final = 1024
"""Next states that are listed together. Their inputs stay in the processor cache."""


class NextStates(NamedTuple):
    """The next states of some decisions, one decision after the other."""

    rows: Ints  # (decisions,) rows of the decisions
    states: Ints  # (n, state size)
    actions: Ints  # (n,) the actions that lead to them
    starts: Ints  # (decisions + 1,) first state of each decision
    movers: Ints  # (decisions,) player to move
    viewers: Ints  # (decisions,)


class NextStateLists:
    """Lists the next states of decisions of one game, if all of them are past the horizon of a plan.

    Args:
        game: the game.
        plies: plies of the plans; None for complete turns.
    """

    def __init__(self, game: KernelGame, plies: int | None) -> None:
        info = game.info
        horizon = horizon_at(game.new_initial_state(), "turn", plies)
        self._rule = horizon.counts if horizon.limit == 1 or horizon.counts == MOVER else -1
        self._loop = loop_of(game, "next_states", make_next_states)
        self._sizes = info.state_size, info.num_actions
        self._walk = np.dtype(kernel_dtype(info.state_dtype))

    def parts(self, states: Ints) -> list[NextStates]:
        """Return the next states of all decisions that qualify, in parts of about ``ROOM`` states.

        Args:
            states: (rows, state size) vectors of any kind of state.
        """
        if self._rule < 0:
            return []
        found = []
        states = np.ascontiguousarray(states, np.int64)
        size, actions = self._sizes
        walk, scratch = np.zeros(size, self._walk), np.zeros(actions + LIST_SLACK, np.int64)
        row = 0
        while row < len(states):
            left = len(states) - row
            room = min(left * actions, ROOM + actions)
            part = NextStates(
                np.empty(left, np.int64),
                np.empty((room, size), np.int64),
                np.empty(room, np.int64),
                np.zeros(left + 1, np.int64),
                np.empty(left, np.int64),
                np.empty(left, np.int64),
            )
            at = np.array([row, 0], np.int64)
            self._loop(states, part, walk, scratch, at, self._rule)
            row, count = at.tolist()
            if count:
                listed = part.starts[count]
                kept = part.states[:listed], part.actions[:listed], part.starts[: count + 1]
                found.append(NextStates(part.rows[:count], *kept, part.movers[:count], part.viewers[:count]))
        return found


def make_next_states(kernels: Kernels) -> Callable[..., int]:
    """Make ``list_next_states(states, part, walk, scratch, at, rule)`` of a game.

    From row ``at[0]`` on it lists decisions until the part is full or all rows are done, and returns 0. ``at`` becomes
    the row to continue with and the number of decisions in the part.
    """
    kind_of, to_play, legal, apply = kernels.kind, kernels.to_play, kernels.legal, kernels.apply
    viewer_of, turn_of = kernels.viewer, kernels.turn or one_turn

    def is_past(state: Any, kind: Any, turn: Any, mover: Any, rule: Any) -> bool:
        """Return whether a state after an action is past the horizon, as in ``search.plan.loop``."""
        if kind == TERMINAL or rule == DECISIONS:
            return True
        if rule == MOVER:
            return bool(kind == DECISION and to_play(state) != mover)
        if rule == CHANCE_RUNS and kind == CHANCE:
            return True
        return bool(rule in (CHANCE_RUNS, TURN) and turn_of(state) != turn)

    def list_next_states(states_: Any, part_: NextStates, walk_: Any, scratch_: Any, at: Any, rule: int) -> int:
        states, part, walk, scratch = borrow(states_), borrow(part_), borrow(walk_), borrow(scratch_)
        most, size = len(scratch) - LIST_SLACK, states.shape[1]
        row, count, end = at[0], at[1], np.int64(0)
        while row < len(states) and end + most <= len(part.actions):
            state = states[row]
            row += 1
            if kind_of(state) != DECISION:
                continue
            choices = np.int64(legal(state, scratch))
            if choices < 1 or choices > most:
                continue  # a plan raises the error
            mover, turn = np.int64(to_play(state)), np.int64(turn_of(state))
            past = True
            for i in range(choices):
                if scratch[i] < 0 or scratch[i] >= most:
                    past = False
                    break
                for j in range(size):
                    walk[j] = state[j]
                apply(walk, scratch[i])
                if not is_past(walk, kind_of(walk), turn, mover, rule):
                    past = False
                    break
                for j in range(size):
                    part.states[end + i, j] = walk[j]
                part.actions[end + i] = scratch[i]
            if past:
                end += choices
                part.rows[count], part.movers[count], part.viewers[count] = row - 1, mover, viewer_of(state)
                count += 1
                part.starts[count] = end
        at[0], at[1] = row, count
        return 0

    return list_next_states


@cached_njit(nogil=True, error_model="numpy")
def choose_best(worth: Any, part: NextStates, scale: float, bounded: bool, logits: Any, values: Any) -> None:
    """Write the logits and the value of each decision: those of its best next state.

    Args:
        worth: (next states, players) values by player.
        part: the next states.
        scale: what differences of values are divided by; if returns are not ``bounded``, it is multiplied by the
            absolute value of the position, which is at least 1.
        bounded: whether returns have bounds.
        logits: (rows, actions), written at the actions of decisions.
        values: (rows, players), written at rows of decisions, by seat relative to the viewer.
    """
    for d in range(len(part.rows)):
        row, mover, first, players = part.rows[d], part.movers[d], part.starts[d], values.shape[1]
        best = first
        for n in range(first + 1, part.starts[d + 1]):
            if worth[n, mover] > worth[best, mover]:
                best = n
        for seat in range(players):
            values[row, seat] = worth[best, (part.viewers[d] + seat) % players]
        own = worth[best, mover]
        unit = scale if bounded else scale * max(1.0, abs(own))
        for n in range(first, part.starts[d + 1]):
            logits[row, part.actions[n]] = (worth[n, mover] - own) / unit
