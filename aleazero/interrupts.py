"""Processes that leave Ctrl-C to the one that started them, from their first moment on, and end when it says so."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started meanwhile never hear Ctrl-C, not even while they load; this one does."""
    resource_tracker.ensure_running()  # what multiprocessing starts by itself would open our ears again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_children() -> None:
    """Kill all processes: nobody waits for what they have under way."""
    for child in multiprocessing.active_children():
        child.kill()
