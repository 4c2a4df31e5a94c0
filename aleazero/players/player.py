"""Players, which select actions.

The random numbers of a player are derived from its seed and the position. The same position and seed give the same
action, whatever was played before, and they are independent of the dice of the game.
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
"""The actions that a player may select, in ascending order; None for all legal actions."""


class Player(Protocol):
    """A player, which selects actions; ``make_player`` makes one from a spec."""

    def select(self, state: State, seed: int, actions: Sequence[int] | None = None) -> int:
        """Select an action.

        Args:
            state: a decision state.
            seed: seed of the player's own random numbers.
            actions: subset of the legal actions to select from; None for all.

        Returns:
            The action id.

        Raises:
            PositionError: if the state is not a decision.
            IllegalActionError: if ``actions`` is empty or contains an illegal action.
        """

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """Select an action in each of several states; the actions are the same as those of ``select``.

        Args:
            states: decision states.
            seeds: seed of the player's own random numbers for each state.
            actions: subset of the legal actions for each state; None for all.

        Returns:
            One action id per state.

        Raises:
            PositionError: if a state is not a decision.
            IllegalActionError: if a subset is empty or contains an illegal action.
        """

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return the search or plan that ``select`` uses.

        Args:
            state: a decision state.
            seed: seed of the player's own random numbers.

        Returns:
            The result of the search or plan; None if the player does neither.
        """


class BasePlayer(ABC):
    """Base class of players; ``choose`` is only called for states with more than one action to select from."""

    selects_canonical = True
    """Whether all selected actions are among ``legal_actions``, so that they need no check."""

    def select(self, state: State, seed: int, actions: Sequence[int] | None = None) -> int:
        """Select an action, see ``Player.select``."""
        return self.select_many([state], [seed], [actions])[0]

    def select_many(
        self, states: Sequence[State], seeds: Sequence[int], actions: Sequence[Sequence[int] | None] | None = None
    ) -> list[int]:
        """Select an action in each state, see ``Player.select_many``."""
        if actions is not None and len(actions) != len(states):
            raise ConfigError(f"actions has {len(actions)} entries, expected {len(states)}, one per state")
        subsets: Any = repeat(None) if actions is None else actions
        choices = [choice_at(state, subset) for state, subset in zip(states, subsets, strict=False)]
        rows = [row for row, (forced, _) in enumerate(choices) if forced is None]
        chosen = iter(
            self.choose([states[row] for row in rows], [seeds[row] for row in rows], [choices[row][1] for row in rows])
            if rows
            else ()
        )
        return [next(chosen) if forced is None else forced for forced, _ in choices]

    def explain(self, state: State, seed: int) -> SearchResult | None:
        """Return the search or plan that ``select`` uses; None if the player does neither."""
        return None

    @abstractmethod
    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return an action for each state; every state has more than one action to select from."""


def choice_at(state: State, actions: Sequence[int] | None = None) -> tuple[int | None, Allowed]:
    """Return the only action, None if there are more; and the allowed actions, None if all legal ones are allowed."""
    if state.kind() != DECISION:
        raise PositionError(f"{state.game.name}: {state.to_text()!r} has no player to move, expected a decision")
    legal = state.legal_actions()
    allowed = legal if actions is None else check_allowed(state, actions)
    return allowed[0] if len(allowed) == 1 else None, None if len(allowed) == len(legal) else allowed


def own_seed(state: State, seed: int) -> int:
    """Return the seed for a player's random numbers in this position."""
    digest = hashlib.blake2b(state.key(), digest_size=8).digest()
    return stream_key(PLAYER_DRAWS, seed, int.from_bytes(digest, "little"))
