"""Processes that are started deaf to Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from aleazero.interrupts import deaf_children
from aleazero.training.workers import Workers


def hears(process: int) -> bool:
    status = Path(f"/proc/{process}/status").read_text()
    blocked = int(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1], 16)
    return not blocked >> (signal.SIGINT - 1) & 1


def test_a_child_never_hears_ctrl_c():
    command = [sys.executable, "-c", "import time; time.sleep(30)"]
    with deaf_children():
        deaf = subprocess.Popen(command)
    other = subprocess.Popen(command)
    try:
        assert (hears(deaf.pid), hears(other.pid)) == (False, True)
    finally:
        for process in (deaf, other):
            process.kill()
            process.wait()


def test_workers_of_self_play_are_deaf_from_the_start():
    with Workers(1) as workers:
        assert not hears(workers.process_ids[0])
