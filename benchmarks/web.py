"""The playground under load: how fast clicks are answered while sessions search, and the speed of a live search."""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from aleazero.serving.api.settings import ApiLimits
from aleazero.serving.requests import Sources
from aleazero.serving.workers import Done, Workers
from benchmarks.output import JsonOption, deliver, read_file, show_targets, target

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
    from rich.console import Console

TABLE = "pig"
"""Game of the clicks."""
MOST_MEDIAN = 300.0
"""Target: median milliseconds of a click while sessions search."""
LEAST_SHARE = 85.0
"""Target: percent of its speed that a search has while a page shows it."""
WARM = 1000
"""Simulations of a search that compiles the game."""
IDLE_CLICKS = 10
LIVE_SECONDS = 600.0
"""Time limit of the searches whose speed is compared."""
LONGEST_LOAD = 120_000
LONGEST = 30_000
"""Milliseconds after which a click counts as lost."""
CLICK = """([element, wanted, longest]) => new Promise(resolve => {
  const began = performance.now(), found = new Function('return ' + wanted);
  const end = answer => { watch.disconnect(); clearTimeout(timer); resolve(answer); };
  const watch = new MutationObserver(() => { if (found()) end(performance.now() - began); });
  const timer = setTimeout(() => end(null), longest);
  watch.observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true});
  new Function('return ' + element)().dispatchEvent(new MouseEvent('click', {bubbles: true}));
})"""
"""Clicks an element; returns the milliseconds until the page shows the answer, or null if it does not."""
STEPS = "document.querySelectorAll('[aria-label=\"All moves and rolls\"] li').length"
TITLE = "document.querySelector('[aria-label=\"Position\"] h2').innerText"
BUTTON = "[...document.querySelectorAll('button')].find(one => one.innerText.trim() == '{}')"
ROLL, UNDO = "document.querySelector('.board [data-part=roll][role=button]')", BUTTON.format("Undo")
SPEED = re.compile(r"([\d,]+) simulations, ([\d,]+)/s")
RESULT = re.compile(r"[\d,]+ simulations")
STATUS = "document.querySelector('.status').innerText"
ENDED = f"!{STATUS}.startsWith('No simulations') && {BUTTON.format('Pause')}.disabled"
CHILD = "document.querySelector('.tree .node:not([data-path=\"\"])')"
ROOT = "document.querySelector('.tree .node[data-path=\"\"]')"


def web(
    sessions: Annotated[int, typer.Option("--sessions", metavar="N", help="Pages that search at once.", min=1)] = 20,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", help="Seconds per search.", min=0.1)] = 5.0,
    workers: Annotated[int, typer.Option("--workers", metavar="N", help="Processes for searches.", min=1)] = 2,
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="Game of the searches.")] = "yatzy",
    sims: Annotated[
        int, typer.Option("--sims", metavar="N", help="Simulations of the search whose speed is compared.", min=1000)
    ] = 400_000,
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Live searches.", min=1)] = 5,
    json: JsonOption = None,
) -> None:
    """Measure the playground: the time of clicks while sessions search, and the speed of a search that a page shows.

    A real server and a real Chromium are started. All pages search at once, and searches wait if there are more than
    processes. Another table and analysis are clicked meanwhile. Then searches run with and without page in turn.

    **Examples**

    - `python -m benchmarks web`

    - `python -m benchmarks web --sessions 5 --game pig`
    """
    from benchmarks.search import machine

    read_file(json)  # rejects a wrong name before the measurements
    with _server(workers, seconds) as origin, _browser() as browser:
        _search(browser, origin, game, WARM)
        clicks = _Clicks(browser, origin)
        idle = clicks.measure(IDLE_CLICKS * [True])
        pages = [_open_analysis(browser, origin, game) for _ in range(sessions)]
        for page in pages:
            page.get_by_label("run up to").fill("1000000")
        for page in pages:
            page.get_by_role("button", name="Run", exact=True).click()
        busy = clicks.measure(_while_searching(pages))
        results = [page.locator(".status").inner_text() for page in pages]
    with _server(workers, LIVE_SECONDS) as origin, _browser() as browser, Workers(1) as alone:
        _search(browser, origin, game, WARM)
        _search_alone(alone, game, WARM)
        live = [
            {"live": _search(browser, origin, game, sims), "alone": _search_alone(alone, game, sims)}
            for _ in range(rounds)
        ]
    data: dict[str, Any] = {
        "machine": machine(), "sessions": sessions, "seconds": seconds, "workers": workers, "game": game, "sims": sims,
        "idle": idle, "busy": busy, "results": sum(RESULT.match(text) is not None for text in results),
        "rounds": live, "share": statistics.median(100 * row["live"] / row["alone"] for row in live),
    }  # fmt: skip
    data["lost"] = sum(row["lost"] for row in [*idle, *busy]) + sessions - data["results"]
    data["targets"] = web_targets(data)
    deliver(data, json, _show)


