"""The ledger: costs equal those of ``measure_regret``, and luck is what the dice brought."""

import numpy as np
import pytest

import aleazero
from aleazero import load_game
from aleazero.errors import ConfigError, ReplayError
from aleazero.evaluation.regret import measure_regret
from aleazero.games.game_dice import GameDice
from aleazero.games.kit import ReviewThresholds
from aleazero.oracles.oracle import require_oracle
from aleazero.serving import estimates
from aleazero.serving.estimates import PlanJudge, SearchJudge
from aleazero.serving.judge import make_judge
from aleazero.serving.ledger import ledger_of, plays_in


def played(game, players, seed):
    """Return the start and the steps of a game."""
    start = game.new_initial_state()
    state, steps, dice = start.clone(), [], GameDice(seed)
    while not state.is_terminal():
        seat = state.current_player()
        action = dice.draw(state) if seat < 0 else players[seat].select(state, seed)
        steps.append((seat, action))
        state.apply_action(action)
    return start, steps


class Replayed:
    """A player that repeats recorded actions."""

    def __init__(self, actions):
        self.actions = list(actions)

    def select_many(self, states, seeds, actions=None):
        return [self.actions.pop(0) for _ in states]


def equals_measured_regret(game, spec, games):
    """Compare all totals of reviews with the regret of the same decisions."""
    judge, oracle = make_judge(game), require_oracle(game)
    players = [aleazero.make_player(spec, game) for _ in range(game.num_players)]
    for seed in range(games):
        start, steps = played(game, players, seed)
        ledger = ledger_of(start, steps, judge)
        for totals in ledger.totals:
            rows = [(play.state, play.actions[0]) for play in plays_in(start, steps)
                    if play.player == totals.player and play.has_choice]  # fmt: skip
            states, actions = [state for state, _ in rows], [action for _, action in rows]
            report = measure_regret(Replayed(actions), states, oracle)
            assert totals.regret == sum(one.regret for one in report.decisions)
            assert totals.decisions == len(report.decisions)
            assert totals.regret_per_decision == pytest.approx(report.overall.regret.mean, abs=1e-12)
            assert totals.best == report.overall.optimal
        value = judge.values([start])[0]
        signs = 2 * np.eye(game.num_players) - 1  # costs of one player are gains of the other
        costs = signs @ np.array([totals.regret for totals in ledger.totals])
        assert [totals.luck_adjusted for totals in ledger.totals] == pytest.approx(value - costs, abs=1e-6)


def test_pigs_totals_are_those_of_measure_regret():
    equals_measured_regret(load_game("pig", target=20), "random", 5)


@pytest.mark.long
def test_200_games_of_pig_have_the_totals_of_measure_regret():
    equals_measured_regret(load_game("pig", target=50), "random", 100)
    equals_measured_regret(load_game("pig", target=50), "greedy", 100)


@pytest.mark.long
def test_200_games_of_yatzy_have_the_totals_of_measure_regret():
    equals_measured_regret(load_game("yatzy", players=1), "random", 100)
    equals_measured_regret(load_game("yatzy", players=1), "greedy", 100)


def test_luck_is_the_value_after_a_roll_minus_the_expectation():
    game = load_game("pig", target=20)
    oracle, state = require_oracle(game), game.new_initial_state()
    state.play("roll")
    chances, before = dict(state.chance_outcomes()), oracle.values(state)
    total = np.zeros(2)
    for outcome, chance in chances.items():
        start = game.new_initial_state()
        roll = ledger_of(start, [(0, 0), (-1, outcome)], make_judge(game)).rolls[0]
        assert roll.luck == pytest.approx(oracle.values(state.child(outcome)) - before)
        assert (roll.probability, roll.value) == (chance, tuple(before))
        total += chance * np.array(roll.luck)
    assert total == pytest.approx(np.zeros(2), abs=1e-9)


@pytest.mark.parametrize("spec", ["plan:horizon=turn,evaluator=rollout:4", "search:sims=60"])
def test_luck_of_estimates_is_zero_on_average_over_the_outcomes(spec, interpreted):
    game = load_game("pig", target=20)
    judge, state = make_judge(game, spec), game.state_from_text("3-8 turn 2 player 0 rolling")
    chances = dict(state.chance_outcomes())
    rolls = judge.judge_rolls([state] * len(chances), list(chances))
    mean = sum(chance * roll.luck for chance, roll in zip(chances.values(), rolls, strict=True))
    assert mean == pytest.approx(np.zeros(2), abs=1e-9)
    assert any(np.abs(roll.luck).max() > 0 for roll in rolls)


