"""The player ``heuristic``: a fixed yardstick, which plays the turn that leads to the best board by a fixed formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from aleazero.errors import ConfigError
from aleazero.games.backgammon.heuristic import HeuristicScores
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, KernelState
from aleazero.players.player import Allowed, BasePlayer


class HeuristicPlayer(BasePlayer):
    """Selects the action with the highest value by ``HeuristicScores``; among equals the lowest id."""

    def __init__(self, game: Game) -> None:
        self._scores = HeuristicScores(cast("KernelGame", game))

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions; they are not random."""
        return [self._best(cast("KernelState", state), some) for state, some in zip(states, allowed, strict=True)]

    def _best(self, state: KernelState, allowed: Allowed) -> int:
        scores = self._scores.by_action(state.vector)
        return max(sorted(scores if allowed is None else allowed), key=scores.__getitem__)


def make_heuristic(game: Game, settings: Mapping[str, Any]) -> HeuristicPlayer:
    """Return the player; it has no settings."""
    if settings:
        raise ConfigError(f"heuristic has no setting {next(iter(settings))!r}, expected none")
    return HeuristicPlayer(game)
