"""Entry of the HTTP API's worker processes: import a task and run it.

The imports of a new process take seconds. They count as loading, and not as time of the rules, so this module imports
nothing else, and the payload is unpickled here.
"""

from __future__ import annotations

import importlib
import os
import pickle
from typing import Any, Final

TASKS: Final = "aleazero.serving.api_tasks"
"""Module of the tasks that are given without a module."""
NICE: Final = 10
"""Priority of searches for the operating system."""


def call(job: tuple[str, bytes], work: Any) -> Any:
    """Run ``NAME`` of the tasks, or ``MODULE:NAME``, with a pickled payload and a ``workers.Work``."""
    work.preparing()
    module, _, name = job[0].rpartition(":")
    task = getattr(importlib.import_module(module or TASKS), name)
    payload = pickle.loads(job[1])
    work.ready()
    return None if work.stopped() else task(payload, work)


def call_nicely(job: tuple[str, bytes], work: Any) -> Any:
    """Run a task at a lower priority of the operating system."""
    os.setpriority(os.PRIO_PROCESS, 0, NICE)
    return call(job, work)
