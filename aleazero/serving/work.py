"""The side of ``workers`` that runs in a worker process: it runs tasks one after the other and sends their results."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

from aleazero.errors import AleaZeroError, shortened

STARTED, PARTIAL, RESULT, ERROR, PREPARING, READY = "started", "partial", "result", "error", "preparing", "ready"
"""Messages of a worker."""
RUN, STOP = "run", "stop"
"""Messages to a worker."""
SET_PARENT_DEATH_SIGNAL: Final = 1
"""Option of ``prctl``. The signal comes when the thread ends that started the process, see ``Workers``."""


@dataclass
class Work:
    """Connection through which a task reports to the process that submitted it."""

    _connection: Connection
    _number: int
    _stopped: bool = False
    _retires: bool = field(default=False)

    def report(self, content: Any) -> None:
        """Send a partial result."""
        self._connection.send((PARTIAL, self._number, content))

    def stopped(self) -> bool:
        """Return whether the task should return its result so far."""
        while not self._stopped and self._connection.poll():
            kind, number, _ = self._connection.recv()
            self._stopped = kind == STOP and number == self._number
        return self._stopped

    def preparing(self) -> None:
        """Give the task ``prepare_seconds`` from now on."""
        self._connection.send((PREPARING, self._number, None))

    def ready(self) -> None:
        """Give the task ``seconds`` from now on."""
        self._connection.send((READY, self._number, None))

    def retire(self) -> None:
        """Replace this process after the task, e.g. because it holds much memory."""
        self._retires = True


def run_tasks(connection: Connection) -> None:
    """Run tasks until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_from_streams()
    _end_with_parent()
    with contextlib.suppress(EOFError, OSError):  # the parent has ended
        connection.send((STARTED, -1, None))
        first = True
        while True:
            kind, number, content = connection.recv()
            if kind == RUN:  # else a message about a task that has ended
                work = Work(connection, number)
                kind, content = _run(content, work, first)
                first = False
                connection.send((kind, number, (content, work._retires)))


def _keep_from_streams() -> None:
    """Send what rules print to stderr: stdin and stdout belong to the process that started this one."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    with contextlib.suppress(OSError):  # stderr is closed
        os.dup2(2, 1)


def _run(job: bytes, work: Work, first: bool) -> tuple[str, Any]:
    try:
        if first:  # importing the modules of the payload takes a second
            work.preparing()
        task, payload = pickle.loads(job)
        module, _, name = task.partition(":")
        if module not in sys.modules:
            work.preparing()
            importlib.import_module(module)
            work.ready()
        elif first:
            work.ready()
        content = getattr(sys.modules[module], name)(payload, work)
        if not isinstance(content, bytes):
            pickle.dumps(content)  # raises here, and not when the result is sent
        return RESULT, content
    except AleaZeroError as error:
        return ERROR, (getattr(error, "code", "bad_request"), _line(error))
    except MemoryError as error:
        work.retire()
        return ERROR, ("failed", f"not enough memory: {_line(error)}")
    except Exception as error:
        return ERROR, ("failed", f"{type(error).__name__}: {_line(error)}")


def _line(error: BaseException) -> str:
    return shortened(" ".join(str(error).split())) or type(error).__name__


def _end_with_parent() -> None:
    """End this process with its parent, on Linux also during a loop in compiled rules, which holds the interpreter."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
