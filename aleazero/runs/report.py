"""The report of a run: one page to read, print and keep, and its pictures.

It is made of the run's own files and nothing else: no clock, no machine, so the same directory gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

from aleazero.errors import ConfigError, RunError
from aleazero.files import write_file
from aleazero.runs.directory import require_no_links
from aleazero.runs.report_content import charts_of
from aleazero.runs.report_figures import MISSING, can_draw, draw
from aleazero.runs.report_page import make_page
from aleazero.runs.told import RunFiles
from aleazero.untrusted import printable

FILE, IMAGES = "report.html", "images"


def why_no_report() -> str | None:
    """What is missing on this machine to make one, in a line; None where nothing is."""
    return None if can_draw() else MISSING


def write_report(path: Path, out: Path | None = None) -> Path:
    """Write the report of a run into its directory, or elsewhere, and its pictures into ``images/``; where it is."""
    why = why_no_report()
    if why is not None:
        raise ConfigError(why)
    run = RunFiles(path)
    require_no_links(path)
    charts = charts_of(run)
    drawings = {}
    for chart in charts:
        drawings[chart.key], picture = draw(chart)
        write_file(path / IMAGES / f"{chart.key}.png", picture, RunError)
    file = path / FILE if out is None else out
    write_file(file, printable(make_page(run, charts, drawings)), RunError)
    return file


def images_of(path: Path) -> list[Path]:
    """The pictures of a run's report."""
    return sorted((path / IMAGES).glob("*.png"))
