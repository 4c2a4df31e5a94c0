"""The engine: requests/s compared with calling the library directly, and memory over time."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.errors import ConfigError
from aleazero.untrusted import parse_digits
from benchmarks.forest import worker_environment
from benchmarks.output import JsonOption, deliver, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

AT_ONCE = 5
"""Requests without an answer at any time."""
LEAST_SHARE, MOST_GROWTH = 0.9, 0.05
GAME, POSITION, REVIEWED = "pig(target=20)", "3-12 turn 7", "roll 5 hold roll 6 hold"
"""A game with short requests."""
MIXED_SIMULATIONS = (200, 1000, 5000)
"""Simulations of the searches among the mixed requests."""
SETTLE = 0.25
"""Share of the time after which the memory is compared with the end: the first requests load and compile."""


def engine(
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="The game to search.")] = "yatzy",
    moves: Annotated[
        str, typer.Option("--moves", metavar="MOVES", help="Moves that lead to the position, by name.")
    ] = "roll-13336",
    sims: Annotated[
        str, typer.Option("--sims", metavar="A,B", help="Simulations per request, one measurement each.")
    ] = "500,2000,10000",
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="Time per round.", min=0.01)] = 1.0,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Rounds per measurement.", min=1)] = 7,
    requests: Annotated[int, typer.Option("--requests", metavar="N", help="Number of mixed requests.", min=5)] = 1000,
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="T", help="Time for which the memory is observed.", min=0)
    ] = 10.0,
    json: JsonOption = None,
) -> None:
    """Measure the requests/s of `aleazero engine` as a fraction of those of the library, and observe its memory.

    The engine has one worker and five requests at any time. Engine and library search the same positions with the same
    seeds in turn; the library also returns each result as a dictionary. The share is that of CPU time on Linux, which
    other processes do not change, and else of wall time. The memory is the resident memory
    of the engine and its workers (Linux only) under mixed requests with cancels and garbage lines.

    **Examples**

    - `python -m benchmarks engine --minutes 0`

    - `python -m benchmarks engine --sims 2000 --rounds 3 --minutes 3`
    """
    from aleazero.cli.show import make_console
    from aleazero.games.registry import load_game
    from benchmarks.search import machine

    read_file(json)
    sizes = [parse_digits(text) or 0 for text in sims.split(",")]
    if not all(sizes):
        raise ConfigError(f"--sims is {sims!r}, expected numbers above 0, e.g. 500,2000")
    load_game(game)
    data: dict[str, Any] = {"machine": machine(), "game": game, "moves": moves, "throughput": [], "memory": None}
    with make_console(stderr=True).status("measuring") as status:
        with EngineClient() as client:
            for size in sizes:
                status.update(f"{game}, {size:,} simulations per request")
                data["throughput"].append(measure_throughput(client, game, moves, size, seconds, rounds))
            status.update("mixed requests")
            data["throughput"].append(measure_mixed(client, game, moves, requests))
        if minutes > 0:
            status.update(f"memory, {minutes:g} minutes")
            data["memory"] = measure_memory(minutes)
    data["targets"] = engine_targets(data)
    deliver(data, json, _show)


def engine_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the results with the project's targets."""
    mixed = data["throughput"][-1]
    found = target("engine compared with the library", mixed["share"], LEAST_SHARE, "", at_least=True)
    growth = None if data["memory"] is None else data["memory"]["growth"]
    return found + target("growth of memory", growth, MOST_GROWTH, "", at_least=False)


