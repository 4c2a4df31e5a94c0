"""The Yatzy oracle, compared with a slow independent solver, and as an evaluator of the search and the planner."""

import random
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for tests/yatzy_by_hand.py

import yatzy_by_hand as by_hand

import aleazero
from aleazero import EXACT, NONE, ChanceConfig, Planner, SearchConfig
from aleazero.errors import EvaluatorError, PositionError
from aleazero.games.dice import dice_of_histogram, kept_histogram
from aleazero.games.registry import load_game
from aleazero.games.yatzy import rules as yatzy
from aleazero.games.yatzy.card import possible_totals
from aleazero.oracles.yatzy import decision_of

FULL = 0x7FFF


def mask_of(*names):
    return sum(1 << (14 - by_hand.NAMES.index(name)) for name in names)


def random_state(draw, filled=None):
    """Return a decision of a random one-player game."""
    state = load_game("yatzy", players=1).new_initial_state()
    for _ in range(draw.randrange(90) if filled is None else 6 * filled + draw.choice([1, 3, 5])):
        step = state.sample_outcome(draw.random()) if state.is_chance_node() else draw.choice(state.legal_actions())
        state._apply(step)
    if state.is_chance_node():
        state._apply(state.sample_outcome(draw.random()))
    return state


def best_of_hand(oracle, *decision):
    values = oracle.hand_values(*decision)
    return np.flatnonzero(values >= values.max() - 1e-9).tolist()


def test_the_known_expected_score(oracle):
    assert oracle.expected() == pytest.approx(248.4399893779, abs=1e-9)
    assert oracle.state_value(FULL, 0) == oracle.expected()
    assert oracle.state_value(0, 40) == 0.0


LATE = [
    (("chance",), 30),
    (("sixes",), 50),
    (("sixes",), 44),
    (("ones", "yatzy"), 60),
    (("house", "large_straight"), 40),
    (("pair", "four_kind"), 63),
    (("fives", "two_pairs"), 51),
    (("twos", "sixes", "small_straight"), 45),
    (("three_kind", "chance", "yatzy"), 20),
]


@pytest.mark.parametrize(("names", "upper"), LATE)
def test_action_values_agree_with_the_independent_solver(oracle, names, upper):
    avail = mask_of(*names)
    assert oracle.state_value(avail, upper) == pytest.approx(by_hand.turn_value(names, upper), abs=1e-9)
    draw = random.Random(f"{names} {upper}")
    hands = [tuple(sorted(draw.choices(range(1, 7), k=5))) for _ in range(6)]
    for hand in [*hands, (1, 2, 3, 4, 5), (6, 6, 6, 6, 6)]:
        for rerolls in (0, 1, 2):
            values = oracle.hand_values(avail, upper, draw.sample(hand, 5), rerolls)
            slow = by_hand.hand_values(hand, names, upper, rerolls)
            assert np.isfinite(values).sum() == len(slow)
            for action in np.flatnonzero(np.isfinite(values)).tolist():
                choice = by_hand.NAMES[action - 32] if rerolls == 0 else dice_of_histogram(kept_histogram(hand, action))
                assert values[action] == pytest.approx(slow[choice], abs=1e-9)
            best = max(slow.values())
            near = [value for value in slow.values() if value >= best - 1e-9]
            assert len(best_of_hand(oracle, avail, upper, hand, rerolls)) == len(near)


def test_values_between_turns_equal_those_of_the_next_turn(oracle):
    draw = random.Random(1)
    for _ in range(400):
        avail = draw.randrange(1, FULL + 1)
        upper = draw.choice(sorted(possible_totals(avail)))
        assert oracle.state_value(avail, upper) == pytest.approx(oracle._turn(avail, upper)[1][2, 0], abs=1e-9)


def test_all_tied_actions_are_returned(oracle):
    # With only yatzy open, keeping one die is as good as keeping none.
    assert best_of_hand(oracle, mask_of("yatzy"), 0, [1, 2, 3, 4, 5], 2) == [0, 1, 2, 4, 8, 16]
    assert best_of_hand(oracle, mask_of("yatzy"), 0, [1, 1, 1, 4, 5], 2) == [0b11100]


def test_illegal_actions_are_minus_infinity(oracle):
    values = oracle.hand_values(FULL, 0, [2, 2, 3, 4, 5], 1)
    state = yatzy.from_position([(FULL, 0)], dice=[2, 2, 3, 4, 5], rerolls_left=1)
    assert np.flatnonzero(np.isfinite(values)).tolist() == state.legal_actions()
    assert values.shape == (47,)
    marks = oracle.hand_values(mask_of("ones", "yatzy"), 0, [1] * 5, 0)
    assert np.flatnonzero(np.isfinite(marks)).tolist() == [32, 46]


