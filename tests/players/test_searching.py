from __future__ import annotations

import pytest

import aleazero
from aleazero.players import searching
from aleazero.players.player import own_seed
from aleazero.players.searching import SearchPlayer

PIG = aleazero.load_game("pig")
STATES = [PIG.state_from_text(f"{score}-60 turn {turn}") for score in (10, 50, 80) for turn in (3, 12, 19, 25)]


def test_it_plays_what_a_search_alone_finds():
    config = aleazero.SearchConfig(num_simulations=60)
    expected = [aleazero.Search(PIG, "rollout", config).run(s, seed=own_seed(s, 5)).best_action for s in STATES]
    seeds = [5] * len(STATES)
    for threads in (1, 2):
        assert SearchPlayer(PIG, "rollout", config, threads).select_many(STATES, seeds) == expected
    assert [SearchPlayer(PIG, "rollout", config).select(state, 5) for state in STATES[:3]] == expected[:3]


def test_other_seeds_have_other_luck():
    player = SearchPlayer(PIG, "rollout", aleazero.SearchConfig(num_simulations=15))
    assert len({tuple(player.select_many(STATES, [seed] * len(STATES))) for seed in range(6)}) > 1


def test_time_is_no_budget_of_a_player():
    with pytest.raises(aleazero.ConfigError, match="max_seconds does not repeat"):
        SearchPlayer(PIG, "rollout", aleazero.SearchConfig(max_seconds=1.0))


def test_large_searches_are_few_at_once(monkeypatch):
    made = []
    monkeypatch.setattr(searching, "Forest", lambda *args, trees, threads: made.append(trees))
    yatzy = aleazero.load_game("yatzy", players=1)
    for sims, chance, evaluations in ((5000, "stratified", None), (5000, "full", None), (10**6, "full", 1000)):
        SearchPlayer(
            yatzy, "rollout", aleazero.SearchConfig(num_simulations=sims, chance=chance, max_evaluations=evaluations)
        )
    assert made == [32, 3, 32]


def test_it_searches_among_what_is_allowed():
    game = aleazero.load_game("tic_tac_toe")
    start, config = game.new_initial_state(), aleazero.SearchConfig(num_simulations=40)
    player = SearchPlayer(game, "rollout", config)
    found = player.select_many([start] * 3, [5] * 3, [[1, 3, 5], None, [0, 8]])
    search = aleazero.Search(game, "rollout", config)
    seed = own_seed(start, 5)
    assert found == [search.run(start, actions=some, seed=seed).best_action for some in ([1, 3, 5], None, [0, 8])]
    assert found[0] in (1, 3, 5)
    assert found[2] in (0, 8)
