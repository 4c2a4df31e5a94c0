"""The process pool: run a task on many items in worker processes.

``Pool(count).run(task, job, items)`` calls ``task(job, items)`` in each worker that is needed. A task is a function of
a module. It takes items from its iterator when it has room for one, and yields ``(item, result)``, in any order. The
pool does not depend on games: self-play and pairs are tasks. Another class with ``count``, ``run`` and ``close`` can
replace it, e.g. one that uses other machines.

A worker that dies is replaced, and its items are run again. An item is done only when its result has arrived, so
results must not depend on the worker that computes them. Workers are started on demand and kept for the next run. They
ignore Ctrl-C and end with the process that started them.
"""

from __future__ import annotations

import builtins
import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Final

import aleazero.errors
from aleazero.errors import AleaZeroError, ConfigError

MOST_DEATHS: Final = 3
"""Workers that may die with the same item before the run fails."""
MOST_STILLBORN: Final = 6
"""Workers that may die in a row before they can take an item."""
STARTED, MORE, RESULT, DONE, ERROR = "started", "more", "result", "done", "error"
"""Messages of a worker."""
RUN, ITEM, END, STOP = "run", "item", "end", "stop"
"""Messages to a worker. END: no items are left. STOP: also drop the item that was sent and not yet taken."""

Task = Callable[[Any, Iterator[Any]], Iterable[tuple[Any, Any]]]
"""Called with a job and an iterator of items; yields (item, result)."""


@dataclass(eq=False)
class _Worker:
    process: Any
    connection: Connection
    started: bool = False
    run: int = 0
    """Number of the run that it works for; 0 if it is idle."""
    given: list[Any] = field(default_factory=list)
    """Items of the run without a result."""


