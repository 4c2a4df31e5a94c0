from __future__ import annotations

import aleazero
from aleazero.cli.verbs.games import POSITIONS


def test_every_game_that_ships_has_a_position_and_one_is_chance():
    assert {name for name, *_ in POSITIONS} == {"2048", "dice_game", "pig", "tic_tac_toe", "yatzy"}
    states = [aleazero.load_game(name, **params).state_from_text(text) for name, params, text, _ in POSITIONS]
    assert not any(state.is_terminal() for state in states)
    assert any(state.is_chance_node() for state in states)
    assert all(len(state.legal_actions()) > 1 for state in states)


def test_the_demo_runs(process):
    done = process("demo", "--sims", "20", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    for name, _, _, question in POSITIONS:
        assert name in done.stdout
        assert question in done.stdout
    assert "the game is over, player" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
