"""The actor plays many self-play games at once, searches them in one group of trees, and returns their records.

A game depends only on (run seed, iteration, game number) and the settings, not on the games that are searched with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game
from aleazero.games.kernel import KernelGame
from aleazero.search.config import chance_of, largest_visit
from aleazero.search.driver import GroupDriver
from aleazero.search.evaluator import resolve_evaluator
from aleazero.search.memory import tree_size
from aleazero.selfplay.compiled_games import CompiledGames
from aleazero.selfplay.config import SelfplayConfig
from aleazero.selfplay.record import EpisodeRecord
from aleazero.selfplay.running_games import PlainGames, RunningGames, Setting


class Actor:
    """Plays self-play games of one iteration, with the same evaluator for all players."""

    def __init__(
        self,
        game: Game,
        evaluator: Any,
        config: SelfplayConfig | None = None,
        *,
        seed: int = 0,
        iteration: int = 0,
        values_known: bool = True,
    ) -> None:
        """Compile the game; ``values_known`` is False if the values of the search are not to be used as targets."""
        self.game, self.config = game, config or SelfplayConfig()
        self.seed, self.iteration = seed, iteration
        evaluator = resolve_evaluator(evaluator)
        search, trees = self.config.search(), self.config.parallel
        leaves = search.in_flight * largest_visit(chance_of(search, game, evaluator), game)
        rows = max(leaves, trees * search.in_flight)
        self._driver = GroupDriver(game, evaluator, search, "auto", trees, rows, pad=True)
        setting = Setting(game, self.config, seed, iteration, values_known)
        compiled = isinstance(game, KernelGame)
        self._games: RunningGames = (CompiledGames if compiled else PlainGames)(setting, self._driver)

    @property
    def decisions(self) -> int:
        """Number of searches started so far."""
        return self._games.decisions

    @property
    def evaluations(self) -> int:
        """Number of evaluated leaves in finished searches."""
        return self._games.evaluations

    def play(self, numbers: Iterable[int]) -> Iterator[EpisodeRecord]:
        """Play the games with these numbers and yield their records in the order in which games end.

        ``numbers`` is read lazily: a number is taken when a place for a game is free.
        """
        waiting, more = iter(numbers), True
        free = list(range(self.config.parallel))[::-1]
        try:
            while True:
                while free and more:
                    number = next(waiting, None)
                    if number is None:
                        more = False
                    else:
                        self._games.start(free.pop(), number)
                over = self._games.proceed()
                for row in over:
                    yield self._games.record(row)
                free += over
                if len(free) == self.config.parallel and not more:
                    return
                if not over or not more:
                    self._driver.round()
                    while not self._driver.ended():
                        self._driver.round()
        finally:  # also after an error, or if the caller stops early
            self._driver.clear()
            self._games.clear()


def require_memory(game: Game, evaluator: Any, config: SelfplayConfig, workers: int, games: int) -> None:
    """Raise an error if the search trees of these settings would not fit into memory."""
    available = machine_memory()
    trees = min(workers * config.parallel, games)
    needed = trees * tree_size(game, evaluator, config.search())
    if available is not None and needed > available:
        chance = " or another chance mode than full" if config.chance is not None and config.chance.exact_up_to else ""
        raise ConfigError(
            f"{trees:,} games at once need about {needed / 2**30:,.0f} GB, the machine has {available / 2**30:,.0f}: "
            f"expected fewer workers, parallel games or simulations{chance}"
        )


def machine_memory() -> int | None:
    """Return the memory of the machine, or the limit of this process's cgroup, in bytes; None if it is unknown."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no cgroup, or "max" for no limit
        return total
