"""Yatzy: ``load_game("yatzy")`` loads it; these make positions and dice of it."""

from aleazero.games.yatzy.card import Board
from aleazero.games.yatzy.rules import event_dice, from_position

__all__ = ["Board", "event_dice", "from_position"]
