"""Plays: all ways to play the actions that a player has until the next chance event, turn of another player, or end.

A play is usually one action. In games where a player acts several times in a row, different orders of the same actions
lead to the same state and are one play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from aleazero.games.base import State


class Play(NamedTuple):
    """A play: its actions in order, and the state after them."""

    actions: tuple[int, ...]
    end: State


class Judge(Protocol):
    """A player that values plays, such as an engine or an oracle, see ``GameKit.judge``."""

    def play_values(self, state: State, plays: Sequence[Play], chosen: Sequence[int]) -> list[float]:
        """Return the expected return of the mover after each play.

        Args:
            state: a decision state.
            plays: all plays of the state.
            chosen: numbers of plays that need the full accuracy of the judge. It may use it for others too.

        Returns:
            One value per play. The highest one belongs to the best play.
        """


def plays_of(state: State) -> list[Play]:
    """Return the plays of a decision state, by ascending actions; the first of all that lead to the same state."""
    found: dict[bytes, Play] = {}
    seen: set[bytes] = set()
    _list_plays(state, state.current_player(), (), found, seen)
    return list(found.values())


def _list_plays(state: State, mover: int, before: tuple[int, ...], found: dict[bytes, Play], seen: set[bytes]) -> None:
    for action in state.legal_actions():
        after = state.clone()
        after._apply(action)
        key = after.key()
        if key in seen:
            continue
        seen.add(key)
        actions = (*before, action)
        if after.current_player() == mover:
            _list_plays(after, mover, actions, found, seen)
        else:
            found[key] = Play(actions, after)
