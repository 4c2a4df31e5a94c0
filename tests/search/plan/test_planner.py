"""The planner against expectimax without sharing, value iteration and hand counts; its twin, its plans, its errors."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import kept_dice as dice
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_plain_search import same as same_results
from tree_game import ACTIONS, Scripted, chance, decision, encode, start, terminal, tree_game

import aleazero
from aleazero import (
    CHANCE,
    DECISION,
    ESTIMATE,
    TERMINAL,
    ConfigError,
    EvaluatorError,
    GameError,
    IllegalActionError,
    Planner,
    PositionError,
    Rollout,
    Uniform,
)
from aleazero.games.kernel import KernelState
from aleazero.oracles.solve import solve

BACKENDS = ("compiled", "plain")
same = partial(same_results, depth=4)  # trees of plans are wide


class Fixed:
    """Arbitrary but fixed values of the observation, in seats relative to the viewer; it counts its batches."""

    def __init__(self, players: int, afterstates: int = 0) -> None:
        self.players, self.afterstates = players, afterstates
        self.batches: list[int] = []

    def __call__(self, observations, legal_masks):
        self.batches.append(len(observations))
        codes = np.asarray(observations, np.float64) @ np.cos(np.arange(observations.shape[1]) + 0.3)
        return np.zeros(legal_masks.shape), np.sin(np.outer(codes, np.arange(1, self.players + 1)) * 3.0)

    def value(self, state) -> np.ndarray:
        """By player, one state at a time."""
        _, values = Fixed.__call__(
            Fixed(self.players), state.observation_tensor()[None], state.legal_actions_mask()[None]
        )
        return np.array([values[0, (player - state.viewer()) % self.players] for player in range(self.players)])


# A separate expectimax, without shared states or layers. ``past(state, decisions, chances)`` returns where it ends.


def expectimax(state, past, leaf, decisions=0, chances=0, at_root=True) -> np.ndarray:
    if state.is_terminal():
        return np.array(state.returns())
    if not at_root and past(state, decisions, chances):
        return leaf(state)
    below = {}
    for label in state.legal_actions():
        after = state.child(label)
        run = state.kind() == DECISION and after.kind() == CHANCE
        below[label] = expectimax(after, past, leaf, decisions + (state.kind() == DECISION), chances + run, False)
    if state.kind() == CHANCE:
        return sum(p * below[outcome] for outcome, p in state.chance_outcomes())
    mover = state.current_player()
    return below[max(sorted(below), key=lambda action: below[action][mover])]


# -- random small games ----------------------------------------------------------------------------------------


@st.composite
def trees(draw, players: int):
    """A random graph of nodes: each leads only to those made before it, so that some are shared and none loops."""
    nodes = [terminal(*(draw(st.integers(-4, 4)) / 4 for _ in range(players))) for _ in range(draw(st.integers(2, 5)))]
    for _ in range(draw(st.integers(1, 9))):
        children = draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=4))
        interim = [draw(st.integers(-4, 4)) / 4 for _ in range(players)]
        if draw(st.booleans()):
            actions = draw(st.lists(st.integers(0, ACTIONS - 1), min_size=len(children), max_size=len(children),
                                    unique=True))  # fmt: skip
            mover = draw(st.integers(0, players - 1))
            nodes.append(decision(mover, dict(zip(actions, children, strict=True)), interim=interim))
        else:
            weights = [draw(st.integers(1, 5)) for _ in children]
            actor = draw(st.integers(0, players - 1))
            edges = [(i, weight, child) for i, (weight, child) in enumerate(zip(weights, children, strict=True))]
            nodes.append(chance(edges, interim=interim, actor=actor))
    return nodes[-1]


@st.composite
def games_and_trees(draw):
    players = draw(st.integers(1, 3))
    game = tree_game(players=players)
    return game, start(game, draw(trees(players)))


@settings(max_examples=120, deadline=None)
@given(games_and_trees())
def test_game_horizon_equals_expectimax_without_shared_states(case) -> None:
    game, state = case
    expected = expectimax(state, lambda *_: False, None)
    for backend in BACKENDS:
        plan = Planner(game, horizon="game", backend=backend).plan(state)
        np.testing.assert_allclose(plan.value(state), expected, atol=1e-12)
        for label, value in plan.action_values(state).items():
            np.testing.assert_allclose(value, expectimax(state.child(label), lambda *_: False, None), atol=1e-12)


@settings(max_examples=120, deadline=None)
@given(games_and_trees(), st.sampled_from([1, 2, 3, "turn"]), st.booleans())
def test_every_horizon_equals_expectimax_without_shared_states(case, horizon, afterstates: bool) -> None:
    """The frontier: decisions past the horizon, and afterstates if the evaluator values them."""
    game, state = case
    evaluator = Fixed(game.num_players, int(afterstates))
    mover = state.viewer()

    def past(state, decisions, chances) -> bool:
        if horizon == "turn" and game.num_players > 1:
            return state.kind() == DECISION and state.current_player() != mover
        beyond = decisions >= 1 if horizon == "turn" else chances >= horizon
        return beyond and (state.kind() == DECISION or afterstates)

    expected = expectimax(state, past, evaluator.value)
    where = {"horizon": "turn"} if horizon == "turn" else {"plies": horizon}
    results = [Planner(game, evaluator, **where, backend=backend).run(state) for backend in BACKENDS]
    same(*results)
    np.testing.assert_allclose(results[0].value, expected, atol=1e-12)
    mover = state.current_player()
    assert len(evaluator.batches) <= 2  # one per plan, or none if all paths end before
    if mover >= 0:
        assert results[0].best_action in results[0].actions
        assert results[0].policy[list(results[0].actions).index(results[0].best_action)] == 1.0


# -- pig and 2048 ----------------------------------------------------------------------------------------------


def test_a_turn_of_pig_over_exact_leaves_is_value_iteration() -> None:
    game = aleazero.load_game("pig", target=20)
    solution = solve(game)
    planners = [Planner(game, solution, backend=backend) for backend in BACKENDS]
    tried = 0
    for mine in range(0, 20, 3):
        for theirs in range(0, 20, 4):
            for turn, rolling in ((0, ""), (5, ""), (2, " rolling")):
                for player in (0, 1):
                    if mine + turn >= 20:
                        continue
                    scores = f"{mine}-{theirs}" if player == 0 else f"{theirs}-{mine}"
                    state = game.state_from_text(f"{scores} turn {turn} player {player}{rolling}")
                    plans = [planner.plan(state) for planner in planners[: 1 if tried % 5 else 2]]
                    for plan in plans:
                        check_turn(plan, state, solution)
                    tried += 1
    assert tried > 150


def check_turn(plan, root, solution) -> None:
    """Every state of the turn has value iteration's value, and its best action is one of value iteration's."""
    waiting, seen = [root], set()
    while waiting:
        state = waiting.pop()
        if state.key() in seen:
            continue
        seen.add(state.key())
        np.testing.assert_allclose(plan.value(state), solution.value(state), atol=1e-11)
        mover = state.current_player()
        if state.is_terminal() or (mover >= 0 and mover != root.viewer()):
            continue
        if mover >= 0:
            assert plan.action(state) in solution.best_actions(state)
        waiting += [state.child(label) for label in state.legal_actions()]


class Empties:
    """Afterstates by score and empty cells, an estimate that is easily computed by hand."""

    sees_states = True

    def __init__(self, afterstates: int) -> None:
        self.afterstates = afterstates

    def __call__(self, states):
        assert self.afterstates or not any(state.is_chance_node() for state in states)
        return np.zeros((len(states), 4)), np.array([[board_value(state)] for state in states])


def board_value(state) -> float:
    cells = state.vector[:16]
    return float(state.vector[17]) + 3.7 * float((cells == 0).sum()) + 0.1 * float(cells[0])


BOARDS = [
    "4 2 8 2/2 4 8 16/8 4 2 0/16 2 32 4",
    "4 2 0 4/2 4 8 2/32 0 2 8/16 2 4 0",
    "2 4 8 16/4 8 16 32/8 16 32 64/2 2 8 4",
]


def by_players_words(state, plies: int, afterstates: bool) -> dict[int, float]:
    """What players mean: 1-ply takes the best afterstate; n-ply the mean over spawns of (n−1)-ply."""
    found = {}
    for action in state.legal_actions():
        after = state.child(action)
        if plies == 1 and afterstates:
            found[action] = board_value(after)
            continue
        found[action] = 0.0
        for outcome, probability in after.chance_outcomes():
            below = after.child(outcome)
            if below.is_terminal():
                value = below.returns()[0]
            elif plies == 1:
                value = board_value(below)
            else:
                value = max(by_players_words(below, plies - 1, afterstates).values())
            found[action] += probability * value
    return found


@pytest.mark.parametrize("afterstates", [True, False])
@pytest.mark.parametrize("plies", [1, 2, 3])
def test_plies_of_2048_count_moves(plies: int, afterstates: bool) -> None:
    game = aleazero.load_game("2048")
    evaluator = Empties(int(afterstates))
    for board in BOARDS[: 3 if plies < 3 else 1]:
        state = game.state_from_text(board)
        expected = by_players_words(state, plies, afterstates)
        result = Planner(game, evaluator, plies=plies).run(state)
        assert result.actions.tolist() == sorted(expected)
        np.testing.assert_allclose(result.q, [expected[int(a)] for a in result.actions], rtol=1e-12)
        assert result.stats.chance_nodes > 0
        if plies < 3:
            same(result, Planner(game, evaluator, plies=plies, backend="plain").run(state))


def test_a_turn_of_2048_is_one_action() -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text(BOARDS[1])
    for afterstates in (0, 1):
        turn = Planner(game, Empties(afterstates)).run(state)
        same(turn, Planner(game, Empties(afterstates), plies=1).run(state))


def test_value_of_a_chance_root_is_the_mean_over_its_outcomes() -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text(BOARDS[0] + " spawning")
    for plies in (1, 2):
        planner = Planner(game, Empties(1), plies=plies)
        result = planner.run(state)
        assert result.best_action is None
        assert [o.outcome for o in result.outcomes] == state.legal_actions()
        total = 0.0
        for o in result.outcomes:
            behind = state.child(o.outcome)
            value = behind.returns()[0] if behind.is_terminal() else planner.plan(behind).value(behind)[0]
            assert o.value[0] == pytest.approx(value, rel=1e-12)
            total += o.probability * value
        assert result.value[0] == pytest.approx(total, rel=1e-12)


def test_plies_without_chance_count_decisions() -> None:
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("x.o/.x./o..")
    evaluator = Fixed(2)
    for plies in (1, 2, 3):
        expected = expectimax(state, lambda _, decisions, __, n=plies: decisions >= n, evaluator.value)
        np.testing.assert_allclose(Planner(game, evaluator, plies=plies).run(state).value, expected, atol=1e-12)
    exact = solve(game)
    start_of_game = game.new_initial_state()
    plan = Planner(game, horizon="game").plan(start_of_game)
    np.testing.assert_allclose(plan.value(start_of_game), exact.value(start_of_game), atol=0)
    # 5,478 positions can be reached in tic-tac-toe, as is well known.
    assert plan.stats().nodes == exact.num_states == 5478


# -- three dice and kept dice ----------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_turn_of_kept_dice_has_the_nodes_counted_by_hand(backend: str) -> None:
    """Three dice, two rerolls, from the first roll in the air to the afterstates of banking.

    A hand is one of C(8, 3) = 56 multisets; kept dice are one of 1 + 6 + 21 = 28 multisets of 0 to 2 dice:
        1 root, 56 hands with two rerolls left, 28 kept, 56 hands with one left, 28 kept, 56 hands with none left: 225.
    Past the turn lies one state a score that a hand can bank (the best face's dice):
        three of a kind:           3, 6, 9, 12, 15, 18
        a pair of f, or a third die above it:  2, 4, 6, 8, 10, 12, and 3, 4, 5, 6 beside ones, 5, 6 beside twos
        all different, the highest:            3, 4, 5, 6
        together 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 18: 11.
    """
    game = dice.kept_dice()
    evaluator = Fixed(1, afterstates=1)
    state = game.new_initial_state()
    result = Planner(game, evaluator, backend=backend, solver="generic").run(state)
    assert result.stats.nodes == 225 + 11
    assert result.stats.evaluations == 11
    assert result.stats.expansions == 3 * 56
    assert result.stats.chance_nodes == 1 + 2 * 28 + 11
    assert result.stats.depth == 6  # roll, keep, roll, keep, roll, bank
    assert evaluator.batches == [11]


def test_check_game_reports_a_turn_function_that_does_not_compile() -> None:
    game = dice.KernelGame(dice, {})
    assert aleazero.check_game(game, max_states=50)
    game.kernels.turn = lambda state: int(str(state[0]) + {"a": "b"}.get("c", "0"))
    if not os.environ.get("NUMBA_DISABLE_JIT"):
        with pytest.raises(GameError, match="turn"):
            aleazero.check_game(game)


def test_chance_past_the_turn_is_averaged_if_the_evaluator_does_not_value_it() -> None:
    """With an evaluator of decisions only the 11 afterstates stay inside, and 11 × 56 hands are evaluated."""
    game = dice.kept_dice()
    evaluator = Fixed(1)
    results = [
        Planner(game, evaluator, backend=backend, solver="generic").run(game.new_initial_state())
        for backend in BACKENDS
    ]
    same(*results)
    assert results[0].stats.nodes == 225 + 11 + 11 * 56
    assert evaluator.batches == [11 * 56] * 2


def test_the_last_turn_needs_no_evaluator() -> None:
    game = dice.kept_dice()
    state = game.new_initial_state()
    state.vector[dice.TURN] = dice.TURNS - 1
    plan = Planner(game, solver="generic").plan(state)
    whole = Planner(game, horizon="game").plan(state)
    assert plan.value(state) == whole.value(state)
    assert plan.stats().evaluations == 0


def test_one_plan_answers_every_decision_of_the_turn() -> None:
    game = dice.kept_dice()
    evaluator = Fixed(1, afterstates=1)
    planner = Planner(game, evaluator, solver="generic")
    plan = planner.plan(game.new_initial_state())
    state = game.new_initial_state()
    for outcome in (40, 9, 0):
        chances = [o for o, _ in state.chance_outcomes()]
        state.apply_action(chances[outcome % len(chances)])
        alone = planner.run(state)
        told = plan.result(state)
        np.testing.assert_array_equal(told.q, alone.q)
        assert told.best_action == alone.best_action == plan.action(state)
        assert plan.value(state) == alone.value
        rerolls = [a for a in state.legal_actions() if a != dice.BANK]
        state.apply_action(rerolls[-1] if rerolls else dice.BANK)
    with pytest.raises(PositionError, match="at the end of this plan"):
        plan.action(state)
    assert np.isfinite(plan.value(state)).all()


# -- the game's own solver -------------------------------------------------------------------------------------


def keep_solver(game, solver) -> None:
    """Let a game have this solver of turns."""
    vars(game).setdefault("_made_once", {})["turn_solver"] = solver


@pytest.mark.parametrize("evaluator", [Fixed(1, afterstates=1), Uniform(), Rollout(2)])
def test_turn_solver_equals_the_planner(evaluator) -> None:
    game = dice.kept_dice()
    state = game.new_initial_state()
    state.apply_action(40)
    if isinstance(evaluator, Uniform | Rollout):
        state.vector[dice.TURN] = dice.TURNS - 1  # not called for chance nodes: end in terminal states
    own, generic = (Planner(game, evaluator, solver=solver) for solver in ("auto", "generic"))
    solver = dice.Solver(game)
    keep_solver(game, solver)
    first, second = own.plan(state), generic.plan(state)
    assert solver.calls == 2
    assert first.action(state) == second.action(state)
    for action, value in second.action_values(state).items():
        np.testing.assert_allclose(first.action_values(state)[action], value, rtol=1e-12)
    for step in (first.action(state), None):
        if step is None:
            np.testing.assert_allclose(first.value(state), second.value(state), rtol=1e-12)
            assert [o.outcome for o in first.result(state).outcomes] == [
                o.outcome for o in second.result(state).outcomes
            ]
        else:
            state.apply_action(step if step != dice.BANK else 1)
    assert len(first.result().principal_variation()) == len(second.result().principal_variation())
    assert own.plan_many([state, state])[1].value(state) == first.value(state)


def test_turn_solver_is_not_used_if_its_leaves_cannot_be_valued() -> None:
    game = dice.kept_dice()
    state = game.new_initial_state()
    keep_solver(game, dice.Solver(game))
    evaluator = Fixed(1)  # not called for chance nodes, which all leaves of the solver are
    same(Planner(game, evaluator).run(state), Planner(game, evaluator, solver="generic").run(state))
    assert Planner(game, Fixed(1, afterstates=1), keep=3).run(state).stats.chance_nodes > 0


def test_turn_solver_leaves_of_another_size_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    game = dice.kept_dice()
    keep_solver(game, dice.Solver(game))
    monkeypatch.setattr(dice.Solver, "leaves", lambda self, state: np.zeros((2, 3)))
    with pytest.raises(GameError, match=r"leaves have shape \(2, 3\), expected \(leaves, 10\)"):
        Planner(game, Fixed(1, afterstates=1)).plan(game.new_initial_state())


# -- the twin, and many plans ----------------------------------------------------------------------------------

GRID = {
    "dice_game": ({}, ["0", "14", "15 rolling"]),
    "pig": ({"target": 20}, ["0-0 turn 0 player 0", "5-9 turn 7 player 1", "12-3 turn 4 player 0 rolling"]),
    "tic_tac_toe": ({}, ["x.o/.x./o..", "xo./.../..."]),
    "2048": ({}, BOARDS[:2]),
}
WHERE = [{"horizon": "turn"}, {"plies": 1}, {"plies": 2}]
HOW = [{}, {"keep": 2}, {"margin": 0.2}, {"keep": 3, "margin": 0.5}, {"batch_size": 7}]


def evaluators(game):
    players = game.num_players
    return [Uniform(), Rollout(playouts=2, max_steps=25), Fixed(players), Fixed(players, afterstates=1)]


@pytest.mark.parametrize("name", list(GRID))
@pytest.mark.parametrize("where", WHERE, ids=str)
def test_compiled_equals_plain(name: str, where: dict) -> None:
    params, positions = GRID[name]
    game = aleazero.load_game(name, **params)
    for position in positions:
        state = game.state_from_text(position)
        for evaluator in evaluators(game):
            for how in HOW:
                if where == {"plies": 2} and name == "2048" and isinstance(evaluator, Rollout):
                    continue  # slow in plain Python
                results = [Planner(game, evaluator, **where, **how, seed=3, backend=b).run(state) for b in BACKENDS]
                same(*results)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("how", [{}, {"keep": 2}, {"batch_size": 16}], ids=str)
def test_many_plans_equal_single_ones(backend: str, how: dict) -> None:
    game = aleazero.load_game("pig", target=30)
    states = [game.state_from_text(f"{3 * i}-{2 * i} turn {0 if i == 1 else i} player {i % 2}") for i in range(7)]
    for evaluator in (*evaluators(game), solve(game)):
        planner = Planner(game, evaluator, backend=backend, **how)
        for state, plan in zip(states, planner.plan_many(states), strict=True):
            same(plan.result(), planner.run(state))
    assert Planner(game, Uniform()).plan_many([]) == []


def test_all_frontiers_are_one_batch_or_batches_of_one_shape() -> None:
    game = aleazero.load_game("pig", target=30)
    states = [game.state_from_text(f"{i}-0 turn 2 player 0") for i in range(5)]
    evaluator = Fixed(2)
    plans = Planner(game, evaluator).plan_many(states)
    total = sum(plan.stats().evaluations for plan in plans)
    assert evaluator.batches == [total]
    evaluator.batches.clear()
    Planner(game, evaluator, batch_size=32).plan_many(states)
    assert evaluator.batches == [32] * math.ceil(total / 32)
    seen = []

    class Seer:
        sees_states = True

        def __call__(self, states):
            seen.append(len(states))
            return np.zeros((len(states), 2)), np.zeros((len(states), 2))

    Planner(game, Seer(), batch_size=32).plan_many(states)
    assert seen == evaluator.batches


def test_growth_does_not_change_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text(BOARDS[0])
    roomy = Planner(game, Empties(1), plies=3).run(state)
    assert roomy.stats.nodes > 300
    monkeypatch.setattr("aleazero.search.plan.graph.FIRST_NODES", 2)
    monkeypatch.setattr("aleazero.search.plan.graph.CHUNK", 5)
    same(Planner(game, Empties(1), plies=3).run(state), roomy)
    pruned = Planner(game, Empties(1), plies=3, keep=2)
    first = pruned.run(state)
    same(pruned.run(state), first)


def test_seed_changes_the_playouts() -> None:
    game = aleazero.load_game("pig", target=20)
    state = game.new_initial_state()
    values = [Planner(game, Rollout(), seed=seed).run(state).value[0] for seed in (1, 1, 2)]
    assert values[0] == values[1] != values[2]


def test_rollout_by_name_has_enough_playouts_for_a_maximum() -> None:
    """A plan takes the best of noisy values: with one playout per state its value is far too high."""
    game = aleazero.load_game("pig", target=20)
    assert Planner(game, "rollout").evaluator == Rollout(100)
    assert Planner(game, "rollout:7").evaluator == Rollout(7)
    assert Planner(game, Rollout()).evaluator == Rollout(1)

    def mean(evaluator, seeds=5):
        results = [Planner(game, evaluator, seed=seed).run(game.new_initial_state()) for seed in range(seeds)]
        return np.mean([result.value[0] for result in results])

    precise = mean(Rollout(5000), seeds=1)
    assert abs(mean("rollout") - precise) < 0.08 < 0.3 < mean("rollout:1") - precise


# -- pruning ---------------------------------------------------------------------------------------------------


def pruned_tree():
    """Estimates of actions 0, 1, 2 are 0.9, 0.5 and low; their values are 0, 0.6 and 1."""

    def behind(value: float, name: str):
        last = decision(0, {0: chance([(0, 1, terminal(value, -value))])}, name + "d")
        return chance([(0, 1, last)], name)

    return decision(0, {0: behind(0.0, "a"), 1: behind(0.6, "b"), 2: behind(1.0, "c")}, "r")


@pytest.mark.parametrize(
    ("how", "kept", "best"),
    [
        ({}, [0, 1, 2], 2),
        ({"keep": 3}, [0, 1, 2], 2),
        ({"keep": 2}, [0, 1], 1),
        ({"keep": 1}, [0], 0),
        ({"margin": 0.4}, [0, 1], 1),
        ({"margin": 0.39}, [0], 0),
        ({"margin": 2.0, "keep": 2}, [0, 1], 1),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_pruning_keeps_the_best_estimates(how: dict, kept: list[int], best: int, backend: str) -> None:
    looks = {"a": 0.9, "b": 0.5, "c": -0.5}
    script = {name: (None, (value, -value)) for name, value in looks.items()}
    game = tree_game(players=2)
    evaluator = Scripted(script, afterstates=ESTIMATE)
    state = start(game, pruned_tree())
    result = Planner(game, evaluator, plies=3, backend=backend, **how).run(state)
    assert [int(a) for a, q in zip(result.actions, result.q, strict=True) if not np.isnan(q)] == kept
    assert result.best_action == best
    assert result.actions.tolist() == [0, 1, 2]
    assert len(Planner(game, evaluator, plies=3, backend=backend, **how).plan(state).action_values(state)) == len(kept)


def test_the_last_ply_is_not_pruned() -> None:
    game = aleazero.load_game("2048")
    state = game.state_from_text(BOARDS[1])
    same(Planner(game, Empties(1), plies=1, keep=1).run(state), Planner(game, Empties(1), plies=1).run(state))
    fewer, all_of_them = (Planner(game, Empties(1), plies=2, **how).run(state) for how in ({"keep": 1}, {}))
    assert fewer.stats.nodes < all_of_them.stats.nodes
    kept = ~np.isnan(fewer.q)
    assert kept.sum() == 1
    np.testing.assert_array_equal(fewer.q[kept], all_of_them.q[kept])


# -- results ---------------------------------------------------------------------------------------------------


def test_result_has_the_form_of_a_search_result() -> None:
    game = aleazero.load_game("pig", target=20)
    solution = solve(game)
    state = game.state_from_text("5-9 turn 7 player 1")
    result = Planner(game, solution).run(state)
    exact = solution.action_values(state)
    np.testing.assert_allclose(result.q, [exact[int(a)][1] for a in result.actions], atol=1e-11)
    assert result.best_action == solution.best_actions(state)[0]
    assert result.visits.tolist() == [0, 0]
    assert result.policy[list(result.actions).index(result.best_action)] == 1.0
    assert result.sample_action() == result.best_action
    assert result.to_dict()["stats"]["evaluations"] == result.stats.evaluations > 0
    line = result.principal_variation()
    assert line[0].action == result.best_action
    assert [step.kind for step in line] == [DECISION, CHANCE]  # the lowest of equally likely faces is a 1
    tree = result.tree(depth=2)
    assert [child["prior"] for child in tree.root["children"]].count(1.0) == 1
    assert '"roll' in tree.to_dot()


def test_principal_variation_has_best_actions_and_likeliest_outcomes() -> None:
    game = dice.kept_dice()
    state = game.new_initial_state()
    plan = Planner(game, Fixed(1, afterstates=1), solver="generic").plan(state)
    line = plan.result().principal_variation()
    walk = state.clone()
    lowest = True
    for step in line:
        if walk.kind() == DECISION:
            assert step.action == plan.action(walk)
            lowest &= step.action == walk.legal_actions()[0]
        else:
            assert dict(walk.chance_outcomes())[step.action] == max(p for _, p in walk.chance_outcomes())
        walk.apply_action(step.action)
    assert walk.vector[dice.TURN] == 1
    assert not lowest


def test_actions_limit_the_root() -> None:
    game = aleazero.load_game("tic_tac_toe")
    state = game.state_from_text("x.o/.x./o..")
    for backend in BACKENDS:
        for how in ({}, {"keep": 1}):
            planner = Planner(game, Fixed(2), backend=backend, plies=3, **how)
            result = planner.run(state, [7, 1])
            assert result.actions.tolist() == [1, 7]
            assert np.isnan(result.q).sum() == len(how)
            whole = Planner(game, Fixed(2), backend=backend, plies=3).run(state)
            kept = ~np.isnan(result.q)
            np.testing.assert_array_equal(result.q[kept], whole.q[np.isin(whole.actions, [1, 7])][kept])
    with pytest.raises(IllegalActionError, match="action 0 to consider"):
        planner.run(state, [0])
    with pytest.raises(IllegalActionError, match="no action to consider"):
        planner.run(state, [])
    game = aleazero.load_game("dice_game")
    planner, rolling = Planner(game, "uniform"), game.state_from_text("15 rolling")
    with pytest.raises(IllegalActionError, match="expected None at a chance node"):
        planner.run(rolling, [0])


def test_ties_go_to_the_lowest_action(backend: str) -> None:
    game = tree_game(players=2)
    root = decision(1, {3: terminal(0.5, 0.25), 5: terminal(-1, 0.25), 6: terminal(0, 0)})
    result = Planner(game, horizon="game", backend=backend).run(start(game, root))
    assert result.best_action == 3
    assert result.value.tolist() == [0.5, 0.25]


# -- object games ----------------------------------------------------------------------------------------------


class Countdown:
    """An object game: take 1 or 2, then a coin may take another, in turns of three actions. The last to take wins."""

    num_players = 2
    num_actions = 2
    max_outcomes = 2

    def __init__(self) -> None:
        self.left, self.moves, self.coin = 9, 0, False

    def current_player(self) -> int:
        if self.left <= 0:
            return -4
        return -1 if self.coin else self.moves // 3 % 2

    def turn(self) -> int:
        return self.moves // 3

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(0, 0.5), (1, 0.5)]

    def apply_action(self, action: int) -> None:
        if self.coin:
            self.left -= action
            self.coin = False
        else:
            self.left -= 1 + action
            self.moves += 1
            self.coin = True

    def returns(self) -> list[float]:
        if self.left > 0:
            return [0.0, 0.0]
        winner = (self.moves - 1) // 3 % 2
        return [1.0, -1.0] if winner == 0 else [-1.0, 1.0]

    def serialize(self) -> str:
        return f"{self.left} {self.moves} {self.coin}"

    def observation_tensor(self, player: int) -> list[float]:
        return [self.left, self.moves, self.coin, player]


def test_object_games_are_planned_too() -> None:
    game = aleazero.load_game(Countdown)
    state = game.new_initial_state()
    np.testing.assert_allclose(
        Planner(game, horizon="game").run(state).value, expectimax(state, lambda *_: False, None), atol=1e-12
    )
    evaluator = Fixed(2, afterstates=1)
    result = Planner(game, evaluator).run(state)
    expected = expectimax(state, lambda state, *_: state.wrapped.turn() > 0, evaluator.value)
    np.testing.assert_allclose(result.value, expected, atol=1e-12)
    with pytest.raises(ConfigError, match="is an object game, expected backend plain or auto"):
        Planner(game, backend="compiled")


# -- errors ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"horizon": "round"}, "horizon is 'round', expected turn or game"),
        ({"plies": 0}, "plies is 0, expected an integer of at least 1"),
        ({"plies": True}, "plies is True"),
        ({"plies": 2, "horizon": "game"}, "expected one of the two"),
        ({"max_nodes": 1}, "max_nodes is 1"),
        ({"keep": 0}, "keep is 0"),
        ({"margin": -0.1}, "margin is -0.1"),
        ({"margin": math.nan}, "margin is nan"),
        ({"backend": "fast"}, "backend is 'fast'"),
        ({"solver": "own"}, "solver is 'own'"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"keep": 2}, "there is no evaluator"),
        ({"evaluator": "rolout"}, "did you mean rollout"),
        ({"evaluator": 3}, "or a callable"),
    ],
)
def test_invalid_settings_are_rejected(how: dict, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Planner(aleazero.load_game("pig"), **how)


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_of_plans(backend: str) -> None:
    pig = aleazero.load_game("pig", target=20)
    state = pig.new_initial_state()
    with pytest.raises(ConfigError, match="is past the horizon and there is no evaluator"):
        Planner(pig, backend=backend).plan(state)
    with pytest.raises(GameError, match=r"can return to an earlier state.*aleazero\.solve"):
        Planner(pig, horizon="game", backend=backend).plan(state)
    with pytest.raises(GameError, match="more than 20 states within the horizon"):
        Planner(pig, "uniform", max_nodes=20, backend=backend).plan(state)
    with pytest.raises(PositionError, match="the game is over"):
        Planner(pig, "uniform", backend=backend).plan(pig.state_from_text("20-3 over"))
    other = aleazero.load_game("dice_game").new_initial_state()
    planner = Planner(pig, "uniform", backend=backend)
    with pytest.raises(PositionError, match="expected a state of pig"):
        planner.plan(other)
    plan = planner.plan(pig.state_from_text("5-9 turn 7 player 1"))
    with pytest.raises(PositionError, match="expected a state of pig"):
        plan.value(other)
    with pytest.raises(PositionError, match="is not in this plan"):
        plan.value(state)
    with pytest.raises(PositionError, match="nobody decides"):
        plan.action(pig.state_from_text("5-9 turn 7 player 1 rolling"))
    with pytest.raises(PositionError, match="at the end of this plan"):
        plan.result(pig.state_from_text("5-9 turn 0 player 0"))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        (lambda state, ids, probabilities: -1, "does not list its outcomes in .*, expected a list"),
        (lambda state, ids, probabilities: 0, "outcomes in .* are invalid, expected 1 to max_outcomes|sum to 0"),
    ],
)
def test_unlisted_or_empty_outcomes_raise_an_error(backend: str, outcomes, message: str) -> None:
    game = type(tree_game())(sys.modules["tree_game"], {})
    game.kernels.outcomes = outcomes
    state = KernelState(game, encode(chance([(0, 1, terminal(1, -1))], "r")))  # as text it would be rejected
    with pytest.raises(GameError, match=message):
        Planner(game, horizon="game", backend=backend).plan(state)


@pytest.mark.parametrize("backend", BACKENDS)
def test_decision_without_actions_raises_an_error(backend: str) -> None:
    game = tree_game()
    state = KernelState(game, encode(decision(0, {}, "r")))
    with pytest.raises(GameError, match=r"the legal actions in .* are invalid, expected 1 to num_actions of them"):
        Planner(game, horizon="game", backend=backend).plan(state)


def test_evaluator_errors_are_raised() -> None:
    game = aleazero.load_game("pig", target=20)

    def broken(observations, masks):
        raise ValueError("no weights")

    with pytest.raises(EvaluatorError, match="no weights"):
        Planner(game, broken).plan(game.new_initial_state())
    with pytest.raises(EvaluatorError, match="expected finite"):
        Planner(game, lambda o, m: (np.zeros(m.shape), np.full((len(o), 2), np.nan))).plan(game.new_initial_state())


def test_terminal_states_are_not_evaluated() -> None:
    game = aleazero.load_game("pig", target=20)
    seen = []

    class Seer:
        sees_states = True

        def __call__(self, states):
            seen.extend(state.kind() for state in states)
            return np.zeros((len(states), 2)), np.zeros((len(states), 2))

    Planner(game, Seer()).plan(game.state_from_text("15-0 turn 3"))
    assert TERMINAL not in seen
    assert CHANCE not in seen


@pytest.mark.long
def test_these_tests_pass_without_the_compiler() -> None:
    if os.environ.get("NUMBA_DISABLE_JIT"):
        pytest.skip("this is that run")
    chosen = (
        "counted_by_hand or one_plan_answers or what_cannot or ties_go or looks_best or equals_plain and (pig or dice)"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", chosen]
    done = subprocess.run(
        [*command, str(Path(__file__))],
        capture_output=True, text=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, timeout=900,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


def test_rollouts_of_a_game_that_draws_from_its_list() -> None:
    """A game without a ``sample`` of its own is played out by its list of outcomes, in both planners."""
    game = aleazero.load_game("examples/race.py")
    assert game.kernels.sample is None
    values = [
        Planner(game, aleazero.Rollout(playouts=3), plies=1, backend=backend, seed=5)
        .run(game.new_initial_state())
        .value
        for backend in ("compiled", "plain")
    ]
    np.testing.assert_allclose(*values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("solver", ["auto", "generic"])
def test_expected_numbers_follow_the_best_actions(solver):
    """The expectation of the mover's returns is the value of the plan, in every kind of graph."""
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("open sixes yatzy upper 40 total 200 / player 0 dice 22266 rerolls 1")
    plan = Planner(game, "uniform", solver=solver).plan(state)
    expected = plan.expected(state, lambda ends: np.array([[end.returns()[0], 1.0] for end in ends]))
    for action, value in plan.action_values(state).items():
        assert expected[action] == pytest.approx([value[0], 1.0])


@pytest.mark.parametrize("backend", BACKENDS)
def test_evaluator_can_value_terminal_states(backend: str) -> None:
    class Greedy(Scripted):
        """Counts a win double."""

        def ended(self, states):
            return 2.0 * np.array([state.returns() for state in states])

    script = {"next": (None, (0.4, -0.4))}
    ends = {0: terminal(0.3, -0.3), 1: decision(1, {0: terminal(1, -1)}, "next")}
    state = start(tree_game(2), decision(0, ends, "root"))
    for evaluator, best, value in ((Scripted(script), 1, 0.4), (Greedy(script), 0, 0.6)):
        plan = Planner(state.game, evaluator, backend=backend).plan(state)
        assert plan.action(state) == best
        assert plan.value(state) == pytest.approx([value, -value])
    last = start(tree_game(2), decision(0, {0: terminal(0.3, -0.3), 1: terminal(0.1, -0.1)}, "root"))
    plan = Planner(last.game, Greedy({}), backend=backend).plan(last)  # no other state is evaluated
    assert plan.value(last) == pytest.approx([0.6, -0.6])
