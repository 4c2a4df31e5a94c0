"""Measuring our search: simulations a second, bytes a simulation, and how long a fresh process takes.

One thread does the work; speeds are by its CPU time, starts by the clock. Compiling is never inside a speed; it
is what a cold start measures.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aleazero.games.base import State
    from aleazero.search.result import SearchResult

OPENINGS = {"dice_game": "", "pig": "roll 5", "tic_tac_toe": "", "2048": "2@a1 2@b1", "yatzy": "roll-13446"}
"""Where each game is searched from: its first real decision."""

REPETITIONS = 3
LARGER = 10

FIRST_RESULT = """
import aleazero
game = aleazero.load_game("pig")
config = aleazero.SearchConfig(num_simulations=1000)
assert aleazero.Search(game, "rollout", config).run(game.new_initial_state()).best_action is not None
"""


def opening(name: str) -> State:
    """The position a game is measured from."""
    from aleazero.games.registry import load_game

    state = load_game(name).new_initial_state()
    state.play(OPENINGS.get(name, ""))
    return state


def measure_speed(name: str, evaluator: str, chance: str, sims: int, seconds: float) -> dict[str, Any]:
    """Simulations a second, in a search of ``sims`` and in one ten times as large, and bytes a simulation."""
    from aleazero.cli.searching import prepare, whole_search
    from aleazero.players.words import read_chance
    from aleazero.search.config import SearchConfig

    state = opening(name)
    prepare(state.game, state)

    def run(sims: int) -> SearchResult:
        config = SearchConfig(num_simulations=sims, seed=1, chance=read_chance(chance), max_nodes=2**31 - 2)
        return whole_search(state.game, state, evaluator, config)

    stats = run(sims).stats
    return {
        "game": name,
        "evaluator": evaluator,
        "chance": chance,
        "simulations": sims,
        "per_second": sims / best_seconds([lambda: run(sims)], seconds)[0],
        "per_second_at_10_times": LARGER * sims / best_seconds([lambda: run(LARGER * sims)], 0.0, repetitions=1)[0],
        "bytes_per_simulation": stats.tree_bytes / sims,
        "nodes_per_simulation": stats.nodes / sims,
    }


def best_seconds(runs: Sequence[Callable[[], Any]], seconds: float, repetitions: int = REPETITIONS) -> list[float]:
    """The best CPU time of each run; they take turns, ``repetitions`` times and on until ``seconds`` are spent.

    CPU time, because a busy machine takes turns too: what waits for a core has not been slow.
    """
    best = [float("inf")] * len(runs)
    started, turns = time.perf_counter(), 0
    while turns < repetitions or time.perf_counter() - started < seconds:
        for i, run in enumerate(runs):
            before = time.process_time()
            run()
            best[i] = min(best[i], time.process_time() - before)
        turns += 1
    return best


def measure_starts() -> dict[str, float]:
    """Seconds of whole fresh processes: to a first result of pig, without and with compiled code; and --help."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "ALEAZERO_CACHE_DIR": folder}
        first_result = [sys.executable, "-c", FIRST_RESULT]
        cold = _process_seconds(first_result, environment)
        warm = min(_process_seconds(first_result, environment) for _ in range(REPETITIONS))
    helping = [sys.executable, "-m", "aleazero.cli.main", "--help"]
    return {
        "cold_start_seconds": cold,
        "warm_start_seconds": warm,
        "help_seconds": min(_process_seconds(helping, dict(os.environ)) for _ in range(REPETITIONS)),
    }


def _process_seconds(command: list[str], environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return time.perf_counter() - started


def machine() -> dict[str, Any]:
    """What it was measured on."""
    import llvmlite
    import numba
    import numpy

    import aleazero

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "numpy": numpy.__version__,
        "aleazero": aleazero.__version__,
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
