from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero import CheckpointError, make_player
from aleazero.games.luck import PlayedLuck
from aleazero.nets.checkpoint import PolicyValueInfo
from aleazero.nets.table_play import TuplePlay
from aleazero.players.net import DummyNet, NetPlayer, read_net
from aleazero.training.tuple_learning import TupleConfig, TupleLearner
from tests.tuple_boards import SMALL

GAME = aleazero.load_game("tic_tac_toe")
START = GAME.new_initial_state()


class Fixed:
    """Gives every observation the same logits."""

    afterstates = aleazero.NONE

    def __init__(self, logits):
        self.logits, self.asked = np.array(logits, np.float32), []

    def __call__(self, observations, legal_masks):
        self.asked.append((observations, legal_masks))
        return np.tile(self.logits, (len(observations), 1)), np.zeros((len(observations), 2))


def test_the_dummy_knows_nothing():
    logits, values = DummyNet(GAME)(np.zeros((5, 27), np.float32), np.ones((5, 9), np.bool_))
    assert (logits.shape, values.shape) == ((5, 9), (5, 2))
    assert not logits.any()
    assert not values.any()
    result = aleazero.Search(GAME, DummyNet(GAME), aleazero.SearchConfig(num_simulations=9)).run(START)
    assert result.priors == pytest.approx(np.full(9, 1 / 9))


def test_the_highest_logit_of_what_is_legal_and_allowed():
    net = Fixed([9, 1, 5, 0, 7, 7, 0, 0, 0])
    player = NetPlayer(net, GAME)
    assert player.select(START, 0) == 0
    assert player.select(START.child(0), 0) == 4  # of those that tie, the lowest
    assert player.select_many([START, START.child(0)], [0, 0], [[1, 2, 3], None]) == [2, 4]
    observations, masks = net.asked[-1]
    assert (observations[1] == START.child(0).observation_tensor()).all()
    assert np.flatnonzero(masks[0]).tolist() == [1, 2, 3]


def test_negative_and_impossible_logits():
    below = [-5.0, -4.0] + [-np.inf] * 7
    assert NetPlayer(Fixed(below), GAME).select(START, 0) == 1
    with pytest.raises(aleazero.EvaluatorError, match="NaN"):
        NetPlayer(Fixed([np.nan] * 9), GAME).select(START, 0)
    with pytest.raises(aleazero.EvaluatorError, match=r"logits of shape \(1, 3\), expected \(1, 9\)"):
        NetPlayer(Fixed([0.0] * 3), GAME).select(START, 0)


@pytest.fixture
def loaded(monkeypatch):
    """What ``aleazero.nets.checkpoint`` was asked for."""
    calls = []

    def load_net(path, game, **settings):
        calls.append((path, game, settings))
        return Fixed([0, 3, 0, 0, 9, 0, 0, 0, 0])

    monkeypatch.setattr("aleazero.nets.inference.load_net", load_net)
    monkeypatch.setattr("aleazero.nets.checkpoint.kind_of", lambda path: PolicyValueInfo)
    return calls


def test_a_network_comes_from_its_file(loaded, tmp_path):
    file = tmp_path / "a:b.safetensors"
    file.touch()
    assert aleazero.make_player(f"net:{file},sims=0", GAME).select(START, 0) == 4
    aleazero.make_player(f"net:{file},inference=torch", GAME)
    assert loaded == [(file, GAME, {}), (file, GAME, {"inference": "torch"})]


def test_a_path_may_begin_at_home(loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "net").touch()
    read_net("~/net", GAME)
    assert loaded == [(Path(tmp_path / "net"), GAME, {})]


def test_a_missing_file_is_told_before_anything_is_loaded(loaded):
    with pytest.raises(aleazero.ConfigError, match="no network at 'none', expected a file, or dummy"):
        read_net("none", GAME)
    assert loaded == []


def test_tables_play_as_networks_do(tmp_path):
    game = aleazero.load_game("2048")
    learner = TupleLearner(game, TupleConfig(lanes=32, seed=1), shape=SMALL)
    learner.train(40)
    path = tmp_path / "tables.safetensors"
    learner.save(path)
    states = []
    for seed in range(6):
        state, luck = game.new_initial_state(), PlayedLuck(seed)
        for _ in range(30):
            state.apply_action(luck.draw(state) if state.is_chance_node() else state.legal_actions()[seed % 2])
            if state.is_terminal():
                break
        while state.is_chance_node():
            state.apply_action(luck.draw(state))
        if not state.is_terminal():
            states.append(state)
    vectors = np.array([state.vector for state in states])
    for plies, spec in ((1, f"net:{path}"), (1, f"plan:plies=1,net={path}"), (2, f"plan:plies=2,net={path}")):
        chosen = make_player(spec, game).select_many(states, [0] * len(states))
        assert chosen == TuplePlay(game, learner.tuples, plies).choose(vectors).tolist(), spec
    searched = make_player(f"search:net={path},sims=8", game).select_many(states, [0] * len(states))
    assert all(action in state.legal_actions() for state, action in zip(states, searched, strict=True))
    with pytest.raises(CheckpointError, match="has game '2048', expected 'pig'"):
        make_player(f"net:{path}", aleazero.load_game("pig"))
