"""Running a search for a verb: compiled first, timed after."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aleazero.games.base import Game, State
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan import Plan
    from aleazero.search.planner import Planner
    from aleazero.search.result import SearchResult


def prepare(game: Game, state: State, evaluator: Any = "uniform") -> None:
    """Load or compile a kernel game's search, so that it counts neither in a time limit nor in a speed.

    A Ctrl-C meanwhile is kept by the little search and ends the verb here.
    """
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    if isinstance(game, KernelGame) and not state.is_terminal():
        few = SearchConfig(num_simulations=1000, max_seconds=1e-6)
        whole_search(game, state, evaluator, few)


def whole_search(game: Game, state: State, evaluator: Any, config: SearchConfig) -> SearchResult:
    """A search that counts only when it was not interrupted: a figure must not come from half of one."""
    from aleazero.search.search import Search

    result = Search(game, evaluator, config).run(state)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def timed_plan(planner: Planner, state: State) -> tuple[Plan, float]:
    """A plan and the seconds it took; compiling does not count."""
    started = time.perf_counter()
    plan = planner.plan(state)
    return plan, time.perf_counter() - started


def timed_search(game: Game, state: State, evaluator: Any, config: SearchConfig) -> tuple[SearchResult, float]:
    """A search's result and the seconds it took, the making of its tree included."""
    from aleazero.search.search import Search

    started = time.perf_counter()
    result = Search(game, evaluator, config).run(state)
    return result, time.perf_counter() - started
