"""Exact values of some states, with another evaluator for all others."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import ESTIMATE, EXACT, NONE, ConfigError, EvaluatorError, Search, SearchConfig
from aleazero.native.random import ROLLOUT, extend_key, stream_key
from aleazero.oracles.solve import solve
from aleazero.search.evaluator import Rollout
from aleazero.search.hybrid import Hybrid, playout_values
from aleazero.search.plain.playout import value_by_playouts
from aleazero.search.plan.planner import Planner

POSITION = "10-12 turn 3 player 0"


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("pig", target=20)


@pytest.fixture(scope="module")
def solution(game):
    return solve(game)


def table_of(solution, kinds):
    """Return a table of the states of these kinds with an even number of points on the board."""

    def table(states):
        known = np.array([covers(state) and state.kind() in kinds for state in states])
        values = [
            np.roll(solution.value(state), -state.viewer()) if is_known else [0.0, 0.0]
            for state, is_known in zip(states, known, strict=True)
        ]
        return np.array(values), known

    return table


def covers(state):
    return sum(int(part) for part in state.to_text().split()[0].split("-")) % 2 == 0


def hybrid(game, solution, outside="uniform", kinds=(aleazero.CHANCE,), **covered):
    return Hybrid(game, table_of(solution, kinds), outside, **({"chance": True} | covered))


@pytest.mark.parametrize("chance", ["sampling", "stratified", "progressive", "full"])
def test_nothing_is_expanded_below_exact_values(game, solution, backend, chance):
    """The table has the chance nodes at 10-12; after a turn with 3 points, at 13-12, the search continues below."""
    config = SearchConfig(num_simulations=300, chance=chance)
    result = Search(game, hybrid(game, solution), config, backend=backend).run(game.state_from_text(POSITION))
    seen = {True: 0, False: 0}

    def visit(node, state):
        for child in node["children"]:
            after = state.child(child["label"])
            if after.is_chance_node():
                seen[covers(after)] += 1
                if covers(after):
                    assert not child["children"]
                    assert child["value"] == pytest.approx(solution.value(after), abs=1e-12)
            visit(child, after)

    visit(result.tree(8).root, game.state_from_text(POSITION))
    assert seen[True] > 0
    assert seen[False] > 0


def test_values_of_decisions_can_be_exact_for_some_states(game, solution, backend):
    evaluator = hybrid(game, solution, kinds=(aleazero.DECISION,), chance=False, decisions=True)
    assert (evaluator.afterstates, evaluator.decisions) == (NONE, ESTIMATE)
    config = SearchConfig(num_simulations=200, chance="sampling")
    result = Search(game, evaluator, config, backend=backend).run(game.state_from_text(POSITION))
    exact = expanded = 0

    def visit(node, state):
        nonlocal exact, expanded
        for child in node["children"]:
            after = state.child(child["label"])
            if after.current_player() >= 0 and covers(after):
                exact += 1
                assert not child["children"]
            elif after.current_player() >= 0:
                expanded += bool(child["children"])
            visit(child, after)

    visit(result.tree(8).root, game.state_from_text(POSITION))
    assert exact > 0
    assert expanded > 0


@pytest.mark.parametrize("outside", ["uniform", "rollout:2"])
@pytest.mark.parametrize("in_flight", [1, 4])
def test_compiled_and_plain_search_agree(game, solution, outside, in_flight):
    config = SearchConfig(num_simulations=150, in_flight=in_flight, seed=3)
    results = [
        Search(game, hybrid(game, solution, outside), config, backend=backend).run(game.state_from_text(POSITION))
        for backend in ("compiled", "plain")
    ]
    np.testing.assert_array_equal(results[0].visits, results[1].visits)
    np.testing.assert_allclose(results[0].q, results[1].q, atol=1e-12)
    assert results[0].stats.evaluations == results[1].stats.evaluations


def test_a_complete_table_is_exact_everywhere(game, solution, backend):
    every = Hybrid(game, lambda s: (solution(s)[1], np.ones(len(s), bool)), chance=True, complete=True)
    assert every.afterstates is EXACT
    assert not hasattr(every, "exact")
    config = SearchConfig(num_simulations=50, chance="open")
    result = Search(game, every, config, backend=backend).run(game.state_from_text(POSITION))
    assert result.q[0] == pytest.approx(solution.action_values(game.state_from_text(POSITION))[0][0], abs=1e-12)


def test_open_loop_needs_a_complete_table(game, solution, backend):
    with pytest.raises(ConfigError, match="chance is open, expected a closed loop: the evaluator's values are exact"):
        Search(game, hybrid(game, solution), SearchConfig(chance="open"), backend=backend)


class Decisions:
    """Values decisions by their number of legal actions, and fails at chance nodes."""

    def __call__(self, observations, masks):
        assert masks.any(axis=1)[: len(masks)].sum() == (np.abs(observations).sum(axis=1) > 0).sum()  # padding is zero
        values = masks.sum(axis=1, keepdims=True).astype(float)
        return np.tile(np.arange(masks.shape[1]), (len(masks), 1)), np.concatenate((values, -values), axis=1)


def test_an_evaluator_without_chance_values_is_averaged_over_outcomes(game, solution):
    """Both actions are legal after every roll but a 1, after which the other player rolls first."""
    evaluator = hybrid(game, solution, Decisions())
    assert evaluator.afterstates is ESTIMATE
    rolls = game.state_from_text("10-13 turn 3 player 0").child(0)
    assert rolls.is_chance_node()
    decision = game.state_from_text("10-13 turn 3 player 0")
    logits, values = evaluator([rolls, decision])

    def expected(state):
        if state.is_chance_node():
            return sum(p * expected(state.child(o)) for o, p in state.chance_outcomes())
        if state.is_terminal():
            return np.array(state.returns())
        value = float(len(state.legal_actions()))
        return np.array([value, -value] if state.current_player() == 0 else [-value, value])

    assert values[0] == pytest.approx(np.roll(expected(rolls), -rolls.viewer()))
    assert values[1].tolist() == [2.0, -2.0]
    assert logits[1].tolist() == [0.0, 1.0]
    assert not logits[0].any()


def test_playouts_depend_on_the_state_only(game):
    states = [game.state_from_text(text) for text in ("10-13 turn 3 player 0", "3-5 turn 0 player 1")]
    rollout = Rollout(5)
    values = playout_values(game, rollout, states)
    np.testing.assert_array_equal(values, playout_values(game, rollout, states[::-1])[::-1])
    for state, value in zip(states, values, strict=True):
        key = stream_key(ROLLOUT)
        for number in state.vector.tolist():
            key = extend_key(key, number % 2**64)
        assert value.tolist() == value_by_playouts(rollout, state, key, 0)


def test_plans_use_the_table(game, solution):
    """All states after a roll at 10-12 are in the table, and those after 13-12 are not."""
    evaluator = hybrid(game, solution, kinds=(aleazero.DECISION,), chance=False, decisions=True)
    state = game.state_from_text(POSITION)
    roll, hold = state.legal_actions()
    values = Planner(game, evaluator, plies=1).plan(state).action_values(state)
    assert values[roll] == pytest.approx(solution.action_values(state)[roll], abs=1e-12)
    assert values[hold].tolist() == [0.0, 0.0]


def test_invalid_exactness_is_an_error(game, backend):
    class Wrong:
        sees_states = True

        def __call__(self, states):
            return np.zeros((len(states), game.num_actions)), np.zeros((len(states), 2))

        def exact(self, states):
            return [1.0] * len(states)

    with pytest.raises(EvaluatorError, match=r"exact returned float64 of shape \(1,\), expected booleans of shape"):
        Search(game, Wrong(), SearchConfig(num_simulations=5), backend=backend).run(game.state_from_text(POSITION))
    Wrong.sees_states = False
    with pytest.raises(ConfigError, match="expected sees_states = True as well"):
        Search(game, Wrong(), backend=backend)
