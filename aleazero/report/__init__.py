"""The report of a run: one page to read, print and keep, and its pictures.

It is made of the run's own files and nothing else: no clock, no machine, so the same directory gives the same bytes.
"""

from __future__ import annotations

from pathlib import Path

from aleazero.errors import ConfigError, RunError
from aleazero.files import write_whole
from aleazero.report.charts import charts_of
from aleazero.report.figures import MISSING, can_draw, draw
from aleazero.report.page import make_page
from aleazero.report.source import RunFiles
from aleazero.runs.directory import require_no_links, write_text
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
        _write(path / IMAGES / f"{chart.key}.png", picture)
    file = path / FILE if out is None else out
    write_text(file, printable(make_page(run, charts, drawings)))
    return file


def images_of(path: Path) -> list[Path]:
    """The pictures of a run's report."""
    return sorted((path / IMAGES).glob("*.png"))


def _write(file: Path, data: bytes) -> None:
    try:
        write_whole(file, [data])
    except OSError as error:
        raise RunError(f"{file} cannot be written: {error.strerror or error}") from None
