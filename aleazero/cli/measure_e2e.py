"""Measuring self-play end to end: leaves a second beside what its network alone reaches, one process a worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

from aleazero.cli.measure_forest import ONE_CORE_PRODUCTS
from aleazero.errors import ConfigError


def measure_e2e(request: dict[str, Any], workers: int) -> list[dict[str, Any]]:
    """What so many workers reach at the same time, each in a process of its own."""
    command = [sys.executable, "-m", "aleazero.cli.measure_e2e"]
    env = {**os.environ, **ONE_CORE_PRODUCTS}
    running = [
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        for _ in range(workers)
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write(json.dumps(request))
        process.stdin.close()
        process.stdin = None
    found = []
    for process in running:
        out, said = process.communicate()
        if process.returncode:
            last = said.strip().splitlines()[-1:] or ["no word"]
            raise ConfigError(f"self-play could not be measured: {last[0]}")
        found.append(json.loads(out))
    return found


class Counting:
    """A network that counts the rows it is asked about, and its own time."""

    any_size = True

    def __init__(self, net: Any) -> None:
        self._net, self.afterstates = net, net.afterstates
        self.rows, self.seconds = 0, 0.0

    def __call__(self, observations: Any, legal_masks: Any) -> Any:
        """What the network says."""
        began = time.thread_time()
        answer = self._net(observations, legal_masks)
        self.seconds += time.thread_time() - began
        self.rows += len(observations)
        return answer


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Measure in this process."""
    from itertools import count

    import numpy as np

    from aleazero.cli.specs import read_game
    from aleazero.nets.checkpoint import PolicyValueInfo
    from aleazero.nets.config import NetConfig, NetShape, ValueScale, counts_wins
    from aleazero.nets.inference import Net
    from aleazero.nets.torch_nets import make_body, weights_of
    from aleazero.selfplay.actor import Actor
    from aleazero.selfplay.config import SelfplayConfig

    if request["inference"] == "torch":
        import torch

        torch.set_num_threads(1)
    game = read_game(request["game"], request["params"])
    config = NetConfig(width=request["width"], blocks=request["blocks"])
    values = ValueScale() if counts_wins(game) else ValueScale(kind="score", scale=100.0)
    net = Net(weights_of(make_body(NetShape.of(game), config, 1)), PolicyValueInfo.of(game, config, values),
              request["inference"])  # fmt: skip
    counting = Counting(net)
    selfplay = SelfplayConfig(
        simulations=request["simulations"],
        parallel=request["parallel"],
        in_flight=request["in_flight"],
        chance=request["chance"],
    )
    actor = Actor(game, counting, selfplay, seed=1)
    list(Actor(game, counting, selfplay.model_copy(update={"parallel": 2}), seed=2).play(range(2)))  # warms up
    games, counting.rows, counting.seconds = 0, 0, 0.0
    began, work = time.perf_counter(), time.process_time()
    for _ in actor.play(_until(began + request["seconds"], count())):
        games += 1
        if time.perf_counter() > began + request["seconds"]:
            break
    clock, work = time.perf_counter() - began, time.process_time() - work
    rows = request["parallel"] * request["in_flight"]
    batch = np.random.default_rng(0).random((rows, game.observation_size)).astype(np.float32)
    masks = np.ones((rows, game.num_actions), np.bool_)
    alone = _network_alone(net, batch, masks, min(2.0, request["seconds"]))
    return {
        "games": games,
        "decisions": actor.decisions,
        "leaves": counting.rows,
        "per_second": counting.rows / clock,
        "per_cpu_second": counting.rows / work,
        "network_share_of_time": counting.seconds / work,
        "network_alone_per_second": alone,
        "share": counting.rows / work / alone,
        "batch": rows,
    }


def _until(end: float, numbers: Any) -> Any:
    for number in numbers:
        if time.perf_counter() > end:
            return
        yield number


def _network_alone(net: Any, batch: Any, masks: Any, seconds: float) -> float:
    """Rows a second of the network by itself."""
    net(batch, masks)
    calls, began, end = 0, time.thread_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        net(batch, masks)
        calls += 1
    return float(calls * len(batch) / (time.thread_time() - began))


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))  # noqa: T201 -- this process is asked for it
