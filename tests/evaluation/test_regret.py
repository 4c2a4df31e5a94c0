from __future__ import annotations

import json

import pytest

import aleazero
from aleazero.evaluation.regret import JudgedDecision, RegretSummary, measure_regret
from aleazero.evaluation.yatzy.positions import classify, load_set, solitaire
from aleazero.oracles.oracle import require_oracle
from aleazero.players.make import make_player
from aleazero.players.player import BasePlayer


class Worst(BasePlayer):
    """Selects the worst action."""

    def __init__(self, judge):
        self.judge = judge

    def choose(self, states, seeds, allowed):
        return [min(values, key=values.get) for values in map(self.judge.action_values, states)]


@pytest.fixture(scope="module")
def judge(oracle):
    return oracle


@pytest.fixture(scope="module")
def states():
    return [position.state() for position in load_set("small")]


def measure(spec, states, judge, threads=1, seed=0):
    player = make_player(spec, solitaire(), threads=threads)
    return measure_regret(player, states, judge, classify=classify, seed=seed)


@pytest.mark.parametrize("spec", ["oracle", "plan:horizon=turn,evaluator=oracle", "search:sims=30,evaluator=oracle"])
def test_exact_players_have_no_regret(spec, states, judge):
    report = measure(spec, states, judge)
    assert report.overall.regret.mean == 0.0
    assert report.overall.optimal == 1.0
    assert report.worst == []


def test_regret_by_hand(judge):
    game = solitaire()
    states = [
        game.state_from_text("open yatzy chance upper 0 / player 0 dice 11111 rerolls 0"),  # 50 now, or chance later
        game.state_from_text("open ones sixes upper 0 / player 0 dice 12345 rerolls 0"),
    ]
    report = measure_regret(Worst(judge), states, judge, classify=classify)
    values = [sorted(judge.action_values(state).values()) for state in states]
    assert [one.regret for one in report.decisions] == [high - low for low, high in values]
    assert report.decisions[0].action == "chance"
    assert report.decisions[0].best == ("yatzy",)
    assert report.decisions[0].kind == "mark"
    assert report.overall.regret.mean == pytest.approx(sum(high - low for low, high in values) / 2)


def test_ties_are_optimal(judge):
    state = solitaire().state_from_text("open ones yatzy upper 63 / player 0 dice 22345 rerolls 0")

    class Even:
        """An oracle for which all actions are equal."""

        def action_values(self, state):
            return dict.fromkeys(state.legal_actions(), 1.5)

    report = measure_regret(Worst(judge), [state], Even())
    assert (report.overall.optimal, report.overall.tied, report.overall.regret.mean) == (1.0, 1, 0.0)
    assert report.decisions[0].best == ("ones", "yatzy")


def test_groups_add_up(states, judge):
    report = measure("random", states, judge)
    for groups, names in (
        (report.by_kind, ["reroll 1", "reroll 2", "mark"]),
        (report.by_stage, ["opening", "middle", "end"]),
    ):
        assert list(groups) == names
        assert sum(group.regret.count for group in groups.values()) == len(states)
        total = sum(group.regret.mean * group.regret.count for group in groups.values())
        assert total / len(states) == pytest.approx(report.overall.regret.mean)
    worst = [one.regret for one in report.worst]
    assert len(worst) == 10
    assert worst == sorted((one.regret for one in report.decisions), reverse=True)[:10]
    assert solitaire().state_from_text(report.worst[0].position).legal_actions()


def test_a_report_is_bit_identical(states, judge):
    first, again, threaded = (
        json.dumps(measure("search:sims=20", states, judge, threads).to_dict()) for threads in (1, 1, 2)
    )
    assert first == again == threaded
    assert json.dumps(measure("search:sims=20", states, judge, seed=1).to_dict()) != first


def test_the_order_of_the_positions_does_not_matter(states, judge):
    forwards = measure("search:sims=10", states[:20], judge).decisions
    backwards = measure("search:sims=10", states[:20][::-1], judge).decisions
    assert forwards == backwards[::-1]


def few_and_many(states, judge):
    """Return the regret of 50 and of 5,000 simulations with playouts and default settings."""
    few, many = (measure(f"search:sims={sims},evaluator=rollout", states, judge) for sims in (50, 5000))
    return few.overall.regret, many.overall.regret


def test_more_playouts_have_less_regret(states, judge):
    few, many = few_and_many(states, judge)
    assert many.high < few.low
    assert many.mean < 0.6 * few.mean


@pytest.mark.long
def test_a_hundred_times_the_playouts_have_less_than_half_the_regret(judge):
    few, many = few_and_many([position.state() for position in load_set("standard")], judge)
    assert many.high < few.low
    assert many.mean < 0.5 * few.mean


def test_regret_works_for_any_solved_game():
    game = aleazero.load_game("tic_tac_toe")
    states = [game.state_from_text(text) for text in ("xx./oo./...", "x.o/.x./..o", ".../.../...")]
    report = measure_regret(make_player("random", game), states, require_oracle(game), seed=3)
    assert list(report.by_kind) == ["decision"]
    assert list(report.by_stage) == ["all"]


def test_no_positions_and_illegal_actions_are_rejected(states, judge):
    with pytest.raises(aleazero.PositionError, match="got no positions"):
        measure_regret(make_player("random", solitaire()), [], judge)

    class Cheat(BasePlayer):
        def choose(self, states, seeds, allowed):
            return [46 if state.vector[1] else 0 for state in states]

    with pytest.raises(aleazero.PositionError, match="the player selected 46"):
        measure_regret(Cheat(), states[:1], judge)


def test_intervals_of_regret_do_not_go_below_zero():
    decisions = [JudgedDecision("", "", "", "", (), regret) for regret in (0.0, 0.0, 0.0, 0.0, 1.0)]
    group = RegretSummary.of(decisions)
    assert group.regret.low < 0.0
    assert group.to_dict()["low"] == 0.0