class Pool:
    """Worker processes that are kept between runs.

    Args:
        count: the maximum number of processes.
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ConfigError(f"workers is {count}, expected at least 1")
        self.count = count
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._run = 0
        self._running = False

    @property
    def process_ids(self) -> list[int]:
        """Return the process ids of the workers that were started."""
        return [worker.process.pid for worker in self._workers]

    def run(self, task: Task, job: Any, items: Iterable[Any]) -> Generator[tuple[Any, Any]]:
        """Run a task on items in the workers.

        Only one run can be active at a time. A caller that needs no more results closes the generator. Waiting items
        are then dropped; items in progress are finished in the background and their results are ignored.

        Args:
            task: function at the top level of a module.
            job: argument of the task, the same for all items. Must be picklable.
            items: distinct, hashable and picklable.

        Yields:
            (item, result), in the order in which results arrive.

        Raises:
            AleaZeroError: the error that the task raised, with its class; or workers died repeatedly.
        """
        if self._running:
            raise RuntimeError("the pool is busy, expected one run at a time")
        self._running = True
        self._run += 1
        try:
            yield from self._collect(task, job, deque(items))
        finally:
            self._running = False
            for worker in self._workers:
                if worker.run == self._run:
                    _send_to(worker, (STOP, self._run, None))

    def _collect(self, task: Task, job: Any, items: deque[Any]) -> Iterator[tuple[Any, Any]]:
        run = self._run
        deaths: Counter[Any] = Counter()
        stillborn = 0
        while True:
            self._employ(task, job, items)
            if not items and not any(worker.run == run for worker in self._workers):
                return
            ready = set(wait([worker.connection for worker in self._workers]))
            for worker in [worker for worker in self._workers if worker.connection in ready]:
                try:
                    kind, number, content = worker.connection.recv()
                except (EOFError, OSError):
                    self._remove(worker)
                    if worker.run == run:
                        items.extendleft(reversed(worker.given))
                        if worker.started:
                            deaths.update(worker.given)
                            self._check_deaths(worker, deaths)
                    stillborn = 0 if worker.started else stillborn + 1
                    if stillborn >= MOST_STILLBORN:
                        raise AleaZeroError(
                            f"{stillborn} workers died at start (exit code {worker.process.exitcode}), "
                            'expected them to start; a script that starts workers needs `if __name__ == "__main__":`'
                        ) from None
                    continue
                if kind == STARTED:
                    worker.started, stillborn = True, 0
                elif kind in (DONE, ERROR):
                    worker.run = 0
                if number != run:  # from an earlier run, or not part of a run
                    continue
                if kind == MORE and items:
                    worker.given.append(items.popleft())
                    _send_to(worker, (ITEM, run, worker.given[-1]))
                elif kind == MORE:
                    _send_to(worker, (END, run, None))
                elif kind == RESULT:
                    worker.given.remove(content[0])
                    yield content
                elif kind == ERROR:
                    raise _rebuilt(*content)
                elif worker.given:
                    raise RuntimeError(f"the task ended without a result for {worker.given}")

    def _employ(self, task: Task, job: Any, items: deque[Any]) -> None:
        """Give an item to each idle worker, and to new ones while there are items."""
        idle = [worker for worker in self._workers if not worker.run]
        while items and (idle or len(self._workers) < self.count):
            worker = idle.pop(0) if idle else self._start()
            worker.run, worker.given = self._run, [items.popleft()]
            _send_to(worker, (RUN, self._run, (task, job, worker.given[0])))

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(theirs,), daemon=True)
        with children_ignore_ctrl_c():
            process.start()
        theirs.close()
        self._workers.append(_Worker(process, ours))
        return self._workers[-1]

    def _check_deaths(self, worker: _Worker, deaths: Counter[Any]) -> None:
        if any(deaths[item] >= MOST_DEATHS for item in worker.given):
            raise AleaZeroError(
                f"{MOST_DEATHS} workers died with the same item (exit code {worker.process.exitcode}), expected them "
                f"to finish it; one of {worker.given}"
            ) from None

    def _remove(self, worker: _Worker) -> None:
        worker.connection.close()
        worker.process.kill()
        worker.process.join()
        self._workers.remove(worker)

    def close(self) -> None:
        """Kill the workers immediately."""
        for worker in list(self._workers):
            self._remove(worker)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextmanager
def open_pool(workers: int | Pool) -> Iterator[Pool]:
    """Yield the given pool, or a new one with this many workers that is closed at the end of the block."""
    if isinstance(workers, Pool):
        yield workers
        return
    with Pool(workers) as pool:
        yield pool


@contextmanager
def children_ignore_ctrl_c() -> Iterator[None]:
    """Make processes that are started in this block ignore Ctrl-C, also during imports; this process does not."""
    resource_tracker.ensure_running()  # started by multiprocessing itself, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _send_to(worker: _Worker, message: Any) -> None:
    with contextlib.suppress(OSError):  # a dead worker is found when its messages are read
        worker.connection.send(message)


def _rebuilt(name: str, arguments: tuple[Any, ...], trace: str | None) -> Exception:
    """Return the exception that a task raised: an error of AleaZero or of Python by its class, else a RuntimeError."""
    kind = getattr(aleazero.errors, name, None) or getattr(builtins, name, None)
    error: Exception = RuntimeError(f"{name}: {', '.join(map(str, arguments))}")
    with contextlib.suppress(TypeError):  # the arguments do not match the class
        if isinstance(kind, type) and issubclass(kind, Exception):
            error = kind(*arguments)
    if trace is not None:
        error.add_note(f"In a worker process:\n{trace}")
    return error


# In the worker process:


class _ParentGone(BaseException):
    """The process that started this one has ended."""


def _work(connection: Connection) -> None:
    """Run tasks until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(_ParentGone):
        _send(connection, (STARTED, 0, None))
        while True:
            kind, run, content = _receive(connection)
            if kind != RUN:  # a message of a run that has ended
                continue
            task, job, first = content
            try:
                for pair in task(job, _Items(connection, run, first)):
                    _send(connection, (RESULT, run, pair))
                _send(connection, (DONE, run, None))
            except AleaZeroError as error:
                _send(connection, (ERROR, run, (type(error).__name__, (str(error),), None)))
            except Exception as error:
                plain = error.args if all(isinstance(one, str | int | float) for one in error.args) else (str(error),)
                _send(connection, (ERROR, run, (type(error).__name__, plain, traceback.format_exc())))


class _Items:
    """The items of a task. The next item is requested in advance, so that the task need not wait for it."""

    def __init__(self, connection: Connection, run: int, first: Any) -> None:
        self._connection, self._run = connection, run
        self._waiting = deque([first])
        self._requested = self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while not self._ended and (not self._waiting or self._connection.poll()):
            kind, run, item = _receive(self._connection)
            if run != self._run:
                continue
            if kind == ITEM:
                self._requested = False
                self._waiting.append(item)
            else:
                self._ended = True
                if kind == STOP:
                    self._waiting.clear()
        if not self._waiting:
            raise StopIteration
        item = self._waiting.popleft()
        if not self._requested and not self._ended:
            self._requested = True
            _send(self._connection, (MORE, self._run, None))
        return item


def _receive(connection: Connection) -> Any:
    try:
        return connection.recv()
    except (EOFError, OSError):
        raise _ParentGone from None


def _send(connection: Connection, message: Any) -> None:
    try:
        connection.send(message)
    except OSError:
        raise _ParentGone from None


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
