"""Playout functions of games: compiled and plain playouts are the same, and illegal actions raise an error."""

from __future__ import annotations

import math
import types

import numpy as np
import pytest
from test_plain_search import both

import aleazero
from aleazero import ContractError, GameInfo, Planner, Rollout, Search, SearchConfig
from aleazero.games.check import check_game

BACKENDS = ("compiled", "plain")


ANY, LAZY, EAGER, MOSTLY_EAGER, ILLEGAL, TOO_LARGE, NEGATIVE, UNKNOWN, STUCK = range(9)
"""How playouts decide: in the state itself, so that one compiled search serves for all. From ILLEGAL on they err."""


def walk_game(says: bool = True, priors: bool = False):
    """Take 0, 2 or 3 points a turn, six times, and a coin may add one to each; 3 is legal on even turns only."""

    # The state: points, turns so far, kind, how playouts decide.
    def kind(state):
        return state[2]

    def to_play(state):
        return 0

    def legal(state, out):
        out[0] = 0
        out[1] = 2
        out[2] = 3
        if state[3] == STUCK and state[1] > 2:
            return 0
        return 3 if state[1] % 2 == 0 else 2

    def apply(state, action):
        state[0] += action
        state[2] = 1

    def outcomes(state, ids, probabilities):
        for i in range(2):
            ids[i] = i
            probabilities[i] = 0.5
        return 2

    def apply_outcome(state, outcome):
        state[0] += outcome
        state[1] += 1
        state[2] = 2 if state[1] == 6 else 0

    def returns(state, out):
        out[0] = state[0]

    def playout(state, actions, count, u):
        mode = state[3]
        if mode == LAZY:
            return 0
        if mode == EAGER or (mode == MOSTLY_EAGER and u < 0.75):
            return actions[count - 1]
        if state[1] > 1 and mode >= ILLEGAL and mode <= UNKNOWN:
            return 3 if mode == ILLEGAL else 1_000_000 if mode == TOO_LARGE else -7 if mode == NEGATIVE else 1
        return actions[int(u * count)]

    def prior_logit(state, action):
        return math.nan if state[3] == UNKNOWN else 0.5 * action - state[1]

    module = types.ModuleType("walk")
    for function in (kind, to_play, legal, apply, outcomes, apply_outcome, returns):
        setattr(module, function.__name__, function)
    if says:
        module.playout = playout
    if priors:
        module.prior_logit = prior_logit
    module.describe = lambda: GameInfo("walk", num_players=1, num_actions=4, max_outcomes=2, utility=(0.0, 24.0),
                                       state_size=4)  # fmt: skip
    return aleazero.load_game(module)


@pytest.fixture(scope="module")
def game():
    return walk_game()


def start(game, mode):
    return game.state_from_vector([0, 0, 0, mode])


def search(game, mode, evaluator, backend="compiled", sims=100):
    config = SearchConfig(num_simulations=sims, seed=3)
    return Search(game, evaluator, config, backend=backend).run(start(game, mode))


def plan(game, mode, evaluator, backend="compiled", plies=2):
    return Planner(game, evaluator, plies=plies, seed=5, backend=backend).run(start(game, mode))


@pytest.mark.parametrize("backend", BACKENDS)
def test_playouts_use_the_playout_function_of_the_game(game, backend: str) -> None:
    # One simulation is one leaf, one turn on, with the coin's point or without; then come five turns, a coin each.
    for mode, points in ((LAZY, 0), (EAGER, 2 + 3 + 2 + 3 + 2)):
        result = search(game, mode, Rollout(playouts=400), backend, sims=1)
        first = result.best_action
        assert first + points + 2.3 < result.q[result.actions == first][0] < first + points + 3.7
    # A truncated playout counts its two turns.
    cut = search(game, EAGER, Rollout(max_steps=4), backend, sims=1)
    assert cut.best_action + 5 <= cut.q[cut.actions == cut.best_action][0] <= cut.best_action + 8


@pytest.mark.usefixtures("interpreted")
def test_explicit_default_playout_changes_nothing() -> None:
    game, silent = walk_game(), walk_game(says=False)
    for run in (search, plan):
        first, second = run(silent, ANY, Rollout(2)), run(game, ANY, Rollout(2))
        np.testing.assert_array_equal(first.q, second.q)
        np.testing.assert_array_equal(first.visits, second.visits)
        assert not np.array_equal(first.q, run(game, MOSTLY_EAGER, Rollout(2)).q)


@pytest.mark.parametrize("chance", ["sampling", "stratified", "open"])
def test_compiled_searches_equal_plain_ones(game, chance: str) -> None:
    for mode in (ANY, LAZY, EAGER, MOSTLY_EAGER):
        both(game, Rollout(playouts=2), f"0,0,0,{mode}", chance=chance, in_flight=3)


