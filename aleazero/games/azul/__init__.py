"""Azul: positions as dicts, and the action ids of another encoding. ``load_game("azul")`` loads the game."""

from aleazero.games.azul.positions import from_position, from_seed_id, is_capped, to_position, to_seed_id

__all__ = ["from_position", "from_seed_id", "is_capped", "to_position", "to_seed_id"]
