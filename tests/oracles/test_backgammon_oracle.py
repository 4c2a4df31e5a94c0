"""Exact values of backgammon's states, compared with a solver that knows only the rules."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.games.backgammon import from_position
from aleazero.games.backgammon.board import HIGH, KIND, LOW, PLAYER, SECOND
from aleazero.games.kernel import KernelState
from aleazero.oracles import hypergammon
from aleazero.oracles.backgammon import BackgammonOracle, BearoffTable, HypergammonTable
from aleazero.oracles.bearoff import TwoSided, largest_residual
from aleazero.oracles.oracle import oracle_of, require_oracle
from aleazero.oracles.solve import solve


def test_a_table_with_gammons_keeps_the_bellman_equation():
    table = TwoSided.load_or_build(6, 4, gammons=True)
    assert largest_residual(table, 200) < 1e-12
    full, one = (0, 0, 0, 0, 0, 4), (1, 0, 0, 0, 0, 0)
    assert table.equity(one, full) == 2.0  # the other side bears off nothing before the game ends
    assert table.equity(one, (0, 0, 0, 0, 0, 3)) == 1.0
    without = TwoSided.load_or_build(6, 4)
    assert without.equity(one, full) == 1.0
    assert TwoSided.path(6, 4, gammons=True) != TwoSided.path(6, 4)
    few = [1, 1, 0, 0, 0, 1]  # three checkers each: no gammon is possible
    assert table.equity(few, few) == pytest.approx(without.equity(few, few), abs=1e-12)


@pytest.mark.parametrize("checkers", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_all_values_equal_those_of_a_solver(checkers):
    """Including chance nodes at which checkers of the random start are placed."""
    game = aleazero.load_game("backgammon", start="bearoff", checkers=checkers)
    solution, oracle = solve(game), require_oracle(game)
    assert isinstance(oracle, BackgammonOracle)
    rows = np.array([np.frombuffer(key, np.int64) for key in solution.graph.index])
    numbers = np.array(list(solution.graph.index.values()))
    step = max(1, len(rows) // 2000)
    for row, number in zip(rows[::step], numbers[::step], strict=True):
        state = KernelState(game, row.copy())
        np.testing.assert_allclose(oracle.values(state), solution.values[number], atol=1e-12)
        if state.current_player() >= 0:
            exact = solution.action_values(state)
            for action, value in oracle.action_values(state).items():
                assert value == pytest.approx(exact[action][state.current_player()], abs=1e-12)
    decisions = rows[:, KIND] == aleazero.DECISION
    values, known = BearoffTable(checkers).after_roll(rows)
    assert (known == decisions).all()
    movers = rows[decisions, PLAYER]
    np.testing.assert_allclose(values[decisions], solution.values[numbers[decisions], movers], atol=1e-12)


def random_decisions(game, count, seed=0):
    """Return decisions of games with random moves."""
    draw, found = np.random.default_rng(seed), []
    while len(found) < count:
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(state.sample_outcome(draw.random()))
                continue
            found.append(state.clone())
            state.apply_action(int(draw.choice(state.legal_actions())))
    return found[:count]


def test_values_after_rolls_equal_enumeration_of_all_turns():
    """Way B, also at the second action of a double; the enumeration uses the rules of the game."""
    game = aleazero.load_game("backgammon", start="bearoff", checkers=4)
    oracle, states = require_oracle(game), random_decisions(game, 600)
    rows = np.array([state.vector for state in states])
    assert (rows[:, SECOND] == 1).sum() > 20
    assert len({(int(high), int(low)) for high, low in rows[:, [HIGH, LOW]]}) == 21
    values, known = oracle.table.after_roll(rows)
    assert known.all()
    expected = [max(oracle.action_values(state).values()) for state in states]
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_the_table_of_the_full_game_has_at_most_six_checkers_each():
    table = BearoffTable(15)
    six, seven = [2, 0, 1, 1, 0, 2], [2, 0, 1, 1, 0, 3]

    def state(mine, theirs, more=None, player=0):
        points = [*mine, *[0] * 12, *[-count for count in reversed(theirs)]]
        if more is not None:
            points[more] += 1
        own = sum(count for count in points if count > 0)
        other = -sum(count for count in points if count < 0)
        return from_position(points, off=(15 - own, 15 - other), player=player).vector

    rows = np.array([
        state(six, six), state([1, 0, 0, 0, 0, 0], six, player=1), state(seven, six), state(six, seven),
        state(six, [1, 0, 0, 0, 0, 0], more=6),
    ])  # fmt: skip
    values, known = table.before_roll(rows)
    assert known.tolist() == [True, True, False, False, False]
    exact = TwoSided.load_or_build()
    assert values[0] == exact.equity(six, six)
    assert values[1] == exact.equity([1, 0, 0, 0, 0, 0], six)
    assert not values[2:].any()


def test_hypergammon_reads_the_positions_of_both_sides(monkeypatch):
    """The table of pairs is made up: every pair has another value."""
    made_up = np.random.default_rng(0).random((hypergammon.SIZE, hypergammon.SIZE), np.float32)
    solved = hypergammon.Hypergammon(made_up)
    monkeypatch.setattr(hypergammon.Hypergammon, "load_or_build", classmethod(lambda cls: solved))
    game = aleazero.load_game("backgammon", checkers=3)
    table = HypergammonTable()
    states = random_decisions(game, 300)
    rows = np.array([state.vector for state in states])
    values, known = table.before_roll(rows)
    assert known.all()
    for state, value in zip(states, values, strict=True):
        sides = []
        for player in (state.current_player(), 1 - state.current_player()):
            points, bar, _ = aleazero.games.backgammon.to_position(state, player)
            sides.append([*[max(0, count) for count in points], bar[0]])
        assert value == np.float32(solved.equity(*sides))


def test_the_oracle_of_hypergammon_takes_the_best_turn(monkeypatch):
    made_up = np.random.default_rng(0).random((hypergammon.SIZE, hypergammon.SIZE), np.float32) - 0.5
    solved = hypergammon.Hypergammon(made_up)
    monkeypatch.setattr(hypergammon.Hypergammon, "load_or_build", classmethod(lambda cls: solved))
    game = aleazero.load_game("backgammon", checkers=3)
    oracle = require_oracle(game)
    for state in random_decisions(game, 20, seed=1):
        if state.vector[SECOND] or any(state.child(action).is_terminal() for action in state.legal_actions()):
            continue
        sides = []
        for player in (state.current_player(), 1 - state.current_player()):
            points, bar, _ = aleazero.games.backgammon.to_position(state, player)
            sides.append([*[max(0, count) for count in points], bar[0]])
        best = solved.equity_after_roll(*sides, state.vector[[HIGH, LOW]].tolist())
        if abs(best) < 1.0:  # a game can end within a double
            assert max(oracle.action_values(state).values()) == pytest.approx(best, abs=1e-7)
    first = oracle.values(game.new_initial_state())
    assert first[0] == -first[1]
    assert abs(first[0]) < 0.5


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({}, "start 'standard' with 15 checkers has no exact values, expected start 'bearoff' with at most 8"),
        ({"start": "race", "checkers": 6}, "start 'race' with 6 checkers has no exact values"),
        ({"start": "bearoff"}, "a bear-off has exact values with at most 8 checkers per player"),
    ],
)
def test_other_games_have_no_oracle(params, why):
    game = aleazero.load_game("backgammon", **params)
    assert oracle_of(game) is None
    with pytest.raises(aleazero.ConfigError, match=why):
        require_oracle(game)
    with pytest.raises(aleazero.ConfigError, match=why):
        aleazero.make_player("oracle", game)


def test_a_position_outside_of_the_table_is_an_error():
    game = aleazero.load_game("backgammon", start="bearoff", checkers=4)
    outside = from_position([0] * 10 + [4] + [0] * 12 + [-4], game=game)
    with pytest.raises(aleazero.PositionError, match="is not in the table, expected a position of the bear-off"):
        require_oracle(game).values(outside)