class EngineClient:
    """A running engine."""

    def __init__(self, workers: int = 1) -> None:
        command = [sys.executable, "-m", "aleazero", "engine", "--workers", str(workers)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=worker_environment()
        )
        self.read()

    def send(self, **fields: Any) -> None:
        """Send a request."""
        self.write(json.dumps(fields).encode())

    def write(self, line: bytes) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next line."""
        assert self.process.stdout is not None
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line

    def __enter__(self) -> EngineClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.communicate()


def measure_throughput(
    client: EngineClient, game: str, moves: str, sims: int, seconds: float, rounds: int
) -> dict[str, Any]:
    """Measure the library and the engine in turn, each with the same requests."""
    from aleazero.games.registry import load_game
    from aleazero.search.config import SearchConfig
    from aleazero.search.search import Search

    rules = load_game(game)
    state = rules.new_initial_state()
    state.play(moves)
    position = state.to_text()
    search = Search(rules, "rollout", SearchConfig(num_simulations=sims))
    request = {"request": "analyse", "game": game, "position": position, "sims": sims}

    def library(count: int) -> None:
        for seed in range(count):
            search.run(rules.state_from_text(position), seed=seed).to_dict()

    def served(count: int) -> None:
        serve(client, [{"seed": number, **request} for number in range(count)])

    served(1)
    library(1)
    count = max(AT_ONCE, int(seconds / _seconds(library, 3) * 3))
    return {"simulations": sims, "requests": count, **compare(client, library, served, count, rounds)}


def measure_mixed(client: EngineClient, game: str, moves: str, count: int) -> dict[str, Any]:
    """Measure the library and the engine in turn with the same requests of all kinds."""
    drawn = random.Random(1).choices(mixed_requests(game, moves), k=count)

    def library(count: int) -> None:
        for seed, (_, direct) in enumerate(drawn[:count]):
            direct(seed)

    def served(count: int) -> None:
        numbered = enumerate(request for request, _ in drawn[:count])
        serve(client, [one | ({"seed": seed} if "position" in one else {}) for seed, one in numbered])

    warm = min(count, 100)  # compiles
    library(warm)
    served(warm)
    return {"simulations": None, "requests": count, **compare(client, library, served, count, 3)}


def mixed_requests(game: str, moves: str) -> list[tuple[dict[str, Any], Callable[[int], Any]]]:
    """Return requests without seed, and for each a function of the seed that calls the library directly."""
    from aleazero.games.registry import load_game
    from aleazero.search.config import SearchConfig
    from aleazero.search.plan.planner import Planner
    from aleazero.search.search import Search
    from aleazero.serving.judge import make_judge
    from aleazero.serving.ledger import ledger_of

    rules, short = load_game(game), load_game(GAME)
    state = rules.new_initial_state()
    state.play(moves)
    position = state.to_text()
    judge = make_judge(short)
    steps = [(0, 0), (-1, 5), (0, 1), (1, 0), (-1, 6), (1, 1)]

    def searched(sims: int, evaluator: str = "rollout", **more: Any) -> Callable[[int], Any]:
        search = Search(rules, evaluator, SearchConfig(num_simulations=sims, **more))
        return lambda seed: search.run(rules.state_from_text(position), seed=seed).to_dict()

    def planned(seed: int) -> Planner:
        return Planner(short, "rollout", horizon="turn", seed=seed)

    asked = {"game": game, "position": position}
    return [
        *((asked | {"request": "analyse", "sims": sims}, searched(sims)) for sims in MIXED_SIMULATIONS),
        (asked | {"request": "evaluate", "evaluator": "rollout:50"}, searched(1, "rollout:50", max_evaluations=1)),
        (
            {"request": "plan", "game": GAME, "position": POSITION, "evaluator": "rollout", "horizon": "turn"},
            lambda seed: planned(seed).run(short.state_from_text(POSITION)).to_dict(),
        ),
        (
            {"request": "review", "game": GAME, "moves": REVIEWED},
            lambda _: ledger_of(short.new_initial_state(), steps, judge).to_dict(),
        ),
    ]


def serve(client: EngineClient, requests: Sequence[dict[str, Any]]) -> None:
    """Send requests, a few at any time, and read their results."""
    for number in range(len(requests) + AT_ONCE):
        if number >= AT_ONCE:
            line = client.read()
            assert line["kind"] == "result", line
        if number < len(requests):
            client.send(id=str(number), **requests[number])


def compare(
    client: EngineClient, library: Callable[[int], None], served: Callable[[int], None], count: int, rounds: int
) -> dict[str, Any]:
    """Run both in turn; return their requests/s, and the engine's share by wall time and by CPU time."""
    both = (library, [os.getpid()]), (served, [client.process.pid, *children_of(client.process.pid)])
    clocks: list[list[tuple[float, float]]] = [[], []]
    for _ in range(rounds):
        for side, (run, processes) in enumerate(both):
            work = cpu_seconds(processes)
            clock = _seconds(run, count)
            clocks[side].append((clock, cpu_seconds(processes) - work))
    wall, cpu = (
        median(one[k] / other[k] if other[k] else 0.0 for one, other in zip(*clocks, strict=True)) for k in (0, 1)
    )
    return {
        "library_per_second": count / min(one[0] for one in clocks[0]),
        "engine_per_second": count / min(one[0] for one in clocks[1]),
        "wall_share": wall,
        "share": cpu or wall,
    }


