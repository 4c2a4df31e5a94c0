"""The fixed players of Azul: ``greedy``, ``lookahead`` and ``rollouts``. Their definitions never change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np

from aleazero.errors import ConfigError, nearest
from aleazero.games.azul.lookahead import Lookahead
from aleazero.games.azul.policy import best
from aleazero.games.base import Game, State
from aleazero.games.kernel import KernelGame, Kernels, KernelState
from aleazero.native.compile import loop_of
from aleazero.players.player import Allowed, BasePlayer
from aleazero.players.search import SearchPlayer
from aleazero.search.config import ChanceConfig, SearchConfig
from aleazero.search.evaluator import Rollout
from aleazero.untrusted import parse_digits

DEPTH, WIDTH, ROOT = 5, 8, 16
"""Defaults of ``lookahead``: drafts to look ahead, and the most drafts per node and at the root."""
SIMULATIONS, EXPLORATION = 200, 1.5
"""Defaults of ``rollouts``: number of simulations, and its exploration constant."""
LIMITS: Final = {"depth": 40, "width": 300, "root": 300, "sims": 10_000_000}
"""Highest values of settings."""


class GreedyPlayer(BasePlayer):
    """Selects the draft with the highest greedy worth; among equals the one with more tiles, then the lowest id."""

    def __init__(self, game: KernelGame) -> None:
        self._best = loop_of(game, "greedy", make_best)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the greedy actions; they are not random."""
        return [
            self._best(cast("KernelState", state).vector, np.array(some or state.legal_actions(), np.int64))
            for state, some in zip(states, allowed, strict=True)
        ]


def make_best(kernels: Kernels) -> Any:
    """Make ``best_of(state, actions) -> action``, which is the same for every number of players."""

    def best_of(state: Any, actions: Any) -> Any:
        return np.int64(best(state, actions, len(actions)))

    return best_of


class LookaheadPlayer(BasePlayer):
    """Selects the best draft of an alpha-beta search within the round, on current points."""

    def __init__(self, game: KernelGame, depth: int, width: int, root: int) -> None:
        self._lookahead = Lookahead(game, depth, width, root)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Return the best actions; they are not random."""
        return [
            self._lookahead.best(cast("KernelState", state).vector, some or state.legal_actions())
            for state, some in zip(states, allowed, strict=True)
        ]


def make_greedy(game: Game, settings: Mapping[str, Any]) -> GreedyPlayer:
    """Return the player ``greedy``; it has no settings."""
    _read("greedy", settings, {})
    return GreedyPlayer(cast("KernelGame", game))


def make_lookahead(game: Game, settings: Mapping[str, Any]) -> LookaheadPlayer:
    """Return the player ``lookahead:depth=5,width=8,root=16``."""
    numbers = _read("lookahead", settings, {"depth": DEPTH, "width": WIDTH, "root": ROOT})
    return LookaheadPlayer(cast("KernelGame", game), **numbers)


def make_rollouts(game: Game, settings: Mapping[str, Any]) -> SearchPlayer:
    """Return the player ``rollouts:sims=200``: a search with the game's own priors and playouts."""
    sims = _read("rollouts", settings, {"sims": SIMULATIONS})["sims"]
    config = SearchConfig(num_simulations=sims, c=EXPLORATION, chance=ChanceConfig.preset("sampling"))
    return SearchPlayer(game, Rollout(), config)


def _read(name: str, settings: Mapping[str, Any], defaults: Mapping[str, int]) -> dict[str, int]:
    """Return the settings of a spec as integers, with defaults."""
    numbers = dict(defaults)
    for key, text in settings.items():
        if key not in defaults:
            expected = nearest(key, defaults) if defaults else "expected none"
            raise ConfigError(f"{name} has no setting {key!r}, {expected}")
        value = parse_digits(text) or 0
        if not 1 <= value <= LIMITS[key]:
            raise ConfigError(f"is {text!r}, expected an integer from 1 to {LIMITS[key]}", field=key)
        numbers[key] = value
    return numbers
