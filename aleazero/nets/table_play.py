"""Play with n-tuple tables: compiled expectimax of 1 to 4 plies.

A ply is a move. With one ply the tables evaluate the afterstate of each move. With two plies every outcome is followed
by its best move, and the tables evaluate the afterstate of that move.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import ConfigError, GameError, PositionError
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game
from aleazero.games.kernel import LIST_SLACK, KernelGame
from aleazero.games.kit import TupleShape
from aleazero.native.compile import borrow, loop_of
from aleazero.native.random import GAME_DICE, stream_key
from aleazero.nets.tables import (
    BoardRows,
    TupleIndex,
    TupleTables,
    make_put,
    make_rows,
    make_value_rows,
    require_board,
)
from aleazero.search.playout import make_play_chance

CHUNK: Final = 8
"""Games per task of a thread."""
MOST_PLIES: Final = 4
BROKEN: Final = -1
"""Status: the rules list impossible actions or outcomes."""


class TuplePlay:
    """Plays a one-player game with tables and ``plies`` moves of lookahead. Results do not depend on ``threads``."""

    def __init__(self, game: Game, tuples: TupleTables, plies: int = 1, threads: int = 1) -> None:
        self.game = require_board(game, tuples.shape)
        if not 1 <= plies <= MOST_PLIES:
            raise ConfigError(f"plies is {plies}, expected 1 to {MOST_PLIES}")
        if plies > 1 and not game.info.lists_outcomes:
            raise ConfigError(f"{game.name} does not list its outcomes, expected 1 ply, got {plies}")
        if threads < 1:
            raise ConfigError(f"threads is {threads}, expected at least 1")
        self.tuples, self.plies, self.threads = tuples, plies, threads
        self._run = loop_of(
            self.game, "tuples_play", lambda _: make_run(self.game, tuples.shape, plies), tuples.shape, plies
        )

    def choose(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the best action for each state vector, which must be a decision node."""
        states = np.array(states, np.int64)
        if any(self.game.kernels.kind(state) != DECISION for state in states):
            raise PositionError(f"{self.game.name}: got a chance node or terminal state, expected a decision node")
        actions = np.zeros(len(states), np.int64)
        self._work(states, actions, np.zeros(len(states), np.uint64), False)
        return actions

    def play(self, seeds: Sequence[int]) -> NDArray[np.int64]:
        """Play a game for each seed of the game dice, and return the terminal state vectors."""
        states = np.zeros((len(seeds), self.game.info.state_size), np.int64)
        for state in states:
            self.game.kernels.init(state)
        keys = np.array([stream_key(GAME_DICE, seed, 0) for seed in seeds], np.uint64)
        starts = range(0, len(seeds), CHUNK)
        with ThreadPoolExecutor(self.threads) as pool:
            none = np.zeros(0, np.int64)
            list(pool.map(lambda at: self._work(states[at : at + CHUNK], none, keys[at : at + CHUNK], True), starts))
        return states

    def _work(self, states: Any, actions: Any, keys: Any, to_end: bool) -> None:
        look = _make_lookahead(self.game, self.tuples, self.plies)
        with np.errstate(over="ignore"):
            if self._run(states, actions, keys, to_end, look) < 0:
                raise GameError(f"{self.game.name}: the rules list impossible actions or outcomes")


def make_run(game: KernelGame, shape: TupleShape, plies: int) -> Callable[..., int]:
    """Make ``run(states, actions, keys, to_end, look)``: choose an action per state, or play each game to its end."""
    kind_of, apply = game.kernels.kind, game.kernels.apply
    best = _make_best(game, _make_expect(game, shape, plies - 1, 1), 0)
    play_chance = make_play_chance(game.kernels)

    def run(states_: Any, actions: Any, keys: Any, to_end: bool, look_: Any) -> int:
        states, look = borrow(states_), borrow(look_)
        for i in range(len(states)):
            state = states[i]
            if not to_end:
                actions[i] = best(state, look)[0]
                if actions[i] < 0:
                    return BROKEN
                continue
            events = play_chance(state, keys[i], np.int64(0), look)
            while events >= 0 and kind_of(state) == DECISION:
                action, value = best(state, look)
                if action < 0 or np.isnan(value):
                    return BROKEN
                apply(state, action)
                events = play_chance(state, keys[i], events, look)
            if events < 0:
                return BROKEN
        return 0

    return run


def _make_best(game: KernelGame, after_value: Callable[..., Any], level: int) -> Callable[..., Any]:
    """Make ``best(state, look) -> (action, value)`` of a decision; the first action wins ties.

    The action is BROKEN if there is none. ``level`` is the number of moves before this decision.
    """
    legal, apply, most_actions = game.kernels.legal, game.kernels.apply, game.num_actions

    def best(state: Any, look: Any) -> Any:
        actions, after = look.actions[level], look.states[2 * level]
        count = legal(state, actions)
        if count < 1 or count > most_actions:
            return np.int64(BROKEN), 0.0
        found, most = np.int64(BROKEN), 0.0
        for i in range(count):
            _copy(state, after)
            apply(after, actions[i])
            value = after_value(after, look)
            if found < 0 or value > most:
                found, most = np.int64(actions[i]), value
        return found, most

    return best


