from __future__ import annotations

import io

import pytest
from rich.console import Console

import aleazero
from aleazero.cli.show import outcome_of_game, print_json, share_bar, time_text, value_text, values_text


def test_values_are_signed_if_returns_can_be_negative():
    pig, dice = aleazero.load_game("pig"), aleazero.load_game("dice_game")
    assert value_text(0.25, pig) == "+0.250"
    assert value_text(8.1666, dice) == "8.17"
    assert value_text(12345.6, aleazero.load_game("2048")) == "12,345.60"
    assert value_text(float("nan"), pig) == value_text(None, pig) == "-"
    assert values_text([0.5, -0.5], pig) == "player 0 +0.500   player 1 -0.500"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.0123, "12.3 ms"), (0.5, "0.50 s"), (9.2, "9 s"), (3, "3 s"), (80.4, "1 min 20 s"), (7500, "2 h 5 min")],
)
def test_times(seconds, expected):
    assert time_text(seconds) == expected


def test_bars_grow_with_the_share():
    console = Console(file=io.StringIO())
    lengths = [len(share_bar(share, console)) for share in (0.0, 0.001, 0.5, 1.0)]
    assert lengths == [0, 1, 8, 16]


@pytest.mark.parametrize(
    ("game", "position", "expected"),
    [
        ("pig", "101-30 player 0 over", "player 0 wins"),
        ("tic_tac_toe", "xox/xxo/oxo", "a draw"),
        ("dice_game", "23 over", "the game is over: 23.00"),
    ],
)
def test_the_result_of_a_game(game, position, expected):
    assert expected in outcome_of_game(aleazero.load_game(game).state_from_text(position))


def test_json_rejects_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        print_json({"value": float("nan")})
