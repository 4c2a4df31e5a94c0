"""Yatzy: functions that make positions and game dice. ``load_game("yatzy")`` loads the game."""

from aleazero.games.yatzy.card import Board
from aleazero.games.yatzy.rules import event_dice, from_position

__all__ = ["Board", "event_dice", "from_position"]
