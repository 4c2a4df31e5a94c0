"""Pairs: the same dice with seats swapped, in any process."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero.errors import ConfigError
from aleazero.evaluation.match import game_seeds, play_rotation
from aleazero.evaluation.pairs import PairTable, open_pairs, play_pairs, points_by_player, seatings
from aleazero.players.player import BasePlayer

PIG = aleazero.load_game("pig", target=20)


def test_seatings():
    assert seatings(1) == [(True,), (False,)]
    assert seatings(2) == [(True, False), (False, True)]
    assert seatings(3) == [
        (True, False, False), (False, True, False), (False, False, True),
        (False, True, True), (True, False, True), (True, True, False),
    ]  # fmt: skip


def test_the_same_player_splits_every_pair():
    greedy = aleazero.make_player("greedy", PIG)
    table = play_pairs(PIG, greedy, greedy, game_seeds(1, 20))
    assert table.table == {"0.5": 20}
    assert (table.wins, table.draws, table.losses, table.games) == (20, 0, 20, 40)
    fresh = play_pairs(PIG, greedy, greedy, game_seeds(1, 20), deterministic_chance=False)
    assert len(fresh.table) > 1


def test_games_of_a_pair_share_their_dice():
    (pair,) = open_pairs(PIG, "greedy", "random", [77])
    first, second = pair.games
    rolls = [[step[1] for step in game.steps if step[0] == -1] for game in (first, second)]
    assert (first.seed, second.seed) == (77, 77)
    assert rolls[0][0] == rolls[1][0]  # the first roll of player 0 is the same
    apart = next(open_pairs(PIG, "greedy", "random", [77], deterministic_chance=False))
    assert apart.games[0].seed != apart.games[1].seed


def test_pairs_have_the_same_games_as_a_rotation():
    players = [aleazero.make_player(spec, PIG) for spec in ("random", "greedy")]
    table = play_pairs(PIG, *players, game_seeds(3, 20), player_seed=4)
    first, _ = play_rotation(PIG, players, 40, seed=3, player_seed=4)
    assert (table.wins, table.draws, table.losses) == (first.wins, first.draws, first.losses)


def test_neither_chunks_nor_workers_change_anything(monkeypatch):
    seeds = game_seeds(2, 9)
    pairs = list(open_pairs(PIG, "random", "search:sims=8", seeds))
    monkeypatch.setattr("aleazero.evaluation.pairs.CHUNK", 2)
    assert list(open_pairs(PIG, "random", "search:sims=8", seeds)) == pairs
    done = []
    table = play_pairs(PIG, "random", "search:sims=8", seeds, workers=2, progress=lambda *call: done.append(call))
    assert (table.scores == PairTable.of(pairs).scores).all()
    assert done == [(number + 1, 9) for number in range(9)]
    assert [pair.number for pair in pairs] == list(range(9))


def test_errors_of_workers_are_reported():
    with pytest.raises(ConfigError, match="did you mean random"):
        play_pairs(PIG, "random", "randam", [1, 2], workers=2)
    with pytest.raises(ConfigError, match="workers is 2, expected 1: pass players as specs"):
        play_pairs(PIG, aleazero.make_player("random", PIG), "random", [1], workers=2)
    with pytest.raises(ConfigError, match="got no seeds"):
        play_pairs(PIG, "random", "random", [])


class Watcher(BasePlayer):
    def __init__(self):
        self.seeds = set()

    def choose(self, states, seeds, allowed):
        self.seeds |= set(seeds)
        return [state.legal_actions()[-1] for state in states]


def test_random_numbers_of_players_do_not_depend_on_the_dice():
    seen = []
    for dice in (5, 6):
        watchers = Watcher(), Watcher()
        play_pairs(PIG, *watchers, game_seeds(dice, 4))
        assert not (watchers[0].seeds & watchers[1].seeds)  # the players do not share seeds
        assert not (watchers[0].seeds | watchers[1].seeds) & set(game_seeds(dice, 4))
        seen.append([watcher.seeds for watcher in watchers])
    assert seen[0] == seen[1]


def test_one_player_games_compare_scores():
    game = aleazero.load_game("yatzy", players=1)
    (pair,) = open_pairs(game, "greedy", "random", [5])
    table = PairTable.of([pair])
    mine, other = (played.returns[0] for played in pair.games)
    assert table.gains.tolist() == [mine - other]
    assert (table.scores[0], table.wins, table.losses) == ((1.0, 1, 0) if mine > other else (0.0, 0, 1))
    assert table.points[0].tolist() == [mine]


def test_three_players():
    game = aleazero.load_game("yatzy", players=3)
    table = play_pairs(game, "random", "random", game_seeds(8, 2))
    assert table.games == 12
    assert np.all((table.scores > 0) & (table.scores < 1))
    end = game.new_initial_state()
    assert points_by_player(end) == [0.0, 0.0, 0.0]
    assert points_by_player(PIG.new_initial_state()) is None
