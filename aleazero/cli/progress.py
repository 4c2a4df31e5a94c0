"""Progress bar on stderr, silent if nobody watches; searches and plans timed without compilation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aleazero.games.base import Game, State
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan.plan import Plan
    from aleazero.search.plan.planner import Planner
    from aleazero.search.result import SearchResult


class Rate:
    """How much is done a second, over all the time: what comes in heaps would make a rate of the last moment leap."""

    def __init__(self, now: float) -> None:
        self._began, self._last = now, 0
        self._before: int | None = None

    def at(self, done: int, now: float) -> float:
        """So far; what was done before the first word does not count, and where it starts anew, so does this."""
        if self._before is None or done < self._last:
            self._began = self._began if self._before is None else now
            self._before = done - 1 if done else 0
        self._last = done
        return (done - self._before) / max(1e-3, now - self._began) if now > self._began else 0.0


@contextmanager
def progress_bar(what: str, unit: str) -> Iterator[Callable[..., None]]:
    """Call what it gives with (done, of), and perhaps a note to be shown behind the rate."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from aleazero.cli.show import make_console

    console = make_console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None, rate="")
        rate = Rate(time.monotonic())

        def tell(done: int, of: int | None, note: str = "") -> None:
            speed = rate.at(done, time.monotonic())
            words = [f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.2g} {unit}/s" if speed else "", note]
            bars.tasks[0].total = of  # None too, which `update` would take for "as before"
            bars.update(task, completed=done, rate=", ".join(word for word in words if word))

        yield tell


def prepare(game: Game, state: State) -> None:
    """Load or compile a kernel game's search, so that it counts neither in a time limit nor in a speed.

    A Ctrl-C meanwhile is kept by the little search and ends the verb here.
    """
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    if isinstance(game, KernelGame) and not state.is_terminal():
        few = SearchConfig(num_simulations=1000, max_seconds=1e-6)
        whole_search(game, state, "uniform", few)


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
