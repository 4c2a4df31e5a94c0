"""The memory that trees need, told before they grow."""

from __future__ import annotations

import pytest

import aleazero
from aleazero import ConfigError
from aleazero.search.evaluator import Uniform
from aleazero.selfplay import memory
from aleazero.selfplay.config import SelfplayConfig
from aleazero.selfplay.memory import machine_memory, mean_branches, require_memory, tree_size

YATZY = aleazero.load_game("yatzy")


def test_branches_by_hand() -> None:
    assert mean_branches(aleazero.load_game("dice_game")) == (pytest.approx(2, abs=0.2), pytest.approx(6, abs=1))
    actions, outcomes = mean_branches(aleazero.load_game("tic_tac_toe"))
    assert 4 < actions < 6
    assert outcomes == 1


@pytest.mark.parametrize("chance", ["sampling", "stratified", "full"])
@pytest.mark.parametrize("name", ["yatzy", "pig", "2048"])
def test_a_tree_is_about_as_large_as_told(name, chance) -> None:
    game = aleazero.load_game(name)
    config = SelfplayConfig(simulations=200, chance=chance)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    result = aleazero.Search(game, "uniform", config.search()).run(state)
    assert result.stats.tree_bytes / 4 < tree_size(game, Uniform(), config) < result.stats.tree_bytes * 8


def test_what_does_not_fit_is_refused(monkeypatch) -> None:
    config = SelfplayConfig(simulations=64, parallel=128, chance="full")
    a_tree = tree_size(YATZY, None, config)
    monkeypatch.setattr(memory, "machine_memory", lambda: 256 * a_tree)
    require_memory(YATZY, None, config, workers=2, games=10**6)
    require_memory(YATZY, None, config, workers=3, games=256)  # no more games at once than there are
    with pytest.raises(ConfigError, match=r"384 games at once .* GB, .*: expected fewer workers, .* chance than full$"):
        require_memory(YATZY, None, config, workers=3, games=10**6)
    with pytest.raises(ConfigError, match=r"expected fewer workers, parallel games or simulations$"):
        require_memory(YATZY, None, SelfplayConfig(simulations=10**6), workers=2, games=10**6)
    monkeypatch.setattr(memory, "machine_memory", lambda: None)
    require_memory(YATZY, None, config, workers=10**6, games=10**9)


def test_the_machine_has_some_memory() -> None:
    assert machine_memory() is None or machine_memory() > 2**26
