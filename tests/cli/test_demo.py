from __future__ import annotations

import aleazero
from aleazero.cli.demo import all_examples


def test_every_bundled_game_has_a_position_and_one_is_chance():
    examples = [(name, one) for name, one in all_examples() if one.position is not None]
    assert {name for name, _ in examples} == {"2048", "dice_game", "pig", "tic_tac_toe", "yatzy"}
    states = [aleazero.load_game(name, **one.params).state_from_text(one.position) for name, one in examples]
    assert not any(state.is_terminal() for state in states)
    assert any(state.is_chance_node() for state in states)
    assert all(len(state.legal_actions()) > 1 for state in states)
    assert [name for name, one in all_examples() if one.position is None] == ["pig"]


def test_the_demo_runs(process):
    done = process("demo", "--sims", "20", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    for name, example in all_examples():
        assert name in done.stdout
        assert example.caption in done.stdout
    assert "the game is over, player" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
