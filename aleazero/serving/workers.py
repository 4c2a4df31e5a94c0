"""Worker processes for requests: priorities, partial results, cancelling, and time limits that hold for any code.

A task runs alone in its process (``work``), because the rules of a game may loop, raise or end the process. A worker
that exceeds its time limit or dies is replaced and its task ends with an error; other tasks are not affected. The
process that owns the workers imports neither numpy nor numba.

One thread starts, reads and ends the workers and calls all callbacks. Callbacks must return quickly and not raise.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import logging
import multiprocessing
import os
import pickle
import selectors
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final, Literal

from aleazero.errors import AleaZeroError, ConfigError
from aleazero.processes import children_ignore_ctrl_c
from aleazero.serving.work import ERROR, PARTIAL, PREPARING, READY, RESULT, RUN, STARTED, STOP, run_tasks

log = logging.getLogger("aleazero")
CANCEL_GRACE: Final = 2.0
"""Seconds that a cancelled task has to return its result so far, before its process is ended."""
MOST_STILLBORN: Final = 6
"""Workers that may die in a row before they take a task, until waiting tasks fail."""


class Busy(AleaZeroError):
    """Too many tasks wait."""


@dataclass(frozen=True)
class Done:
    """End of a task."""

    kind: Literal["result", "error", "cancelled"]
    content: Any = None
    """Return value of the task; for a cancelled task the result so far, or None."""
    code: str = ""
    """Kind of the error: ``bad_request`` or the ``code`` of an AleaZeroError; ``failed`` for another exception;
    ``crashed``, ``timeout`` or ``closed``."""
    message: str = ""
    """The error in one line."""
    seconds: float = 0.0
    """Seconds that the task ran."""


@dataclass(eq=False)
class Ticket:
    """A submitted task."""

    job: bytes
    """Task and payload, pickled."""
    seconds: float
    prepare_seconds: float
    on_partial: Callable[[Any], None] | None
    on_done: Callable[[Done], None]
    number: int
    state: Literal["waiting", "running", "done"] = "waiting"
    cancelled: bool = False
    started: float = 0.0
    deadline: float = 0.0
    limit: float = 0.0
    """The time limit that holds now: ``seconds`` or ``prepare_seconds``."""


@dataclass(eq=False)
class _Worker:
    process: Any
    connection: Connection
    started: bool = False
    ticket: Ticket | None = None


@dataclass
class _Counts:
    replaced: int = 0
    stillborn: int = 0
    finished: int = 0


class Workers:
    """Processes that run one task each.

    Args:
        count: number of processes.
        most_waiting: largest number of tasks that wait.
    """

    def __init__(self, count: int, most_waiting: int = 1000) -> None:
        if count < 1:
            raise ConfigError(f"workers is {count}, expected at least 1")
        self.count, self.most_waiting = count, most_waiting
        self._context = multiprocessing.get_context("spawn")
        self._lock = threading.Lock()
        self._waiting: list[tuple[int, int, Ticket]] = []  # a heap
        self._stops: list[Ticket] = []
        self._workers: list[_Worker] = []
        self._numbers = itertools.count()
        self._counts = _Counts()
        self._closing = False
        self._takes_tasks = True
        """Whether the thread has to be woken for a new task; not while all workers are busy."""
        self._wakes, self._wake = self._context.Pipe(duplex=False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wakes, selectors.EVENT_READ)
        for end in (self._wakes, self._wake):
            os.set_blocking(end.fileno(), False)
        self._thread = threading.Thread(target=self._watch, name="aleazero workers", daemon=True)
        self._thread.start()

    def submit(
        self,
        task: str,
        payload: Any,
        *,
        priority: int = 0,
        seconds: float = 60.0,
        prepare_seconds: float = 300.0,
        on_partial: Callable[[Any], None] | None = None,
        on_done: Callable[[Done], None],
    ) -> Ticket:
        """Add a task to the queue.

        Args:
            task: ``module:function``. The function is called as ``function(payload, work)`` with a ``Work``.
            payload: picklable.
            priority: tasks with a higher priority start first, equal ones in the order of submission.
            seconds: time limit of the task, after which its process is ended.
            prepare_seconds: time limit between ``work.preparing()`` and ``work.ready()``.
            on_partial: called with each partial result.
            on_done: called once, with the end of the task.

        Raises:
            Busy: ``most_waiting`` tasks wait.
        """
        job = pickle.dumps((task, payload))
        with self._lock:
            if self._closing:
                raise Busy("the workers are closed, expected no further requests")
            if len(self._waiting) >= self.most_waiting:
                raise Busy(f"{self.most_waiting:,} requests are waiting, expected fewer; retry later")
            ticket = Ticket(job, seconds, prepare_seconds, on_partial, on_done, next(self._numbers))
            heapq.heappush(self._waiting, (-priority, ticket.number, ticket))
            takes_tasks = self._takes_tasks
        if takes_tasks:
            self._wake_up()
        return ticket

    def cancel(self, ticket: Ticket) -> bool:
        """End a task early; return False if it has ended already.

        A running task is asked to stop and returns its result so far. Its process is ended if it does not return soon.
        """
        with self._lock:
            if ticket.state == "done" or ticket.cancelled:
                return False
            ticket.cancelled = True
            if ticket.state == "waiting":
                self._waiting = [entry for entry in self._waiting if entry[2] is not ticket]
                heapq.heapify(self._waiting)
            self._stops.append(ticket)
        self._wake_up()
        return True

    def status(self) -> dict[str, int]:
        """Return the number of workers, of running, waiting and finished tasks, and of workers that were replaced."""
        with self._lock:
            return {
                "workers": self.count,
                "running": sum(worker.ticket is not None for worker in self._workers),
                "waiting": len(self._waiting),
                "finished": self._counts.finished,
                "replaced": self._counts.replaced,
            }

    @property
    def process_ids(self) -> list[int]:
        """Process ids of the workers that were started."""
        return [worker.process.pid for worker in list(self._workers)]

    def close(self) -> None:
        """End all workers. Tasks that have not ended get the error ``closed``."""
        with self._lock:
            self._closing = True
        self._wake_up()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _wake_up(self) -> None:
        with contextlib.suppress(OSError):  # it is closed, or full of signals that were not read
            os.write(self._wake.fileno(), b"x")

    # -- in the thread -------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closing:
            self._employ()
            for ready, _ in self._selector.select(self._patience()):
                if ready.data is None:
                    os.read(self._wakes.fileno(), 1 << 16)
                else:
                    self._read(ready.data)
            self._stop_cancelled()
            self._end_late()
        for worker in list(self._workers):
            self._remove(worker)
            if worker.ticket is not None:
                self._finish(worker.ticket, Done("error", code="closed", message="the server is shutting down"))
        for _, _, ticket in sorted(self._waiting):
            self._finish(ticket, Done("error", code="closed", message="the server is shutting down"))
        self._selector.close()

    def _employ(self) -> None:
        """Give the waiting tasks to idle workers, and start workers while there are tasks for them."""
        with self._lock:  # a task that comes from now on wakes the thread, unless all workers are busy then
            self._takes_tasks = True
        for worker in [one for one in self._workers if one.started and one.ticket is None]:
            ticket = self._next()
            if ticket is None:
                break
            ticket.started = time.monotonic()
            ticket.limit = ticket.seconds
            ticket.deadline = ticket.started + ticket.limit
            worker.ticket = ticket
            _send(worker.connection, (RUN, ticket.number, ticket.job))
            ticket.job = b""
        starting = sum(not worker.started for worker in self._workers)
        while len(self._workers) < self.count and starting < len(self._waiting):
            try:
                self._start()
            except OSError as error:  # e.g. too many processes or files; other workers may still be there
                if not self._workers:
                    self._fail_waiting(f"no worker process can be started: {error}")
                return
            starting += 1
        with self._lock:
            busy = sum(worker.ticket is not None for worker in self._workers)
            self._takes_tasks = busy < self.count

    def _next(self) -> Ticket | None:
        with self._lock:
            if not self._waiting:
                return None
            ticket = heapq.heappop(self._waiting)[2]
            ticket.state = "running"
            return ticket

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=run_tasks, args=(theirs,), daemon=True)
        try:
            with children_ignore_ctrl_c():
                process.start()
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        worker = _Worker(process, ours)
        self._selector.register(ours, selectors.EVENT_READ, worker)
        self._workers.append(worker)

    def _patience(self) -> float | None:
        """Return the seconds until the next deadline; None if there is none."""
        deadlines = [worker.ticket.deadline for worker in self._workers if worker.ticket is not None]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _read(self, worker: _Worker) -> None:
        """Read one message of a worker."""
        try:
            kind, number, content = worker.connection.recv()
        except Exception:  # the process has ended, or its rules wrote to the connection
            self._bury(worker)
            return
        ticket = worker.ticket
        if kind == STARTED:
            worker.started, self._counts.stillborn = True, 0
        if ticket is None or number != ticket.number:
            return
        now = time.monotonic()
        if kind == PARTIAL:
            if ticket.on_partial is not None and not ticket.cancelled:
                _call(ticket.on_partial, content)
        elif kind in (PREPARING, READY):
            if not ticket.cancelled:
                ticket.limit = ticket.prepare_seconds if kind == PREPARING else ticket.seconds
                ticket.deadline = now + ticket.limit
        elif kind in (RESULT, ERROR):
            content, retire = content
            worker.ticket = None
            if retire:
                self._remove(worker)
                self._counts.replaced += 1
            took = now - ticket.started
            if ticket.cancelled:
                self._finish(ticket, Done("cancelled", content if kind == RESULT else None, seconds=took))
            elif kind == RESULT:
                self._finish(ticket, Done("result", content, seconds=took))
            else:
                self._finish(ticket, Done("error", code=content[0], message=content[1], seconds=took))

    def _bury(self, worker: _Worker) -> None:
        """Remove a worker that has died."""
        ticket = worker.ticket
        self._remove(worker)
        self._counts.replaced += 1
        code = worker.process.exitcode
        if ticket is not None:
            took = time.monotonic() - ticket.started
            if ticket.cancelled:
                self._finish(ticket, Done("cancelled", seconds=took))
            else:
                message = f"the worker process ended with exit code {code} while it computed the answer"
                self._finish(ticket, Done("error", code="crashed", message=message, seconds=took))
        elif not worker.started:
            self._counts.stillborn += 1
            if self._counts.stillborn >= MOST_STILLBORN:
                self._counts.stillborn = 0
                self._fail_waiting(f"the worker processes cannot start, exit code {code}")

    def _fail_waiting(self, message: str) -> None:
        while (waiting := self._next()) is not None:
            self._finish(waiting, Done("error", code="crashed", message=message))

    def _stop_cancelled(self) -> None:
        with self._lock:
            stops, self._stops = self._stops, []
        for ticket in stops:
            worker = next((one for one in self._workers if one.ticket is ticket), None)
            if ticket.state == "waiting":
                self._finish(ticket, Done("cancelled"))
            elif worker is not None:
                ticket.deadline = min(ticket.deadline, time.monotonic() + CANCEL_GRACE)
                _send(worker.connection, (STOP, ticket.number, None))

    def _end_late(self) -> None:
        """End the workers whose task is past its deadline."""
        now = time.monotonic()
        for worker in [one for one in self._workers if one.ticket is not None and one.ticket.deadline <= now]:
            ticket = worker.ticket
            assert ticket is not None
            if worker.connection.poll():  # its result has arrived in the meantime
                continue
            self._remove(worker)
            self._counts.replaced += 1
            if ticket.cancelled:
                self._finish(ticket, Done("cancelled", seconds=now - ticket.started))
            else:
                message = f"took longer than {ticket.limit:g} s, after which its process is ended"
                self._finish(ticket, Done("error", code="timeout", message=message, seconds=now - ticket.started))

    def _finish(self, ticket: Ticket, done: Done) -> None:
        with self._lock:
            if ticket.state == "done":
                return
            ticket.state = "done"
            self._counts.finished += 1
        _call(ticket.on_done, done)

    def _remove(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        self._selector.unregister(worker.connection)
        worker.connection.close()
        worker.process.kill()
        worker.process.join()


def _call(callback: Callable[[Any], None], content: Any) -> None:
    try:
        callback(content)
    except Exception:  # the thread serves other tasks, too
        log.exception("a callback of a request failed")


def _send(connection: Connection, message: Any) -> None:
    with contextlib.suppress(OSError):  # a dead worker is found when its messages are read
        connection.send(message)
