"""The search against exact values: expectimax one ply deep, and solved games."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import EXACT, NONE, ChanceConfig, Search, SearchConfig
from aleazero.oracles.solve import solve


def expectimax_one_ply(solution, state):
    """Return the exact expectation after each action, from the exact values one ply below."""
    found = {}
    for action in state.legal_actions():
        after = state.child(action)
        if after.is_chance_node():
            found[action] = sum(p * solution.value(after.child(o)) for o, p in after.chance_outcomes())
        else:
            found[action] = solution.value(after)
    return found


@pytest.mark.parametrize(
    ("name", "params", "positions"),
    [
        ("dice_game", {}, ["0", "7", "14", "19"]),
        ("pig", {"target": 20}, ["0-0 turn 7", "12-15 turn 4 player 1", "15-2 turn 3 player 0"]),
        ("tic_tac_toe", {}, ["x.o/.x./o..", "xo./.../..."]),
    ],
)
def test_q_over_exact_leaves_is_expectimax(name: str, params: dict, positions: list[str], backend: str) -> None:
    game = aleazero.load_game(name, **params)
    solution = solve(game)
    for position in positions:
        state = game.state_from_text(position)
        mover = state.current_player()
        result = Search(game, solution, SearchConfig(num_simulations=64, selection="uct"), backend=backend).run(state)
        exact = expectimax_one_ply(solution, state)
        for action, q in zip(result.actions, result.q, strict=True):
            assert q == pytest.approx(exact[int(action)][mover], abs=1e-9)


def test_exact_values_of_decisions_are_averaged_over_outcomes(backend: str) -> None:
    """The evaluator is exact below chance nodes, and not called for them: q is the mean over the drawn outcomes."""
    game = aleazero.load_game("dice_game")
    solution = solve(game)

    class DecisionsOnly:
        sees_states, afterstates, decisions = True, NONE, EXACT

        def __call__(self, states):
            assert not any(state.is_chance_node() for state in states)
            return solution(states)

    state = game.state_from_text("14")
    result = Search(game, DecisionsOnly(), SearchConfig(num_simulations=500, chance="sampling"), backend=backend).run(
        state
    )
    roll = next(child for child in result.tree(2).root["children"] if child["text"] == "roll")
    drawn = sum(child["visits"] * solution.value(state.child(0).child(child["label"]))[0] for child in roll["children"])
    assert result.q[0] == pytest.approx(drawn / roll["visits"], abs=1e-9)
    assert result.stats.evaluations <= 1 + 6


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_dice_game_values_converge_to_exact_values(loop: str) -> None:
    game = aleazero.load_game("dice_game")
    solution = solve(game)
    chance = ChanceConfig(loop=loop, pick="sample")
    for score in range(20):
        state = game.state_from_text(str(score))
        config = SearchConfig(num_simulations=50_000, c=0.05, chance=chance)
        result = Search(game, "rollout", config).run(state)
        assert state.action_to_string(result.best_action) == "roll"
        assert result.visits[0] > result.visits[1]
        if score >= 14:
            assert abs(result.value[0] - solution.value(state)[0]) < 0.15


@pytest.mark.parametrize("loop", ["closed", "open"])
def test_roll_is_best_with_default_settings(loop: str) -> None:
    game = aleazero.load_game("dice_game")
    for score in range(20):
        config = SearchConfig(num_simulations=5000, chance=ChanceConfig(loop=loop, pick="sample"))
        result = Search(game, "rollout", config).run(game.state_from_text(str(score)))
        assert result.visits[0] > result.visits[1]


@pytest.mark.parametrize("score", [0, 5, 10])
def test_errors_from_low_scores_shrink_with_the_budget(score: int) -> None:
    game = aleazero.load_game("dice_game")
    state = game.state_from_text(str(score))
    exact = solve(game).value(state)[0]
    errors = []
    for simulations in (500, 5000, 50_000):
        found = [
            Search(game, "rollout", SearchConfig(num_simulations=simulations, c=0.05, seed=seed)).run(state).value[0]
            for seed in range(3)
        ]
        errors.append(abs(np.mean(found) - exact))
    assert errors[0] > errors[1] > errors[2]


def test_pig_from_the_start_is_near_value_iteration() -> None:
    game = aleazero.load_game("pig", target=20)
    state = game.new_initial_state()
    exact = solve(game).value(state)
    for seed in range(5):
        result = Search(game, "rollout", SearchConfig(num_simulations=20_000, seed=seed)).run(state)
        np.testing.assert_allclose(result.value, exact, atol=0.05)


def test_errors_in_pig_shrink_with_the_budget() -> None:
    """Positions in which one player is far behind need deep searches; their errors are larger, and must shrink."""
    game = aleazero.load_game("pig", target=20)
    solution = solve(game)
    means = []
    for simulations in (1000, 10_000, 100_000):
        errors = []
        for position in ("5-9 turn 7 player 1", "12-3 turn 4 player 0", "0-18 turn 5 player 0", "10-15 turn 3"):
            state = game.state_from_text(position)
            result = Search(game, "rollout", SearchConfig(num_simulations=simulations, c=0.5)).run(state)
            errors.append(abs(result.value[0] - solution.value(state)[0]))
        means.append(np.mean(errors))
    assert means[0] > means[1] > means[2]
