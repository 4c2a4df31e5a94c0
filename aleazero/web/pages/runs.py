"""Training runs of a folder: status, gate verdicts and live curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from fastapi.responses import HTMLResponse, PlainTextResponse, Response
from nicegui import app, ui

from aleazero.errors import AleaZeroError
from aleazero.web.parts.gates import RUN_TASKS, Gates
from aleazero.web.parts.layout import (
    Problem,
    heading,
    loaded_page,
    panel,
    paragraph,
    problem,
    scroll_region,
    subheading,
)
from aleazero.web.parts.plots import COLORS, facts_table, numbers_table
from aleazero.web.playground import Playground, one_line

LISTINGS: Final = "aleazero.serving.api.listings"
REPORT_POLICY: Final = "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report runs no scripts and loads nothing."""
EVERY: Final = 5.0
"""Seconds between two updates of the curves."""
MOST_CURVES: Final = 60
FIRST_CURVES: Final = 6
"""Curves that are shown at once; the others are below."""
ENDS: Final = ("low", "high")
"""Names of the ends of an interval."""


def add_pages(playground: Playground) -> None:
    """Add the list of runs and the page of a run."""

    @ui.page("/runs")
    async def runs() -> None:
        async with loaded_page("Runs", "/runs"):
            heading("Training runs")
            folder = playground.api.settings.runs
            if folder is None:
                paragraph("Start the playground with --runs FOLDER to see the training runs in a folder.")
                return
            found = await playground.rules(f"{LISTINGS}:runs", folder=folder)
            if not found:
                paragraph("The folder has no runs yet.")
            for one in found:
                with ui.element("section").classes("panel"):
                    ui.link(one["run"], f"/runs/{quote(one['run'], safe='')}").style("font-weight: 600")
                    if one["error"] is not None:
                        problem(one["error"])
                        continue
                    scroll_region(f"Status of {one['run']}", facts_table(one["lines"]))

    @ui.page("/runs/{name}")
    async def run(name: str) -> None:
        async with loaded_page("Run", "/runs"):
            heading(name)
            page = Run(playground, name)
            await page.build()

    @app.get("/runs/{name}/report")
    async def report(name: str) -> Response:
        folder = playground.api.settings.runs
        try:
            page = folder and await playground.rules(f"{RUN_TASKS}:report", folder=folder, name=name, slow=True)
        except AleaZeroError as error:
            return PlainTextResponse(f"{one_line(error)}\n", status_code=422)
        if not page:
            return PlainTextResponse("There is no run with this name.\n", status_code=404)
        return HTMLResponse(page, headers={"Content-Security-Policy": REPORT_POLICY})


class Run:
    """The page of a run."""

    def __init__(self, playground: Playground, name: str) -> None:
        self.playground, self.name = playground, name
        self.charts: dict[str, Any] = {}

    async def build(self) -> None:
        """Build the page, and update it from time to time."""
        folder = self.playground.api.settings.runs
        summary = folder and await self.playground.rules(f"{LISTINGS}:run", folder=folder, name=self.name)
        if not summary:
            paragraph("There is no run with this name.")
            return
        with panel("Status"):
            subheading("Status")
            self.lines = scroll_region("Status of the run")
        with ui.element("div").classes("row"):
            report = ui.link("Open the report", f"/runs/{quote(self.name, safe='')}/report", new_tab=True)
            report.props('rel="noopener"')
            ui.label("It is made from the files of the run as they are now.").classes("quiet")
        self.gates = Gates(self.playground, {"folder": folder, "name": self.name})
        self.place = ui.element("div").classes("curves")
        with ui.expansion("More curves").classes("panel") as self.more_panel:
            self.more = ui.element("div").classes("curves")
        with panel("Latest numbers"):
            subheading("Latest numbers")
            self.numbers = scroll_region("Table of numbers")
        self.failed = Problem()
        await self.update()
        ui.timer(EVERY, self.update)

    async def update(self) -> None:
        """Read the run again."""
        folder = self.playground.api.settings.runs
        try:
            summary = await self.playground.rules(f"{LISTINGS}:run", folder=folder, name=self.name)
            data = await self.playground.rules(f"{RUN_TASKS}:curves", folder=folder, name=self.name)
            await self.gates.update()
        except AleaZeroError as error:
            self.failed.show(one_line(error))
            return
        if summary is None or data is None:
            return
        self.lines.content = facts_table(summary["lines"])
        for number, (title, lines) in enumerate(data["plots"].items()):
            self._show(title, lines, self.place if number < FIRST_CURVES else self.more)
        self.more_panel.set_visibility(len(data["plots"]) > FIRST_CURVES)
        rows = [(name, f"{value:.6g}") for name, value in data["latest"]]
        self.numbers.content = numbers_table(("number", "latest value"), rows) if rows else ""

    def _show(self, title: str, lines: Mapping[str, Any], place: ui.element) -> None:
        if title not in self.charts:
            if len(self.charts) >= MOST_CURVES:
                return
            with place, ui.element("section").classes("panel"):
                subheading(title)
                self.charts[title] = ui.echart(_options(lines), renderer="svg").classes("chart")
                self.charts[title].props(f'role="img" aria-label="Curve of {title}"')
            return
        self.charts[title].options.clear()
        self.charts[title].options.update(_options(lines))
        self.charts[title].update()


def _options(lines: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a plot; the ends of an interval are thin and dashed."""
    return {
        "animation": False,
        "grid": {"left": 56, "right": 12, "top": 10, "bottom": 24},
        "tooltip": {"trigger": "axis"},
        "xAxis": {"type": "value", "minInterval": 1, "scale": True, "splitLine": {"show": False}},
        "yAxis": {"type": "value", "scale": True, "splitLine": {"lineStyle": {"opacity": 0.25}}},
        "series": [
            {"type": "line", "name": name, "data": points, "color": COLORS[0],
             "symbol": "none" if len(points) > 40 else "circle", "symbolSize": 4 if name not in ENDS else 0,
             "lineStyle": {"width": 2} if name not in ENDS else {"width": 1, "type": "dashed", "opacity": 0.7}}
            for name, points in lines.items()
        ],
    }  # fmt: skip
