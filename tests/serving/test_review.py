"""Reviews: rows, totals and pages; luck is zero on average, and luck-adjusted results vary less than results."""

from __future__ import annotations

import json
import re
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

import aleazero
from aleazero.cli.show_review import print_review
from aleazero.errors import ConfigError
from aleazero.games.kernel import KernelState
from aleazero.games.svg import STYLE
from aleazero.serving import review_page
from aleazero.serving.estimates import PlanJudge
from aleazero.serving.judge import make_judge
from aleazero.serving.judgement import limited
from aleazero.serving.ledger import Roll
from aleazero.serving.review import review_data, review_game, scale_of, totals_by_name
from aleazero.serving.review_page import make_page, ticks_between, write_page
from aleazero.serving.session import Session
from aleazero.serving.session_file import studied
from tests.sample_games import COINS

PIG = aleazero.load_game("pig", target=20)


def played(game, spec="random", seed=0, names=None):
    """Return a finished game of one player at all seats."""
    player = aleazero.make_player(spec, game)
    seats = dict.fromkeys(range(game.num_players), player)
    session = Session(game.new_initial_state(), seed, seats, names=names)
    while not session.state.is_terminal():
        session.draw_all()
        if not session.state.is_terminal():
            session.act(*session.choose())
    return studied(session, f"game {seed}")


@pytest.fixture(scope="module")
def judge():
    return make_judge(PIG)


@pytest.fixture(scope="module")
def review(judge):
    return review_game(played(PIG, seed=3, names=("<b>Ann</b>", "Bob")), judge)


def luck_and_results(game, spec, games):
    """Review self-play; return the luck and the results of the first player."""
    judge = make_judge(game)
    totals = [review_game(played(game, spec, seed), judge).ledger.totals[0] for seed in range(games)]
    return np.array([one.luck for one in totals]), np.array([one.result for one in totals])


def check_luck(game, spec, games, less):
    """Check the mean of luck within four standard errors, and the variance of luck-adjusted results."""
    luck, results = luck_and_results(game, spec, games)
    assert abs(luck.mean()) <= 4 * luck.std(ddof=1) / games**0.5
    if less is None:
        assert not luck.any()
    else:
        assert luck.any()
        assert (results - luck).var() < (1 - less) * results.var()


def test_luck_is_zero_on_average_and_adjusted_results_vary_less():
    check_luck(PIG, "greedy", 60, 0.4)
    check_luck(aleazero.load_game("dice_game"), "greedy", 100, 0.99)
    check_luck(aleazero.load_game("tic_tac_toe"), "random", 5, None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "spec", "games", "less"),
    [
        ("yatzy(players=1)", "greedy", 100, 0.6),
        ("yatzy", "greedy", 40, 0.5),
        ("pig(target=50)", "greedy", 200, 0.5),
        ("dice_game", "greedy", 500, 0.99),
        ("tic_tac_toe", "random", 50, None),
        ("backgammon", "heuristic", 30, 0.3),
        ("azul", "greedy", 20, -0.5),
        ("2048", "greedy", 20, -0.5),
    ],
)
def test_luck_in_self_play_of_every_game(name, spec, games, less):
    """The searches that judge Azul and 2048 explain little, and few games may show more variance than before."""
    check_luck(aleazero.load_game(name), spec, games, less)


def test_rows_hold_every_step_in_order(review):
    studied_game, entries = review.studied, review.ledger.entries
    assert [roll for row in review.rows for roll in row.rolls] == review.ledger.rolls
    decisions = [row.decision for row in review.rows if row.decision is not None]
    assert decisions == [one for one in entries if not isinstance(one, Roll)]
    assert [row.number for row in review.rows] == list(range(1, len(review.rows) + 1))
    positions = [state.to_text() for state, _ in studied_game.positions()]
    assert all(row.state.to_text() in positions for row in review.rows)
    assert all(row.decision.position == row.state.to_text() for row in review.rows if row.decision is not None)
    assert sum(row.luck for row in review.rows if row.luck and row.player == 0) == pytest.approx(
        sum(roll.luck[0] for roll in review.ledger.rolls if roll.player == 0)
    )


def test_the_last_row_has_the_result():
    game = aleazero.load_game("dice_game")
    review = review_game(played(game, "greedy", 1), make_judge(game, "search:sims=30"))
    assert review.rows[-1].decision is None
    assert review.rows[-1].value == review.ledger.returns


def test_values_are_texts_of_win_chances_or_scores():
    win = scale_of(PIG)
    assert (win.name, win.value(0.0), win.value(-1.0), win.value(None)) == ("win chance", "50.0 %", "0.0 %", "–")
    assert (win.luck(-0.1), win.luck(None), win.luck(-1e-9)) == ("-5.0 %", "", "+0.0 %")
    assert (win.cost(0.5), win.cost(0.5, digits=1)) == ("25.0 %", "25.00 %")
    score = scale_of(aleazero.load_game("yatzy", players=1))
    assert (score.name, score.value(245.87), score.luck(2.0)) == ("expected score", "245.9", "+2.0")
    assert scale_of(aleazero.load_game("backgammon")).value(0.25) == "0.250"


def test_estimates_stay_within_the_range_of_returns():
    game = aleazero.load_game("pig", target=20)
    state = game.new_initial_state()
    assert limited([1.2, -1.3], state).tolist() == [1.0, -1.0]
    assert float(limited(5e4, aleazero.load_game("2048").new_initial_state())) == 5e4

    def too_high(states, legal):
        return np.ones_like(legal, float), np.tile([4.0, -4.0], (len(states), 1))

    judge = PlanJudge(game, too_high, {"plies": 1}, "high")
    rolling = game.state_from_text("3-8 turn 2 player 0 rolling")
    (roll,) = judge.judge_rolls([rolling], [3])
    assert np.abs(roll.expected).max() <= 1.0
    assert np.abs(roll.expected + roll.luck).max() <= 1.0
    assert judge.values([state])[0].tolist() == [1.0, -1.0]


