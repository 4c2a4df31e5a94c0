"""A progress bar on stderr, with the rate and the time left; silent where nobody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_bar(what: str, unit: str) -> Iterator[Callable[..., None]]:
    """Call what it gives with (done, of), and perhaps a note to be shown behind the rate."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from aleazero.cli.show import make_console

    console = make_console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(what, total=None, rate="")

        def tell(done: int, of: int, note: str = "") -> None:
            speed = bars.tasks[0].speed
            rate = f"{speed:,.0f} {unit}/s" if speed else ""
            bars.update(task, completed=done, total=of, rate=", ".join(part for part in (rate, note) if part))

        yield tell