def _make_expect(game: KernelGame, shape: TupleShape, plies: int, level: int) -> Callable[..., Any]:
    """Make ``expect(after, look)``: the value of an afterstate with ``plies`` more moves; NaN if the rules fail."""
    if plies == 0:
        return _make_table_value(game, shape)
    if plies == 1:
        return _make_last_expect(game, shape, level)
    kind_of, outcomes, apply_outcome = game.kernels.kind, game.kernels.outcomes, game.kernels.apply_outcome
    best = _make_best(game, _make_expect(game, shape, plies - 1, level + 1), level)
    table_value, most_outcomes = _make_table_value(game, shape), game.info.max_outcomes

    def expect(after: Any, look: Any) -> Any:
        state = look.states[2 * level - 1]
        if kind_of(after) == DECISION:
            return float(best(after, look)[1])
        if kind_of(after) == TERMINAL:
            return table_value(after, look)
        count = outcomes(after, look.choices[level], look.chances[level])
        if count < 1 or count > most_outcomes:
            return np.nan
        total = 0.0
        for i in range(count):
            _copy(after, state)
            apply_outcome(state, look.choices[level, i])
            if kind_of(state) == DECISION:
                value = best(state, look)[1]
            else:
                value = table_value(state, look)
            total += look.chances[level, i] * value
        return total

    return expect


def _make_last_expect(game: KernelGame, shape: TupleShape, level: int) -> Callable[..., Any]:
    """Make ``expect`` for exactly one more move, which evaluates all boards together."""
    kernels = game.kernels
    kind_of, outcomes, apply_outcome = kernels.kind, kernels.outcomes, kernels.apply_outcome
    legal, apply, returns_of = kernels.legal, kernels.apply, kernels.returns
    put, value_rows = make_put(shape), make_value_rows(shape)
    most_actions, most_outcomes = game.num_actions, max(1, game.info.max_outcomes)

    def add_row(state: Any, owner: Any, row: Any, look: Any) -> None:
        returns_of(state, look.value)
        look.returns[row] = look.value[0]
        look.owners[row] = owner
        look.over[row] = kind_of(state) == TERMINAL
        put(state, row, look.rows)

    def expect(after: Any, look: Any) -> Any:
        state, final, actions = look.states[2 * level - 1], look.states[2 * level], look.actions[level]
        ids, chances = look.choices[level], look.chances[level]
        count = np.int64(1)
        chances[0] = 1.0
        by_chance = kind_of(after) == CHANCE
        if by_chance:
            count = outcomes(after, ids, chances)
        if count < 1 or count > most_outcomes:
            return np.nan
        row = np.int64(0)
        for i in range(count):
            _copy(after, state)
            if by_chance:
                apply_outcome(state, ids[i])
            if kind_of(state) != DECISION:
                add_row(state, i, row, look)
                row += 1
                continue
            moves = legal(state, actions)
            if moves < 1 or moves > most_actions:
                return np.nan
            for j in range(moves):
                _copy(state, final)
                apply(final, actions[j])
                add_row(final, i, row, look)
                row += 1
        value_rows(row, look.rows, look.features, look.weights)
        total, most = 0.0, -np.inf
        for r in range(row):
            value = look.returns[r]
            if not look.over[r]:
                value += look.rows.values[r]
            most = max(most, value)
            if r + 1 == row or look.owners[r + 1] != look.owners[r]:
                total += chances[look.owners[r]] * most
                most = -np.inf
        return total

    return expect


def _make_table_value(game: KernelGame, shape: TupleShape) -> Callable[..., Any]:
    """Make ``table_value(state, look)``: the return so far plus the value of the tables for the rest."""
    kind_of, returns_of = game.kernels.kind, game.kernels.returns
    put, value_rows = make_put(shape), make_value_rows(shape)

    def table_value(state: Any, look: Any) -> Any:
        returns_of(state, look.value)
        value = look.value[0]
        if kind_of(state) != TERMINAL:
            put(state, 0, look.rows)
            value_rows(1, look.rows, look.features, look.weights)
            value += look.rows.values[0]
        return value

    return table_value


def _copy(source: Any, target: Any) -> None:
    for i in range(len(source)):
        target[i] = source[i]


class Lookahead(NamedTuple):
    """Working memory of one thread."""

    rows: BoardRows
    returns: Any  # (rows,) float64, the return so far
    owners: Any  # (rows,) int64, the outcome before the row
    over: Any  # (rows,) bool
    states: Any  # (2 · plies, state) int64, along the path: the afterstate of each move, and the state after an outcome
    actions: Any  # (plies, actions + LIST_SLACK) int64
    choices: Any  # (plies, outcomes + LIST_SLACK) int64, the outcomes along the path
    chances: Any  # (plies, outcomes + LIST_SLACK) float64
    ids: Any  # (outcomes + LIST_SLACK,) int64
    probabilities: Any  # (outcomes + LIST_SLACK,) float64
    value: Any  # (players,) float64
    features: TupleIndex
    weights: Any  # (entries,) float32


def _make_lookahead(game: KernelGame, tuples: TupleTables, plies: int) -> Lookahead:
    rows = game.num_actions * max(1, game.info.max_outcomes)
    outcomes = game.info.max_outcomes + LIST_SLACK
    return Lookahead(
        rows=make_rows(tuples.shape, rows),
        returns=np.zeros(rows),
        owners=np.zeros(rows, np.int64),
        over=np.zeros(rows, np.bool_),
        states=np.zeros((2 * plies, game.info.state_size), np.int64),
        actions=np.zeros((plies, game.num_actions + LIST_SLACK), np.int64),
        choices=np.zeros((plies, outcomes), np.int64),
        chances=np.zeros((plies, outcomes)),
        ids=np.zeros(outcomes, np.int64),
        probabilities=np.zeros(outcomes),
        value=np.zeros(game.num_players),
        features=tuples.features,
        weights=tuples.weights,
    )
