from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import aleazero
from aleazero.evaluation import match
from aleazero.evaluation.match import game_seeds, play_match, seat_seed
from aleazero.games.yatzy.card import AVAIL, BOARD, BOARDS, IN_HAND, REROLLS, multiset
from aleazero.games.yatzy.rules import KEPT, event_dice
from aleazero.players.make import make_player
from aleazero.players.player import BasePlayer

MATCHES = {
    "pig": ({}, ("search:sims=30", "plan:horizon=turn,evaluator=rollout")),
    "yatzy": ({"players": 2}, ("greedy", "random")),
}

CODE = """
import json, sys, aleazero
from aleazero.evaluation.match import game_seeds, play_match
name, params, specs, threads = json.loads(sys.argv[1])
game = aleazero.load_game(name, **params)
players = [aleazero.make_player(spec, game, threads=threads) for spec in specs]
sys.stdout.write(json.dumps([g.to_dict() for g in play_match(game, players, game_seeds(4, 3))]))
"""


def record(name, threads=1, **settings):
    params, specs = MATCHES[name]
    game = aleazero.load_game(name, **params)
    players = [make_player(spec, game, threads=threads) for spec in specs]
    return json.dumps([g.to_dict() for g in play_match(game, players, game_seeds(4, 3), **settings)])


def in_another_process(name, threads):
    arguments = json.dumps([name, *MATCHES[name], threads])
    done = subprocess.run([sys.executable, "-c", CODE, arguments], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", MATCHES)
def test_a_match_is_reproducible(name):
    first = record(name)
    assert record(name) == first
    assert record(name, threads=2) == first
    assert in_another_process(name, threads=2) == first
    assert record(name, player_seed=1) != first


@pytest.mark.long
def test_a_yatzy_match_with_searches_is_reproducible(monkeypatch):
    monkeypatch.setitem(MATCHES, "yatzy", ({"players": 2}, ("search:sims=40,chance=stratified", "search:sims=20")))
    first = record("yatzy")
    assert record("yatzy", threads=2) == first
    assert in_another_process("yatzy", threads=2) == first


def test_parallel_games_do_not_change_each_other(monkeypatch):
    first = json.loads(record("pig"))
    monkeypatch.setattr(match, "PARALLEL_GAMES", 2)
    assert json.loads(record("pig")) == first


def test_recorded_steps_replay_with_the_game_dice():
    pig = aleazero.load_game("pig")
    (game,) = play_match(pig, [make_player("random", pig)] * 2, [77])
    state, counts = pig.new_initial_state(), {0: 0, 1: 0}
    for player, action in game.steps:
        assert player == state.current_player()
        if player == -1:
            viewer = state.viewer()
            assert action == aleazero.played_outcome(state, 77, counts[viewer])
            counts[viewer] += 1
        state.apply_action(action)
    assert state.is_terminal()
    assert game.returns == state.returns()


class Prophet(BasePlayer):
    """Predicts its next hand as if its seed were that of the dice, and counts correct predictions."""

    def __init__(self, dice_seed=None):
        self.dice_seed, self.predicted, self.correct, self.predictions = dice_seed, {}, 0, 0
        self.seeds = []

    def choose(self, states, seeds, allowed):
        return [self.look(state, seed) for state, seed in zip(states, seeds, strict=True)]

    def look(self, state, seed):
        self.seeds.append(seed)
        vector, legal = state.vector, state.legal_actions()
        if seed in self.predicted:
            self.correct += self.predicted.pop(seed) == vector[IN_HAND]
            self.predictions += 1
        if vector[REROLLS] == 0:
            return legal[0]
        player = state.current_player()
        filled = 15 - int(vector[BOARDS + BOARD * player + AVAIL]).bit_count()
        known = seed if self.dice_seed is None else self.dice_seed
        dice = event_dice(known, player, filled, 3 - int(vector[REROLLS]))
        assert KEPT[0, 0] == 0
        self.predicted[seed] = multiset(dice)  # it keeps no die, so its next hand has all five draws
        return 0


def test_game_dice_are_not_passed_to_players():
    game = aleazero.load_game("yatzy", players=2)
    seeds = game_seeds(9, 6)
    blind = [Prophet(), Prophet()]
    play_match(game, blind, seeds, player_seed=9)
    assert min(prophet.predictions for prophet in blind) >= 150
    assert max(prophet.correct for prophet in blind) <= 10  # about 1 % are correct by chance
    seeing = Prophet(dice_seed=seeds[0])
    play_match(game, [seeing, Prophet()], seeds[:1])
    assert seeing.correct == seeing.predictions >= 25  # a leaked seed is detected


def test_random_numbers_of_players_do_not_depend_on_the_dice():
    game = aleazero.load_game("yatzy", players=2)
    seen = []
    for dice in (3, 4):
        prophets = [Prophet(), Prophet()]
        seeds = game_seeds(dice, 3)
        play_match(game, prophets, seeds)
        seen.append([dict.fromkeys(prophet.seeds) for prophet in prophets])
        assert all(seed not in prophet.seeds for prophet in prophets for seed in (*seeds, dice))
    assert seen[0] == seen[1]
    assert list(seen[0][1]) == [seat_seed(0, number, 1) for number in range(3)]


def test_searches_do_not_get_the_seed_of_the_dice(monkeypatch):
    searched = []
    original = aleazero.Forest.run
    monkeypatch.setattr(
        aleazero.Forest,
        "run",
        lambda self, states, seeds, actions: searched.append(seeds) or original(self, states, seeds=seeds),
    )
    pig = aleazero.load_game("pig")
    firsts = []
    for dice in (1, 2):
        searched.clear()
        start = pig.state_from_text("90-90 turn 5")
        monkeypatch.setattr(type(pig), "new_initial_state", lambda self, start=start: start.clone())
        play_match(pig, [make_player("search:sims=5", pig)] * 2, game_seeds(dice, 4))
        firsts.append(searched[0])
        drawn = [seed for seeds in searched for seed in seeds]
        assert not {*game_seeds(dice, 4), dice} & set(drawn)
    assert firsts[0] == firsts[1]  # other dice, same position: same seeds of the searches


def test_a_match_needs_one_player_per_seat():
    pig = aleazero.load_game("pig")
    with pytest.raises(aleazero.ConfigError, match=r"got 1 player, expected 2, one for each seat of pig"):
        play_match(pig, [make_player("random", pig)], [1])


class Standing:
    """An endless game: the only action is to pass."""

    name, num_players, num_actions, utility = "standing", 2, 1, (-1.0, 1.0)

    def __init__(self):
        self.player = 0

    def current_player(self):
        return self.player

    def legal_actions(self):
        return [0]

    def apply_action(self, action):
        self.player = 1 - self.player

    def returns(self):
        return [0.0, 0.0]


def test_a_game_that_does_not_end_is_an_error():
    game = aleazero.load_game(Standing)
    with pytest.raises(aleazero.GameError, match="standing: game 0 is not over after 5000 decisions, expected an end"):
        play_match(game, [make_player("random", game)] * 2, [1])
