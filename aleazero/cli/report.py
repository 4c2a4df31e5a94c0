"""``aleazero report``: a run as a page to read, print and keep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleazero.cli.options import JsonFlag
from aleazero.untrusted import printable


def report(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a run.", show_default=False)],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the page goes [default: report.html in DIR].")
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Show it in the browser.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write the report of a run: one page with everything inside, and its pictures in `images/`.

    A run that goes on, or was stopped, has a report too: how it stands. Every number on the page names the place in the
    run's files that it comes from.

    **Examples**

    - `aleazero report runs/yatzy_quick`

    - `aleazero report runs/yatzy_quick --out ~/yatzy.html --open`
    """
    from aleazero.cli.show import print_json
    from aleazero.report import images_of, write_report

    page = write_report(run, out)
    images = images_of(run)
    if json:
        print_json({"run": str(run), "report": str(page), "images": [str(image) for image in images]})
    else:
        typer.echo(printable(str(page)))
    if show:
        import webbrowser

        webbrowser.open(page.resolve().as_uri())
