"""Turns of many games at once: where each can end, what is best on the way, and where it came to.

A *lane* is a game that stands between turns. A kernel game's module may define ``turn_lanes(game) -> Lanes`` with
native code of its own; turns of other kernel games are planned by a loop that is compiled over all lanes, those of
object games in plain Python. All must agree with ``PlannedLanes``: whoever writes one tests it so.
"""

from __future__ import annotations

from typing import Any, Protocol

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.games.states import Rows
from aleazero.training.compiled_lanes import CompiledLanes
from aleazero.training.planned_lanes import Ints, PlannedLanes, Played, Values


class Lanes(Protocol):
    """The turns of one game."""

    draws: int
    """Random numbers that a turn takes."""

    def spread(self, states: Rows) -> tuple[Rows, Ints, Any]:
        """Where turns from these states can end.

        Rows of states; where each lane's begin among them (lanes + 1); and what ``play`` wants to know again.
        """

    def play(
        self, states: Rows, starts: Ints, known: Any, worth: Values, carried: Values, draws: Values, explore: float
    ) -> Played:
        """Plan each turn and play it, given what each leaf is worth (leaves, players) and c more numbers of it.

        Actions are random in a share ``explore`` of turns. Whether they are is drawn before the dice: what the other
        turns came to is then what good play comes to, however many decisions it took.
        """


def lanes_of(game: Game, plies: int | None = None) -> Lanes:
    """The game's own lanes, or planned ones."""
    if not isinstance(game, KernelGame):
        return PlannedLanes(game, plies)
    if game.kernels.turn_lanes is None:
        return CompiledLanes(game, plies)
    if plies is not None:
        raise ConfigError(f"plies is {plies}, expected none: {game.name} plays its own turns, whole ones")
    own: Lanes = game.kernels.turn_lanes(game)
    return own
