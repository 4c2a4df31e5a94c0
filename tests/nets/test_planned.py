"""Value networks as evaluators, compared with plain Python expectimax over the network's values between turns."""

from __future__ import annotations

import numpy as np
import pytest
from object_copy import object_copy
from value_checkpoints import trained_checkpoint

import aleazero
from aleazero.nets.outcome import MARGIN
from aleazero.nets.planned import PlannedEvaluator

PIG = aleazero.load_game("pig", target=20)
DICE = aleazero.load_game("dice_game")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("nets")


@pytest.fixture(scope="module")
def pig(folder):
    return PlannedEvaluator.load(trained_checkpoint(PIG, folder / "pig"), PIG)


@pytest.fixture(scope="module")
def dice(folder):
    return PlannedEvaluator.load(trained_checkpoint(DICE, folder / "dice"), DICE)


@pytest.fixture(scope="module")
def yatzy(folder):
    game = aleazero.load_game("yatzy", players=2)
    return PlannedEvaluator.load(trained_checkpoint(game, folder / "yatzy"), game)


def worth(between, state):
    """Return the value by player of a state between turns, or of a terminal state."""
    return between.values_by_player(state.vector[None], MARGIN)[0]


def by_hand(between, state, mover, known=None):
    """Return the expectimax value at the end of the turn of ``mover`` in pig."""
    known = {} if known is None else known
    if state.key() not in known:
        known[state.key()] = expectimax(between, state, mover, known)
    return known[state.key()]


def expectimax(between, state, mover, known):
    if state.is_terminal() or (not state.is_chance_node() and state.current_player() != mover):
        return worth(between, state)
    if state.is_chance_node():
        return sum(p * by_hand(between, state.child(o), mover, known) for o, p in state.chance_outcomes())
    return max((by_hand(between, state.child(a), mover, known) for a in state.legal_actions()), key=lambda v: v[mover])


@pytest.mark.parametrize("text", ["5-9 turn 7", "5-9 turn 7 player 1", "0-3 turn 0 player 1", "12-15 turn 2"])
def test_a_plan_maximizes_the_expected_network_value(pig, text):
    state = PIG.state_from_text(text)
    mover = state.current_player()
    values = aleazero.Planner(PIG, pig).plan(state).action_values(state)
    for action in state.legal_actions():
        np.testing.assert_allclose(values[action], by_hand(pig.values, state.child(action), mover), atol=1e-9)
    assert np.ptp([by_hand(pig.values, s, mover)[0] for s in (state, PIG.state_from_text("0-0"))]) > 1e-6


def test_afterstates_are_evaluated_if_a_turn_is_one_action(dice):
    state = DICE.state_from_text("14")
    values = aleazero.Planner(DICE, dice).plan(state).action_values(state)
    assert values[0][0] == pytest.approx(worth(dice.values, state.child(0))[0])
    assert values[1][0] == 14.0
    rolled = state.child(0)
    _, answered = dice([rolled])
    np.testing.assert_allclose(answered[0], worth(dice.values, rolled))


@pytest.mark.parametrize("text", ["5-9 turn 7", "5-9 turn 7 player 1", "5-9 turn 7 player 1 rolling"])
def test_states_inside_a_turn_have_the_value_of_the_plan(pig, text):
    state = PIG.state_from_text(text)
    logits, values = pig([PIG.new_initial_state(), state])
    expected = by_hand(pig.values, state, state.viewer())
    np.testing.assert_allclose(values[1], np.roll(expected, -state.viewer()), atol=1e-9)
    assert logits.shape == (2, 2)


def test_states_inside_a_turn_of_yatzy_have_the_value_of_the_plan(yatzy):
    game, state = yatzy.game, yatzy.game.new_initial_state()
    rng = np.random.default_rng(3)
    states = []
    for _ in range(30):
        state = state.child(state.sample_outcome(rng.random()) if state.is_chance_node()
                            else int(rng.choice(state.legal_actions())))  # fmt: skip
        states.append(state)
    _, values = yatzy(states)
    starts = 0
    for row, inside in enumerate(states):
        if inside.to_text().endswith("to roll"):  # between turns: the network itself
            starts += 1
            expected = worth(yatzy.values, inside)
        else:
            expected = aleazero.Planner(game, yatzy, solver="generic").plan(inside).value(inside)
        np.testing.assert_allclose(values[row], np.roll(expected, -inside.viewer()), atol=1e-9)
    assert starts == 5
    assert values[:, 0].std() > 0.01


@pytest.mark.parametrize("settings", [{}, {"solver": "generic"}, {"backend": "plain", "solver": "generic"}])
def test_terminal_values_include_the_margin(yatzy, settings):
    """The last turn cannot change the winner, so the plan maximizes the margin."""
    line = "open none upper 0 total {} / open chance upper 0 total {} / player 1 dice 12356 rerolls 1"
    won, lost = (yatzy.game.state_from_text(line.format(*totals)) for totals in ((20, 100), (100, 20)))
    planner = aleazero.Planner(yatzy.game, yatzy, **settings)
    for state, value in ((won, 1.0 + MARGIN * 101.5), (lost, -1.0 - MARGIN * 58.5)):
        plan = planner.plan(state)
        assert state.action_to_string(plan.action(state)) == "keep-56"  # rerolls three dice of 3.5 points each
        assert plan.value(state) == pytest.approx([-value, value])


