"""HTML report of a run: one page to read, print and keep, and its figures as PNG.

It depends only on the files of the run, so the same directory gives the same bytes.

To find where a number on the page comes from, read the attribute ``data-from`` of its element. It names the event, or
the file, and the keys inside (``source.py``). To find the code that chose the number, look for its section in
``page.html.j2``: it names the function of ``tables.py`` that makes the table, or the chart (``charts.py``).
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

from aleazero.errors import ConfigError, RunError

FILE, IMAGES = "report.html", "images"
REQUIRED: Final = ("matplotlib", "jinja2")


def why_no_report() -> str | None:
    """Return an error message if a package for reports is missing; None if all are installed."""
    for package in REQUIRED:
        try:
            import_module(package)
        except ImportError:
            install = "pip install 'aleazero[report]' (in a clone of the repository: pip install '.[report]')"
            return f"the report requires {package}, which is missing: {install}"
    return None


def write_report(path: Path, out: Path | None = None) -> Path:
    """Write the report of a run, and its figures into ``images/`` of the run.

    Args:
        path: the directory of the run.
        out: the file to write; None for ``report.html`` in the directory of the run.

    Returns:
        The file of the page.

    Raises:
        ConfigError: if matplotlib or jinja2 is missing.
        RunError: if the files of the run are damaged, or the report cannot be written.
    """
    from aleazero.files import write_file
    from aleazero.runs.directory import require_no_links

    page, images = make_report(path)
    require_no_links(path)
    for name, image in images.items():
        write_file(path / IMAGES / name, image, RunError)
    file = path / FILE if out is None else out
    write_file(file, page, RunError)
    return file


def make_report(path: Path) -> tuple[str, dict[str, bytes]]:
    """Return the report of a run as HTML, and its figures as PNG by file name. Nothing is written.

    Raises:
        ConfigError: if matplotlib or jinja2 is missing.
        RunError: if the files of the run are damaged.
    """
    why = why_no_report()
    if why is not None:
        raise ConfigError(why)
    from aleazero.report.charts import charts_of
    from aleazero.report.figures import draw
    from aleazero.report.page import make_page
    from aleazero.report.source import RunSource
    from aleazero.untrusted import printable

    run = RunSource(path)
    charts = charts_of(run)
    drawn = {chart.key: draw(chart) for chart in charts}
    page = printable(make_page(run, charts, {key: drawing for key, (drawing, _) in drawn.items()}))
    return page, {f"{key}.png": image for key, (_, image) in drawn.items()}


def images_of(path: Path) -> list[Path]:
    """Return the figures of a run's report."""
    return sorted((path / IMAGES).glob("*.png"))
