"""Azul's kit: warnings about floor moves in evaluations and on the command line, and the examples."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import aleazero
from aleazero.cli.main import app
from aleazero.evaluation.azul.floor_moves import is_dominated_floor_move, is_floor_move
from aleazero.evaluation.pairs import SeatedGame
from aleazero.evaluation.strength import MoveShare, count_moves, evaluate_player
from aleazero.games.kit import kit_of

WALL = "wall .....,.....,.....,.....,....."
OTHER = f"0 {WALL} lines -,-,-,-,- floor -"


def start(lines: str, rest: str) -> aleazero.State:
    """Return a draft with four blue tiles in the first factory, and these lines of player 0."""
    text = f"draft round 1 drafts 2 player 0 next - bag {rest} lid - centre - factories b4 - - - - / 0 {WALL} lines "
    return aleazero.load_game("azul").state_from_text(f"{text}{lines} floor - / {OTHER}")


@pytest.mark.parametrize(
    ("lines", "rest", "dominated"),
    [
        ("-,-,-,-,-", "b16y20r20k20w20", True),  # line 4 takes them
        ("-,-,-,r1,b1", "b15y20r19k20w20", True),  # line 5 holds one blue tile
        ("-,-,-,r1,b2", "b14y20r19k20w20", False),  # every line overflows
        ("-,-,-,r1,r1", "b16y20r18k20w20", False),
    ],
)
def test_a_floor_move_is_dominated_if_a_line_takes_all_tiles(lines, rest, dominated):
    state = start(lines, rest)
    floor, line = (state.string_to_action(f"F1 blue {to}") for to in ("floor", "3"))
    assert is_floor_move(state, floor)
    assert is_dominated_floor_move(state, floor) is dominated
    assert not is_floor_move(state, line)
    assert not is_dominated_floor_move(state, line)


def test_shares_count_the_decisions_of_the_first_player():
    game = aleazero.load_game("azul")
    random = aleazero.make_player("random", game)
    (played,) = aleazero.play_match(game, [random, random], [1])
    steps, by_seat = tuple(played.steps), []
    for seat in range(2):
        seating = (seat == 0, seat == 1)
        shares = count_moves(game, [SeatedGame(seating, 1, steps, (0.0, 0.0), None)])
        own = [action for player, action in steps if player == seat]
        floor = sum(action % 6 == 5 for action in own)
        assert shares["floor moves"] == MoveShare(floor, len(own), 0.20)
        assert 0 < shares["dominated floor moves"].count <= floor
        by_seat.append(shares["floor moves"].count)
    assert by_seat[0] != by_seat[1]
    assert count_moves(aleazero.load_game("pig"), []) == {}


def test_evaluations_show_the_shares():
    game = aleazero.load_game("azul")
    moves = evaluate_player("greedy", game, pairs=2, against=["random"]).to_dict()["moves"]
    assert moves["floor moves"]["share"] < 0.2
    assert moves["floor moves"]["warning"] is False
    call = ["evaluate", "strength", "azul", "random", "--pairs", "2", "--against", "random"]
    shown = CliRunner().invoke(app, call)
    assert shown.exit_code == 0, shown.output
    assert "decisions (above the limit of 8%)" in shown.output
    data = json.loads(CliRunner().invoke(app, [*call, "--json"]).stdout)
    assert data["moves"]["dominated floor moves"]["warning"] is True


def test_the_kit_has_a_reference_player_and_an_example():
    kit = kit_of(aleazero.load_game("azul"))
    assert aleazero.make_player(kit.reference, aleazero.load_game("azul")) is not None
    (example,) = kit.examples
    assert not aleazero.load_game("azul").state_from_text(example.position).is_terminal()
    assert kit_of(aleazero.load_game("azul", players=3)).examples == ()
