"""Games that several tests use: games of each kind, and the rules of a small game as the text of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aleazero
from aleazero.games.base import Game

COINS = str(Path(__file__).resolve().parents[1] / "examples" / "coins.py")
STOP_RULES = """
def describe(faces: int = 6):
    return GameInfo(name="stop", num_players=1, num_actions=1, state_size=1, constants={"FACES": faces})

def kind(state): return 0 if state[0] == 0 else 2
def to_play(state): return 0
def legal(state, out):
    out[0] = 0
    return 1
def apply(state, action): state[0] = FACES
def returns(state, out): out[0] = state[0]
"""
"""Rules that need an import of ``GameInfo`` and a constant ``FACES`` before them."""


def sample_games(**pig: Any) -> dict[str, Game]:
    """Return all bundled games, Yatzy for one to three players, and an object game; ``pig`` are parameters of pig."""
    names = {"pig": pig, "dice_game": {}, "tic_tac_toe": {}, "2048": {}, "backgammon": {}, "azul": {}}
    games = {name: aleazero.load_game(name, **params) for name, params in names.items()}
    games |= {f"yatzy-{players}": aleazero.load_game("yatzy", players=players) for players in (1, 2, 3)}
    return {**games, "coins": aleazero.load_game(COINS)}
