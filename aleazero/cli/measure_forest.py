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
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aleazero.games.base import State

SIMULATIONS = 64
BATCH = 256
WIDTH = 128
ONE_CORE_PRODUCTS = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def measure_forest(request: dict[str, Any]) -> dict[str, Any]:
    """Leaves a second with one and two threads, and microseconds a leaf of trees and of network, with one.

    The request names the game, and may name: network (mlp, constant), boards (of 2048, by exponents), batch (rows),
    trees, threads (a list), searches a run, and rounds of which the best counts.
    """
    command = [sys.executable, "-m", "aleazero.cli.measure_forest"]
    done = subprocess.run(
        command, input=json.dumps(request), capture_output=True, text=True, env={**os.environ, **ONE_CORE_PRODUCTS}
    )
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
        self._lock, self._rooms = threading.Lock(), threading.local()

    def __call__(self, observations: Any, legal_masks: Any) -> tuple[Any, Any]:
        """Logits and values, in arrays that the next call of this thread uses again."""
        import numpy as np

        began = time.thread_time()
        if not hasattr(self._rooms, "outs"):
            self._rooms.outs = [np.zeros((len(observations), layer.shape[1]), np.float32) for layer in self.layers]
        out = observations
        if self.kind == "mlp":
            for layer, room in zip(self.layers, self._rooms.outs, strict=True):
                out = np.matmul(out, layer, out=room)
                if layer is not self.layers[-1]:
                    np.maximum(out, 0, out=out)
        else:
            out = self._rooms.outs[-1]
        with self._lock:
            self.seconds += time.thread_time() - began
        return out[:, : self.actions], out[:, self.actions :]


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Measure in this process."""
    from aleazero.games.kernel import KernelGame
    from aleazero.search.config import ChanceConfig, SearchConfig
    from aleazero.search.forest import Forest

    name, kind = request["game"], request.get("network", "mlp")
    batch = request.get("batch", BATCH)
    trees, searches = request.get("trees", 2 * batch), request.get("searches", 4 * batch)
    states = _states(name, request.get("boards"), searches)
    game = states[0].game
    assert isinstance(game, KernelGame)
    network = Network(game.observation_size, game.num_actions, game.num_players, kind)
    config = SearchConfig(num_simulations=SIMULATIONS, chance=ChanceConfig())
    forests = {
        threads: Forest(game, network, config, trees=trees, batch_size=batch, threads=threads)
        for threads in request.get("threads", [1, 2])
    }
    leaves = searches * (SIMULATIONS + 1)
    clocks: dict[int, float] = {}
    best_trees = best_network = float("inf")
    for _ in range(1 + request.get("rounds", 7)):  # the first warms up
        for threads, forest in forests.items():
            network.seconds = 0.0
            clock, work = time.perf_counter(), time.process_time()
            forest.run(states, seeds=range(searches))
            clock, work = time.perf_counter() - clock, time.process_time() - work
            clocks[threads] = min(clocks.get(threads, clock), clock)
            if threads == 1:
                best_trees = min(best_trees, work - network.seconds)
                best_network = min(best_network, network.seconds)
    row: dict[str, Any] = {
        "game": name,
        "network": kind,
        "trees": trees,
        "batch": batch,
        "simulations": SIMULATIONS,
        "per_second": leaves / clocks[1],
        "per_cpu_second": leaves / (best_trees + best_network),
        "simulations_share": SIMULATIONS / (SIMULATIONS + 1),  # of the leaves; the other one is the root
        "tree_microseconds": best_trees / leaves * 1e6,
        "network_microseconds": best_network / leaves * 1e6,
    }
    if 2 in clocks:
        row.update(per_second_2_threads=leaves / clocks[2], speedup=clocks[1] / clocks[2])
    return row


def _states(name: str, boards: list[list[int]] | None, searches: int) -> list[State]:
    from aleazero.cli.measure import opening
    from aleazero.games.registry import load_game

    if boards is None:
        return [opening(name)] * searches
    game = load_game(name)
    tiles = [[str(2**exponent if exponent else 0) for exponent in board] for board in boards]
    texts = ["/".join(" ".join(row[i : i + 4]) for i in range(0, 16, 4)) for row in tiles]
    return [game.state_from_text(texts[i % len(texts)]) for i in range(searches)]


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))  # noqa: T201 -- this process is asked for it
