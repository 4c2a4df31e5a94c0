"""The solver of Yatzy turns, compared with the generic planner and with expectimax in plain Python."""

import random

import numpy as np
import pytest

from aleazero import DECISION, ESTIMATE, NONE, Planner
from aleazero.errors import PositionError
from aleazero.games.registry import load_game
from aleazero.games.yatzy import rules as yatzy
from aleazero.games.yatzy.turn import LEAF_CATEGORY, YatzyTurns

PRIME = 2**31 - 1


class Arbitrary:
    """A value between −1 and 1 for each player and state, in integer arithmetic, so that results are bit-identical."""

    sees_states = True

    def __init__(self, players, seed, afterstates=ESTIMATE, zero_sum=True):
        draw = random.Random(seed)
        self.players, self.zero_sum, self.afterstates, self.asked = players, zero_sum, afterstates, 0
        self.weights = np.array([[draw.randrange(PRIME) for _ in range(4 + 3 * players)] for _ in range(players)])

    def __call__(self, states):
        self.asked += len(states)
        rows = np.array([state.vector for state in states])
        numbers = ((rows[:, None, :] * self.weights) % PRIME).sum(axis=2) % PRIME
        values = numbers / PRIME * 2.0 - 1.0
        if self.players == 2 and self.zero_sum:
            values[:, 1] = -values[:, 0]
        return np.zeros((len(states), 47)), values


def random_state(draw, players, most_filled=15):
    """Return a state of a random game."""
    state = load_game("yatzy", players=players).new_initial_state()
    for _ in range(draw.randrange(6 * players * most_filled)):
        step = state.sample_outcome(draw.random()) if state.is_chance_node() else draw.choice(state.legal_actions())
        state._apply(step)
    return state


@pytest.fixture(scope="module")
def planners():
    """By number of players: the planner with the Yatzy solver and the generic planner, with the same values."""
    made = {}
    for players in (1, 2, 3):
        game, evaluator = load_game("yatzy", players=players), Arbitrary(players, seed=players)
        backend = "plain" if players == 3 else "auto"  # compiling takes longer than a few plain plans
        made[players] = tuple(Planner(game, evaluator, solver=s, backend=backend) for s in ("auto", "generic"))
    return made


def same_values(first, second, state):
    """Assert that both plans have the same values of a state."""
    np.testing.assert_allclose(first.value(state), second.value(state), rtol=0, atol=1e-9)
    if not state.is_chance_node():
        ours, theirs = first.action_values(state), second.action_values(state)
        assert list(ours) == list(theirs) == state.legal_actions()
        np.testing.assert_allclose(list(ours.values()), list(theirs.values()), rtol=0, atol=1e-9)


def same_plans(own, generic, state):
    first, second = own.plan(state), generic.plan(state)
    same_values(first, second, state)
    assert first.stats().evaluations == second.stats().evaluations
    return first, second


def walk(draw, state):
    """Yield the states of a random path to the end of the turn, and the first state after it."""
    turn = yatzy.turn(state.vector)
    state = state.clone()
    while not state.is_terminal() and yatzy.turn(state.vector) == turn:
        yield state.clone()
        chance = state.is_chance_node()
        state._apply(state.sample_outcome(draw.random()) if chance else draw.choice(state.legal_actions()))
    yield state


@pytest.mark.parametrize(("players", "turns"), [(1, 48), (2, 48), (3, 4)])
def test_equals_the_generic_planner(planners, players, turns):
    draw = random.Random(players)
    stages, positions = set(), 0
    for _ in range(turns):
        root = random_state(draw, players)
        if root.is_terminal():
            continue
        first, second = same_plans(*planners[players], root)
        stages.add((root.kind(), int(root.vector[1])))
        for _ in range(6):
            for state in walk(draw, root):
                if state.kind() == DECISION:
                    same_values(first, second, state)
                    positions += 1
    assert len(stages) == 6 or turns < 48  # three rolls, two keep decisions, one scoring decision
    assert positions >= (500 if turns == 48 else 30)


def test_a_plan_covers_its_own_turn_only(planners):
    draw = random.Random(9)
    for _ in range(5):
        root = random_state(draw, 2, most_filled=13)
        first, second = same_plans(*planners[2], root)
        *_, past = walk(draw, root)
        np.testing.assert_allclose(first.value(past), second.value(past), rtol=0, atol=1e-9)
        with pytest.raises(PositionError, match="at the end of this plan"):
            first.action_values(past)
        with pytest.raises(PositionError):
            first.action_values(load_game("yatzy").new_initial_state())