@contextmanager
def _server(workers: int, seconds: float) -> Iterator[str]:
    """Start a playground with a time limit per search; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "aleazero", "web", "--no-open", "--port", "0", "--sessions", folder]
        process = subprocess.Popen(
            [*command, "--workers", str(workers), "--limit", f"seconds={seconds}"], stderr=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[1],
        )  # fmt: skip
        try:
            assert process.stderr is not None
            found = re.search(r"http://[^/\s]+", process.stderr.readline())
            assert found is not None
            yield found[0]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate()


@contextmanager
def _browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


def _open(browser: Browser, address: str) -> Page:
    page = browser.new_page()
    page.set_default_timeout(LONGEST_LOAD)
    page.goto(address)
    page.get_by_text("Loading …").wait_for(state="detached")
    return page


def _open_analysis(browser: Browser, origin: str, game: str) -> Page:
    page = _open(browser, f"{origin}/analysis?{urlencode({'game': game})}")
    page.get_by_role("button", name="Run", exact=True).wait_for()
    return page


def _while_searching(pages: list[Page]) -> Iterator[bool]:
    """Yield True while a page searches."""
    for page in pages:
        while not page.evaluate(ENDED):
            yield True


def _search(browser: Browser, origin: str, game: str, sims: int) -> float:
    """Search on a page; return the simulations/s that it shows at the end."""
    page = _open_analysis(browser, origin, game)
    page.get_by_label("run up to").fill(str(sims))
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_function(ENDED)
    found = SPEED.match(page.locator(".status").inner_text())
    page.close()
    return float(found[2].replace(",", "")) if found is not None else 0.0


def _search_alone(workers: Workers, game: str, sims: int) -> float:
    """Run the same search in a worker process that reports only its end; return its simulations/s."""
    found: Queue[Done] = Queue()
    payload = {
        "sources": Sources(), "limits": ApiLimits(seconds=LIVE_SECONDS).of_requests(), "game": game, "params": {},
        "position": None, "sims": sims, "seed": 0, "settings": {}, "evaluator": "rollout", "depth": 0, "top": 1,
        "nodes": 1, "every": None, "last": False,
    }  # fmt: skip
    entry, task = "aleazero.serving.api.tasks:call_nicely", "aleazero.web.tasks.searches:search_position"
    workers.submit(entry, (task, payload), seconds=LIVE_SECONDS, on_done=found.put)
    done = found.get()
    assert done.kind == "result", done.message
    return float(done.content["simulations"] / done.content["seconds"])


class _Clicks:
    """Clicks on a table and on a searched tree, with their times."""

    def __init__(self, browser: Browser, origin: str) -> None:
        started = browser.new_page().request.post(f"{origin}/api/v1/sessions", data={"game": TABLE})
        self.table = _open(browser, f"{origin}/table/{started.json()['id']}")
        self.table.wait_for_function(ROLL)
        self.tree = _open_analysis(browser, origin, TABLE)
        self.tree.get_by_role("button", name="Step by 100 simulations", exact=True).click()
        self.tree.wait_for_function(CHILD)

    def measure(self, more: Iterable[bool]) -> list[dict[str, Any]]:
        """Click all of them once per entry of ``more``; return the times by kind."""
        times: dict[str, list[float | None]] = {"roll": [], "undo": [], "node of the tree": []}
        for _ in more:
            steps = self.table.evaluate(STEPS)
            times["roll"].append(self._click(self.table, ROLL, f"{STEPS} > {steps}"))
            times["undo"].append(self._click(self.table, UNDO, f"{STEPS} == {steps}"))
            times["node of the tree"].append(self._click(self.tree, CHILD, f"{TITLE}.startsWith('After')"))
            times["node of the tree"].append(self._click(self.tree, ROOT, f"{TITLE} == 'The position'"))
        rows = []
        for name, found in times.items():
            answered = [one for one in found if one is not None]
            rows.append({
                "click": name, "count": len(found), "lost": len(found) - len(answered),
                "median": statistics.median(answered) if answered else None,
                "longest": max(answered, default=None),
            })  # fmt: skip
        return rows

    def _click(self, page: Page, element: str, wanted: str) -> float | None:
        taken: float | None = page.evaluate(CLICK, [element, wanted, LONGEST])
        return taken


def web_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the targets with the measured numbers."""
    medians = [row["median"] for row in data["busy"] if row["median"] is not None]
    return [
        *target("median of the slowest click", max(medians, default=None), MOST_MEDIAN, "ms", at_least=False),
        *target("clicks and searches that were lost", data["lost"], 0.0, "", at_least=False),
        *target("speed of a live search", data["share"], LEAST_SHARE, "%", at_least=True),
    ]


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    columns = ("idle, ms", "while searching, ms", "longest, ms", "count", "lost")
    table = quiet_table(("click", "left"), *((column, "right") for column in columns))
    for idle, busy in zip(data["idle"], data["busy"], strict=True):
        numbers = (idle["median"], busy["median"], busy["longest"])
        table.add_row(
            idle["click"], *("–" if one is None else f"{one:.0f}" for one in numbers), str(busy["count"]),
            str(idle["lost"] + busy["lost"]),
        )  # fmt: skip
    console.print(table)
    console.print(f"{data['sessions']} pages, {data['workers']} processes: {data['results']} results")
    table = quiet_table(("search", "left"), ("with page, simulations/s", "right"), ("without", "right"), ("", "right"))
    for row in data["rounds"]:
        table.add_row(
            f"{data['game']}, {data['sims']:,} simulations", f"{row['live']:,.0f}", f"{row['alone']:,.0f}",
            f"{row['live'] / row['alone']:.0%}",
        )  # fmt: skip
    console.print(table)
    show_targets(data["targets"], console)
