"""Processes that are started deaf to Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
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


def test_ctrl_c_does_not_wait_for_what_workers_have_under_way():
    words = [
        "match",
        "search:sims=50000,evaluator=rollout",
        "random",
        "--game",
        "pig",
        "--games",
        "400",
        "--workers",
        "2",
        "--threads",
        "1",
    ]
    command = [sys.executable, "-m", "aleazero.cli.main", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while len(children.read_text().split()) < 3:  # two workers, and multiprocessing's own
            time.sleep(0.1)
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        began = time.monotonic()
        said = process.communicate(timeout=60)[1]
    assert (process.returncode, said.strip()) == (130, "")
    assert time.monotonic() - began < 10


def test_workers_of_self_play_are_deaf_from_the_start():
    with Workers(1) as workers:
        assert not hears(workers.process_ids[0])
