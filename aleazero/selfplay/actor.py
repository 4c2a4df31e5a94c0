"""The actor: many games at once against itself, searched in one group of trees; each leaves a record of its samples.

A game depends on (run seed, iteration, number of the game) and the settings only: no search depends on the others in
its batch.
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
    """Plays games of one iteration against itself, with one evaluator at every seat."""

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
        """``values_known``: whether what the searches find is worth learning; not so where the evaluator is blank."""
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
        """Searches started so far."""
        return self._games.decisions

    @property
    def evaluations(self) -> int:
        """Leaves of the searches that ended that the evaluator was called with."""
        return self._games.evaluations

    def play(self, numbers: Iterable[int]) -> Iterator[EpisodeRecord]:
        """Play the games of these numbers; records come as games end. A number is asked for when there is room."""
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
        finally:  # also after an error, or if the caller takes no more records
            self._driver.clear()
            self._games.clear()


def require_memory(game: Game, evaluator: Any, config: SelfplayConfig, workers: int, games: int) -> None:
    """Refuse settings whose trees would not fit the machine."""
    has = machine_memory()
    trees = min(workers * config.parallel, games)
    needed = trees * tree_size(game, evaluator, config.search())
    if has is not None and needed > has:
        chance = " or another chance than full" if config.chance is not None and config.chance.exact_up_to else ""
        raise ConfigError(
            f"{trees:,} games at once would need about {needed / 2**30:,.0f} GB, the machine has {has / 2**30:,.0f}: "
            f"expected fewer workers, parallel games or simulations{chance}"
        )


def machine_memory() -> int | None:
    """Bytes that the machine has, or that this process's group may use; None where it does not tell."""
    try:
        has = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(has, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no such group, or "max": no limit
        return has