TWO_ROLLS = """
from aleazero import GameInfo
def describe():
    return GameInfo("two_rolls", num_players=1, num_actions=1, max_outcomes=6, utility=(0, 12), state_size=2)
def kind(state): return (0, 1, 1, 2)[state[0]]
def to_play(state): return 0
def legal(state, out):
    out[0] = 0
    return 1
def apply(state, action): state[0] = 1
def outcomes(state, ids, probabilities):
    for i in range(6):
        ids[i], probabilities[i] = i + 1, 1 / 6
    return 6
def apply_outcome(state, outcome):
    state[0] += 1
    state[1] += outcome
def returns(state, out): out[0] = state[1]
"""
"""The return is the sum of two dice that are rolled one after the other, without a decision in between."""


@pytest.mark.parametrize("most", [1000, 10, 5])
def test_rolls_in_a_row_that_are_too_many_to_list_are_drawn(tmp_path, monkeypatch, most, interpreted):
    """The noise of the drawn expectation cancels between the rolls."""
    (tmp_path / "two_rolls.py").write_text(TWO_ROLLS)
    monkeypatch.setattr(estimates, "MOST_LISTED", most)
    game = load_game(str(tmp_path / "two_rolls.py"))
    start, steps = game.new_initial_state(), [(0, 0), (-1, 2), (-1, 6)]
    first, second = ledger_of(start, steps, make_judge(game, "plan:horizon=game")).rolls
    assert first.luck[0] + second.luck[0] == pytest.approx(8 - first.value[0], abs=1e-12)
    assert second.value[0] == pytest.approx(first.value[0] + first.luck[0], abs=1e-12)
    error = 2.415 / PlanJudge.draws**0.5  # standard error of the mean of drawn sums
    assert abs(first.value[0] - 7) < (1e-12 if most == 1000 else 4 * error)
    assert (first.value[0] == pytest.approx(7, abs=1e-12)) == (most == 1000)
    assert (second.value[0] == pytest.approx(5.5, abs=1e-12)) == (most >= 10)
    assert (first.probability, second.probability) == (pytest.approx(1 / 6), pytest.approx(1 / 6))


def test_a_search_judges_rolls_in_a_row_by_drawn_outcomes(tmp_path, monkeypatch, interpreted):
    (tmp_path / "two_rolls.py").write_text(TWO_ROLLS)
    monkeypatch.setattr(estimates, "MOST_LISTED", 10)
    game = load_game(str(tmp_path / "two_rolls.py"))
    judge, start = make_judge(game, "search:sims=60"), game.new_initial_state()
    steps = [(0, 0), (-1, 2), (-1, 6)]
    first, second = ledger_of(start, steps, judge).rolls
    rolled = start.child(0).child(2)
    assert first.value[0] + first.luck[0] == judge.values([rolled])[0][0]
    assert abs(first.value[0] - 7) < 4 * 2.415 / SearchJudge.draws**0.5
    assert 3 <= judge.values([rolled])[0][0] <= 8  # the mean of sums that start with 2
    assert second.probability == pytest.approx(1 / 6)


def test_marks_depend_on_the_thresholds():
    game = load_game("pig", target=20)
    start, steps = played(game, [aleazero.make_player("random", game)] * 2, 3)
    judge = make_judge(game)
    costs = sorted(one.cost for one in ledger_of(start, steps, judge).worst)
    marks = ReviewThresholds(costs[1], costs[-1])
    ledger = ledger_of(start, steps, judge, marks)
    assert ledger.worst[0].mark == "blunder"
    assert sum(one.blunders for one in ledger.totals) == sum(cost >= costs[-1] for cost in costs)
    assert sum(one.errors for one in ledger.totals) == sum(costs[1] <= cost < costs[-1] for cost in costs)
    with pytest.raises(ConfigError, match="0 < error ≤ blunder"):
        ledger_of(start, steps, judge, ReviewThresholds(0.2, 0.1))


def test_an_illegal_step_is_named_with_what_was_legal():
    game = load_game("pig", target=20)
    start, judge = game.new_initial_state(), make_judge(game)
    with pytest.raises(
        ReplayError, match=r"step 3: .*action 7 is illegal here, expected one of 0 \(roll\), 1 \(hold\)"
    ):
        ledger_of(start, [(0, 0), (-1, 3), (0, 7)], judge)
    with pytest.raises(ReplayError, match="step 2: got player 1, expected chance"):
        ledger_of(start, [(0, 0), (1, 0)], judge)


def test_a_game_that_is_not_over_has_no_result():
    game = load_game("pig", target=20)
    ledger = ledger_of(game.new_initial_state(), [(0, 0), (-1, 5)], make_judge(game))
    assert ledger.returns is None
    assert ledger.totals[0].luck_adjusted is None
    assert ledger.end[0] == pytest.approx(ledger.rolls[0].value[0] + ledger.rolls[0].luck[0])


@pytest.mark.parametrize(
    ("spec", "problem"), [("random", "known: net, oracle"), ("serch", "did you mean search"), ("search:sims=x", "sims")]
)
def test_other_specs_are_rejected(spec, problem):
    with pytest.raises(ConfigError, match=problem):
        make_judge(load_game("pig", target=20), spec)
