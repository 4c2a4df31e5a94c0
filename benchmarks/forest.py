"""The forest: cost of trees and network, speedup with two threads, and a comparison with mctx on 2048."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.output import JsonOption, deliver, pick, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.base import State

GAMES = ("2048", "pig")
PARTS = ("forest", "mctx")
AS_SHIPPED = ("--variants", "stochastic", "--networks", "mlp")
"""Options to measure mctx as released: its search with explicit chance, with a network."""
BATCHES = (256, 1024)
"""Rows per batch. Threads contend for Python's lock between batches, so a second one gains more with large batches."""


def forest(
    games: Annotated[
        str | None, typer.Option("--games", metavar="A,B", help="Games to measure: `2048`, `pig`.")
    ] = None,
    parts: Annotated[str, typer.Option("--parts", metavar="A,B", help="Parts: `forest`, `mctx`.")] = ",".join(PARTS),
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Runs per result.", min=1)] = 7,
    searches: Annotated[int, typer.Option("--searches", metavar="N", help="Searches per batch row.", min=1)] = 4,
    json: JsonOption = None,
) -> None:
    """Measure the cost of trees and of a numpy network, the speedup with two threads, and compare with mctx.

    The network has two hidden layers of width 128. mctx searches the same 2048 boards with the same kind of network and
    pgx as its exact model. The first run installs jax in a separate environment. mctx as released is measured on two
    cores by wall time; its best tuned variants are measured on one core by CPU time. Takes about ten minutes, mostly
    for compilation in jax.

    **Examples**

    - `python -m benchmarks forest`

    - `python -m benchmarks forest --parts forest --games pig`
    """
    from aleazero.cli.show import make_console
    from benchmarks.search import machine

    names = pick("--games", games, GAMES)
    chosen = pick("--parts", parts, PARTS)
    read_file(json)  # rejects a wrong name before the measurements
    data: dict[str, Any] = {"machine": machine()}
    with make_console(stderr=True).status("measuring") as status:
        if "forest" in chosen:
            data["forest"] = _measure_forests(names, rounds, searches, status.update)
        if "mctx" in chosen:
            data["mctx"] = _measure_mctx(rounds, searches, status.update)
    data["targets"] = forest_targets(data)
    deliver(data, json, _show)


def _measure_forests(names: list[str], rounds: int, searches: int, report: Any) -> list[dict[str, Any]]:

    rows = []
    for name in names:
        report(f"{name}, a forest on one and two threads")
        for batch in BATCHES:
            rows.append(measure_forest({"game": name, "batch": batch, "rounds": rounds, "searches": searches * batch}))
    return rows


def _measure_mctx(rounds: int, searches: int, report: Any) -> dict[str, Any]:
    """Measure mctx, and aleazero on the same boards."""

    theirs = compare_mctx(report)
    if not theirs["installed"]:
        return theirs
    as_shipped = compare_mctx(report, 2, AS_SHIPPED)
    together = []
    for row in as_shipped["rows"]:
        if row["parts"] > 1:
            continue  # as released, mctx searches one batch on both cores
        report(f"2048, two threads, the boards of mctx, {row['roots']}")
        boards = as_shipped["roots"][row["roots"]]
        request = {"game": "2048", "boards": boards, "rounds": rounds, "searches": searches * len(boards)}
        ours = measure_forest(request)
        speed = ours["per_second_2_threads"] * ours["simulations_share"]  # without roots, as in mctx
        together.append({"roots": row["roots"], "ours_per_second": speed, "mctx_per_second": row["per_second"],
                         "ratio": speed / row["per_second"]})  # fmt: skip
    rows = []
    for best in theirs["best"]:
        if best["network"] == "mlp_lookup":
            continue
        report(f"2048, {best['network']}, the boards of mctx")
        boards = theirs["roots"][best["roots"]]
        request = {"game": "2048", "network": best["network"], "boards": boards, "trees": len(boards)}
        ours = measure_forest({**request, "rounds": rounds, "searches": searches * len(boards), "threads": [1]})
        speed = ours["per_cpu_second"] * ours["simulations_share"]
        rows.append(
            {
                "network": best["network"],
                "roots": best["roots"],
                "ours_per_second": speed,
                "explicit": {**best["explicit"], "ratio": speed / best["explicit"]["per_second"]},
                "any": {**best["any"], "ratio": speed / best["any"]["per_second"]},
            }
        )
    return {**theirs, "tuned": rows, "together": together}


