"""Fixed sets of decisions of one-player Yatzy.

A set is a JSON list of ``{"avail_mask", "upper_total_cap", "dice_sorted", "rerolls_left"}``. The bundled sets are made
by ``benchmarks/yatzy/sampling.py`` from positions of real games that have more than one action.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from aleazero.errors import ConfigError, PositionError, nearest
from aleazero.evaluation.regret import read_positions
from aleazero.files import write_atomic
from aleazero.games.base import Game, State
from aleazero.games.dice import DICE, FACES
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.games.registry import load_game
from aleazero.games.yatzy.card import AVAIL, BOARDS, NUM_CATEGORIES, REROLLS, Board, vector_of

FOLDER: Final = Path(__file__).parent / "sets"
PREFIX: Final = "yatzy-"
KINDS: Final = ("mark", "reroll 2", "reroll 1")
"""Kinds of decisions, by rerolls left; ``mark`` is a scoring decision."""
STAGES: Final = ("opening", "middle", "end")
"""Stages of the game, by filled categories: 0 to 4, 5 to 9, 10 to 14."""


class Position(NamedTuple):
    """A decision of one-player Yatzy. Of the card only the open categories and the upper total matter."""

    avail_mask: int
    upper_total_cap: int
    dice_sorted: tuple[int, ...]
    rerolls_left: int

    @property
    def kind(self) -> str:
        """``reroll 1``, ``reroll 2`` or ``mark``."""
        return KINDS[self.rerolls_left]

    @property
    def stage(self) -> str:
        """``opening``, ``middle`` or ``end``."""
        return STAGES[(NUM_CATEGORIES - self.avail_mask.bit_count()) // 5]

    def state(self, game: Game | None = None) -> KernelState:
        """Return the state with the lowest possible total; with several players all have the same card."""
        played = solitaire() if game is None else game
        assert isinstance(played, KernelGame)
        boards = [Board(self.avail_mask, self.upper_total_cap)] * played.num_players
        return played.state_from_vector(vector_of(boards, self.dice_sorted, self.rerolls_left, 0, False))


@cache
def solitaire() -> KernelGame:
    """Return one-player Yatzy, the game of the sets."""
    game = load_game("yatzy", players=1)
    assert isinstance(game, KernelGame)
    return game


def classify(state: State) -> tuple[str, str]:
    """Return kind and stage of a decision of one-player Yatzy, for tables of regret."""
    assert isinstance(state, KernelState)
    filled = NUM_CATEGORIES - int(state.vector[BOARDS + AVAIL]).bit_count()
    return KINDS[int(state.vector[REROLLS])], STAGES[filled // 5]


def set_names() -> list[str]:
    """Return the names of the bundled sets."""
    return sorted(file.stem.removeprefix(PREFIX) for file in FOLDER.glob(f"{PREFIX}*.json"))


def load_set(name: str) -> list[Position]:
    """Load a bundled set by name, or a set from a file ending in ``.json``."""
    if name.endswith(".json"):
        return read_set(Path(name))
    if name not in set_names():
        raise ConfigError(f"no set {name!r}, {nearest(name, set_names())} (or a file ending in .json)")
    return read_set(FOLDER / f"{PREFIX}{name}.json")


def read_set(file: Path) -> list[Position]:
    """Read and check the positions of a file."""
    return read_positions(file, read_row)


def write_set(file: Path, positions: Sequence[Position]) -> None:
    """Write a set atomically, one position per line."""
    write_atomic(file, [set_bytes(positions)])


def set_bytes(positions: Sequence[Position]) -> bytes:
    """Return the content of a set's file."""
    return ("[\n" + ",\n".join(json.dumps(position._asdict()) for position in positions) + "\n]\n").encode()


def read_row(row: Any) -> Position:
    """Read and check one position of a file."""
    if not isinstance(row, dict) or sorted(row) != sorted(Position._fields):
        raise PositionError(f"got {_short(row)}, expected {', '.join(Position._fields)}")
    dice = row["dice_sorted"]
    numbers = [
        row["avail_mask"],
        row["upper_total_cap"],
        row["rerolls_left"],
        *(dice if isinstance(dice, list) else ()),
    ]
    if any(isinstance(number, bool) or not isinstance(number, int) for number in numbers):
        raise PositionError(f"got {_short(row)}, expected integers")
    if not isinstance(dice, list) or len(dice) != DICE or dice != sorted(dice) or not 1 <= dice[0] <= dice[-1] <= FACES:
        raise PositionError(f"got the dice {_short(dice)}, expected {DICE} from 1 to {FACES}, ascending")
    if row["avail_mask"] == 0:
        raise PositionError("got a finished board, expected one with an open category")
    position = Position(row["avail_mask"], row["upper_total_cap"], tuple(dice), row["rerolls_left"])
    position.state()
    return position


def _short(what: Any) -> str:
    text = json.dumps(what)
    return text if len(text) <= 100 else f"{text[:97]}..."
