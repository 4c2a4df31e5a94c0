"""Processes that play pairs: what becomes of them when others die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PARENT = """
import os, time
from aleazero.evaluation.pair_workers import _pool
print(_pool(1).submit(os.getpid).result(), flush=True)
time.sleep(60)
"""


def test_workers_end_with_a_parent_that_is_killed():
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = Path("/proc") / parent.stdout.readline().strip()
        assert runs(worker)
        parent.kill()
    for _ in range(200):
        if not runs(worker):
            return
        time.sleep(0.05)
    os.kill(int(worker.name), signal.SIGKILL)
    raise AssertionError("the worker was still there after ten seconds")


def runs(process: Path) -> bool:
    try:
        return " Z " not in (process / "stat").read_text()
    except OSError:
        return False
