"""The player that searches each position anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.players.player import Allowed, Thinker, own_seed
from aleazero.search.config import SearchConfig, chance_of, largest_visit
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.forest import Forest

TREES: Final = 32
"""Searches that are under way at once, at most."""
LEAVES: Final = 4_000_000
"""Leaves that they may have together: what keeps their memory below a few gigabytes."""


class SearchPlayer(Thinker):
    """Plays the most visited action of a search; the number of threads changes its speed only."""

    def __init__(self, game: Game, evaluator: Any, config: SearchConfig, threads: int = 1) -> None:
        if config.max_seconds is not None:
            raise ConfigError("a player with max_seconds does not repeat, expected num_simulations or max_evaluations")
        leaves = config.num_simulations * largest_visit(chance_of(config, game, resolve_evaluator(evaluator)), game)
        trees = max(1, min(TREES, LEAVES // min(leaves, config.max_evaluations or leaves)))
        self._forest = Forest(game, evaluator, config, trees=trees, threads=threads)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Search all of these positions, each with a seed of its own."""
        own_seeds = [own_seed(state, seed) for state, seed in zip(states, seeds, strict=True)]
        return [int(result.best_action) for result in self._forest.run(states, seeds=own_seeds, actions=allowed)]
