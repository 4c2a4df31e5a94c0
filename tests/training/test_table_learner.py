"""TD learning of n-tuple tables for 2048."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save

import aleazero
from aleazero import CheckpointError, ConfigError
from aleazero.evaluation.strength import measure_tables
from aleazero.native.random import TABLE_LANES, stream_key, unit
from aleazero.nets.checkpoint import load_tables, load_value_net
from aleazero.nets.inference import load_policy_net
from aleazero.training.config import TupleConfig
from aleazero.training.table_learner import TupleLearner
from tests.tuple_boards import SMALL, one_by_one, slow_entries, slow_value

WAYS = [{"horizon": 1, "td_lambda": 0.0, "moves": 1}, {"horizon": 3, "td_lambda": 0.6, "moves": 4}]


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("2048")


def make(game, threads=1, **settings):
    return TupleLearner(game, TupleConfig(**{"lanes": 48, "seed": 5, **settings}), threads=threads, shape=SMALL)


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.parametrize("settings", WAYS)
def test_results_do_not_depend_on_the_number_of_threads(game, settings) -> None:
    single, parallel = make(game, **settings), make(game, threads=2, **settings)
    scores = single.train(400 // single.config.moves)
    assert len(scores) > 20
    np.testing.assert_array_equal(parallel.train(400 // single.config.moves), scores)
    assert same(single.state(), parallel.state())
    other = make(game, **{**settings, "seed": 6})
    other.train(400 // single.config.moves)
    assert not same(single.state(), other.state())
    parallel.close()


@pytest.mark.parametrize("settings", WAYS)
def test_training_resumes_from_its_state(game, settings) -> None:
    whole, first, second = (make(game, **settings) for _ in range(3))
    first.train(130)
    second.train(7)  # restore overwrites this
    second.restore(load(save(first.state())))
    scores = np.concatenate([make(game, **settings).train(130), second.train(170)])
    np.testing.assert_array_equal(whole.train(300), scores)
    assert same(whole.state(), second.state())
    assert whole.moves == second.moves == 300 * 48 * whole.config.moves


class SlowLane:
    """One lane in plain Python; ``move`` returns the afterstates to learn as (board, target)."""

    def __init__(self, game, key, lambda_, horizon) -> None:
        self.game, self.key, self.lambda_, self.horizon = game, key, lambda_, horizon
        self.number, self.scores = -1, []
        self.begin()

    def begin(self) -> None:
        self.number += 1
        self.state, self.path, self.events = self.game.new_initial_state(), [], 0
        self.settle()

    def settle(self) -> None:
        while self.state.is_chance_node():
            u = unit(stream_key(*self.key, self.number, self.events))
            self.state.apply_action(self.state.sample_outcome(u))
            self.events += 1

    def look_back(self, reached):
        for board, so_far, value in reversed(self.path[-self.horizon :]):
            yield board, reached - so_far
            reached = (1.0 - self.lambda_) * (so_far + value) + self.lambda_ * reached

    def move(self, weights):
        worth = {}
        for action in self.state.legal_actions():
            after = self.state.child(action)
            worth[action] = after.returns()[0] + float(slow_value(SMALL, weights, after.vector))
        action = max(worth, key=worth.get)
        self.state.apply_action(action)
        due = list(self.look_back(worth[action]))[self.horizon - 1 :]
        value = float(slow_value(SMALL, weights, self.state.vector))
        self.path.append((self.state.vector.copy(), self.state.returns()[0], value))
        self.settle()
        if self.state.is_terminal():
            self.scores.append(self.state.returns()[0])
            due += self.look_back(self.scores[-1])
            self.begin()
        return due


def slow_learn(due, weights, net, gross) -> None:
    """Learn table by table; each assumes that the others have moved as much as itself since the round began."""
    tables, each = len(SMALL.tuples), len(SMALL.symmetries)
    share = np.float32(1.0 / (tables * each))
    found = [(np.array(slow_entries(SMALL, board)).reshape(tables, each), target) for board, target in due]
    before = [[one_by_one(weights[table]) for table in entries] for entries, _ in found]
    for table in range(tables):
        for (entries, target), parts in zip(found, before, strict=True):
            moved = float(one_by_one(weights[entries[table]])) - float(parts[table])
            step = np.float32(target - (sum(float(part) for part in parts) + tables * moved)) * share
            for entry in entries[table]:
                trust = abs(net[entry]) / gross[entry] if gross[entry] > 0 else np.float32(1.0)
                weights[entry] += trust * step
                net[entry] += step
                gross[entry] += abs(step)


@pytest.mark.parametrize("settings", WAYS)
def test_learning_equals_the_reference_implementation(game, settings) -> None:
    learner = make(game, lanes=3, **settings)
    lambda_, horizon = learner.config.td_lambda, learner.config.horizon
    lanes = [SlowLane(game, (TABLE_LANES, 5, lane), lambda_, horizon) for lane in range(3)]
    weights, net, gross = (np.zeros(SMALL.entries, np.float32) for _ in range(3))
    moves = learner.config.moves
    for _ in range(260 // moves):
        slow_learn([pair for lane in lanes for _ in range(moves) for pair in lane.move(weights)], weights, net, gross)
    scores = learner.train(260 // moves)
    assert len(scores) >= 2
    assert sum(learner.lanes.games) == len(scores) + 3
    assert sorted(scores) == sorted(score for lane in lanes for score in lane.scores)
    np.testing.assert_array_equal(learner.tuples.weights, weights)
    np.testing.assert_array_equal(learner.coherence, np.stack([net, gross], axis=1))


def test_many_lanes_do_not_overshoot(game) -> None:
    """A thousand lanes that learn the same few boards at once keep values near the possible rewards."""
    learner = make(game, lanes=1024)
    learner.train(2)
    assert 0 < np.abs(learner.tuples.values(learner.lanes.states)).max() < 100


def test_tables_learn_in_seconds(game) -> None:
    learner = make(game, lanes=256)
    before = measure_tables(game, learner.tuples, 50)
    learner.train(375)
    after = measure_tables(game, learner.tuples, 50, threads=2)
    assert before.mean.high < 3_500  # untrained tables play the first legal move
    assert after.mean.low > 6_000
    assert after.share(9) > 0.5


@pytest.mark.long
def test_2048_is_reached_within_six_million_moves(game) -> None:
    learner = TupleLearner(game, threads=2)
    while learner.moves < 6_000_000:
        learner.train(100)
    found = measure_tables(game, learner.tuples, 200)
    assert found.mean.low > 20_000
    assert found.share(11) > 0.4
    assert measure_tables(game, learner.tuples, 20, plies=2).mean.mean > found.mean.mean


def test_mismatched_input_is_rejected(game) -> None:
    learner = make(game)
    state = learner.state()
    with pytest.raises(CheckpointError, match=r"lanes\.states is int64 \(48, 18\), expected int64 \(16, 18\)"):
        make(game, lanes=16).restore(state)
    with pytest.raises(CheckpointError, match=r"coherence\.sums"):
        learner.restore({name: array for name, array in state.items() if name != "coherence.sums"})
    with pytest.raises(CheckpointError, match=r"lanes\.index is out of range"):
        learner.restore({**state, "lanes.index": state["lanes.index"] + np.int32(10**9)})
    with pytest.raises(CheckpointError, match=r"coherence\.index is out of range"):
        learner.restore({**state, "coherence.index": np.array([-1], np.int32), "coherence.sums": np.ones((1, 2), "f4")})
    with pytest.raises(ConfigError, match="threads is 0"):
        make(game, threads=0)
    with pytest.raises(ConfigError, match="no tuple_shape"):
        TupleLearner(aleazero.load_game("pig"))


def test_checkpoints_of_tables(game, tmp_path) -> None:
    learner = make(game)
    learner.train(20)
    path = tmp_path / "tables.safetensors"
    learner.save(path)
    loaded = load_tables(path, game)
    assert loaded.shape == SMALL
    assert loaded.weights.tobytes() == learner.tuples.weights.tobytes()
    with pytest.raises(CheckpointError, match="has game '2048', expected 'pig'"):
        load_tables(path, aleazero.load_game("pig"))
    with pytest.raises(CheckpointError, match="contains n-tuple tables, expected a policy-value network"):
        load_policy_net(path, game)
    with pytest.raises(CheckpointError, match="contains n-tuple tables, expected a value network"):
        load_value_net(path, game)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="is damaged or not a checkpoint"):
        load_tables(path, game)
