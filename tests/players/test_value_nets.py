"""Value networks as players."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file
from value_checkpoints import trained_checkpoint

import aleazero
from aleazero.nets.planned import PlannedEvaluator
from aleazero.players.search import PlanPlayer, SearchPlayer

PIG = aleazero.load_game("pig", target=20)
GAMES = {"pig": PIG, "yatzy1": aleazero.load_game("yatzy", players=1), "yatzy2": aleazero.load_game("yatzy", players=2)}


@pytest.fixture(scope="module")
def nets(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nets")
    return {name: trained_checkpoint(game, folder / name) for name, game in GAMES.items()}


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("spec", ["net:{}", "plan:plies=1,net={}", "search:net={},sims=4"])
def test_complete_games_are_legal(nets, name, spec):
    game = GAMES[name]
    player = aleazero.make_player(spec.format(nets[name]), game)
    state, rng, decided = game.new_initial_state(), np.random.default_rng(1), 0
    while not state.is_terminal() and decided < 40:
        if state.is_chance_node():
            state.apply_action(state.sample_outcome(rng.random()))
        else:
            action = player.select(state, 0)
            assert action in state.legal_actions()
            state.apply_action(action)
            decided += 1
    assert decided > 5


def test_load_net_returns_value_networks_as_evaluators(nets):
    path = nets["pig"]
    net = aleazero.load_net(path, PIG)
    state = PIG.state_from_text("8-12 turn 5")
    planner, config = aleazero.Planner(PIG, net, **net.horizon()), aleazero.SearchConfig(num_simulations=8)
    expected = aleazero.Planner(PIG, PlannedEvaluator.load(path, PIG)).run(state)
    assert planner.run(state).q.tolist() == expected.q.tolist()
    result = aleazero.Search(PIG, net, config).run(state)
    assert result.best_action in state.legal_actions()
    soft = aleazero.Search(PIG, aleazero.load_net(path, PIG, prior_temperature=100.0), config).run(state)
    assert abs(soft.priors - 0.5).max() < 0.01 < abs(result.priors - 0.5).max()
    with pytest.raises(aleazero.ConfigError, match="inference is 'torch', expected none: value networks do not use it"):
        aleazero.load_net(path, PIG, inference="torch")


def test_specs_and_their_players(nets):
    path = nets["pig"]
    alone, plan = aleazero.make_player(f"net:{path}", PIG), aleazero.make_player(f"plan:horizon=turn,net={path}", PIG)
    assert isinstance(alone, PlanPlayer)
    assert isinstance(plan, PlanPlayer)
    assert isinstance(aleazero.make_player(f"net:{path},sims=8", PIG), SearchPlayer)
    assert isinstance(aleazero.make_player(f"net:{path},sims=0", PIG), PlanPlayer)
    states = [PIG.state_from_text(f"{score}-7 turn {turn}") for score in (0, 9) for turn in (2, 5, 9)]
    planner = aleazero.Planner(PIG, PlannedEvaluator.load(path, PIG))
    best = [planner.run(state).best_action for state in states]
    assert [player.select_many(states, [0] * 6) for player in (alone, plan)] == [best, best]


def test_net_is_short_for_its_evaluator(nets):
    path = nets["pig"]
    states = [PIG.state_from_text(f"9-7 turn {turn}") for turn in (2, 5, 9)]
    specs = (f"search:net={path},sims=20", f"search:evaluator=net:{path},sims=20")
    first, second = (aleazero.make_player(spec, PIG).select_many(states, [1, 2, 3]) for spec in specs)
    assert first == second


@pytest.mark.parametrize(
    ("spec", "game", "message"),
    [
        ("net:{}", "yatzy1", "has game 'pig', expected 'yatzy'"),
        ("plan:net={},evaluator=rollout", "pig", "both net and evaluator are given, expected one of them"),
        ("net:{},c=2", "pig", "c requires a search, expected none"),
        ("net:{},prior_temperature=1", "pig", "prior_temperature requires a search, expected none"),
        ("net:{},inference=torch", "pig", "inference is 'torch', expected none: value networks do not use it"),
        ("search:net={},prior_temperature=0", "pig", "prior_temperature is 0.0, expected a number above 0"),
        ("search:evaluator=uniform,prior_temperature=1", "pig", "prior_temperature is 1.0, expected none"),
        ("search:net=dummy,prior_temperature=1", "pig", "dummy has its own priors"),
        ("plan:net=no/such.file", "pig", "no network at 'no/such.file'"),
    ],
)
def test_errors_are_reported_in_one_line(nets, spec, game, message):
    with pytest.raises(aleazero.AleaZeroError, match=message) as error:
        aleazero.make_player(spec.format(nets["pig"]), GAMES[game])
    assert "\n" not in str(error.value)


def test_other_files_are_rejected(nets, tmp_path):
    other = aleazero.load_game("pig", target=30)
    with pytest.raises(aleazero.AleaZeroError, match=r"has params {'target': 20}, expected {'target': 30}"):
        aleazero.make_player(f"net:{nets['pig']}", other)
    save_file({"weight": np.zeros(3, np.float32)}, tmp_path / "foreign")
    with pytest.raises(aleazero.AleaZeroError, match="is a safetensors file of another program"):
        aleazero.make_player(f"plan:net={tmp_path / 'foreign'}", PIG)