@pytest.mark.parametrize("chance", ["sampling", "stratified", "open"])
def test_compiled_searches_of_yatzy_equal_plain_ones(chance: str) -> None:
    yatzy = aleazero.load_game("yatzy", players=2)
    for position in (
        "filled none upper 0 / filled none upper 0 / player 0 dice 13446 rerolls 2",
        "open twos house upper 40 / open ones pair chance upper 50 / player 1 dice 22335 rerolls 0",
        "filled ones upper 3 / filled none upper 0 / player 1 kept 44 rerolls 1",
    ):
        both(yatzy, Rollout(playouts=2, max_steps=60), position, chance=chance, num_simulations=60)


def test_compiled_plans_equal_plain_ones(game) -> None:
    for mode in (ANY, LAZY, EAGER, MOSTLY_EAGER):
        np.testing.assert_array_equal(*(plan(game, mode, Rollout(3), backend).q for backend in BACKENDS))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mode", [ILLEGAL, TOO_LARGE, NEGATIVE, UNKNOWN])
def test_illegal_playout_actions_raise_an_error(game, mode: int, backend: str) -> None:
    with pytest.raises(ContractError, match="expected"):
        search(game, mode, Rollout(), backend)
    with pytest.raises(ContractError, match=r"a playout .* expected"):
        plan(game, mode, Rollout(), backend, plies=1)
    assert search(game, mode, "uniform", backend).visits.sum() == 100  # playouts are not used


@pytest.mark.usefixtures("interpreted")
def test_playouts_without_a_legal_action_raise_an_error() -> None:
    for one in (walk_game(), walk_game(says=False)):
        with pytest.raises(ContractError, match="a playout from a leaf chose an invalid action"):
            search(one, STUCK, Rollout())
        with pytest.raises(ContractError, match=r"a playout from '.*' chose an invalid action"):
            plan(one, STUCK, Rollout(), plies=1)


@pytest.mark.usefixtures("interpreted")
def test_playout_searches_use_the_priors_of_the_game() -> None:
    game, weights = walk_game(priors=True), np.exp([0.0, 1.0, 1.5])
    for backend in BACKENDS:
        np.testing.assert_allclose(search(game, ANY, Rollout(), backend).priors, weights / weights.sum(), rtol=1e-12)
        # One simulation takes the action with the highest prior, here the last.
        assert search(game, ANY, Rollout(), backend, sims=1).visits.tolist() == [0, 0, 1]
        np.testing.assert_allclose(search(game, ANY, "uniform", backend).priors, 1 / 3)
        np.testing.assert_allclose(search(walk_game(), ANY, Rollout(), backend).priors, 1 / 3)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("chance", ["sampling", "stratified", "progressive", "open"])
def test_both_searches_have_the_same_priors(chance: str) -> None:
    game = walk_game(priors=True)
    for mode in (ANY, MOSTLY_EAGER):
        found = both(game, Rollout(), f"0,0,0,{mode}", chance=chance, in_flight=2)
        assert not np.array_equal(found.visits, both(walk_game(), Rollout(), f"0,0,0,{mode}", chance=chance).visits)


@pytest.mark.usefixtures("interpreted")
def test_a_logit_that_is_not_finite_raises_an_error() -> None:
    game = walk_game(says=False, priors=True)
    for backend in BACKENDS:
        with pytest.raises(ContractError, match="invalid kind, player, action, prior or return"):
            search(game, UNKNOWN, Rollout(), backend)
        assert search(game, UNKNOWN, "uniform", backend).visits.sum() == 100
    game.kernels.prior_logit = lambda state, action: math.inf
    with pytest.raises(ContractError, match=r"check of priors failed.*logit inf of action 0.*expected a finite number"):
        check_game(game)


class Walk:
    """The same in an object: two points or none, three turns."""

    num_players, num_actions, utility = 1, 3, (0.0, 6.0)

    def __init__(self, wanted: int = 2) -> None:
        self.wanted, self.taken = wanted, []

    def current_player(self):
        return -4 if len(self.taken) == 3 else 0

    def legal_actions(self):
        return [0, 2]

    def apply_action(self, action):
        self.taken.append(action)

    def returns(self):
        return [float(sum(self.taken))]

    def playout_action(self, u):
        return self.wanted

    def __str__(self):
        return str(self.taken)


def test_object_games_can_define_playouts() -> None:
    game = aleazero.load_game(Walk)
    result = Search(game, Rollout(), SearchConfig(num_simulations=2)).run(game.new_initial_state())
    assert result.q.tolist() == [4.0, 6.0]
    check_game(game)
    wrong = aleazero.load_game(Walk, wanted=1)
    with pytest.raises(ContractError, match="a playout takes action 1 in '', expected one of 0, 2"):
        Search(wrong, Rollout(), SearchConfig(num_simulations=2)).run(wrong.new_initial_state())
    with pytest.raises(ContractError, match="check of playouts failed"):
        check_game(wrong)
