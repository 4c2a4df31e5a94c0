"""Plans of a game whose turns can end by chance: a bust leads from the roll of one player to the roll of the other."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

from aleazero import CHANCE, DECISION, ESTIMATE, TERMINAL, ConfigError, GameError, GameInfo, Planner, Rollout, Uniform
from aleazero.errors import ContractError
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.oracles.solve import solve
from aleazero.search.config import ChanceConfig, SearchConfig
from aleazero.search.search import Search
from aleazero.training.turns import PlannedLanes
from aleazero.training.turns_compiled import CompiledLanes

BACKENDS = ("compiled", "plain")

# -- the game: roll 1 or 2 points or a bust, then roll again or bank; TARGET points win ----------------------------

TARGET = 4
PLAYER, KIND, POINTS, BROKEN = 2, 3, 4, 5
"""Scores come first; BROKEN selects the mistake that ``outcomes`` makes, so one compiled game has all of them."""
ROLL, BANK = 0, 1


def describe(target: int = 4) -> GameInfo:
    return GameInfo(
        "bust", num_players=2, num_actions=2, max_outcomes=3, state_size=6, utility=(-1.0, 1.0),
        constants={"TARGET": target},
    )  # fmt: skip


def init(state):
    state[KIND] = CHANCE


def kind(state):
    return state[KIND]


def to_play(state):
    return state[PLAYER]


def turn(state):
    return state[PLAYER]


def legal(state, out):
    if state[state[PLAYER]] + state[POINTS] >= TARGET:
        out[0] = BANK
        return 1
    out[0], out[1] = ROLL, BANK
    return 2


def apply(state, action):
    state[KIND] = CHANCE
    if action == BANK:
        player = state[PLAYER]
        state[player] += state[POINTS]
        state[POINTS] = 0
        if state[player] >= TARGET:
            state[KIND] = TERMINAL
        else:
            state[PLAYER] = 1 - player


def outcomes(state, ids, probabilities):
    ids[0], ids[1], ids[2] = 0, 1, 2
    probabilities[0], probabilities[1], probabilities[2] = 0.25, 0.5, 0.25
    if state[BROKEN] == 1:
        probabilities[0], probabilities[1] = -0.5, 1.25
    elif state[BROKEN] == 2:
        probabilities[0] = 0.35
    elif state[BROKEN] == 3:
        ids[2] = -1
    elif state[BROKEN] == 4:
        ids[2] = 2**31
    elif state[BROKEN] == 5:
        probabilities[0] = np.nan
    elif state[BROKEN] == 6:
        return 4
    return 3


def apply_outcome(state, outcome):
    if outcome == 0:
        state[POINTS] = 0
        state[PLAYER] = 1 - state[PLAYER]  # another roll follows this one
    else:
        state[POINTS] += outcome
        state[KIND] = DECISION


def returns(state, out):
    out[0] = out[1] = 0.0
    if state[KIND] == TERMINAL:
        out[0] = 1.0 if state[0] >= TARGET else -1.0
        out[1] = -out[0]


@cache
def bust(**params) -> KernelGame:
    return KernelGame(sys.modules[__name__], params)


@cache
def without_turns() -> KernelGame:
    game = KernelGame(sys.modules[__name__], {})
    game.kernels.turn = None
    return game


# -- exactness ---------------------------------------------------------------------------------------------------


class Fixed:
    """Arbitrary values of a state, which sum to 0."""

    sees_states = True

    def __init__(self, afterstates: int = 0) -> None:
        self.afterstates = afterstates

    def value(self, state) -> np.ndarray:
        first = np.sin(3.0 * float(state.vector @ [1, 3, 7, 11, 13, 17]) + 0.4)
        return np.array([first, -first])

    def __call__(self, states):
        return np.zeros((len(states), 2)), np.array([np.roll(self.value(s), -s.viewer()) for s in states])


def expectimax(state, rolls: int | None, leaf, at_chance: bool) -> np.ndarray:
    """The value of a state by plain recursion.

    ``rolls`` is the number of rolls that may still begin before the plan ends; None plans the turn. A roll begins after
    a decision, or after a bust.
    """
    if state.is_terminal():
        return np.array(state.returns())
    after = {}
    for label in state.legal_actions():
        child = state.child(label)
        banked_or_bust = child.vector[PLAYER] != state.vector[PLAYER]
        begins = child.kind() == CHANCE and (state.kind() == DECISION or banked_or_bust)
        ends = banked_or_bust and not child.is_terminal() if rolls is None else begins and rolls == 1
        left = rolls - begins if rolls is not None else None
        after[label] = past(child, leaf, at_chance) if ends else expectimax(child, left, leaf, at_chance)
    if state.kind() == CHANCE:
        return sum(p * after[outcome] for outcome, p in state.chance_outcomes())
    return max(after.values(), key=lambda value: value[state.current_player()])


def past(state, leaf, at_chance: bool, further: bool = False) -> np.ndarray:
    """Return the value of a state past the horizon: the evaluator's, or the mean of a roll if it values decisions only.

    A second roll in a row is not averaged again: it is asked about, as two players could bust for ever.
    """
    if state.kind() == DECISION or at_chance or further:
        return leaf(state)
    return sum(p * past(state.child(o), leaf, at_chance, further=True) for o, p in state.chance_outcomes())


def positions(game) -> list:
    """Every state that play reaches, but for ends."""
    waiting, seen = [game.new_initial_state()], {}
    while waiting:
        state = waiting.pop()
        if state.key() not in seen and not state.is_terminal():
            seen[state.key()] = state
            waiting += [state.child(label) for label in state.legal_actions()]
    return list(seen.values())


HORIZONS = ({"horizon": "turn"}, {"plies": 1}, {"plies": 3})


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("where", HORIZONS, ids=str)
def test_plans_equal_plain_expectimax(where: dict, backend: str) -> None:
    game = bust()
    states = positions(game)
    assert len(states) > 60
    states = states if where.get("plies") != 3 else states[::5]
    for evaluator, at_chance in ((Fixed(ESTIMATE), True), (Uniform(), False)):
        leaf = evaluator.value if at_chance else lambda state: np.array(state.returns())
        planner = Planner(game, evaluator, **where, backend=backend)
        for state in states:
            expected = expectimax(state, where.get("plies"), leaf, at_chance)
            np.testing.assert_allclose(planner.plan(state).value(state), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("where", HORIZONS, ids=str)
def test_compiled_and_plain_plans_are_bit_identical(where: dict) -> None:
    game = bust()
    for state in positions(game)[::4]:
        for evaluator in (Fixed(ESTIMATE), Uniform(), Rollout(playouts=3)):
            first, second = (Planner(game, evaluator, **where, backend=b, seed=5).run(state) for b in BACKENDS)
            assert first.value.tobytes() == second.value.tobytes()
            assert first.q.tobytes() == second.q.tobytes()
            assert first.stats.nodes == second.stats.nodes
            assert first.stats.evaluations == second.stats.evaluations


@pytest.mark.parametrize("where", HORIZONS, ids=str)
def test_a_plan_over_exact_values_is_exact(where: dict) -> None:
    """``solve`` iterates over all states and knows neither plies nor turns."""
    game = bust()
    exact = solve(game)
    planner = Planner(game, exact, **where)
    for state in positions(game):
        np.testing.assert_allclose(planner.plan(state).value(state), exact.value(state), rtol=0, atol=1e-10)


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_ply_ends_at_the_roll_of_the_next_turn(backend: str) -> None:
    """From the first roll: the root, decisions with 1 and 2 points, and the other player's roll after a bust.

    After each decision comes a roll with these points (2 states) or the other player's roll with them banked (2).
    """
    game = bust()
    plan = Planner(game, Fixed(ESTIMATE), plies=1, backend=backend).plan(game.new_initial_state())
    assert plan.stats().nodes == 1 + 2 + 1 + 4
    assert plan.stats().evaluations == 5


@pytest.mark.parametrize("backend", BACKENDS)
def test_errors_of_plans_suggest_a_fix(backend: str) -> None:
    game = bust()
    with pytest.raises(GameError, match="an evaluator that values chance nodes"):
        Planner(game, Fixed(), plies=1, backend=backend).plan(game.new_initial_state())
    with pytest.raises(ConfigError, match=r"'.+' is past the horizon and there is no evaluator"):
        Planner(game, None, backend=backend).plan(game.new_initial_state())
    with pytest.raises(GameError, match=r"define turn\(state\) if a turn can end by chance"):
        Planner(without_turns(), Fixed(ESTIMATE), plies=1, backend=backend).plan(without_turns().new_initial_state())


@pytest.mark.parametrize("plies", [None, 1])
def test_training_without_turn_function_raises_an_error(plies: int | None) -> None:
    game = without_turns()
    with pytest.raises(GameError, match=r"can return to a state it was in, expected turn\(state\) in the rules"):
        PlannedLanes(game, plies).list_turn_ends(game.new_initial_state().vector[None])


@pytest.mark.parametrize("plies", [None, 1, 2])
def test_compiled_lanes_equal_planned_lanes(plies: int | None) -> None:
    game = bust()
    rows = np.array([state.vector for state in positions(game)])
    planned, compiled = PlannedLanes(game, plies), CompiledLanes(game, plies)
    leaves, starts, known = planned.list_turn_ends(rows)
    ours, begins, kept = compiled.list_turn_ends(rows)
    np.testing.assert_array_equal(ours, leaves)
    np.testing.assert_array_equal(begins, starts)
    fixed = Fixed(ESTIMATE)
    states = [game.state_from_vector(leaf) for leaf in leaves]
    worth = np.array([s.returns() if s.is_terminal() else fixed.value(s) for s in states])
    draws = np.random.default_rng(1).random((len(rows), 2))
    first = planned.play_turns(rows, starts, known, worth, worth, draws, 0.3)
    second = compiled.play_turns(rows, begins, kept, worth, worth, draws, 0.3)
    assert [one.tobytes() for one in first] == [one.tobytes() for one in second]
    for row, carried in zip(rows, first[2], strict=True):
        expected = expectimax(game.state_from_vector(row), plies, fixed.value, at_chance=True)
        np.testing.assert_allclose(carried, expected, rtol=0, atol=1e-12)


# -- outcome lists -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broken", range(1, 7))
def test_invalid_outcome_lists_are_rejected_by_planner_and_search(broken: int) -> None:
    """A negative probability (with a sum of 1), a sum of 1.1, ids out of range, NaN, and more than max_outcomes."""
    game = bust()
    state = KernelState(game, np.array([0, 0, 0, CHANCE, 0, broken]))  # as text it would be rejected
    with pytest.raises(ContractError):
        Planner(game, Fixed(ESTIMATE), plies=1).plan(state)
    with pytest.raises(ContractError):
        Search(game, "uniform", SearchConfig(num_simulations=4, chance=ChanceConfig.preset("stratified"))).run(state)
    if broken != 4:  # Python has no largest id
        with pytest.raises(ContractError):
            state.chance_outcomes()
        with pytest.raises(ContractError):
            Planner(game, Fixed(ESTIMATE), plies=1, backend="plain").plan(state)
