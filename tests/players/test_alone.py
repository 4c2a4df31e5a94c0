from __future__ import annotations

import pytest

import aleazero
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.yatzy_sets import load_set, solitaire
from aleazero.oracles.judge import YatzyJudge
from aleazero.players.alone import AlonePlayer
from aleazero.players.basic import OraclePlayer


def test_alone_it_is_best_play(oracle):
    states = [position.state() for position in load_set("small")]
    best, alone = OraclePlayer(YatzyJudge(oracle)), AlonePlayer(oracle)
    seeds = [0] * len(states)
    assert alone.select_many(states, seeds) == best.select_many(states, seeds)
    some = [state.legal_actions()[1:] for state in states]
    assert alone.select_many(states, seeds, some) == best.select_many(states, seeds, some)


def test_what_the_other_has_does_not_matter(oracle):
    """At either seat it plays the game that it would play alone with the same dice."""
    duel = aleazero.load_game("yatzy", players=2)
    (together,) = play_match(duel, [aleazero.make_player("alone", duel)] * 2, game_seeds(2, 1))
    (by_itself,) = play_match(solitaire(), [AlonePlayer(oracle)], game_seeds(2, 1))
    mine = [action for player, action in together.steps if player == 0]
    assert mine == [action for player, action in by_itself.steps if player == 0]


def test_only_yatzy_is_played_alone():
    with pytest.raises(aleazero.ConfigError, match="has no best play alone, expected yatzy"):
        aleazero.make_player("alone", aleazero.load_game("pig"))
