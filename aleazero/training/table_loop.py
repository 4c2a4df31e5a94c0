"""The compiled phases of table learning: every lane makes several moves, then every table learns.

A lane makes several moves in a row because successive boards share most entries, which are then in the processor
cache. Within a phase no two lanes, and no two tables, write to the same memory, so results do not depend on threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from aleazero.games.base import DECISION, TERMINAL
from aleazero.games.kernel import LIST_SLACK, KernelGame
from aleazero.games.kit import TupleShape
from aleazero.native.compile import borrow
from aleazero.native.random import extend_key_bits
from aleazero.nets.tables import BoardRows, make_put, make_rows, make_value_rows
from aleazero.search.playout import make_play_chance

DONE: Final = 0
BROKEN: Final = -1
"""Status: the rules list impossible actions or outcomes, or a game has no decision."""

BLOCK: Final = 32
"""Lanes whose afterstates are evaluated together."""


def make_move(game: KernelGame, shape: TupleShape) -> Callable[..., int]:
    """Make ``move(lanes, first, last, seed, horizon, lambda_, room, features, weights)``: some lanes play a round."""
    kernels = game.kernels
    init, kind_of, returns_of = kernels.init, kernels.kind, kernels.returns
    legal, apply = kernels.legal, kernels.apply
    most_actions = game.num_actions
    each = len(shape.symmetries)
    tables = len(shape.tuples)
    put, value_rows, play_chance = make_put(shape), make_value_rows(shape), make_play_chance(kernels)

    def begin(lanes: Any, lane: Any, seed: Any, room: Any) -> Any:
        """Start the next game of a lane."""
        state = lanes.states[lane]
        for i in range(len(state)):
            state[i] = 0
        init(state)
        key = extend_key_bits(extend_key_bits(seed, np.uint64(lane)), np.uint64(lanes.games[lane]))
        events = play_chance(state, key, np.int64(0), room)
        if events < 0 or kind_of(state) != DECISION:
            return np.int64(BROKEN)
        lanes.keys[lane] = key
        lanes.events[lane] = events
        lanes.games[lane] += 1
        lanes.plies[lane] = 0
        return np.int64(DONE)

    def expand(lanes: Any, first: Any, last: Any, room: Any) -> Any:
        """List all moves of a block of lanes and return their number, or BROKEN."""
        row = np.int64(0)
        for lane in range(first, last):
            state = lanes.states[lane]
            room.firsts[lane - first] = row
            count = legal(state, room.actions)
            if count < 1 or count > most_actions:
                return np.int64(BROKEN)
            for i in range(count):
                after = room.afters[row]
                for j in range(len(state)):
                    after[j] = state[j]
                apply(after, room.actions[i])
                returns_of(after, room.value)
                room.returns[row] = room.value[0]
                room.over[row] = kind_of(after) == TERMINAL
                put(after, row, room.rows)
                row += 1
        room.firsts[last - first] = row
        return row

    def add_target(lanes: Any, lane: Any, slot: Any, target: Any) -> None:
        """Add an afterstate to those that are learned in this round."""
        number = lanes.due[lane]
        lanes.slots[lane, number] = slot
        lanes.targets[lane, number] = target - lanes.returns[lane, slot]
        lanes.due[lane] = number + 1

    def look_back(lanes: Any, lane: Any, reached: Any, horizon: Any, lambda_: Any, all_due: Any) -> None:
        """Compute λ-returns of the last afterstates, and add a target for the oldest, or for all of them."""
        newest, ring = lanes.noted[lane] - 1, lanes.returns.shape[1]
        for back in range(min(lanes.plies[lane], horizon)):
            slot = (newest - back) % ring
            if all_due or back == horizon - 1:
                add_target(lanes, lane, slot, reached)
            reached = (1.0 - lambda_) * (lanes.returns[lane, slot] + lanes.values[lane, slot]) + lambda_ * reached

    def note(lanes: Any, lane: Any, row: Any, room: Any) -> None:
        """Store the afterstate of a row, to be learned later."""
        slot = lanes.noted[lane] % lanes.returns.shape[1]
        lanes.returns[lane, slot] = room.returns[row]
        lanes.values[lane, slot] = room.rows.values[row]
        for feature in range(lanes.index.shape[2]):
            lanes.index[lane, slot, feature] = room.rows.index[feature, row]
        lanes.plies[lane] += 1
        lanes.noted[lane] += 1

    def advance(lanes: Any, lane: Any, row: Any, horizon: Any, lambda_: Any, seed: Any, room: Any) -> Any:
        """Play the move of a row, update the targets, and draw the outcomes that follow."""
        if not room.over[row]:
            look_back(lanes, lane, room.returns[row] + room.rows.values[row], horizon, lambda_, False)
            note(lanes, lane, row, room)
        state = lanes.states[lane]
        for j in range(len(state)):
            state[j] = room.afters[row, j]
        events = play_chance(state, lanes.keys[lane], lanes.events[lane], room)
        if events < 0:
            return np.int64(BROKEN)
        lanes.events[lane] = events
        if kind_of(state) != TERMINAL:
            return np.int64(DONE)
        returns_of(state, room.value)
        look_back(lanes, lane, room.value[0], horizon, lambda_, True)
        lanes.scores[lane, lanes.ended[lane]] = room.value[0]
        lanes.ended[lane] += 1
        return begin(lanes, lane, seed, room)

    def best_row(lane: Any, room: Any) -> Any:
        """Return the row of the best move of a lane; the first one wins ties."""
        best, most = np.int64(-1), -np.inf
        for row in range(room.firsts[lane], room.firsts[lane + 1]):
            value = room.returns[row]
            if not room.over[row]:
                value += room.rows.values[row]
            if best < 0 or value > most:
                best, most = np.int64(row), value
        return best

    def sum_parts(lanes: Any, lane: Any, weights: Any) -> None:
        """Compute the value of each table for the afterstates that are due."""
        for number in range(lanes.due[lane]):
            slot = lanes.slots[lane, number]
            for table in range(tables):
                part = np.float32(0.0)
                for feature in range(table * each, (table + 1) * each):
                    part += weights[lanes.index[lane, slot, feature]]
                lanes.parts[lane, number, table] = part

    def move(lanes_: Any, first: int, last: int, seed: Any, horizon: int, lambda_: float, room_: Any, features_: Any,
             weights_: Any) -> int:  # fmt: skip
        lanes, room = borrow(lanes_), borrow(room_)
        features, weights = borrow(features_), borrow(weights_)
        for start in range(first, last, BLOCK):
            end = min(start + BLOCK, last)
            for lane in range(start, end):
                lanes.due[lane] = lanes.ended[lane] = 0
                if lanes.games[lane] == 0 and begin(lanes, lane, seed, room) < 0:
                    return BROKEN
            for _ in range(lanes.scores.shape[1]):
                count = expand(lanes, start, end, room)
                if count < 0:
                    return BROKEN
                value_rows(count, room.rows, features, weights)
                for lane in range(start, end):
                    if advance(lanes, lane, best_row(lane - start, room), horizon, lambda_, seed, room) < 0:
                        return BROKEN
            for lane in range(start, end):
                sum_parts(lanes, lane, weights)
        return DONE

    return move


def make_learn(shape: TupleShape) -> Callable[..., int]:
    """Make ``learn(lanes, table, weights, coherence)``: one table learns the targets of the round, lane by lane.

    Step sizes are adaptive (temporal coherence learning): each entry has the sum of its steps and the sum of their
    absolute values. If steps cancel each other, the entry moves little.

    Many lanes may share an entry. If each took the full step towards its target, together they would overshoot it. So
    the value of an afterstate is looked up again before its step. The other tables learn in other threads; they are
    assumed to have moved as much since the start of the round as this one.
    """
    each, tables = len(shape.symmetries), len(shape.tuples)

    def learn(lanes_: Any, table: int, weights_: Any, coherence_: Any) -> int:
        lanes, weights, coherence = borrow(lanes_), borrow(weights_), borrow(coherence_)
        share = np.float32(1.0 / (each * tables))
        for lane in range(len(lanes.due)):
            for number in range(lanes.due[lane]):
                index = lanes.index[lane, lanes.slots[lane, number]]
                now = np.float32(0.0)
                before = 0.0
                for feature in range(table * each, (table + 1) * each):
                    now += weights[index[feature]]
                for other in range(tables):
                    before += np.float64(lanes.parts[lane, number, other])
                # float() would not widen in compiled code.
                moved = np.float64(now) - np.float64(lanes.parts[lane, number, table])
                step = np.float32(lanes.targets[lane, number] - (before + tables * moved)) * share
                for feature in range(table * each, (table + 1) * each):
                    entry = index[feature]
                    net, gross = coherence[entry, 0], coherence[entry, 1]
                    trust = abs(net) / gross if gross > 0.0 else np.float32(1.0)
                    weights[entry] += trust * step
                    coherence[entry, 0] = net + step
                    coherence[entry, 1] = gross + abs(step)
        return DONE

    return learn


class TupleLanes(NamedTuple):
    """Games in progress, and their afterstates that are still to be learned, in ring buffers."""

    states: Any  # (lanes, state) int64, each at a decision
    games: Any  # (lanes,) int64, games begun
    keys: Any  # (lanes,) uint64, random stream of the game in progress
    events: Any  # (lanes,) int64, chance events of that game
    plies: Any  # (lanes,) int64, afterstates of that game
    noted: Any  # (lanes,) int64, afterstates of all games
    index: Any  # (lanes, horizon + moves, features) int32, entries of afterstates
    returns: Any  # (lanes, horizon + moves) float64, the return so far at afterstates
    values: Any  # (lanes, horizon + moves) float64, their values when they were reached
    due: Any  # (lanes,) int64, number of afterstates to learn in this round
    slots: Any  # (lanes, horizon + moves) int64, their slots in the ring
    targets: Any  # (lanes, horizon + moves) float64
    parts: Any  # (lanes, horizon + moves, tuples) float32, value of each table for them at the start of the round
    ended: Any  # (lanes,) int64, games that ended in this round
    scores: Any  # (lanes, moves) float64, their scores


def make_lanes(game: KernelGame, shape: TupleShape, lanes: int, horizon: int, moves: int) -> TupleLanes:
    """Return lanes without games; each begins its first game in the first round."""
    features, ring = len(shape.tuples) * len(shape.symmetries), horizon + moves
    return TupleLanes(
        states=np.zeros((lanes, game.info.state_size), np.int64),
        games=np.zeros(lanes, np.int64),
        keys=np.zeros(lanes, np.uint64),
        events=np.zeros(lanes, np.int64),
        plies=np.zeros(lanes, np.int64),
        noted=np.zeros(lanes, np.int64),
        index=np.zeros((lanes, ring, features), np.int32),
        returns=np.zeros((lanes, ring)),
        values=np.zeros((lanes, ring)),
        due=np.zeros(lanes, np.int64),
        slots=np.zeros((lanes, ring), np.int64),
        targets=np.zeros((lanes, ring)),
        parts=np.zeros((lanes, ring, len(shape.tuples)), np.float32),
        ended=np.zeros(lanes, np.int64),
        scores=np.zeros((lanes, moves)),
    )


class Room(NamedTuple):
    """Working memory of one thread."""

    rows: BoardRows
    afters: Any  # (rows, state) int64
    returns: Any  # (rows,) float64
    over: Any  # (rows,) bool
    firsts: Any  # (BLOCK + 1,) int64, the first row of each lane
    actions: Any  # (actions + LIST_SLACK,) int64
    ids: Any  # (outcomes + LIST_SLACK,) int64
    probabilities: Any  # (outcomes + LIST_SLACK,) float64
    value: Any  # (1,) float64


def make_room(game: KernelGame, shape: TupleShape) -> Room:
    """Return the working memory of a thread."""
    rows = BLOCK * game.num_actions
    return Room(
        rows=make_rows(shape, rows),
        afters=np.zeros((rows, game.info.state_size), np.int64),
        returns=np.zeros(rows),
        over=np.zeros(rows, np.bool_),
        firsts=np.zeros(BLOCK + 1, np.int64),
        actions=np.zeros(game.num_actions + LIST_SLACK, np.int64),
        ids=np.zeros(game.info.max_outcomes + LIST_SLACK, np.int64),
        probabilities=np.zeros(game.info.max_outcomes + LIST_SLACK),
        value=np.zeros(1),
    )
