"""Rotations: every player has every seat, with the same dice."""

from __future__ import annotations

import pytest

import aleazero
from aleazero import ConfigError
from aleazero.evaluation.match import WinCounts, play_rotation


def test_games_are_counted_for_each_player() -> None:
    game = aleazero.load_game("pig", target=20)
    players = [aleazero.make_player(spec, game) for spec in ("greedy", "random")]
    done = []
    found = play_rotation(game, players, 21, seed=3, progress=lambda *call: done.append(call))
    assert [tally.games for tally in found] == [22, 22]
    assert found[0].wins == found[1].losses
    assert found[0].total == -found[1].total == found[0].wins - found[0].losses
    assert done[-1] == (22, 22)


def test_a_deterministic_player_draws_against_itself() -> None:
    """Each seed is played from both seats with the same dice, so wins and losses are equal."""
    game = aleazero.load_game("pig", target=20)
    greedy = aleazero.make_player("greedy", game)
    first, second = play_rotation(game, [greedy, greedy], 10, seed=1)
    assert (first.wins, first.losses) == (5, 5) == (second.wins, second.losses)


def test_ties_among_three_players() -> None:
    tally = WinCounts()
    tally.add([0.25, 0.25, -0.5], 0)
    tally.add([0.25, 0.25, -0.5], 2)
    tally.add([-0.5, 1.0, -0.5], 1)
    assert tally.to_dict() == {"games": 3, "wins": 1, "draws": 1, "losses": 1, "mean_return": 0.25}


def test_wrong_number_of_players() -> None:
    game = aleazero.load_game("pig")
    with pytest.raises(ConfigError, match="got 1 player, expected 2"):
        play_rotation(game, [aleazero.make_player("random", game)], 4)