def forest_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the results with the project's targets."""
    found: list[dict[str, Any]] = []
    for row in data.get("forest", []):
        what = f"{row['game']}, batches of {row['batch']:,}"
        if row["batch"] == min(BATCHES):
            found += target(f"{what}, trees per leaf", row["tree_microseconds"], 2.0, "µs", at_least=False)
        else:
            found += target(f"{what}, two threads to one", row["speedup"], 1.7, "×", at_least=True)
    for row in data.get("mctx", {}).get("together", []):
        found += target(f"2048, {row['roots']}, to mctx", row["ratio"], 5.0, "×", at_least=True)
    return found


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}", markup=False)
    if "forest" in data:
        table = quiet_table(("game", "left"), ("batch", "right"), ("leaves/s", "right"), ("2 threads", "right"),
                            ("ratio", "right"), ("trees, µs", "right"), ("network, µs", "right"),
                            title="Forest")  # fmt: skip
        for row in data["forest"]:
            table.add_row(
                row["game"], f"{row['batch']:,}", f"{row['per_second']:,.0f}", f"{row['per_second_2_threads']:,.0f}",
                f"{row['speedup']:.2f}×", f"{row['tree_microseconds']:.2f}", f"{row['network_microseconds']:.2f}",
            )  # fmt: skip
        console.print(table)
    if "mctx" in data:
        _show_mctx(data["mctx"], console)
    show_targets(data["targets"], console)


def _show_mctx(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    if not data["installed"]:
        console.print(f"mctx was not measured: {data['why']}", style="bold yellow", markup=False)
        return
    table = quiet_table(("2048 from", "left"), ("aleazero/s", "right"), ("mctx/s", "right"), ("ratio", "right"),
                        title="Compared with mctx as released, two cores")  # fmt: skip
    for row in data["together"]:
        table.add_row(
            row["roots"], f"{row['ours_per_second']:,.0f}", f"{row['mctx_per_second']:,.0f}", f"{row['ratio']:.1f}×"
        )
    console.print(table)
    table = quiet_table(("2048 from", "left"), ("network", "left"), ("aleazero/s", "right"), ("mctx/s", "right"),
                        ("ratio", "right"), ("hidden chance/s", "right"), ("ratio", "right"),
                        title="Compared with the best variants of mctx, one core")  # fmt: skip
    for row in data["tuned"]:
        table.add_row(
            row["roots"], row["network"], f"{row['ours_per_second']:,.0f}", f"{row['explicit']['per_second']:,.0f}",
            f"{row['explicit']['ratio']:.1f}×", f"{row['any']['per_second']:,.0f}", f"{row['any']['ratio']:.1f}×",
        )  # fmt: skip
    console.print(table)


SIMULATIONS = 64
BATCH = 256
WIDTH = 128


def worker_environment() -> dict[str, str]:
    """Return the environment of a measuring process: matrix products on one core, and this package on its path."""
    one_core = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    path = os.pathsep.join(filter(None, (str(BENCHMARKS.parent), os.environ.get("PYTHONPATH"))))
    return {**os.environ, **one_core, "PYTHONPATH": path}


def measure_forest(request: dict[str, Any]) -> dict[str, Any]:
    """Measure leaves/s with one and two threads, and microseconds per leaf of trees and network with one thread.

    ``request`` has the key ``game``, and optionally ``network`` (mlp, constant), ``boards`` (2048 boards as exponents),
    ``batch`` (rows), ``trees``, ``threads`` (a list), ``searches`` per run, and ``rounds``, of which the best counts.
    """
    command = [sys.executable, "-m", "benchmarks.forest"]
    done = subprocess.run(command, input=json.dumps(request), capture_output=True, text=True, env=worker_environment())
    if done.returncode:
        raise RuntimeError(f"the forest could not be measured: {done.stderr[-500:]}")
    row: dict[str, Any] = json.loads(done.stdout)
    return row


class Network:
    """A multilayer perceptron in numpy that measures its time; or zeros, with the kind ``constant``."""

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
        """Return logits and values, in arrays that the next call of this thread overwrites."""
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
    for _ in range(1 + request.get("rounds", 7)):  # the first is a warm-up
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
        "simulations_share": SIMULATIONS / (SIMULATIONS + 1),  # one leaf of each tree is the root
        "tree_microseconds": best_trees / leaves * 1e6,
        "network_microseconds": best_network / leaves * 1e6,
    }
    if 2 in clocks:
        row.update(per_second_2_threads=leaves / clocks[2], speedup=clocks[1] / clocks[2])
    return row


