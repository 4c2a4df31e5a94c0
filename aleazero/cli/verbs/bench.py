"""``aleazero bench``: measure the speed and memory of a game on this machine, and recommend threads and batch size."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count, pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import (
    GameArgument,
    JsonFlag,
    MovesOption,
    ParamOption,
    PositionOption,
    cores,
    option,
    read_game,
    read_state,
    refuse_ignored,
)
from aleazero.errors import GameError, count_text

if TYPE_CHECKING:
    from rich.console import Console

    from aleazero.games.base import State
    from aleazero.search.forest import Forest

EVALUATORS = ("uniform", "rollout")
BATCHES = (64, 256, 1024)
SIMULATIONS = 64
"""Simulations per search in a forest, as self-play has them."""
ROUNDS = 4
"""Batches that a measurement should have time for. Larger batches are skipped."""
TURNS = 3
"""Measurements per number of threads. The highest speed counts, because other programs only slow it down."""
NEARLY = 0.95
"""Share of the highest speed from which fewer threads and smaller batches are preferred."""
ONE_CORE = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def bench(
    context: typer.Context,
    game: GameArgument,
    position: PositionOption = None,
    moves: MovesOption = None,
    param: ParamOption = None,
    sims: Annotated[int, option("--sims", "N", "Simulations per search.", min=1)] = 2000,
    net: Annotated[
        str | None, option("--net", "FILE", "Network to measure.", show_default="random weights, two hidden layers")
    ] = None,
    width: Annotated[int, option("--width", "N", "Width of the network with random weights.", min=1, max=16384)] = 128,
    seconds: Annotated[
        float, option("--seconds", "SECONDS", "Time for all measurements, without compilation.", min=0.1, max=3600)
    ] = 10.0,
    json: JsonFlag = False,
) -> None:
    """Measure simulations/s, evaluations/s and memory of a game, and recommend threads and batch size.

    A single search is measured on one thread, with the evaluators `uniform` and `rollout`. Then many searches share a
    network, on one thread and on all cores, with several batch sizes.

    **Examples**

    - `aleazero bench pig`

    - `aleazero bench my_game.py:my_game --seconds 30`

    - `aleazero bench yatzy --net net.safetensors --json`
    """
    refuse_ignored(context, {"width": "--net sets the network" if net is not None else None})
    if "numpy" not in sys.modules:  # numpy reads them when it is imported; only threads of the search are measured
        os.environ.update({name: os.environ.get(name, "1") for name in ONE_CORE})
    from aleazero.cli.show import make_console, print_json

    console = make_console()
    with blame_rules(game):
        the_game = read_game(game, param)
        state = read_state(the_game, position, moves)
        state.require_running()
        network = _network(state, net, width)
        with make_console(stderr=True).status("measuring") as status:
            rows = _measure(state, network, sims, seconds, status.update)
    data = {
        "game": the_game.name, "params": the_game.params, "position": state.to_text(), "cores": cores(),
        "network": f"{width} wide, random weights" if net is None else net, "simulations": sims, **rows,
    }  # fmt: skip
    data["advice"] = advice(data)
    if json:
        print_json(data)
    else:
        _show(data, console)


def _network(state: State, net: str | None, width: int) -> Any:
    if net is None:
        try:
            return RandomNet(state, width)
        except GameError:  # a game without observations has no networks
            return None
    from aleazero.players.search import read_any_net

    return read_any_net(net, state.game)


class RandomNet:
    """A network of two hidden layers with random weights, to measure its speed."""

    def __init__(self, state: State, width: int) -> None:
        import numpy as np

        game = state.game
        sizes = (game.observation_size, width, width, game.num_actions + game.num_players)
        random = np.random.default_rng(1)
        shapes = pairwise(sizes)
        self._layers = [random.normal(0, max(1, rows) ** -0.5, (rows, to)).astype(np.float32) for rows, to in shapes]
        self._actions = game.num_actions

    def __call__(self, observations: Any, legal_masks: Any) -> tuple[Any, Any]:
        """Return logits and values, (rows, actions) and (rows, players)."""
        import numpy as np

        out = observations
        for layer in self._layers[:-1]:
            out = np.maximum(out @ layer, 0)
        out = out @ self._layers[-1]
        return out[:, : self._actions], out[:, self._actions :]


class Counting:
    """A network that counts the rows it evaluates; empty rows of a batch do not count."""

    def __init__(self, network: Any) -> None:
        self._network, self.rows = network, 0

    def __call__(self, batch: Any, *more: Any) -> Any:
        """Evaluate a batch."""
        self.rows += int((batch.any(axis=1) | more[0].any(axis=1)).sum()) if more else len(batch)
        return self._network(batch, *more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._network, name)


def _measure(state: State, network: Any, sims: int, seconds: float, report: Callable[[str], Any]) -> dict[str, Any]:
    from aleazero.cli.progress import prepare
    from aleazero.games.kernel import KernelGame

    threads = sorted({1, cores()})
    share = seconds / (len(EVALUATORS) + len(threads) * len(BATCHES))
    report("compiling")
    prepare(state.game, state)
    search = []
    for evaluator in EVALUATORS:
        report(f"one search, {evaluator}")
        search.append(measure_search(state, evaluator, sims, share))
    forest = []
    for batch in BATCHES if network is not None else ():
        if batch > BATCHES[0] and search[0]["simulations_per_second"] * share < ROUNDS * batch:
            continue
        report(f"many searches, batches of {batch:,}")
        forest += measure_forests(state, network, batch, threads, share)
    return {"compiled": isinstance(state.game, KernelGame), "search": search, "forest": forest}


def measure_search(state: State, evaluator: str, sims: int, seconds: float) -> dict[str, Any]:
    """Search a position repeatedly for ``seconds``, on one thread; the fastest search counts."""
    from aleazero.search.config import SearchConfig
    from aleazero.search.search import Search

    search = Search(state.game, evaluator, SearchConfig(num_simulations=sims, max_seconds=seconds))
    best, tree_bytes = (0.0, 0.0), 0
    ends = time.perf_counter() + seconds
    for seed in count():
        began = time.perf_counter()
        result = search.run(state, seed=seed)
        took = time.perf_counter() - began
        if result.stopped == "interrupted":
            raise KeyboardInterrupt
        stats = result.stats
        best = max(best, (stats.simulations / took, stats.evaluations / took))
        tree_bytes = max(tree_bytes, stats.tree_bytes)
        if began + took >= ends:
            break
    return {
        "evaluator": evaluator, "simulations_per_second": best[0], "evaluations_per_second": best[1],
        "tree_bytes": tree_bytes or None,
    }  # fmt: skip


def measure_forests(
    state: State, network: Any, batch: int, threads: Sequence[int], seconds: float
) -> list[dict[str, Any]]:
    """Keep two batches of searches running, ``seconds`` for each number of threads, which take turns."""
    from aleazero.search.config import SearchConfig
    from aleazero.search.forest import Forest
    from aleazero.search.search import Search

    trees, config = 2 * batch, SearchConfig(num_simulations=SIMULATIONS)
    tree_bytes = trees * Search(state.game, network, config).run(state).stats.tree_bytes
    counting = [Counting(network) for _ in threads]
    rates = [0.0] * len(threads)
    with ExitStack() as stack:
        forests = [
            stack.enter_context(Forest(state.game, rows, config, trees=trees, batch_size=batch, threads=number))
            for rows, number in zip(counting, threads, strict=True)
        ]
        for forest in forests:
            for number in range(trees):  # searches of different lengths, so that they do not all end at once
                forest.submit(state, seed=number, simulations=1 + number % SIMULATIONS)
            _run_for(forest, state, 0.0)
        for _ in range(TURNS):
            for i, forest in enumerate(forests):
                rows, began = counting[i].rows, time.perf_counter()
                _run_for(forest, state, seconds / TURNS)
                rates[i] = max(rates[i], (counting[i].rows - rows) / (time.perf_counter() - began))
    return [
        {
            "batch": batch,
            "threads": number,
            "trees": trees,
            "evaluations_per_second": rate,
            "tree_bytes": tree_bytes or None,
        }
        for number, rate in zip(threads, rates, strict=True)
    ]


def _run_for(forest: Forest, state: State, seconds: float) -> None:
    """Search for ``seconds``; each search that ends is replaced by another."""
    ends = time.perf_counter() + seconds
    while True:
        for finished in forest.collect():
            if finished.error is not None:
                raise finished.error
            forest.submit(state, seed=forest.trees + finished.ticket)
        if time.perf_counter() >= ends:
            return


def advice(data: dict[str, Any]) -> list[str]:
    """Recommend threads, batch size and, for an object game, compiled rules."""
    rows = data["forest"]
    plain = "The rules run in plain Python; the rules of a kernel game (docs/guides/games.md) are compiled."
    slow = [] if data["compiled"] else [plain]
    if not rows:
        return ["The game has no observations, so networks cannot be measured.", *slow]
    highest = max(row["evaluations_per_second"] for row in rows)
    good = [row for row in rows if row["evaluations_per_second"] >= NEARLY * highest]
    best = min(good, key=lambda row: (row["threads"], row["batch"]))
    found = [
        f"Use batches of {best['batch']:,} on {best['threads']} thread{'s' if best['threads'] > 1 else ''}: "
        f"Forest(trees={best['trees']}, batch_size={best['batch']}, threads={best['threads']})."
    ]
    alone = [row["evaluations_per_second"] for row in rows if row["threads"] == 1]
    together = [row["evaluations_per_second"] for row in rows if row["threads"] > 1]
    if together and best["threads"] == 1:
        gain = max(together) / max(alone)
        found.append(
            f"More threads do not help here ({gain:.2f}× with {data['cores']}); `aleazero selfplay --workers "
            f"{data['cores']}` uses all cores in processes."
        )
    elif together:
        found.append(f"{data['cores']} threads are {max(together) / max(alone):.2f}× as fast as one.")
    return found + slow


def _show(data: dict[str, Any], console: Console) -> None:
    from rich.text import Text

    from aleazero.cli.show import quiet_table

    heading = ", ".join(f"{key}={value}" for key, value in data["params"].items())
    cores_text = count_text(data["cores"], "core")
    console.print(Text(f"{data['game']}({heading}), {cores_text}, position {data['position']}", "bold"), soft_wrap=True)
    table = quiet_table(("evaluator", "left"), ("simulations/s", "right"), ("evaluations/s", "right"),
                        ("memory", "right"), title=f"One search of {data['simulations']:,} simulations")  # fmt: skip
    for row in data["search"]:
        table.add_row(row["evaluator"], *_amounts(row, "simulations_per_second", "evaluations_per_second"))
    console.print(table)
    table = quiet_table(("batch", "right"), ("threads", "right"), ("trees", "right"), ("evaluations/s", "right"),
                        ("memory", "right"), title=f"Many searches, network {data['network']}")  # fmt: skip
    for row in data["forest"]:
        table.add_row(f"{row['batch']:,}", f"{row['threads']}", *_amounts(row, "trees", "evaluations_per_second"))
    if data["forest"]:
        console.print(table)
    for line in data["advice"]:
        console.print(Text(line), soft_wrap=True)


def _amounts(row: dict[str, Any], *names: str) -> Sequence[str]:
    memory = "-" if row["tree_bytes"] is None else f"{row['tree_bytes'] / 1e6:,.1f} MB"  # object games do not count it
    return [*(f"{row[name]:,.0f}" for name in names), memory]
