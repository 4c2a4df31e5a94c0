from __future__ import annotations

import pytest

import aleazero
from aleazero.oracles.oracle import best_of, oracle_of, require_oracle


def test_the_yatzy_oracle_returns_final_scores(oracle):
    game = aleazero.load_game("yatzy", players=1)
    state = game.state_from_text("open sixes house yatzy upper 40 total 60 / player 0 dice 22266 rerolls 1")
    values = oracle.action_values(state)
    assert list(values) == state.legal_actions()
    assert max(values.values()) == pytest.approx(oracle.value(state), abs=1e-9)


def test_action_values_are_those_of_the_mover():
    game = aleazero.load_game("tic_tac_toe")
    oracle = require_oracle(game)
    state = game.state_from_text("xx./oo./x..")  # o to move, and wins
    assert state.current_player() == 1
    assert best_of(oracle.action_values(state)) == [5]
    assert max(oracle.action_values(state).values()) == 1.0


def test_all_tied_actions_are_best():
    assert best_of({3: 1.0, 1: 1.0 + 5e-10, 2: 0.9}) == [1, 3]


def test_a_large_game_has_no_oracle():
    game = aleazero.load_game("pig", target=30)
    assert oracle_of(game, max_states=1000) is None
    with pytest.raises(
        aleazero.ConfigError, match=r"pig: more than 1000 states, expected a smaller game \(by its parameters\) or, in"
    ):
        require_oracle(game, max_states=1000)
    found = require_oracle(game)
    assert found.evaluator.num_states > 1000
    assert oracle_of(game) is found
    assert oracle_of(game, max_states=1000) is None  # although it was solved before
    with pytest.raises(aleazero.ConfigError, match=r"has no oracle: pig: more than 1000 states, "):
        require_oracle(game, max_states=1000)


def test_the_solution_of_a_large_game_is_announced(monkeypatch, caplog):
    monkeypatch.setattr("aleazero.oracles.oracle.MANY_STATES", 10_000)
    assert oracle_of(aleazero.load_game("pig", target=70), max_states=12_000) is None
    assert caplog.messages == ["solving pig(target=70): more than 10,000 states so far, which can take a minute"]


def test_the_error_has_the_reason_why_there_is_no_oracle():
    assert oracle_of(aleazero.load_game("2048")) is None
    with pytest.raises(aleazero.ConfigError, match="only games with listed outcomes and bounded returns are solved"):
        require_oracle(aleazero.load_game("2048"))
    with pytest.raises(aleazero.ConfigError, match="the player 'solo' is its reference"):
        require_oracle(aleazero.load_game("yatzy"))


def test_pig_is_not_solved_in_vain(monkeypatch):
    """Counting the states of plain pig up to the limit took 20 seconds and 800 MB, also for the judge of a review."""
    monkeypatch.setattr("aleazero.oracles.oracle.solve", None)
    game = aleazero.load_game("pig")
    assert oracle_of(game) is None
    with pytest.raises(aleazero.ConfigError, match=r"pig\(target=100\) has no oracle: it has more than 1,000,000 st"):
        require_oracle(game)


def test_the_oracle_of_a_kit_is_made_once(oracle):
    game = aleazero.load_game("yatzy", players=1)
    found = oracle_of(game)
    assert found.expected() == oracle.expected()
    assert oracle_of(game, max_states=1) is found
