from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aleazero
from aleazero import CheckpointError, make_player
from aleazero.games.game_dice import GameDice
from aleazero.nets.checkpoint import PolicyValueInfo
from aleazero.nets.table_play import TuplePlay
from aleazero.players import search
from aleazero.players.player import own_seed
from aleazero.players.search import NetPlayer, PlanPlayer, SearchPlayer, ZeroNet, read_net
from aleazero.training.config import TupleConfig
from aleazero.training.table_learner import TupleLearner
from tests.tuple_boards import SMALL

PIG = aleazero.load_game("pig")
STATES = [PIG.state_from_text(f"{score}-60 turn {turn}") for score in (10, 50, 80) for turn in (3, 12, 19, 25)]


def test_it_selects_the_action_of_a_single_search():
    config = aleazero.SearchConfig(num_simulations=60)
    expected = [aleazero.Search(PIG, "rollout", config).run(s, seed=own_seed(s, 5)).best_action for s in STATES]
    seeds = [5] * len(STATES)
    for threads in (1, 2):
        assert SearchPlayer(PIG, "rollout", config, threads).select_many(STATES, seeds) == expected
    assert [SearchPlayer(PIG, "rollout", config).select(state, 5) for state in STATES[:3]] == expected[:3]


def test_other_seeds_give_other_searches():
    player = SearchPlayer(PIG, "rollout", aleazero.SearchConfig(num_simulations=15))
    assert len({tuple(player.select_many(STATES, [seed] * len(STATES))) for seed in range(6)}) > 1


def test_a_time_limit_is_rejected():
    with pytest.raises(aleazero.ConfigError, match="expected num_simulations or max_evaluations"):
        SearchPlayer(PIG, "rollout", aleazero.SearchConfig(max_seconds=1.0))


def test_large_searches_use_fewer_trees(monkeypatch):
    made = []
    monkeypatch.setattr(search, "Forest", lambda *args, trees, threads: made.append(trees))
    yatzy = aleazero.load_game("yatzy", players=1)
    for sims, chance, evaluations in ((5000, "stratified", None), (5000, "full", None), (10**6, "full", 1000)):
        SearchPlayer(
            yatzy, "rollout", aleazero.SearchConfig(num_simulations=sims, chance=chance, max_evaluations=evaluations)
        )
    assert made == [32, 3, 32]


def test_it_searches_allowed_actions_only():
    game = aleazero.load_game("tic_tac_toe")
    start, config = game.new_initial_state(), aleazero.SearchConfig(num_simulations=40)
    player = SearchPlayer(game, "rollout", config)
    found = player.select_many([start] * 3, [5] * 3, [[1, 3, 5], None, [0, 8]])
    search = aleazero.Search(game, "rollout", config)
    seed = own_seed(start, 5)
    assert found == [search.run(start, actions=some, seed=seed).best_action for some in ([1, 3, 5], None, [0, 8])]
    assert found[0] in (1, 3, 5)
    assert found[2] in (0, 8)


def count_plans(monkeypatch):
    planned = []
    original = aleazero.Planner._plan_all
    monkeypatch.setattr(
        aleazero.Planner, "_plan_all", lambda self, states, some: planned.extend(states) or original(self, states, some)
    )
    return planned


def test_one_plan_is_used_for_a_turn(monkeypatch):
    pig = aleazero.load_game("pig")
    player = PlanPlayer(pig, "uniform", {"horizon": "turn"})
    planned = count_plans(monkeypatch)
    for turn in (4, 9, 12):
        player.select(pig.state_from_text(f"80-60 turn {turn}"), 7)
    assert len(planned) == 1
    player.select(pig.state_from_text("80-60 turn 12"), 8)  # another seat or game has its own plans
    player.select(pig.state_from_text("80-70 turn 12"), 7)
    assert len(planned) == 3


@pytest.mark.parametrize(
    ("evaluator", "settings"), [("uniform", {"plies": 2}), ("rollout", {"horizon": "turn"})], ids=["plies", "rollout"]
)
def test_plans_with_plies_or_playouts_are_used_for_one_decision(monkeypatch, evaluator, settings):
    pig = aleazero.load_game("pig")
    player = PlanPlayer(pig, evaluator, settings)
    planned = count_plans(monkeypatch)
    for turn in (4, 9):
        player.select(pig.state_from_text(f"80-60 turn {turn}"), 7)
    assert len(planned) == 2


def test_playouts_depend_on_seed_and_position():
    pig = aleazero.load_game("pig")
    states = [pig.state_from_text(f"80-60 turn {turn}") for turn in range(2, 20)]
    player = PlanPlayer(pig, "rollout", {"horizon": "turn"})
    expected = [aleazero.Planner(pig, "rollout", seed=own_seed(state, 3)).run(state).best_action for state in states]
    assert player.select_many(states, [3] * len(states)) == expected


def test_many_states_at_once_give_the_same_actions():
    pig = aleazero.load_game("pig")
    states = [pig.state_from_text(f"{score}-60 turn {turn}") for score in (10, 80) for turn in (3, 19, 25)]
    many = PlanPlayer(pig, "uniform", {"plies": 3}).select_many(states, range(6))
    assert many == [PlanPlayer(pig, "uniform", {"plies": 3}).select(state, 0) for state in states]