def _seconds(run: Callable[[int], None], count: int) -> float:
    began = time.perf_counter()
    run(count)
    return time.perf_counter() - began


def cpu_seconds(processes: list[int]) -> float:
    """Return the CPU time of processes; 0 if the system has no ``/proc``."""
    total = 0
    for pid in processes:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started; empty if the system has no ``/proc``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(folder.name))
    return found


def measure_memory(minutes: float, workers: int = 1) -> dict[str, Any]:
    """Send mixed requests for some minutes; return the resident memory in MB over time."""
    dice, count, rows = random.Random(1), 0, []
    with EngineClient(workers) as client:
        began = time.monotonic()
        end, sample = began + 60 * minutes, began
        running = 0
        lines = mixed_lines(dice)
        while (now := time.monotonic()) < end:
            if now >= sample:
                rows.append((now - began, memory_of(client.process.pid)))
                sample = now + max(0.2, minutes)
            while running < AT_ONCE:
                client.write(next(lines))
                running += 1
            if client.read()["kind"] != "partial":
                running -= 1
                count += 1
        rows.append((time.monotonic() - began, memory_of(client.process.pid)))
    settled = [size for passed, size in rows if passed >= 60 * minutes * SETTLE]
    third = max(1, len(settled) // 3)
    first, last = median(settled[:third]), median(settled[-third:])
    return {
        "minutes": minutes,
        "requests": count,
        "megabytes": [[round(passed, 1), round(size / 1e6, 1)] for passed, size in rows],
        "start": first / 1e6,
        "end": last / 1e6,
        "growth": last / first - 1 if first else None,
    }


def mixed_lines(dice: random.Random) -> Iterator[bytes]:
    """Yield lines of all kinds: requests with various settings, cancels and garbage; each gets one final line."""
    number = 0
    while True:
        number += 1
        base = {"id": str(number), "game": GAME, "position": POSITION, "seed": number}
        review = {"id": str(number), "game": GAME, "request": "review", "moves": REVIEWED}
        yield dice.choice(
            [
                json.dumps(
                    base | {"request": "analyse", "sims": dice.randrange(10, 5000), "report_every": 0.1}
                ).encode(),
                json.dumps(base | {"request": "analyse", "sims": 100, "tree_depth": 6}).encode(),
                json.dumps(base | {"request": "plan", "evaluator": "rollout"}).encode(),
                json.dumps(base | {"request": "evaluate", "evaluator": "rollout"}).encode(),
                json.dumps(base | {"request": "apply", "moves": "roll", "draw": True}).encode(),
                json.dumps(base | {"request": "analyse", "sims": 10**9}).encode(),
                json.dumps(review).encode(),
                json.dumps({"id": str(number), "request": "cancel", "target": str(number - 1)}).encode(),
                dice.randbytes(20).replace(b"\n", b"x") + b"{",
            ]
        )


def _line(fields: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({**fields, **more}).encode()


def memory_of(pid: int) -> float:
    """Return the resident bytes of a process and its children; 0 if the system has no ``/proc``."""
    total = 0.0
    for one in (pid, *children_of(pid)):
        with contextlib.suppress(OSError):
            total += os.sysconf("SC_PAGE_SIZE") * int(Path(f"/proc/{one}/statm").read_text().split()[1])
    return total


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}", markup=False)
    table = quiet_table(("simulations", "right"), ("library/s", "right"), ("engine/s", "right"),
                        ("share of wall time", "right"), ("of CPU time", "right"),
                        title=f"Requests, {data['game']}, one worker")  # fmt: skip
    for row in data["throughput"]:
        size = "mixed requests" if row["simulations"] is None else f"{row['simulations']:,}"
        table.add_row(
            size, f"{row['library_per_second']:,.1f}", f"{row['engine_per_second']:,.1f}",
            f"{row['wall_share']:.0%}", f"{row['share']:.0%}",
        )  # fmt: skip
    console.print(table)
    memory = data["memory"]
    if memory is not None:
        console.print(
            f"memory: {memory['start']:.0f} MB at first, {memory['end']:.0f} MB at last, "
            f"{memory['requests']:,} requests in {memory['minutes']:g} minutes",
            markup=False,
        )
    show_targets(data["targets"], console)
