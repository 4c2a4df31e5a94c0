"""Progress on stderr, shown only on a terminal and without ``--quiet``; searches timed without compilation."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.base import Game, State
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan.plan import Plan
    from aleazero.search.plan.planner import Planner
    from aleazero.search.result import SearchResult

log = logging.getLogger("aleazero")
LIVE_AFTER = 1.0
"""Seconds after which a search shows its result so far."""


def is_quiet() -> bool:
    """Return whether ``--quiet`` was given."""
    return not log.isEnabledFor(logging.WARNING)


@contextmanager
def progress_bar(what: str, unit: str) -> Iterator[Callable[..., None]]:
    """Show a bar; yield a function of (done, of) and optionally a note, which is shown on a line of its own."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn
    from rich.text import Text

    from aleazero.cli.show import make_console, time_text

    class TimeLeft(ProgressColumn):
        def render(self, task: Any) -> Text:
            left = task.time_remaining
            return Text("" if left is None or task.finished else f"{time_text(max(1, round(left)))} left")

    class Bars(Progress):
        note = ""

        def get_renderables(self) -> Iterator[Any]:
            yield self.make_tasks_table(self.tasks)
            if self.note:
                yield Text(f"  {self.note}", style="dim", no_wrap=True, overflow="ellipsis")

    console = make_console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim", markup=False),
        TimeLeft(),
    )
    hidden = is_quiet() or not console.is_terminal
    with Bars(*columns, console=console, transient=True, disable=hidden) as bars:
        task = bars.add_task(what, total=None, rate="")
        rate = Rate(time.monotonic())

        def show(done: int, of: int | None, note: str = "") -> None:
            speed = rate.at(done, time.monotonic())
            bars.note = note
            bars.tasks[0].total = of  # also None, which `update` would take for "no change"
            text = f"{speed:,.0f} {unit}/s" if speed >= 10 else f"{speed:.2g} {unit}/s" if speed else ""
            bars.update(task, completed=done, rate=text)

        yield show


class Rate:
    """Mean rate since the start. The rate of the last moment would jump when results arrive in groups."""

    def __init__(self, now: float) -> None:
        self._began, self._last = now, 0
        self._before: int | None = None

    def at(self, done: int, now: float) -> float:
        """Return the rate. Work done before the first call does not count; a smaller ``done`` starts again."""
        if self._before is None or done < self._last:
            self._began = self._began if self._before is None else now
            self._before = done - 1 if done else 0
        self._last = done
        return (done - self._before) / max(1e-3, now - self._began) if now > self._began else 0.0


def prepare(game: Game, state: State) -> None:
    """Load or compile a kernel game's search, so that this counts neither for a time limit nor for a speed."""
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig

    if isinstance(game, KernelGame) and not state.is_terminal():
        whole_search(game, state, "uniform", SearchConfig(num_simulations=1000, max_seconds=1e-6))


def whole_search(game: Game, state: State, evaluator: Any, config: SearchConfig) -> SearchResult:
    """Search; raise KeyboardInterrupt if the search was interrupted."""
    from aleazero.search.search import Search

    result = Search(game, evaluator, config).run(state)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    return result


def timed_search(
    game: Game, state: State, evaluator: Any, config: SearchConfig, console: Console | None = None
) -> tuple[SearchResult, float]:
    """Search; return the result and the seconds. A terminal ``console`` shows long searches while they run."""
    from aleazero.search.search import Search

    search = Search(game, evaluator, config)
    started = time.perf_counter()
    if console is None or is_quiet() or not console.is_terminal:
        return search.run(state), time.perf_counter() - started
    with _live(state, config, console) as show:
        return search.run(state, progress=show), time.perf_counter() - started


@contextmanager
def _live(state: State, config: SearchConfig, console: Console) -> Iterator[Callable[[SearchResult], None]]:
    """Yield a function that shows the result so far in one line: best action, value, simulations, time left."""
    from rich.live import Live
    from rich.text import Text

    from aleazero.cli.show import time_text, values_text
    from aleazero.players.make import MOST_SIMULATIONS

    started = time.monotonic()
    with Live(console=console, transient=True, auto_refresh=False) as live:

        def show(result: SearchResult) -> None:
            took = time.monotonic() - started
            if took < LIVE_AFTER:
                return
            done = result.simulations
            left = [] if config.max_seconds is None else [config.max_seconds - took]
            if config.num_simulations < MOST_SIMULATIONS and done:
                left.append(took / done * (config.num_simulations - done))
            parts = [f"value {values_text(result.value, state.game)}", f"{done:,} simulations"]
            if result.best_action is not None:
                parts.insert(0, f"best {state.action_to_string(result.best_action)}")
            if left:
                parts.append(f"{time_text(max(1, round(min(left))))} left")
            live.update(Text(", ".join(parts), style="dim", no_wrap=True, overflow="ellipsis"), refresh=True)

        yield show


def timed_plan(planner: Planner, state: State) -> tuple[Plan, float]:
    """Plan; return the plan and the seconds."""
    started = time.perf_counter()
    plan = planner.plan(state)
    return plan, time.perf_counter() - started
