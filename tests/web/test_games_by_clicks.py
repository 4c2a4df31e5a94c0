"""A complete game of each bundled game, played in a browser by clicks on its board."""

from __future__ import annotations

import pytest

from tests.web.board_play import play_to_the_end, undo_to_the_start_and_redo
from tests.web.live_web import start_game

GAMES = {
    "tic_tac_toe": ("Tic tac toe", ("you", "you"), {}),
    "pig": ("Pig", ("you", "you"), {}),
    "dice_game": ("Dice game", ("you",), {}),
    "2048": ("2048", ("you",), {}),
    "yatzy": ("Yatzy", ("you",), {"players": 1}),
    "yatzy of two": ("Yatzy", ("you", "you"), {}),
    "hypergammon": ("Backgammon", ("you", "you"), {"checkers": 3}),
    "backgammon": ("Backgammon", ("you", "you"), {}),
    "azul": ("Azul", ("you", "you"), {}),
}
EARLY_END = 14
"""Seed of dice with which 2048 ends after 39 moves."""
LONG = ("yatzy of two", "backgammon")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in GAMES])
def test_a_game_is_played_to_its_end_by_clicks(page, name):
    title, seats, params = GAMES[name]
    identity = start_game(page, title, seats=seats, seed=EARLY_END, **params)
    play_to_the_end(page, identity)


def test_a_game_with_dice_is_taken_back_to_its_start_and_played_again(page):
    identity = start_game(page, "Pig", seats=("you", "you"), seed=1)
    play_to_the_end(page, identity)
    undo_to_the_start_and_redo(page, identity)
