"""Measuring the forest: what the trees cost a leaf beside a network in numpy, and what a second thread gives.

A process of its own does it, so that numpy's matrix products stay on one core. Its network is 128 wide with two hidden
layers, in single precision, on fixed random weights.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import Any

TREES, BATCH, SIMULATIONS = 512, 256, 64
WIDTH = 128
ROUNDS = 7
ONE_CORE_PRODUCTS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure_forest(name: str, network: str = "mlp") -> dict[str, Any]:
    """Leaves a second with one and two threads, and microseconds a leaf of trees and of network, with one."""
    command = [sys.executable, "-m", "aleazero.cli.measure_forest", name, network]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_CORE_PRODUCTS})
    if done.returncode:
        raise RuntimeError(f"the forest could not be measured: {done.stderr[-500:]}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


class Network:
    """A multilayer perceptron in numpy that keeps its own time, or zeros."""

    def __init__(self, observation: int, actions: int, players: int, kind: str) -> None:
        import numpy as np

        sizes = (observation, WIDTH, WIDTH, actions + players)
        dice = np.random.default_rng(1)
        self.layers = [
            dice.normal(0, rows**-0.5, (rows, columns)).astype(np.float32) for rows, columns in pairwise(sizes)
        ]
        self.actions, self.kind, self.seconds = actions, kind, 0.0
        self._lock = threading.Lock()

    def __call__(self, observations: Any, legal_masks: Any) -> tuple[Any, Any]:
        """Logits and values."""
        import numpy as np

        began = time.thread_time()
        if self.kind == "constant":
            out = np.zeros((len(observations), self.layers[-1].shape[1]), np.float32)
        else:
            out = np.maximum(observations @ self.layers[0], 0)
            out = np.maximum(out @ self.layers[1], 0) @ self.layers[2]
        with self._lock:
            self.seconds += time.thread_time() - began
        return out[:, : self.actions], out[:, self.actions :]


def main(name: str, kind: str) -> None:
    """Measure in this process, and print JSON."""
    from aleazero.cli.measure import opening
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import SearchConfig
    from aleazero.search.forest import Forest

    state = opening(name)
    game = state.game
    assert isinstance(game, KernelGame)
    network = Network(game.observation_size, game.num_actions, game.num_players, kind)
    config = SearchConfig(num_simulations=SIMULATIONS)
    forests = {
        threads: Forest(game, network, config, trees=TREES, batch_size=BATCH, threads=threads) for threads in (1, 2)
    }
    states, seeds = [state] * 2 * TREES, range(2 * TREES)
    leaves = len(states) * (SIMULATIONS + 1)
    best = dict.fromkeys(("wall_1", "wall_2", "trees", "network"), float("inf"))
    for _ in range(1 + ROUNDS):  # the first warms up
        for threads, forest in forests.items():
            network.seconds = 0.0
            clock, work = time.perf_counter(), time.process_time()
            forest.run(states, seeds=seeds)
            clock, work = time.perf_counter() - clock, time.process_time() - work
            best[f"wall_{threads}"] = min(best[f"wall_{threads}"], clock)
            if threads == 1:
                best["trees"] = min(best["trees"], work - network.seconds)
                best["network"] = min(best["network"], network.seconds)
    row = {
        "game": name,
        "network": kind,
        "trees": TREES,
        "batch": BATCH,
        "simulations": SIMULATIONS,
        "per_second": leaves / best["wall_1"],
        "per_second_2_threads": leaves / best["wall_2"],
        "per_cpu_second": leaves / (best["trees"] + best["network"]),
        "tree_microseconds": best["trees"] / leaves * 1e6,
        "network_microseconds": best["network"] / leaves * 1e6,
        "speedup": best["wall_1"] / best["wall_2"],
    }
    print(json.dumps(row))  # noqa: T201 -- this process is asked for it


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
