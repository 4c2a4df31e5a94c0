"""A player selects an action. It thinks only where there is a choice, and its luck is its own.

What a player draws is keyed by (its seed, the position): the same position and seed have the same action, whatever was
played before, and no seed of played dice comes near it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final, Protocol

from aleazero.errors import PositionError
from aleazero.games.base import DECISION, State
from aleazero.games.luck import stream_key

THOUGHTS: Final = 0x74686F7567687473  # "thoughts": the stream of what players draw


class Player(Protocol):
    """Whoever selects actions."""

    def select(self, state: State, seed: int) -> int:
        """The action to play at a decision; ``seed`` is of the player's own luck."""

    def select_many(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """The same actions as one after the other, perhaps at less cost."""


class Thinker(ABC):
    """A player whose forced moves cost nothing."""

    def select(self, state: State, seed: int) -> int:
        """The action to play at a decision."""
        return self.select_many([state], [seed])[0]

    def select_many(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """The actions to play at some decisions."""
        selected = [forced_action(state) for state in states]
        rows = [row for row, action in enumerate(selected) if action is None]
        chosen = self.choose([states[row] for row in rows], [seeds[row] for row in rows]) if rows else []
        for row, action in zip(rows, chosen, strict=True):
            selected[row] = action
        return [action for action in selected if action is not None]

    @abstractmethod
    def choose(self, states: Sequence[State], seeds: Sequence[int]) -> list[int]:
        """The actions at decisions that have a choice."""


def forced_action(state: State) -> int | None:
    """The only action, where there is one only."""
    if state.kind() != DECISION:
        raise PositionError(f"{state.game.name}: nobody decides in {state.to_text()!r}, expected a decision")
    legal = state.legal_actions()
    return legal[0] if len(legal) == 1 else None


def own_seed(state: State, seed: int) -> int:
    """The seed of what a player with this seed draws in this position."""
    digest = hashlib.blake2b(state.key(), digest_size=8).digest()
    return stream_key(THOUGHTS, seed, int.from_bytes(digest, "little"))
