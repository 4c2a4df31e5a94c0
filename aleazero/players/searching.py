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
from aleazero.search.result import SearchResult
from aleazero.search.search import Search

TREES: Final = 32
"""Searches that are under way at once, at most."""
LEAVES: Final = 4_000_000
"""Leaves that they may have together: what keeps their memory below a few gigabytes."""


class SearchPlayer(Thinker):
    """Plays the most visited action of a search; the number of threads changes its speed only.

    ``timed`` allows ``max_seconds`` in the config: such a player does not repeat its actions.
    """

    def __init__(
        self, game: Game, evaluator: Any, config: SearchConfig, threads: int = 1, *, timed: bool = False
    ) -> None:
        if config.max_seconds is not None and not timed:
            raise ConfigError("a player with max_seconds does not repeat, expected num_simulations or max_evaluations")
        self.config, self._game, self._evaluator = config, game, resolve_evaluator(evaluator)
        self.chance = chance_of(config, game, self._evaluator)
        leaves = config.num_simulations * largest_visit(self.chance, game)
        trees = max(1, min(TREES, LEAVES // min(leaves, config.max_evaluations or leaves)))
        self._forest = None if timed else Forest(game, evaluator, config, trees=trees, threads=threads)

    def choose(self, states: Sequence[State], seeds: Sequence[int], allowed: Sequence[Allowed]) -> list[int]:
        """Search all of these positions, each with a seed of its own."""
        own_seeds = [own_seed(state, seed) for state, seed in zip(states, seeds, strict=True)]
        if self._forest is None:
            rows = zip(states, own_seeds, allowed, strict=True)
            return [_best(self._search().run(state, some, seed)) for state, seed, some in rows]
        return [_best(result) for result in self._forest.run(states, seeds=own_seeds, actions=allowed)]

    def explain(self, state: State, seed: int) -> SearchResult:
        """Return the search by which ``select`` chooses with this seed; Ctrl-C ends it early."""
        return self._search().run(state, seed=own_seed(state, seed))

    def _search(self) -> Search:
        return Search(self._game, self._evaluator, self.config)


def _best(result: SearchResult) -> int:
    assert result.best_action is not None  # there is one at a decision
    return int(result.best_action)
