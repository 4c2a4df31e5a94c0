"""Statistical tests of the chance settings: bias, bounds, variance and cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tree_game import chance, start, terminal, tree_game

import aleazero
from aleazero import CHANCE, ESTIMATE, EXACT, NONE, ChanceConfig, Forest, Search, SearchConfig, Widening
from aleazero.games.base import Trust
from aleazero.oracles.solve import solve

WEIGHTS = [1, 7, 2, 5, 3, 2]
VALUES = [0.9, -0.2, -0.8, 0.5, 0.1, -0.6]
SHARES = np.array(WEIGHTS) / sum(WEIGHTS)
EXPECTED = float(SHARES @ np.array(VALUES))
DEVIATION = math.sqrt(float(SHARES @ np.array(VALUES) ** 2) - EXPECTED**2)
NARROW = Widening(c=1.0, alpha=0.4, max_children=3)


def die_root(values: list[float]):
    game = tree_game(players=1, utility=(-1.0, 1.0))
    ends = [(i, weight, terminal(value)) for i, (weight, value) in enumerate(zip(WEIGHTS, values, strict=True))]
    return game, start(game, chance(ends, "die"))


def values_over_seeds(config: ChanceConfig, simulations: int, seeds: int, values: list[float] = VALUES) -> np.ndarray:
    game, state = die_root(values)
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
    # and the variance is that of independent draws: repeated draws would change it
    assert 0.6 < found.var() / (DEVIATION**2 / (simulations * samples)) < 1.5


@pytest.mark.parametrize("config", [ChanceConfig(pick="stratified"), ChanceConfig.preset("stratified")])
def test_error_of_stratified_picks_shrinks_as_one_over_n(config: ChanceConfig) -> None:
    """So does the bias. No N is a multiple of 20, for which all shares could be exact."""
    ordered = sorted(VALUES)
    bound = sum(ordered[3:]) - sum(ordered[:3])  # error · N at most, where each count is within 1 of N·p
    for n in (7, 33, 151, 633):
        assert (abs(values_over_seeds(config, n, 40) - EXPECTED) * n).max() < bound
    drawn = values_over_seeds(ChanceConfig(), 633, 40)
    assert math.sqrt(((drawn - EXPECTED) ** 2).mean()) * 633 > 2 * bound  # draws do not keep it


def mean_over_seen(values: list[float], draws: int) -> float:
    """Return the mean of the expectation over the outcomes seen in n draws, by inclusion and exclusion."""
    subsets = [np.array(list(chosen), np.int64) for k in range(1, 7) for chosen in combinations(range(6), k)]
    mean = 0.0
    for seen in subsets:
        parts = [part for part in subsets if set(part) <= set(seen)]
        chance_of_it = sum((-1) ** (len(seen) - len(part)) * SHARES[part].sum() ** draws for part in parts)
        mean += chance_of_it * float(SHARES[seen] @ np.array(values)[seen]) / SHARES[seen].sum()
    return mean


def test_the_bias_of_expectations_shrinks_faster_than_one_over_n() -> None:
    """Until all outcomes were seen, the others have the mean of those seen; here their values are higher."""
    values = [0.9, -0.8, 0.6, -0.4, 0.2, 0.6]
    truth = float(SHARES @ np.array(values))
    scaled = []
    for n in (12, 24, 48):
        found = values_over_seeds(ChanceConfig(backup="expectation"), n, 600, values)
        error = found.std(ddof=1) / math.sqrt(len(found))
        assert (abs(found - truth) > 1e-9).mean() > 0.05  # some have not seen all
        assert abs(found.mean() - mean_over_seen(values, n)) < 4.5 * error
        assert found.mean() < truth - 4.5 * error
        scaled.append((truth - found.mean()) * n)
    assert scaled[0] > scaled[1] > scaled[2]


def test_expectation_is_exact_once_all_outcomes_were_drawn() -> None:
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


class Judge:
    """A fixed value of each leaf, by its observation, and equal priors."""

    def __init__(self, game: aleazero.Game, value: Callable[[np.ndarray], np.ndarray], decisions: Trust) -> None:
        self.game, self.value, self.decisions = game, value, decisions

    def __call__(self, observations, legal_masks):
        own = self.value(np.asarray(observations, np.float64))
        return np.zeros(legal_masks.shape), np.stack([own, -own][: self.game.num_players], axis=1)


def lead(observations: np.ndarray) -> np.ndarray:
    """Pig: own points and the turn's, less the other's."""
    return observations[:, 0] + observations[:, 2] - observations[:, 1]


def gradient(observations: np.ndarray) -> np.ndarray:
    """2048: large tiles in the last cells."""
    levels = observations[:, :-1].reshape(len(observations), 16, -1)
    return levels @ np.arange(levels.shape[2]) @ np.arange(16.0)


def pips(observations: np.ndarray) -> np.ndarray:
    """Return the sum of five dice."""
    return observations[:, :6] @ np.arange(1.0, 7.0)


FIVE_DICE = str(Path(__file__).resolve().parents[2] / "examples" / "five_dice.py")
ROLLS = {
    "pig": ({"target": 20}, "3-5 turn 4 player 0 rolling", lead, 12),
    "2048": ({}, "4 2 0 0/2 4 8 0/0 0 2 0/16 2 0 0", gradient, 60),
    FIVE_DICE: ({}, "- rerolls 2 rolling", pips, 400),
}


def variance_of_a_roll(name: str, backup: str, decisions: Trust, simulations: int) -> float:
    """Return the variance of the value over 150 seeds. Outcomes are drawn; the backup may differ."""
    params, position, value, _ = ROLLS[name]
    game = aleazero.load_game(name, **params)
    state = game.state_from_text(position)
    state = state.child(1) if name == "2048" else state
    assert state.kind() == CHANCE
    config = SearchConfig(num_simulations=simulations, chance=ChanceConfig(pick="sample", backup=backup))
    found = Forest(game, Judge(game, value, decisions), config, trees=150).run([state] * 150, seeds=range(150))
    return float(np.var([result.value[0] for result in found], ddof=1))


@pytest.mark.parametrize("name", list(ROLLS), ids=["pig", "2048", "five_dice"])
def test_an_expectation_has_lower_variance_than_the_mean_of_the_same_draws(name: str) -> None:
    """An F test, at a roll above leaves that stand, with few draws an outcome: not all are seen."""
    drawn, weighed = (variance_of_a_roll(name, backup, EXACT, ROLLS[name][3]) for backup in ("sample", "expectation"))
    assert weighed > 0.0
    assert stats.f.sf(drawn / weighed, 149, 149) < 0.001


def test_an_expectation_has_lower_variance_in_a_tree_of_few_outcomes() -> None:
    """In pig. With many outcomes the variance comes from below the roll, and both backups are about equal."""
    drawn, weighed = (variance_of_a_roll("pig", backup, ESTIMATE, 200) for backup in ("sample", "expectation"))
    assert stats.f.sf(drawn / weighed, 149, 149) < 0.001


@pytest.mark.parametrize("in_flight", [1, 2, 9])
def test_exact_expansion_above_exact_leaves_is_the_expectation(in_flight: int) -> None:
    solutions = {
        name: solve(aleazero.load_game(name, **params)) for name, params in (("dice_game", {}), ("pig", {"target": 20}))
    }
    for name, position in (("dice_game", "14"), ("pig", "5-9 turn 7 player 1")):
        solution = solutions[name]

        class Below:
            """Exact values of decisions; not called for chance nodes."""

            sees_states, afterstates, decisions = True, NONE, EXACT

            def __init__(self, table) -> None:
                self.table = table

            def __call__(self, states):
                return np.zeros((len(states), self.table.game.num_actions)), self.table(states)[1]

        game = solution.game
        state = game.state_from_text(position)
        after = state.child(0)
        expected = sum(p * solution.value(after.child(o))[state.current_player()] for o, p in after.chance_outcomes())
        for simulations in (1, 40):  # the value does not drift away from that of the first visit
            config = SearchConfig(num_simulations=simulations, in_flight=in_flight, chance=ChanceConfig(exact_up_to=6))
            result = Search(game, Below(solution), config).run(state, actions=[0])
            assert (result.actions.tolist(), result.visits.tolist()) == ([0], [simulations])
            assert result.q[0] == pytest.approx(expected, abs=1e-9)
            assert result.stats.exact_expansions == 1


def test_four_samples_per_visit_halve_the_variance() -> None:
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
    assert stats.f.sf(variances[0] / variances[1] / 2, 399, 399) < 0.01  # significant
    assert costs == [{1}, {4}]
