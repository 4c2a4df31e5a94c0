from __future__ import annotations

import pytest

import aleazero
from aleazero.oracles import judge as judges
from aleazero.oracles.judge import YatzyJudge, best_of, judge_of


def test_yatzys_judge_tells_final_scores(oracle):
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("open sixes house yatzy upper 40 total 60 / player 0 dice 22266 rerolls 1")
    values = YatzyJudge(oracle).action_values(state)
    assert list(values) == state.legal_actions()
    assert max(values.values()) == pytest.approx(oracle.value(state), abs=1e-9)


def test_a_solved_games_judge_takes_the_movers_view():
    game = aleazero.load_game("tic_tac_toe")
    judge = judge_of(game)
    state = game.state_from_text("xx./oo./x..")  # o to move, and wins
    assert state.current_player() == 1
    assert best_of(judge.action_values(state)) == [5]
    assert max(judge.action_values(state).values()) == 1.0


def test_ties_are_all_best():
    assert best_of({3: 1.0, 1: 1.0 + 5e-10, 2: 0.9}) == [1, 3]


def test_a_game_too_large_has_no_judge(monkeypatch):
    monkeypatch.setattr(judges, "MAX_STATES", 1000)
    with pytest.raises(aleazero.ConfigError, match=r"has no oracle: pig: more than 1000 states, .*; known: yatzy"):
        judge_of(aleazero.load_game("pig"))
