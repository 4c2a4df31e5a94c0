"""A progress bar on stderr, with the rate and the time left; silent where nobody watches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
