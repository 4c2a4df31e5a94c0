"""A player selects an action. It thinks only where there is a choice, and its luck is its own.

What a player draws is keyed by (its seed, the position): the same position and seed have the same action, whatever was
played before, and no seed of played dice comes near it.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol

from aleazero.errors import ConfigError, PositionError
from aleazero.games.base import DECISION, State
from aleazero.native.random import PLAYER_DRAWS, stream_key
from aleazero.search.root import check_allowed

if TYPE_CHECKING:
    from aleazero.search.result import SearchResult


Allowed = list[int] | None
"""The actions that a player may choose from, ascending; None for all that are legal."""


class Player(Protocol):
    """Whoever selects actions. Some of the legal ones alone may be allowed: ``actions``, by state; None for all."""

    def select(self, state: State, seed: int, actions: Sequence[int] | None = None) -> int:
        """The action to play at a decision; ``seed`` is of the player's own luck."""

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """The same actions as one after the other, perhaps at less cost."""

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return the search or plan by which ``select`` chooses with this seed; None for a player that has none."""


class BasePlayer(ABC):
    """A player whose forced moves cost nothing."""

    selects_canonical = True
    """Its actions are among ``legal_actions``: nobody need look again. False where somebody else decides."""

    def select(self, state: State, seed: int, actions: Sequence[int] | None = None) -> int:
        """The action to play at a decision."""
        return self.select_many([state], [seed], [actions])[0]

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """The actions to play at some decisions."""
        if actions is not None and len(actions) != len(states):
            raise ConfigError(f"actions has {len(actions)} entries, expected {len(states)}, one a state")
        all_actions: Any = repeat(None) if actions is None else actions
        choices = [choice_at(state, some) for state, some in zip(states, all_actions, strict=False)]
        rows = [row for row, (forced, _) in enumerate(choices) if forced is None]
        chosen = iter(
            self.choose([states[row] for row in rows], [seeds[row] for row in rows], [choices[row][1] for row in rows])
            if rows
            else ()
        )
        return [next(chosen) if forced is None else forced for forced, _ in choices]

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return the search or plan by which ``select`` chooses with this seed; None for a player that has none."""
        return None

    @abstractmethod
    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """The actions at decisions that have a choice."""


def choice_at(state: State, actions: Sequence[int] | None = None) -> tuple[int | None, Allowed]:
    """The only action, where there is one only; and what is allowed, where that is less than what is legal."""
    if state.kind() != DECISION:
        raise PositionError(f"{state.game.name}: nobody decides in {state.to_text()!r}, expected a decision")
    legal = state.legal_actions()
    allowed = legal if actions is None else check_allowed(state, actions)
    return allowed[0] if len(allowed) == 1 else None, None if len(allowed) == len(legal) else allowed


def own_seed(state: State, seed: int) -> int:
    """The seed of what a player with this seed draws in this position."""
    digest = hashlib.blake2b(state.key(), digest_size=8).digest()
    return stream_key(PLAYER_DRAWS, seed, int.from_bytes(digest, "little"))
