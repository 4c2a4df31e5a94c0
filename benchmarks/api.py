"""The HTTP API under load: how fast other requests are answered while many sessions search."""

from __future__ import annotations

import json as json_text
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.output import JsonOption, deliver, read_file, show_targets, target

if TYPE_CHECKING:
    import httpx
    from rich.console import Console

GAME = "pig"
SIMULATIONS = 1_000_000
"""Simulations of a search, more than it reaches in its seconds."""
MOST_MEDIAN = 300.0
"""Target: median milliseconds of a request while sessions search."""
LEAST_RATE = 5.0
"""Target: partial results/s of a search that runs."""


def api(
    sessions: Annotated[int, typer.Option("--sessions", metavar="N", help="Sessions that search at once.", min=1)] = 20,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Seconds per search.", min=0.1)] = 5.0,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Processes for searches.", min=1, show_default="as the server"),
    ] = None,
    json: JsonOption = None,
) -> None:
    """Measure the HTTP API: the time of requests while sessions search, and partial results/s of the searches.

    A real server is started. All sessions search at once, and searches wait if there are more than processes. Another
    client meanwhile plays and takes back moves, lists legal moves and asks for the status.

    **Examples**

    - `python -m benchmarks api`

    - `python -m benchmarks api --sessions 20 --workers 20`
    """
    from benchmarks.search import machine

    read_file(json)  # rejects a wrong name before the measurements
    with _server(workers) as client:
        warm = [_search(client, client.post("/sessions", json={"game": GAME}).json()["id"], 0.1)]
        idle = _measure_calls(client, iter([*[True] * 20, False]).__next__)
        ids = [client.post("/sessions", json={"game": GAME}).json()["id"] for _ in range(sessions)]
        rows: list[dict[str, Any]] = []
        searches = [threading.Thread(target=lambda one=one: rows.append(_search(client, one, seconds))) for one in ids]
        for search in searches:
            search.start()
        busy = _measure_calls(client, lambda: any(search.is_alive() for search in searches))
        status = client.get("/server").json()
    assert warm[0]["last"] == "result"
    rates = [row["per_second"] for row in rows if row["per_second"] is not None]
    data: dict[str, Any] = {
        "machine": machine(), "sessions": sessions, "seconds": seconds, "workers": status["workers"],
        "idle": idle, "busy": busy, "searches": {
            "results": sum(row["last"] == "result" for row in rows),
            "partial_results": sum(row["partial"] for row in rows),
            "per_second": statistics.median(rates) if rates else None,
        },
    }  # fmt: skip
    data["targets"] = api_targets(data)
    deliver(data, json, _show)


@contextmanager
def _server(workers: int | None) -> Iterator[httpx.Client]:
    import httpx

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "aleazero", "serve", "api", "--port", "0", "--sessions", folder]
        command += [] if workers is None else ["--workers", str(workers)]
        process = subprocess.Popen(
            [*command, "--limit", "waiting=1000", "--limit", "requests=1000"], stderr=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[1],
        )  # fmt: skip
        try:
            assert process.stderr is not None
            address = process.stderr.readline().removeprefix("listening on ").strip()
            limits = httpx.Limits(max_connections=None)
            with httpx.Client(base_url=address, timeout=600, limits=limits) as client:
                yield client
        finally:
            process.terminate()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _search(client: httpx.Client, session: str, seconds: float) -> dict[str, Any]:
    """Search in a session; return the last kind of line, and the partial results with their rate."""
    times: list[float] = []
    last = ""
    body = {"sims": SIMULATIONS, "seconds": seconds, "evaluator": "rollout"}
    with client.stream("POST", f"/sessions/{session}/analyse", json=body) as answer:
        for line in answer.iter_lines():
            last = json_text.loads(line)["type"]
            if last == "partial":
                times.append(time.perf_counter())
    rate = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 else None
    return {"last": last, "partial": len(times), "per_second": rate}


def _measure_calls(client: httpx.Client, more: Callable[[], bool]) -> list[dict[str, Any]]:
    """Send requests one after another while ``more`` returns True; return times by request."""
    path = f"/sessions/{client.post('/sessions', json={'game': GAME}).json()['id']}"
    calls: dict[str, Any] = {
        "GET /server": ("GET", "/server", None),
        "GET session": ("GET", path, None),
        "POST moves": ("POST", f"{path}/moves", {"moves": ["roll"]}),
        "POST undo": ("POST", f"{path}/undo", {}),
        "POST /legal": ("POST", "/legal", {"game": GAME, "moves": ["roll"]}),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    while more():
        for name, (method, address, body) in calls.items():
            began = time.perf_counter()
            answer = client.request(method, address, json=body)
            times[name].append(time.perf_counter() - began)
            assert answer.status_code == 200, answer.text
    return [
        {"request": name, "count": len(found), "median": statistics.median(found), "longest": max(found)}
        for name, found in times.items()
    ]


def api_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the targets with the measured numbers."""
    median = max(row["median"] for row in data["busy"])
    return [
        *target("median of the slowest request", 1000 * median, MOST_MEDIAN, "ms", at_least=False),
        *target("partial results/s of a search", data["searches"]["per_second"], LEAST_RATE, "", at_least=True),
    ]


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    columns = ("idle, ms", "while searching, ms", "longest, ms", "count")
    table = quiet_table(("request", "left"), *((column, "right") for column in columns))
    for idle, busy in zip(data["idle"], data["busy"], strict=True):
        table.add_row(
            idle["request"], *(f"{1000 * number:.1f}" for number in (idle["median"], busy["median"], busy["longest"])),
            str(busy["count"]),
        )  # fmt: skip
    console.print(table)
    rate = data["searches"]["per_second"]
    console.print(
        f"{data['sessions']} sessions, {data['workers']} processes: {data['searches']['results']} results, "
        f"{'–' if rate is None else f'{rate:.1f}'} partial results/s per search"
    )
    show_targets(data["targets"], console)
