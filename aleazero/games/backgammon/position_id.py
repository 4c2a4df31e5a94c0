"""GNU Backgammon's position ids: 14 characters for the checkers on the points and on the bar.

The bits of an id count the checkers in unary. For the ace point to the 24 point and the bar, there are as many ones as
checkers and then a zero; first for the player who is *not* on roll, then for the player on roll, each from the own
view. The 80 bits are ten bytes, lowest bit first, in base64. Dice, borne-off checkers and the player are not included.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from aleazero.errors import PositionError
from aleazero.games.backgammon.board import MOST_CHECKERS, NUM_POINTS, PLAYER, Position, position_of, vector_of
from aleazero.games.base import Game

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

BYTES, LENGTH = 10, 14
PATTERN = r"[A-Za-z0-9+/]{14}"


def position_id(state: KernelState) -> str:
    """Return the position id of a state, from the view of the player who moves or rolls.

    Args:
        state: a state of backgammon.

    Returns:
        14 characters, e.g. ``4HPwATDgc/ABMA`` for the start.
    """
    return encode(position_of(state.vector, int(state.vector[PLAYER])))


def from_position_id(
    text: str, dice: Sequence[int] | None = None, *, player: int = 0, game: Game | None = None
) -> KernelState:
    """Return the state of a position id.

    Args:
        text: 14 characters.
        dice: the rolled dice; None before the roll.
        player: the player on roll.
        game: the game of the state; default: backgammon with 15 checkers.

    Returns:
        The state. Checkers that are neither on points nor on the bar are off.

    Raises:
        PositionError: this is not a position id, or no play reaches the position.
    """
    from aleazero.games.registry import load_game

    game = load_game("backgammon") if game is None else game
    points, bar, off = decode(text, int(game.params["checkers"]))
    return cast("KernelGame", game).state_from_vector(vector_of(points, bar, off, dice, player))


def encode(position: Position) -> str:
    """Return the position id of a position from the view of the player on roll."""
    points, bar, _ = position
    other = [max(0, -count) for count in reversed(points)]
    own = [max(0, count) for count in points]
    bits = "".join("1" * count + "0" for count in (*other, bar[1], *own, bar[0]))
    key = int(bits[::-1], 2).to_bytes(BYTES, "little")
    return base64.b64encode(key).decode().rstrip("=")


def decode(text: str, checkers: int = MOST_CHECKERS) -> Position:
    """Return the position of a position id from the view of the player on roll.

    Args:
        text: 14 characters.
        checkers: checkers of each player; those that are missing are off.

    Raises:
        PositionError: this is not a position id, or the position is impossible.
    """
    if not re.fullmatch(PATTERN, text):
        raise PositionError(
            f"backgammon: {text!r} is not a position id, expected {LENGTH} letters, digits, + or /, e.g. 4HPwATDgc/ABMA"
        )
    key = base64.b64decode(text + "==")
    bits = f"{int.from_bytes(key, 'little'):0{8 * BYTES}b}"[::-1]
    counts = [len(ones) for ones in bits.split("0")][: 2 * (NUM_POINTS + 1)]
    if len(counts) < 2 * (NUM_POINTS + 1) or sum(counts) != bits.count("1"):
        raise PositionError(f"backgammon: position id {text!r} does not have 25 places per player, expected another id")
    other, own = counts[: NUM_POINTS + 1], counts[NUM_POINTS + 1 :]
    if max(sum(other), sum(own)) > checkers:
        raise PositionError(
            f"backgammon: position id {text!r} has {sum(own)} and {sum(other)} checkers, expected at most {checkers} "
            f"each"
        )
    points = []
    for place in range(NUM_POINTS):
        mine, theirs = own[place], other[NUM_POINTS - 1 - place]
        if mine and theirs:
            raise PositionError(f"backgammon: position id {text!r} has both players on point {place + 1}, expected one")
        points.append(mine - theirs)
    return tuple(points), (own[-1], other[-1]), (checkers - sum(own), checkers - sum(other))