def test_without_a_margin_terminal_values_are_returns(pig):
    state = PIG.state_from_text("5-9 turn 15")
    assert aleazero.Planner(PIG, pig).plan(state).value(state.child(1)) == pytest.approx([1.0, -1.0])
    assert pig.ended is None


def test_plans_of_an_object_game_equal_those_of_its_kernel_game(pig, folder):
    twin = object_copy(PIG)
    other = PlannedEvaluator.load(trained_checkpoint(twin, folder / "twin"), twin)
    assert other.values.theta.tobytes() == pig.values.theta.tobytes()
    state, same = PIG.new_initial_state(), twin.new_initial_state()
    for action in (0, 6, 0, 4, 1, 0, 5):
        state, same = state.child(action), same.child(action)
        for found, wanted in zip(other([same]), pig([state]), strict=True):
            np.testing.assert_array_equal(found, wanted)
    found = aleazero.Planner(twin, other).run(same)
    np.testing.assert_allclose(found.q, aleazero.Planner(PIG, pig).run(state).q, atol=1e-12)
    player = aleazero.make_player(f"plan:horizon=turn,net={folder / 'twin'}", twin)
    assert player.select(same, 0) == found.best_action
    assert other.turn_start(same) is None


def test_afterstates_of_an_object_game_are_evaluated_if_a_turn_is_one_action(dice, folder):
    twin = object_copy(DICE)
    other = PlannedEvaluator.load(trained_checkpoint(twin, folder / "dice_twin"), twin)
    state, same = DICE.new_initial_state().child(0), twin.new_initial_state().child(0)
    np.testing.assert_array_equal(other([same])[1], dice([state])[1])


def test_priors_sum_to_one_and_prefer_the_best(pig):
    state = PIG.state_from_text("5-9 turn 7 player 1")
    flat = PlannedEvaluator(pig.values, prior_temperature=1.0)
    shares = {}
    for name, net in (("sharp", pig), ("flat", flat)):
        result = aleazero.Search(PIG, net, aleazero.SearchConfig(num_simulations=8)).run(state)
        best = aleazero.Planner(PIG, net).run(state).best_action
        assert result.priors.sum() == pytest.approx(1.0)
        assert int(result.actions[result.priors.argmax()]) == best
        shares[name] = result.priors.max()
    assert 0.5 < shares["flat"] < shares["sharp"]
    q = aleazero.Planner(PIG, flat).run(state).q
    weights = np.exp(q / 2.0)  # a temperature of 1 is the range of returns, -1 to 1
    assert shares["flat"] == pytest.approx(weights.max() / weights.sum())


def test_plies_that_end_inside_a_turn_are_planned_to_its_end(pig):
    state = PIG.state_from_text("5-9 turn 7")
    deeper, turn = (aleazero.Planner(PIG, pig, **settings) for settings in ({"plies": 1}, {}))
    assert turn.evaluator is pig.ends
    assert deeper.evaluator is pig
    rolled = state.child(0)
    np.testing.assert_allclose(
        deeper.plan(state).action_values(state)[0], by_hand(pig.values, rolled, rolled.viewer()), atol=1e-9
    )


def test_a_network_trained_on_plies_evaluates_every_chance_node(folder):
    net = PlannedEvaluator.load(trained_checkpoint(PIG, folder / "plies", plies=1), PIG)
    rolling = PIG.state_from_text("5-9 turn 7 rolling")
    np.testing.assert_allclose(net([rolling])[1][0], worth(net.values, rolling))
    assert net.horizon() == {"plies": 1}


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("nan"), float("inf")])
def test_invalid_temperatures_are_rejected(pig, temperature):
    with pytest.raises(aleazero.ConfigError, match=r"prior_temperature is .*, expected a number above 0"):
        PlannedEvaluator(pig.values, temperature)


LAST_TURN = "open none upper 0 total 20 / open chance upper 0 total 100 / player 1 dice 12356 rerolls {}"


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_search_evaluates_terminal_states_like_a_plan(yatzy, backend):
    """In the last turn a search finds the values of the plan."""
    forced, free = (yatzy.game.state_from_text(LAST_TURN.format(rerolls)) for rerolls in (0, 1))
    for loop in ("full", "open"):
        config = aleazero.SearchConfig(num_simulations=20, chance=loop)
        result = aleazero.Search(yatzy.game, yatzy, config, backend=backend).run(forced)
        assert result.q == pytest.approx([1.0 + MARGIN * 97])  # 17 more points: 117 to 20
        assert result.stats.evaluations == (2 if loop == "full" else 21)  # a stored terminal state is evaluated once
    if backend == "compiled":
        values = aleazero.Planner(yatzy.game, yatzy).plan(free).action_values(free)
        config = aleazero.SearchConfig(num_simulations=3000, chance="full", c=0.5)
        result = aleazero.Search(yatzy.game, yatzy, config).run(free)
        often = result.visits > 60
        assert often.sum() > 3
        wanted = [values[action][1] for action in result.actions[often]]
        assert result.q[often] == pytest.approx(wanted, abs=1e-4)


def test_a_forest_with_threads_evaluates_terminal_states_like_a_search(yatzy):
    state = yatzy.game.state_from_text(LAST_TURN.format(0))
    config = aleazero.SearchConfig(num_simulations=20, chance="stratified")
    with aleazero.Forest(yatzy.game, yatzy, config, trees=4, threads=2) as forest:
        for result in forest.run([state] * 5, seeds=[5] * 5):
            assert result.q == pytest.approx([1.0 + MARGIN * 97])