def _states(name: str, boards: list[list[int]] | None, searches: int) -> list[State]:
    from aleazero.games.registry import load_game
    from benchmarks.search import opening

    if boards is None:
        return [opening(name)] * searches
    game = load_game(name)
    tiles = [[str(2**exponent if exponent else 0) for exponent in board] for board in boards]
    texts = ["/".join(" ".join(row[i : i + 4]) for i in range(0, 16, 4)) for row in tiles]
    return [game.state_from_text(texts[i % len(texts)]) for i in range(searches)]


BENCHMARKS = Path(__file__).resolve().parent
SCRIPT, REQUIREMENTS = "mctx_2048.py", "requirements.txt"
READY = "ready"
"""File in the environment with its requirements, written last."""

INSTALL_SECONDS, RUN_SECONDS = 900, 1800


class NotMeasured(Exception):
    """mctx could not be measured; the message gives the reason in one line."""


def compare_mctx(report: Callable[[str], Any], cores: int = 1, only: Sequence[str] = ()) -> dict[str, Any]:
    """Run the mctx script on this many cores.

    Args:
        report: called with progress messages.
        cores: number of cores. One core is measured by CPU time, several by wall time.
        only: options of the script that select what is measured.

    Returns:
        The results of the script with ``installed`` and ``best``; or ``installed`` False and the reason ``why``.
        ``best`` has the highest simulations/s of mctx for each network and kind of roots: ``explicit`` of searches with
        chance nodes, and ``any`` of all searches, including those that hide chance in a step.
    """
    try:
        figures = _figures(_environment(report), report, cores, only)
    except NotMeasured as reason:
        return {"installed": False, "why": str(reason)}
    return {"installed": True, "best": _best(figures), **figures}


def _environment(report: Callable[[str], Any]) -> Path:
    """Return the Python of the environment; create it if it is missing, incomplete, or has other versions."""
    from aleazero.files import cache_root

    folder = cache_root() / "bench-venv"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    wanted = f"{sys.version}\n" + (BENCHMARKS / REQUIREMENTS).read_text(encoding="utf-8")
    ready = folder / READY
    if python.exists() and ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    report("installing jax, mctx and pgx, once")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)], INSTALL_SECONDS, "the environment could not be created")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    _run([*pip, "--requirement", str(BENCHMARKS / REQUIREMENTS)], INSTALL_SECONDS, "pip cannot install")
    ready.write_text(wanted, encoding="utf-8")
    return python


def _figures(python: Path, report: Callable[[str], Any], cores: int, only: Sequence[str]) -> dict[str, Any]:
    report(f"2048, mctx on {cores} core{'' if cores == 1 else 's'}, a few minutes")
    command = [str(python), str(BENCHMARKS / SCRIPT), "--threads", str(cores), *only]
    figures: dict[str, Any] = json.loads(_run(command, RUN_SECONDS, "mctx failed"))
    return figures


def _run(command: list[str], seconds: float, failure: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise NotMeasured(f"{failure} within {seconds} s") from None
    except OSError as error:
        raise NotMeasured(f"{failure}: {error}") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or [f"exit {done.returncode}"]
        raise NotMeasured(f"{failure}: {errors[0][:300]}")
    return done.stdout


def _best(figures: dict[str, Any]) -> list[dict[str, Any]]:
    speed = "per_cpu_second" if figures["cores"] == 1 else "per_second"
    found = []
    for network, roots in dict.fromkeys((row["network"], row["roots"]) for row in figures["rows"]):
        rows = [row for row in figures["rows"] if (row["network"], row["roots"]) == (network, roots)]
        chance = {"explicit": [row for row in rows if row["explicit_chance"]], "any": rows}
        tops = {name: max(some, key=lambda row: row[speed]) for name, some in chance.items()}
        best = {name: {"variant": top["variant"], "per_second": top[speed]} for name, top in tops.items()}
        found.append({"network": network, "roots": roots, **best})
    return found


if __name__ == "__main__":
    print(json.dumps(main(json.load(sys.stdin))))  # noqa: T201 -- the calling process reads this
