"""The bear-off table in the search: exact at chance nodes (A), after rolls (B), in a hybrid (C), and wrong (D)."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import EXACT, NONE, ConfigError, Search, SearchConfig
from aleazero.evaluation.backgammon.tables import D, exact_columns
from aleazero.games.backgammon import from_position
from aleazero.games.backgammon.board import HIGH, LOW, OFF
from aleazero.games.kit import kit_of
from aleazero.oracles.bearoff import TwoSided
from aleazero.oracles.oracle import require_oracle
from aleazero.players.make import EVALUATOR, make_player, read_evaluator
from aleazero.players.spec import EVALUATORS
from aleazero.search.plan.planner import Planner


@pytest.fixture(scope="module")
def game():
    return aleazero.load_game("backgammon", start="bearoff", checkers=6)


def decisions(game, count, doubles, seed=0):
    """Return first decisions of random starts with a choice of actions."""
    draw, found = np.random.default_rng(seed), []
    while len(found) < count:
        state = game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(state.sample_outcome(draw.random()))
        if (state.vector[HIGH] == state.vector[LOW]) == doubles and len(state.legal_actions()) > 1:
            found.append(state)
    return found


def mean_regret(game, player, states):
    oracle = require_oracle(game)
    regrets = []
    for state, action in zip(states, make_player(player, game).select_many(states, range(len(states))), strict=True):
        values = oracle.action_values(state)
        regrets.append(max(values.values()) - values[action])
    return float(np.mean(regrets))


def test_exact_chance_nodes_leave_no_regret(game):
    assert mean_regret(game, "search:sims=50,evaluator=bearoff", decisions(game, 100, doubles=False)) < 1e-6
    assert mean_regret(game, "search:sims=2000,evaluator=bearoff", decisions(game, 20, doubles=True)) < 1e-3


@pytest.mark.long
def test_exact_chance_nodes_leave_no_regret_at_many_positions(game):
    assert mean_regret(game, "search:sims=50,evaluator=bearoff", decisions(game, 2000, doubles=False)) < 1e-6
    assert mean_regret(game, "search:sims=2000,evaluator=bearoff", decisions(game, 500, doubles=True)) < 1e-3


def test_values_after_rolls_need_no_search_of_the_turn(game):
    """With way B, the second half of a double is valued exactly."""
    states = decisions(game, 40, doubles=True)
    assert mean_regret(game, "search:sims=200,evaluator=bearoff-rolled", states) < 1e-9
    oracle = require_oracle(game)
    _, values = read_evaluator("bearoff-rolled", game)(states)
    expected = [max(oracle.action_values(state).values()) for state in states]
    np.testing.assert_allclose(values[:, 0], expected, atol=1e-12)  # all are decisions of the viewer
    np.testing.assert_array_equal(values[:, 1], -values[:, 0])


def test_the_mismatch_is_wrong_after_rolls(game):
    """Way D has the value before the roll, whatever was rolled. On average over rolls it is right."""
    table = TwoSided.load_or_build(6, 6, gammons=True)
    mine, theirs, points = [1, 1, 0, 1, 0, 1], [0, 2, 1, 0, 0, 0], [0] * 24
    points[:6], points[18:] = mine, [-count for count in reversed(theirs)]
    states = [
        from_position(points, off=(2, 3), dice=(high, low), game=game)
        for high in range(1, 7)
        for low in range(1, high + 1)
    ]
    _, wrong = read_evaluator(D, game)(states)
    _, right = read_evaluator("bearoff-rolled", game)(states)
    assert wrong[:, 0].tolist() == [table.equity(mine, theirs)] * 21
    weights = np.array([1 if state.vector[HIGH] == state.vector[LOW] else 2 for state in states])
    assert right[:, 0] @ weights / 36 == pytest.approx(table.equity(mine, theirs), abs=1e-12)
    rms = np.sqrt(((wrong - right)[:, 0] ** 2) @ weights / 36)
    assert rms == pytest.approx(0.6254, abs=1e-4)
    states = decisions(game, 40, doubles=True)
    assert mean_regret(game, f"search:sims=200,evaluator={D}", states) > 1e-4


def test_nothing_uses_the_mismatch_by_default(game):
    assert EVALUATOR != D
    assert D not in EVALUATORS
    states = decisions(game, 20, doubles=False)
    oracle = read_evaluator("oracle", game)
    _, values = oracle(states)
    _, wrong = read_evaluator(D, game)(states)
    assert abs(values - wrong).max() > 0.1
    kit = kit_of(game)
    assert [name for name in kit.evaluators if "mismatch" in name] == [D]


def test_complete_tables_are_exact_at_all_nodes_of_their_kind(game):
    at_chance, rolled = read_evaluator("bearoff", game), read_evaluator("bearoff-rolled", game)
    assert at_chance.afterstates is EXACT
    assert at_chance.decisions is not EXACT
    assert rolled.decisions is EXACT
    assert rolled.afterstates is NONE
    result = Search(game, at_chance, SearchConfig(num_simulations=300)).run(decisions(game, 1, doubles=False)[0])
    assert result.stats.depth == 1


def near_the_table(player=0):
    """Return a decision of the full game from which 2-1 can lead into the table, or stay outside of it."""
    mine = {1: 2, 2: 2, 4: 1, 7: 1}
    points = [0] * 24
    for place, count in mine.items():
        points[place - 1] = count
    points[23], points[22] = -2, -3
    return from_position(points, off=(9, 10), dice=(2, 1), player=player)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("outside", ["", ":rollout", ":rollout:3", ":net:dummy"])
def test_a_hybrid_is_exact_inside_of_the_table_only(outside, player):
    state = near_the_table(player)
    full, table = state.game, TwoSided.load_or_build()
    evaluator = read_evaluator(f"bearoff{outside}", full)
    after = {state.action_to_string(action): state.child(action) for action in state.legal_actions()}
    inside = [child for child in after.values() if child.vector[7 - 1 if player == 0 else 24 - 7] == 0]
    beyond = [child for child in after.values() if child.vector[7 - 1 if player == 0 else 24 - 7] != 0]
    assert inside
    assert beyond
    assert evaluator.exact([*inside, *beyond, state]).tolist() == [True] * len(inside) + [False] * (len(beyond) + 1)
    _, values = evaluator(inside)
    for child, value in zip(inside, values, strict=True):
        theirs = aleazero.games.backgammon.to_position(child, 1 - player)[0][:6]  # they roll
        mine = aleazero.games.backgammon.to_position(child, player)[0][:6]
        assert value[0] == pytest.approx(-table.equity(theirs, mine), abs=1e-12)  # the viewer moved last
    start = full.new_initial_state()
    assert not evaluator.exact([start]).any()
    if outside in ("", ":net:dummy"):
        assert not evaluator([start, state])[1].any()


def test_a_hybrid_expands_nothing_inside_of_the_table():
    state = near_the_table()
    for evaluator in ("bearoff", "bearoff:rollout"):
        found = read_evaluator(evaluator, state.game)
        config = SearchConfig(num_simulations=60, max_depth=6)
        result = Search(state.game, found, config, backend="plain").run(state)
        inside = outside = 0
        for child in result.tree(2).root["children"]:
            after = state.child(child["label"])
            if found.exact([after])[0]:
                inside += 1
                assert not child["children"]
            else:
                outside += bool(child["children"])
        assert inside > 0
        assert outside > 0


def test_plans_use_the_table(game):
    state = decisions(game, 1, doubles=False, seed=5)[0]
    values = require_oracle(game).action_values(state)
    plan = Planner(game, read_evaluator("bearoff", game), backend="plain").plan(state)
    for action, value in plan.action_values(state).items():
        assert value[0] == pytest.approx(values[action], abs=1e-12)


@pytest.mark.parametrize(
    ("evaluator", "error"),
    [
        ("bearoff-rolled:uniform", "evaluator is bearoff-rolled:uniform, expected bearoff-rolled without an argument"),
        ("bearoff-mismatch:3", "evaluator is bearoff-mismatch:3, expected bearoff-mismatch without an argument"),
        ("bearoff:rolout", "evaluator is 'rolout', did you mean rollout"),
        ("bearof", "evaluator is 'bearof'"),
    ],
)
def test_invalid_evaluators(game, evaluator, error):
    with pytest.raises(ConfigError, match=error):
        make_player(f"search:evaluator={evaluator}", game)


def test_other_games_have_no_bearoff_evaluator():
    with pytest.raises(ConfigError, match="evaluator is 'bearoff'"):
        make_player("search:evaluator=bearoff", aleazero.load_game("pig"))


def test_open_loop_needs_a_game_that_is_all_bear_off(game):
    Search(game, read_evaluator("bearoff", game), SearchConfig(chance="open"), backend="plain")
    full = aleazero.load_game("backgammon")
    with pytest.raises(ConfigError, match="chance is open, expected a closed loop"):
        Search(full, read_evaluator("bearoff", full), SearchConfig(chance="open"), backend="plain")


def test_columns_are_known_if_no_gammon_is_possible(game):
    """Columns are from the view of player 0: win from −1 to 1, then the chances of 2 and 3 points."""
    columns_of, oracle = exact_columns(game), require_oracle(game)
    draw, rows, values = np.random.default_rng(1), [], []
    for _ in range(60):
        state = decisions(game, 1, bool(draw.random() < 0.2), int(draw.integers(1 << 30)))[0]
        after = state.child(int(draw.choice(state.legal_actions())))
        rows.append(after.vector)
        values.append(oracle.values(after)[0] if after.is_chance_node() else np.nan)
    rows = np.array(rows)
    columns, known = columns_of(rows)
    gammon = (rows[:, OFF] == 0) | (rows[:, OFF + 1] == 0)
    assert (known == (~gammon & ~np.isnan(values))).all()
    assert known.sum() > 10
    assert gammon.sum() > 3
    np.testing.assert_allclose(columns[known, 0], np.array(values)[known], atol=1e-12)
    assert not columns[:, 1:].any()