def test_fast_methods_equal_those_of_the_plan(planners):
    draw = random.Random(8)
    for players in (1, 2):
        own, generic = planners[players]
        for _ in range(12):
            state = random_state(draw, players)
            if state.is_terminal():
                continue
            plans = own.plan(state), generic.plan(state)
            turn = state.current_player() if not state.is_chance_node() else None
            for _ in range(6):
                if state.is_terminal():
                    break
                if state.is_chance_node():
                    state._apply(state.sample_outcome(draw.random()))
                    continue
                if turn not in (None, state.current_player()):
                    break
                turn = state.current_player()
                for plan in plans:
                    within = plan.action_within(state)
                    if within is None:  # the turn is over
                        with pytest.raises(PositionError):
                            plan.action(state)
                    else:
                        assert within == plan.action(state)
                state._apply(draw.choice(state.legal_actions()))


def unfinished_states(draw, players, count):
    """Yield states of random games that are not over, with the solver of their game."""
    for number in players:
        solver = YatzyTurns(load_game("yatzy", players=number))
        states = (random_state(draw, number) for _ in range(count))
        yield from ((solver, state) for state in states if not state.is_terminal())


def test_leaves_have_the_same_values_in_a_batch_and_one_by_one():
    for solver, state in unfinished_states(random.Random(9), players=(1, 2, 3), count=20):
        leaves, kernels = solver.leaves(state), state.game.kernels
        running = leaves[solver.kinds(leaves) != 2]
        assert solver.kinds(leaves).tolist() == [kernels.kind(leaf) for leaf in leaves]
        assert solver.viewers(running).tolist() == [kernels.viewer(leaf) for leaf in running]


def test_unreachable_states_are_not_in_the_plan(planners):
    draw = random.Random(3)
    own, generic = planners[1]
    root = yatzy.from_position([(0x7FFF, 0)], dice=[1, 1, 3, 4, 4])
    kept = root.child(0b11000)
    for start in (root, kept, kept.child(yatzy.multiset([6, 6, 6])), yatzy.from_position([(0x7FFF, 0)])):
        first, second = own.plan(start), generic.plan(start)
        for _ in range(120):
            state = random_state(draw, 1, most_filled=1)
            inside = second._graph.find(state) is not None
            assert (first._graph.find(state) is not None) == inside, (start.to_text(), state.to_text())


def test_leaves_are_the_states_after_scoring():
    draw = random.Random(4)
    for solver, state in unfinished_states(draw, players=(1, 2, 4), count=60):
        leaves = {row.tobytes() for row in solver.leaves(state)}
        assert len(leaves) == len(solver.leaves(state))
        reached = set()
        for _ in range(40):
            *_, past = walk(draw, state)
            reached.add(past.key())
        assert reached <= leaves
        if state.vector[1] == 0 and not state.is_chance_node():
            assert len(leaves) == len(state.legal_actions())


def test_a_first_roll_has_120_leaves():
    assert len(LEAF_CATEGORY) == 120
    state = load_game("yatzy", players=4).new_initial_state()
    assert len(YatzyTurns(state.game).leaves(state)) == 120


def test_values_of_other_players_follow_the_movers_choice():
    """Without zero-sum values, the other players' values are those after the mover's best action."""
    game = load_game("yatzy", players=2)
    evaluator = Arbitrary(2, seed=5, zero_sum=False)
    draw = random.Random(6)
    for _ in range(25):
        state = random_state(draw, 2)
        if not state.is_terminal():
            same_plans(Planner(game, evaluator), Planner(game, evaluator, solver="generic"), state)


def test_the_first_of_equal_actions_is_taken():
    """All leaves have the same value for the mover, but not for the other player."""
    game = load_game("yatzy", players=2)

    class OthersDiffer(Arbitrary):
        def __call__(self, states):
            logits, values = super().__call__(states)
            values[:, 0] = 0.25
            return logits, values

    planners = [Planner(game, OthersDiffer(2, 8, zero_sum=False), solver=solver) for solver in ("auto", "generic")]
    boards = [(0x7FFF, 0), (0x7FFF, 0)]
    state = yatzy.from_position(boards, dice=[1, 2, 2, 5, 6], rerolls_left=0)
    first, second = same_plans(*planners, state)
    assert first.action(state) == second.action(state) == 32
    same_plans(*planners, yatzy.from_position(boards, dice=[1, 2, 2, 5], rerolls_left=0, rolling=True))


def test_an_evaluator_of_decisions_only_uses_the_generic_planner():
    game = load_game("yatzy", players=1)
    evaluator = Arbitrary(1, seed=1, afterstates=NONE)
    state = yatzy.from_position([(0b11, 0)], dice=[1, 2, 2, 5, 6], rerolls_left=0)
    result = Planner(game, evaluator).run(state)
    assert evaluator.asked == 2 * 252
    assert result.q.shape == (2,)