def test_totals_of_several_games_by_name(judge):
    games = [played(PIG, seed=seed, names=("a", "b") if seed % 2 else ("b", "a")) for seed in range(4)]
    reviews = [review_game(game, judge) for game in games]
    joined = {one.name: one for one in totals_by_name(reviews)}
    assert joined.keys() == {"a", "b"}
    own = [one for review in reviews for one in review.ledger.totals if one.name == "a"]
    assert joined["a"].decisions == sum(one.decisions for one in own)
    assert joined["a"].regret_per_decision == pytest.approx(sum(one.regret for one in own) / joined["a"].decisions)
    assert joined["a"].luck == pytest.approx(np.mean([one.luck for one in own]))
    assert joined["a"].result == pytest.approx(-joined["b"].result)
    counted = sum(one.best * one.decisions for one in own)
    assert joined["a"].best == pytest.approx(counted / joined["a"].decisions)


def test_players_of_the_same_name_are_told_apart_by_their_seat(judge):
    review = review_game(played(PIG, seed=1), judge)
    names = ["human (player 0)", "human (player 1)"]
    assert [one.name for one in review.ledger.totals] == names
    assert [one.name for one in totals_by_name([review])] == names
    alone = review_game(played(aleazero.load_game("dice_game")), make_judge(aleazero.load_game("dice_game")))
    assert [one.name for one in totals_by_name([alone, alone])] == ["human"]


def test_json_data_has_a_version_and_every_entry(review):
    data = json.loads(json.dumps(review_data([review], "file.json"), allow_nan=False))
    assert (data["kind"], data["format"], data["game"]) == ("aleazero review", 1, "pig")
    (one,) = data["games"]
    assert len(one["entries"]) == len(review.ledger.entries)
    assert {entry["kind"] for entry in one["entries"]} == {"decision", "roll"}
    assert (one["judge_kind"], one["exact"]) == ("oracle", True)


def test_a_page_is_one_file_with_every_board(review):
    page = make_page(review)
    without_names = page.replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?://|<link|<img|\bsrc=|@import|url\(", without_names)
    assert "<b>Ann" not in page
    assert "&lt;b&gt;Ann" in page
    marked = sum(bool(one.mark) for one in review.ledger.decisions)
    assert marked > 0
    curve = page.partition('<svg id="curve"')[2].partition("</svg>")[0]
    assert curve.count("<circle") == marked
    assert page.count('<details class="row') == len(review.rows) + 1
    assert page.count('class="scene"') == len(review.rows) + 1 + min(10, len(review.ledger.worst))
    assert page.count(STYLE) == 1
    assert len(re.findall(r"<article>", page)) == min(10, len(review.ledger.worst))
    costs = [float(text) for text in re.findall(r"cost ([\d.]+) %</span> <small>", page)]
    assert costs == sorted(costs, reverse=True)
    assert "Bob wins." in page or "Ann&lt;/b&gt; wins." in page


def test_a_page_of_a_perfect_game_of_one_player_that_is_a_file():
    game = aleazero.load_game(COINS)
    page = make_page(review_game(played(game, "oracle", 2), make_judge(game)))
    assert "Every decision was best." in page
    assert "<circle class=" not in page.partition('<svg id="curve"')[2].partition("</svg>")[0]


def test_a_game_without_drawing_is_shown_as_text(review, monkeypatch):
    monkeypatch.setattr(KernelState, "draw", lambda state: None)
    page = make_page(review)
    assert 'class="scene"' not in page
    assert f"<pre>{review.studied.end()}</pre>" in page


def test_a_game_without_chance_has_no_columns_of_luck():
    review = review_game(played(aleazero.load_game("tic_tac_toe")), make_judge(aleazero.load_game("tic_tac_toe")))
    page = make_page(review)
    assert "luck" not in re.sub(r"<(style|script)>.*?</\1>|class=\"[^\"]*\"", "", page, flags=re.DOTALL)
    console = Console(width=120, file=StringIO())
    print_review(review, console)
    assert "luck" not in console.file.getvalue()
    assert "win chance" in console.file.getvalue()


def test_luck_that_is_rounded_to_zero_has_no_sign():
    scale = scale_of(aleazero.load_game("dice_game"))
    assert [scale.sign(luck) for luck in (-0.3, -0.004, 0.0, 0.004, 0.3)] == [-1, 0, 0, 0, 1]


def test_a_page_of_a_game_without_steps(judge):
    page = make_page(review_game(studied(Session(PIG.new_initial_state(), 1)), judge))
    assert "The game is not over." in page


def test_a_page_that_cannot_be_written(review, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"page\.html"):
        write_page(review, tmp_path / "file" / "page.html")
    monkeypatch.setattr(review_page, "import_module", lambda name: __import__("no_such_module"))
    with pytest.raises(ConfigError, match="requires jinja2, which is missing: pip install"):
        write_page(review, tmp_path / "page.html")


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-2, 2), (3, 3), (0.001, 0.002), (1086, 2127), (-1e6, 5)])
def test_ticks_cover_a_range(low, high):
    ticks = ticks_between(low, high)
    steps = np.diff(ticks)
    assert ticks[0] <= low <= high <= ticks[-1]
    assert 2 <= len(ticks) <= 8
    assert np.allclose(steps, steps[0])
