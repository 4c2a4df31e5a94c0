"""Backgammon: positions, position ids, moves in notation, match files. ``load_game("backgammon")`` loads the game."""

from aleazero.games.backgammon.mat import Match, MatchGame, Turn, read_mat, record_game, write_mat
from aleazero.games.backgammon.notation import format_move, parse_move
from aleazero.games.backgammon.position_id import from_position_id, position_id
from aleazero.games.backgammon.rules import from_position, to_position

__all__ = [
    "Match",
    "MatchGame",
    "Turn",
    "format_move",
    "from_position",
    "from_position_id",
    "parse_move",
    "position_id",
    "read_mat",
    "record_game",
    "to_position",
    "write_mat",
]
