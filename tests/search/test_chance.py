"""Statistics of the chance settings: what is unbiased, what is bounded, what lowers the variance, what it costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tree_game import chance, start, terminal, tree_game

import aleazero
from aleazero import EXACT, NONE, ChanceConfig, Search, SearchConfig, Widening
from aleazero.oracles.solve import solve

WEIGHTS = [1, 7, 2, 5, 3, 2]
VALUES = [0.9, -0.2, -0.8, 0.5, 0.1, -0.6]
SHARES = np.array(WEIGHTS) / sum(WEIGHTS)
EXPECTED = float(SHARES @ np.array(VALUES))
DEVIATION = math.sqrt(float(SHARES @ np.array(VALUES) ** 2) - EXPECTED**2)
NARROW = Widening(c=1.0, alpha=0.4, max_children=3)


def die_root():
    game = tree_game(players=1, utility=(-1.0, 1.0))
    ends = [(i, weight, terminal(value)) for i, (weight, value) in enumerate(zip(WEIGHTS, VALUES, strict=True))]
    return game, start(game, chance(ends, "die"))


def values_over_seeds(config: ChanceConfig, simulations: int, seeds: int) -> np.ndarray:
    game, state = die_root()
    return np.array(
        [
            Search(game, "uniform", SearchConfig(num_simulations=simulations, seed=seed, chance=config))
            .run(state)
            .value[0]
            for seed in range(seeds)
        ]
    )


@pytest.mark.parametrize("simulations", [1, 3, 12, 60])
@pytest.mark.parametrize("widening", [None, NARROW])
@pytest.mark.parametrize("samples", [1, 4])
def test_sampled_chance_is_unbiased(simulations: int, widening: Widening | None, samples: int) -> None:
    """The mean over 200 seeds lies within 4.5 standard errors of the exact expectation, at every budget."""
    found = values_over_seeds(ChanceConfig(widening=widening, samples_per_visit=samples), simulations, 200)
    error = DEVIATION / math.sqrt(simulations * samples * len(found))
    assert abs(found.mean() - EXPECTED) < 4.5 * error
    # and the spread is what independent draws have: a made-up or repeated draw would show here
    assert 0.6 < found.var() / (DEVIATION**2 / (simulations * samples)) < 1.5


@pytest.mark.parametrize("config", [ChanceConfig(pick="stratified"), ChanceConfig.preset("stratified")])
def test_the_bias_of_strata_shrinks_as_one_over_n(config: ChanceConfig) -> None:
    biases = [abs(values_over_seeds(config, n, 40).mean() - EXPECTED) * n for n in (10, 40, 160, 640)]
    assert max(biases) < 2.0  # bias · N stays bounded: each count is within 2 of N·p


def test_expectation_over_samples_is_exact_once_all_were_seen() -> None:
    found = values_over_seeds(ChanceConfig(backup="expectation"), 400, 20)
    np.testing.assert_allclose(found, EXPECTED, atol=1e-12)


@pytest.mark.parametrize("in_flight", [1, 7])
def test_stratified_counts_stay_within_two_of_the_expectation(in_flight: int) -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text("4 2 0 0/2 4 8 0/0 0 2 0/16 2 0 0").child(1)
    for simulations in (1, 2, 5, 17, 60, 301, 1000):
        config = SearchConfig(num_simulations=simulations, in_flight=in_flight, chance=ChanceConfig(pick="stratified"))
        outcomes = Search(game, "uniform", config).run(state).outcomes
        for outcome in outcomes:
            assert abs(outcome.visits - simulations * outcome.probability) < 2.0


@pytest.mark.parametrize("pick", ["sample", "stratified"])
@pytest.mark.parametrize("in_flight", [1, 5])
def test_no_more_children_than_the_schedule_allows(pick: str, in_flight: int) -> None:
    """At a chance node with 60 outcomes, and blocked outcomes are valued, not drawn again."""
    game = tree_game(players=1, utility=(-1.0, 1.0))
    state = start(game, chance([(i, 1 + i % 3, terminal(i / 100)) for i in range(60)], "many"))
    for widening in (Widening(), NARROW, Widening(c=3.0, alpha=0.5, max_children=20)):
        for simulations in (1, 2, 10, 100, 400):
            chances = ChanceConfig(widening=widening, pick=pick)
            config = SearchConfig(num_simulations=simulations, chance=chances, in_flight=in_flight)
            found = Search(game, "uniform", config).run(state)
            room = min(widening.max_children, math.ceil(widening.c * simulations**widening.alpha))
            assert found.stats.chance_children <= room
            assert found.stats.blocked == found.stats.transient
            stored = sum(outcome.visits for outcome in found.outcomes)
            assert stored + found.stats.transient == simulations


def test_expectation_has_lower_variance_than_sampling() -> None:
    """On the dice game and pig, over 60 seeds: an F test."""
    for name, params, position in (("dice_game", {}, "12"), ("pig", {"target": 20}, "3-5 turn 4")):
        game = aleazero.load_game(name, **params)
        state = game.state_from_text(position)
        variances = {}
        for preset in ("sampling", "stratified"):
            found = [
                Search(game, "uniform", SearchConfig(num_simulations=400, c=0.3, seed=seed, chance=preset)).run(state)
                for seed in range(60)
            ]
            variances[preset] = np.var([result.value[0] for result in found], ddof=1)
        assert stats.f.sf(variances["sampling"] / max(variances["stratified"], 1e-30), 59, 59) < 0.001


@pytest.mark.parametrize("in_flight", [1, 2, 9])
@pytest.mark.parametrize("backup", ["sample", "expectation"])
def test_exact_expansion_above_exact_leaves_is_the_expectation(in_flight: int, backup: str) -> None:
    solutions = {
        name: solve(aleazero.load_game(name, **params)) for name, params in (("dice_game", {}), ("pig", {"target": 20}))
    }
    for name, position in (("dice_game", "14"), ("pig", "5-9 turn 7 player 1")):
        solution = solutions[name]

        class Below:
            """Exact at decisions, never asked at chance nodes."""

            sees_states, afterstates, decisions = True, NONE, EXACT

            def __init__(self, table) -> None:
                self.table = table

            def __call__(self, states):
                return np.zeros((len(states), self.table.game.num_actions)), self.table(states)[1]

        game = solution.game
        state = game.state_from_text(position)
        config = SearchConfig(
            num_simulations=40, in_flight=in_flight, chance=ChanceConfig(exact_up_to=6, backup=backup)
        )
        result = Search(game, Below(solution), config).run(state)
        roll = result.actions.tolist().index(0)
        after = state.child(0)
        expected = sum(p * solution.value(after.child(o))[state.current_player()] for o, p in after.chance_outcomes())
        if backup == "expectation" or result.visits[roll] == 1:
            assert result.q[roll] == pytest.approx(expected, abs=1e-9)
        assert result.stats.exact_expansions == 1


def test_four_samples_a_visit_halve_the_variance_and_cost_four_evaluations() -> None:
    """At a chance node over leaves that must be evaluated: the die of the dice game, valued by its points."""
    game = aleazero.load_game("dice_game")
    state = game.state_from_text("7 rolling")
    variances, costs = [], []
    for samples in (1, 4):
        config = [
            SearchConfig(num_simulations=1, seed=seed, chance=ChanceConfig(samples_per_visit=samples))
            for seed in range(400)
        ]
        found = [Search(game, "uniform", one).run(state) for one in config]
        variances.append(np.var([result.value[0] for result in found]))
        costs.append({result.stats.evaluations for result in found})
    assert variances[1] <= variances[0] / 2
    assert stats.f.sf(variances[0] / variances[1] / 2, 399, 399) < 0.01  # and not by luck
    assert costs == [{1}, {4}]