@pytest.mark.parametrize(
    ("evaluator", "settings"),
    [("uniform", {"horizon": "turn"}), ("uniform", {"plies": 1, "keep": 1}), ("rollout:1", {"plies": 1})],
    ids=["turn", "pruned", "rollout"],
)
def test_the_best_allowed_action(evaluator, settings):
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("filled none upper 0 total 0 / player 0 dice 33366 rerolls 0")
    player = PlanPlayer(game, evaluator, settings)
    best = player.select(state, 3)
    others = [action for action in state.legal_actions() if action != best]
    planner = aleazero.Planner(game, evaluator, **settings, seed=own_seed(state, 3))
    assert player.select(state, 3, others) == planner.run(state, others).best_action != best
    assert player.select_many([state, state], [3, 3], [others, None]) == [player.select(state, 3, others), best]
    assert player.select(state, 3) == best  # the plan of the turn is unchanged


def test_the_best_allowed_action_has_the_best_value_of_the_turn():
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("filled none upper 0 total 0 / player 0 dice 55126 rerolls 1")
    values = {a: v[0] for a, v in aleazero.Planner(game, "uniform").plan(state).action_values(state).items()}
    allowed = sorted(values, key=values.get)[:5]
    assert values[PlanPlayer(game, "uniform", {}).select(state, 0, allowed)] == max(values[a] for a in allowed)


GAME = aleazero.load_game("tic_tac_toe")
START = GAME.new_initial_state()


class Fixed:
    """Returns the same logits for every observation."""

    afterstates = aleazero.NONE

    def __init__(self, logits):
        self.logits, self.asked = np.array(logits, np.float32), []

    def __call__(self, observations, legal_masks):
        self.asked.append((observations, legal_masks))
        return np.tile(self.logits, (len(observations), 1)), np.zeros((len(observations), 2))


def test_the_dummy_returns_zeros():
    logits, values = ZeroNet(GAME)(np.zeros((5, 27), np.float32), np.ones((5, 9), np.bool_))
    assert (logits.shape, values.shape) == ((5, 9), (5, 2))
    assert not logits.any()
    assert not values.any()
    result = aleazero.Search(GAME, ZeroNet(GAME), aleazero.SearchConfig(num_simulations=9)).run(START)
    assert result.priors == pytest.approx(np.full(9, 1 / 9))


def test_the_highest_logit_among_legal_and_allowed_actions():
    net = Fixed([9, 1, 5, 0, 7, 7, 0, 0, 0])
    player = NetPlayer(net, GAME)
    assert player.select(START, 0) == 0
    assert player.select(START.child(0), 0) == 4  # the lowest id among ties
    assert player.select_many([START, START.child(0)], [0, 0], [[1, 2, 3], None]) == [2, 4]
    observations, masks = net.asked[-1]
    assert (observations[1] == START.child(0).observation_tensor()).all()
    assert np.flatnonzero(masks[0]).tolist() == [1, 2, 3]


def test_negative_and_invalid_logits():
    below = [-5.0, -4.0] + [-np.inf] * 7
    assert NetPlayer(Fixed(below), GAME).select(START, 0) == 1
    with pytest.raises(aleazero.EvaluatorError, match="NaN"):
        NetPlayer(Fixed([np.nan] * 9), GAME).select(START, 0)
    with pytest.raises(aleazero.EvaluatorError, match=r"logits of shape \(1, 3\), expected \(1, 9\)"):
        NetPlayer(Fixed([0.0] * 3), GAME).select(START, 0)


@pytest.fixture
def loaded(monkeypatch):
    """The calls of ``load_policy_net``."""
    calls = []

    def load_policy_net(path, game, inference=None):
        calls.append((path, game, inference))
        return Fixed([0, 3, 0, 0, 9, 0, 0, 0, 0])

    monkeypatch.setattr("aleazero.nets.inference.load_policy_net", load_policy_net)
    monkeypatch.setattr("aleazero.nets.inference.kind_of", lambda path: PolicyValueInfo)
    return calls


def test_a_network_is_read_from_its_file(loaded, tmp_path):
    file = tmp_path / "a:b.safetensors"
    file.touch()
    assert aleazero.make_player(f"net:{file},sims=0", GAME).select(START, 0) == 4
    aleazero.make_player(f"net:{file},inference=torch", GAME)
    assert loaded == [(file, GAME, None), (file, GAME, "torch")]


def test_a_path_may_start_with_the_home_folder(loaded, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "net").touch()
    read_net("~/net", GAME)
    assert loaded == [(Path(tmp_path / "net"), GAME, None)]


def test_a_missing_file_is_reported_before_loading(loaded):
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
        state, dice = game.new_initial_state(), GameDice(seed)
        for _ in range(30):
            state.apply_action(dice.draw(state) if state.is_chance_node() else state.legal_actions()[seed % 2])
            if state.is_terminal():
                break
        while state.is_chance_node():
            state.apply_action(dice.draw(state))
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
