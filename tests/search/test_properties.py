"""Properties of the search that hold for every game and seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tree_game import chance, decision, start, terminal, tree_game

import aleazero
from aleazero import ChanceConfig, Rollout, Search, SearchConfig, Uniform


@pytest.mark.parametrize("loop", ["closed", "open"])
@pytest.mark.parametrize("evaluator", [Uniform(), Rollout()])
def test_a_chance_node_with_one_outcome_equals_none(backend: str, loop: str, evaluator) -> None:
    def tree(sure):
        low = decision(1, {0: terminal(1, -1), 1: sure(terminal(-1, 1)), 2: terminal(0, 0)}, "low")
        high = decision(0, {0: sure(terminal(0.5, -0.5)), 1: terminal(-0.25, 0.25)}, "high")
        return decision(0, {0: sure(low), 1: high, 2: sure(sure(terminal(0.1, -0.1)))}, "root")

    game = tree_game(players=2, utility=(-1.0, 1.0))
    config = SearchConfig(num_simulations=300, seed=4, chance=ChanceConfig(loop=loop, pick="sample"))
    with_chance, without = (
        Search(game, evaluator, config, backend=backend).run(start(game, tree(sure)))
        for sure in (lambda node: chance([(3, 1, node)]), lambda node: node)
    )
    if isinstance(evaluator, Rollout):  # the same playouts need the same draws: compare what is decided at once
        assert with_chance.best_action == without.best_action
        return
    np.testing.assert_array_equal(with_chance.visits, without.visits)
    np.testing.assert_array_equal(with_chance.q, without.q)
    np.testing.assert_array_equal(with_chance.value, without.value)


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_no_randomness_is_drawn_on_a_decision_edge(backend: str, loop: str) -> None:
    """Without chance, and with an evaluator that draws nothing, every seed gives the same search."""
    game = aleazero.load_game("tic_tac_toe")
    chance_config = ChanceConfig(loop=loop, pick="sample")
    results = [
        Search(game, "uniform", SearchConfig(num_simulations=400, seed=seed, chance=chance_config), backend=backend)
        .run(game.new_initial_state())
        .to_dict()
        for seed in (0, 1, 2**63)
    ]
    for result in results:
        del result["config"]
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("in_flight", [1, 8])
def test_outcomes_at_an_afterstate_follow_the_true_distribution(in_flight: int) -> None:
    """A chi-square over 2048's outcomes at a chance root (90 % twos), and over pig's faces behind an action."""
    game = aleazero.load_game("2048")
    state = game.state_from_text("4 2 0 0/2 4 8 0/0 0 2 0/16 2 0 0").child(1)
    assert state.is_chance_node()
    result = Search(game, "uniform", SearchConfig(num_simulations=40_000, seed=8, in_flight=in_flight)).run(state)
    assert result.best_action is None
    assert not len(result.actions)
    visits = np.array([outcome.visits for outcome in result.outcomes])
    expected = np.array([outcome.probability for outcome in result.outcomes]) * visits.sum()
    assert visits.sum() == 40_000
    assert stats.chisquare(visits, expected).pvalue > 1e-4

    pig = aleazero.load_game("pig", target=20)
    config = SearchConfig(num_simulations=40_000, seed=9, in_flight=in_flight)
    roll = Search(pig, "uniform", config).run(pig.state_from_text("3-4 turn 2")).tree(2).root["children"]
    faces = next(child for child in roll if child["text"] == "roll")["children"]
    assert stats.chisquare([face["visits"] for face in faces]).pvalue > 1e-4


def test_draws_differ_from_simulation_to_simulation_and_depth_to_depth() -> None:
    """Two dice in a row are independent: all 36 pairs come, evenly."""
    pair = chance([(a, 1, chance([(b, 1, terminal(a / 10, b / 10)) for b in range(6)])) for a in range(6)])
    game = tree_game(players=2, utility=(-1.0, 1.0))
    result = Search(game, "uniform", SearchConfig(num_simulations=36_000, seed=3)).run(start(game, pair))
    counts = [second["visits"] for first in result.tree(2).root["children"] for second in first["children"]]
    assert len(counts) == 36
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("mode", ["count", "virtual_loss"])
@pytest.mark.parametrize("loop", ["closed", "open"])
def test_visits_in_flight_return_to_zero(backend: str, mode: str, loop: str) -> None:
    game = aleazero.load_game("pig", target=20)
    config = SearchConfig(
        num_simulations=501, in_flight=16, in_flight_mode=mode, chance=ChanceConfig(loop=loop, pick="sample")
    )
    search = Search(game, "rollout", config, backend=backend)
    result = search.run(game.state_from_text("0-0 turn 5"))
    assert result.visits.sum() == 501
    assert search._driver.group.trees[0].in_flight() == 0
    assert result.stats.collisions > 0


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_one_simulation_follows_the_prior(backend: str, loop: str) -> None:
    game = aleazero.load_game("tic_tac_toe")

    def favours(action):
        def evaluator(observations, legal_masks):
            logits = np.zeros(legal_masks.shape)
            logits[:, action] = 2.0
            return logits, np.zeros((len(logits), 2))

        return evaluator

    for action in range(9):
        config = SearchConfig(num_simulations=1, chance=ChanceConfig(loop=loop, pick="sample"))
        result = Search(game, favours(action), config, backend=backend).run(game.new_initial_state())
        assert result.best_action == action
        assert result.visits.sum() == 1


@pytest.mark.parametrize("loop", ["closed", "open"])
@pytest.mark.parametrize("selection", ["puct", "uct"])
def test_an_immediate_win_is_found_from_uniform_priors_and_zero_values(backend: str, loop: str, selection: str) -> None:
    game = aleazero.load_game("tic_tac_toe")
    for position, winning in (("xx./oo./...", "c1"), ("x.o/xo./...", None)):
        state = game.state_from_text(position)
        wins = [a for a in state.legal_actions() if state.child(a).is_terminal()]
        config = SearchConfig(num_simulations=200, selection=selection, chance=ChanceConfig(loop=loop, pick="sample"))
        result = Search(game, "uniform", config, backend=backend).run(state)
        assert result.best_action in wins, (position, winning)


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_only_allowed_actions_are_visited(backend: str, loop: str) -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text("4 2 0 0/2 4 8 0/0 0 2 0/16 2 0 0")
    legal = state.legal_actions()
    config = SearchConfig(num_simulations=60, noise_alpha=0.5, chance=ChanceConfig(loop=loop, pick="sample"))
    for allowed in ([legal[0]], legal[1:], [legal[-1], legal[0]]):
        result = Search(game, "rollout", config, backend=backend).run(state, actions=allowed)
        assert result.actions.tolist() == sorted(allowed)
        assert {child["label"] for child in result.tree(1).root["children"]} <= set(allowed)
        assert result.sample_action(temperature=5.0) in allowed


def test_values_are_never_negated_when_a_player_moves_twice(backend: str) -> None:
    """Player 0 decides twice in a row; a search that flips signs per ply takes the losing second move."""
    second = decision(0, {0: terminal(-1, 1), 1: terminal(1, -1)}, "agn")
    game = tree_game(players=2, utility=(-1.0, 1.0))
    root = decision(0, {0: second, 1: terminal(0, 0)}, "root")
    result = Search(game, "uniform", SearchConfig(num_simulations=400), backend=backend).run(start(game, root))
    assert result.best_action == 0
    assert result.q[0] > 0.8


def test_the_sum_of_root_visits_is_the_number_of_simulations(backend: str) -> None:
    game = aleazero.load_game("pig", target=20)
    for simulations in (1, 2, 63, 64, 65, 300):
        for in_flight in (1, 3, 64):
            config = SearchConfig(num_simulations=simulations, in_flight=in_flight)
            result = Search(game, "uniform", config, backend=backend).run(game.state_from_text("0-0 turn 5"))
            assert result.visits.sum() == simulations == result.stats.simulations


def test_noise_changes_only_the_priors(backend: str) -> None:
    game = aleazero.load_game("tic_tac_toe")
    calm, noisy, other = (
        Search(game, "uniform", SearchConfig(num_simulations=50, noise_alpha=alpha, seed=seed), backend=backend).run(
            game.new_initial_state()
        )
        for alpha, seed in ((0.0, 1), (0.3, 1), (0.3, 2))
    )
    assert calm.priors == pytest.approx(1 / 9)
    assert noisy.priors.sum() == pytest.approx(1.0)
    assert noisy.priors.min() >= 0.75 / 9
    assert not np.array_equal(noisy.priors, other.priors)


def test_temperature_affects_only_the_sampled_action(backend: str) -> None:
    game = aleazero.load_game("tic_tac_toe")
    state = game.new_initial_state()
    results = [
        Search(game, "rollout", SearchConfig(num_simulations=300, temperature=t), backend=backend).run(state)
        for t in (0.0, 1.0, 3.0)
    ]
    for result in results[1:]:
        np.testing.assert_array_equal(result.policy, results[0].policy)
    assert results[0].sample_action() == results[0].best_action
    drawn = [results[1].sample_action(seed=seed) for seed in range(3000)]
    counts = np.array([drawn.count(action) for action in results[1].actions])
    assert stats.chisquare(counts, results[1].policy * 3000).pvalue > 1e-4
    hot = [results[2].sample_action(seed=seed) for seed in range(3000)]
    flat = np.std([hot.count(action) for action in results[2].actions])
    assert flat < np.std(counts)
