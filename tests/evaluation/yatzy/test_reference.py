from __future__ import annotations

import pytest

import aleazero
from aleazero.evaluation.match import game_seeds, play_match
from aleazero.evaluation.yatzy.positions import load_set, solitaire
from aleazero.evaluation.yatzy.reference import SoloPlayer
from aleazero.players.basic import OraclePlayer


def test_in_the_one_player_game_it_is_optimal(oracle):
    states = [position.state() for position in load_set("small")]
    best, solo = OraclePlayer(oracle), SoloPlayer(oracle)
    seeds = [0] * len(states)
    assert solo.select_many(states, seeds) == best.select_many(states, seeds)
    some = [state.legal_actions()[1:] for state in states]
    assert solo.select_many(states, seeds, some) == best.select_many(states, seeds, some)


def test_the_opponents_card_does_not_matter(oracle):
    """At either seat it plays the same actions as in the one-player game with the same dice."""
    game = aleazero.load_game("yatzy", players=2)
    (together,) = play_match(game, [aleazero.make_player("solo", game)] * 2, game_seeds(2, 1))
    (by_itself,) = play_match(solitaire(), [SoloPlayer(oracle)], game_seeds(2, 1))
    mine = [action for player, action in together.steps if player == 0]
    assert mine == [action for player, action in by_itself.steps if player == 0]


def test_other_games_have_no_such_player_and_it_has_no_settings():
    with pytest.raises(aleazero.ConfigError, match="player is 'solo', known: greedy"):
        aleazero.make_player("solo", aleazero.load_game("pig"))
    with pytest.raises(aleazero.ConfigError, match=r"player 'solo:sims=4': solo has no setting 'sims', expected none"):
        aleazero.make_player("solo:sims=4", aleazero.load_game("yatzy"))
