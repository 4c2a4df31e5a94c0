"""Self-play: leaves/s compared with the speed of its network alone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.errors import ConfigError
from benchmarks.forest import worker_environment
from benchmarks.output import JsonOption, deliver, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

LEAST_SHARE, LEAST_SPEEDUP = 0.6, 1.7


def selfplay(
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="The game to play.")] = "yatzy",
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", metavar="KEY=VALUE", help="Game parameter.")
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="Time per result.", min=0.1)] = 10.0,
    parallel: Annotated[int, typer.Option("--parallel", metavar="N", help="Games at once per worker.", min=1)] = 256,
    simulations: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations per search.", min=1)] = 64,
    in_flight: Annotated[
        int, typer.Option("--max-inflight", metavar="N", help="Leaves of a search that wait at once.", min=1)
    ] = 4,
    chance: Annotated[
        str | None,
        typer.Option("--chance", metavar="SPEC", help="Chance mode, as in `aleazero selfplay` [default: by game]."),
    ] = None,
    width: Annotated[int, typer.Option("--width", metavar="N", help="Width of the network.", min=1)] = 256,
    blocks: Annotated[int, typer.Option("--blocks", metavar="N", help="Blocks of the network.", min=0)] = 2,
    json: JsonOption = None,
) -> None:
    """Measure leaves/s of self-play as a fraction of the speed of the network alone on one core.

    One worker is measured with onnxruntime and with torch, by CPU time. Two workers are compared with one, by wall
    time. The network has random weights.

    **Examples**

    - `python -m benchmarks selfplay`

    - `python -m benchmarks selfplay --game pig --seconds 3 --parallel 64 --max-inflight 1 --width 64`
    """
    from aleazero.cli.options import read_game
    from aleazero.cli.show import make_console
    from aleazero.selfplay.config import SelfplayConfig
    from benchmarks.search import machine

    read_game(game, param)
    SelfplayConfig(chance=chance)  # type: ignore[arg-type]  # rejects errors here rather than in another process
    read_file(json)
    request: dict[str, Any] = {
        "game": game, "params": param, "seconds": seconds, "parallel": parallel, "simulations": simulations,
        "in_flight": in_flight, "chance": chance, "width": width, "blocks": blocks,
    }  # fmt: skip
    data: dict[str, Any] = {"machine": machine(), "settings": request, "inference": []}
    with make_console(stderr=True).status("measuring") as status:
        for inference in ("onnxruntime", "torch"):
            status.update(f"{game}, one worker, {inference}")
            (row,) = measure_selfplay({**request, "inference": inference}, 1)
            data["inference"].append({"inference": inference, **row})
        status.update(f"{game}, two workers")
        both = measure_selfplay({**request, "inference": "onnxruntime"}, 2)
    one = data["inference"][0]["per_second"]
    together = sum(row["per_second"] for row in both)
    data["workers"] = {"one_per_second": one, "two_per_second": together, "speedup": together / one}
    data["targets"] = selfplay_targets(data)
    deliver(data, json, _show)


def selfplay_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the results with the project's targets."""
    best = data["inference"][0]
    share = target("self-play compared with its network", best["share"], LEAST_SHARE, "", at_least=True)
    return share + target(
        "two workers compared with one", data["workers"]["speedup"], LEAST_SPEEDUP, "×", at_least=True
    )


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}", markup=False)
    table = quiet_table(("inference", "left"), ("leaves/s", "right"), ("network alone/s", "right"), ("share", "right"),
                        title="Self-play, one core")  # fmt: skip
    for row in data["inference"]:
        table.add_row(
            row["inference"], f"{row['per_cpu_second']:,.0f}", f"{row['network_alone_per_second']:,.0f}",
            f"{row['share']:.0%}",
        )  # fmt: skip
    console.print(table)
    workers = data["workers"]
    console.print(
        f"two workers: {workers['two_per_second']:,.0f} leaves/s, {workers['speedup']:.2f}× one", markup=False
    )
    show_targets(data["targets"], console)


def measure_selfplay(request: dict[str, Any], workers: int) -> list[dict[str, Any]]:
    """Measure this many workers at the same time, each in its own process."""
    command = [sys.executable, "-m", "benchmarks.selfplay"]
    env = worker_environment()
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
        out, errors = process.communicate()
        if process.returncode:
            last = errors.strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
            raise ConfigError(f"self-play could not be measured: {last[0]}")
        found.append(json.loads(out))
    return found


class Counting:
    """A network that counts its rows and its time."""

    any_size = True

    def __init__(self, net: Any) -> None:
        self._net, self.afterstates = net, net.afterstates
        self.rows, self.seconds = 0, 0.0

    def __call__(self, observations: Any, legal_masks: Any) -> Any:
        """Return logits and values of the network."""
        began = time.thread_time()
        answer = self._net(observations, legal_masks)
        self.seconds += time.thread_time() - began
        self.rows += len(observations)
        return answer


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Measure in this process."""
    from itertools import count

    import numpy as np

    from aleazero.cli.options import read_game
    from aleazero.games.base import counts_wins
    from aleazero.nets.checkpoint import PolicyValueInfo
    from aleazero.nets.config import NetConfig, NetShape, ValueScale
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
    list(Actor(game, counting, selfplay.model_copy(update={"parallel": 2}), seed=2).play(range(2)))  # warm-up
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
    """Return the rows/s of the network alone."""
    net(batch, masks)
    calls, began, end = 0, time.thread_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        net(batch, masks)
        calls += 1
    return float(calls * len(batch) / (time.thread_time() - began))


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))  # noqa: T201 -- the calling process reads this
