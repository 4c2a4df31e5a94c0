"""Measuring Yatzy's oracle: a turn that is solved, the table when it is built, and when it is loaded.

A turn is all of one player's: every hand, keep and mark with two, one and no rerolls left and all 15 categories open,
given what lies behind each mark.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from aleazero.cli.measure import best_seconds
from aleazero.games.yatzy.card import ALL_OPEN
from aleazero.games.yatzy.turn import LEAF_SCORE, solve_rerolls

TURNS = 1000
"""Solved in one run, beside which the clock costs nothing."""
LOADED = """
import time
from aleazero.oracles.yatzy import load_or_build
started = time.perf_counter()
load_or_build()
print(time.perf_counter() - started)
"""


def measure_oracle(seconds: float, say: Callable[[str], Any]) -> dict[str, float]:
    """CPU time of a turn, one thread; by the clock, the table built on all cores (compiling included), and loaded."""
    behind = LEAF_SCORE.astype(np.float64)[None, :]
    solve_rerolls(behind, ALL_OPEN)  # compiled, and not timed

    def solve_turns() -> None:
        for _ in range(TURNS):
            solve_rerolls(behind, ALL_OPEN)

    say("oracle, a turn")
    (turns,) = best_seconds([solve_turns], seconds)
    with tempfile.TemporaryDirectory() as folder:
        say("oracle, its table built")
        built = _load_in(folder)
        say("oracle, its table loaded")
        loaded = _load_in(folder)
    return {"turn_microseconds": 1e6 * turns / TURNS, "build_seconds": built, "load_seconds": loaded}


def _load_in(folder: str) -> float:
    """Seconds to the oracle in a fresh process, with this cache folder; what is imported first is left out."""
    environment = {**os.environ, "ALEAZERO_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], env=environment, check=True, capture_output=True, text=True, encoding="utf-8"
    )
    return float(done.stdout)