@pytest.mark.parametrize(
    ("avail", "upper", "dice", "rerolls"),
    [
        *((FULL, 1, [1] * 5, 0), (FULL + 1, 0, [1] * 5, 0), (-1, 0, [1] * 5, 0), (0, 20, [1] * 5, 0)),
        *((FULL, 0, [1] * 4, 0), (FULL, 0, [1] * 6, 0), (FULL, 0, [1, 2, 3, 4, 7], 0), (FULL, 0, [1] * 5, 3)),
        *((FULL, 0, [1] * 5, -1), (mask_of("ones"), 64, [1] * 5, 0)),
        *((FULL, 0, [1] * 5, 1.0), (FULL, 0, [1] * 5, None), (FULL, 0, [1] * 5, "2")),
    ],
)
def test_impossible_positions_raise_one_line(oracle, avail, upper, dice, rerolls):
    with pytest.raises(PositionError, match="expected") as error:
        oracle.hand_values(avail, upper, dice, rerolls)
    assert "\n" not in str(error.value)


def test_only_the_one_player_game_has_values(oracle):
    with pytest.raises(PositionError, match=r"players=1"):
        oracle.value(load_game("yatzy").new_initial_state())
    with pytest.raises(EvaluatorError, match=r"players=1"):
        aleazero.Search(load_game("yatzy"), oracle, SearchConfig(num_simulations=2), backend="plain").run(
            load_game("yatzy").new_initial_state()
        )
    with pytest.raises(PositionError, match="is not a decision"):
        decision_of(load_game("yatzy", players=1).new_initial_state())


# -- as an evaluator -------------------------------------------------------------------------------------------


class PostRoll:
    """The oracle at decisions only; afterstates are not passed to it."""

    sees_states, afterstates, decisions = True, NONE, EXACT

    def __init__(self, oracle):
        self.oracle = oracle

    def __call__(self, states):
        return self.oracle(states)


def expected_q(oracle, state):
    values = oracle.hand_values(*decision_of(state))
    return state.returns()[0] + values[state.legal_actions()]


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_search_of_scoring_decisions_with_exact_afterstates_is_exact(oracle, backend):
    draw = random.Random(2)
    config = SearchConfig(num_simulations=60, selection="uct")
    search = aleazero.Search(load_game("yatzy", players=1), oracle, config, backend=backend)
    for filled in (0, 3, 7, 11, 14):
        state = random_state(draw, filled)
        while state.vector[1]:
            state._apply(draw.choice(state.legal_actions()))
            state._apply(state.sample_outcome(draw.random()))
        np.testing.assert_allclose(search.run(state).q, expected_q(oracle, state), rtol=0, atol=1e-9)


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_search_of_keep_decisions_with_exact_values_after_the_roll_is_exact(oracle, backend):
    config = SearchConfig(
        num_simulations=64,
        selection="uct",
        chance=ChanceConfig(exact_up_to=252, backup="expectation", pick="stratified"),
    )
    search = aleazero.Search(load_game("yatzy", players=1), PostRoll(oracle), config, backend=backend)
    for dice, rerolls in (([1, 1, 3, 4, 6], 2), ([2, 2, 2, 5, 5], 1)):
        state = yatzy.from_position([(mask_of("ones", "sixes", "house", "yatzy"), 30)], dice=dice, rerolls_left=rerolls)
        np.testing.assert_allclose(search.run(state).q, expected_q(oracle, state), rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", ["auto", "generic"])
def test_planning_with_exact_values_between_turns_is_exact(oracle, solver):
    draw = random.Random(3)
    planner = Planner(load_game("yatzy", players=1), oracle, solver=solver)
    for _ in range(30):
        state = random_state(draw)
        if state.is_terminal():
            continue
        result = planner.run(state)
        np.testing.assert_allclose(result.q, expected_q(oracle, state), rtol=0, atol=1e-9)
        assert result.best_action in oracle.best_actions(state)


def test_planning_with_the_oracle_has_no_regret(oracle):
    draw = random.Random(4)
    planner = Planner(load_game("yatzy", players=1), oracle)
    regret, decisions = 0.0, 0
    for _ in range(3):
        state = load_game("yatzy", players=1).new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state._apply(state.sample_outcome(draw.random()))
                continue
            if state.vector[1] == 2:
                plan = planner.plan(state)
            action = plan.action(state)
            values = oracle.hand_values(*decision_of(state))
            regret += values.max() - values[action]
            decisions += 1
            state._apply(action)
    assert decisions == 3 * 45
    assert regret < 1e-9


def test_the_value_of_a_state_is_the_score_plus_the_points_to_come(oracle):
    draw = random.Random(5)
    for _ in range(60):
        state = random_state(draw)
        while not state.is_terminal():
            if state.is_chance_node():
                worth = sum(p * oracle.value(state.child(o)) for o, p in state.chance_outcomes()[:300])
            else:
                worth = max(oracle.value(state.child(action)) for action in state.legal_actions())
            assert oracle.value(state) == pytest.approx(worth, abs=1e-9)
            break
    over = yatzy.from_position([(0, 30, 120)])
    assert oracle.value(over) == 120.0
