"""``aleazero runs`` and ``aleazero report``: list, show and compare runs, and write the report of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aleazero.cli.errors import USER_ERROR, one_line
from aleazero.cli.options import JsonFlag, argument, option
from aleazero.errors import AleaZeroError, RunError
from aleazero.untrusted import printable

RunArgument = Annotated[Path, argument("RUN", "Directory of a run.")]


def list_runs(
    folder: Annotated[Path, argument("FOLDER", "Folder that contains the runs.", show_default=True)] = Path("runs"),
    json: JsonFlag = False,
) -> None:
    """List the runs in a folder. Damaged runs are reported as errors.

    **Examples**

    - `aleazero runs list`

    - `aleazero runs list ~/experiments --json`
    """
    from aleazero.cli.show import print_json
    from aleazero.runs.summary import find_runs, summary_of

    found, damaged = [], []
    for path in find_runs(folder):
        try:
            found.append(summary_of(path))
        except AleaZeroError as error:
            damaged.append(one_line(error))
    for line in damaged:
        typer.echo(f"error: {line}", err=True)
    if json:
        print_json(found)
    elif found:
        _show_list(found)
    elif not damaged:
        raise RunError(f"no runs in {folder}, expected a folder of runs made by `aleazero train`")
    if damaged:
        raise typer.Exit(USER_ERROR)


def _show_list(found: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from aleazero.cli.show import make_console, quiet_table, time_text
    from aleazero.games.registry import title_of

    table = quiet_table(("run", "left"), ("game", "left"), ("recipe", "left"), ("iterations", "right"),
                        ("time", "right"), ("champion", "right"), ("MB", "right"))  # fmt: skip
    for one in found:
        done = f"{one['iterations']['done']}/{one['iterations']['of']}"
        run, game = Text(one["run"], overflow="fold"), Text(title_of(one["game"]))
        table.add_row(run, game, one["recipe"], done, time_text(one["seconds"]), str(one["champion"] or "–"),
                      f"{one['bytes'] / 1e6:.1f}")  # fmt: skip
    make_console().print(table)


def show(run: RunArgument, json: JsonFlag = False) -> None:
    """Show the status of a run and the strength of its champion.

    **Example**

    - `aleazero runs show runs/pig`
    """
    from rich.text import Text

    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.runs.summary import disk_use, summary_of

    data, use = summary_of(run), disk_use(run)
    if json:
        print_json({**data, "disk": use})
        return
    table = facts_table()
    for name, text in data["lines"].items():
        table.add_row(name, Text(text))
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sorted(use.items(), key=lambda one: -one[1])[1:4])
    table.add_row("disk", f"{use['all'] / 1e6:.1f} MB ({parts})")
    make_console().print(table)


def compare(
    runs: Annotated[list[Path], argument("RUN RUN…", "Directories of runs.")],
    json: JsonFlag = False,
) -> None:
    """Compare runs: the settings that differ, and the strength of their champions.

    **Example**

    - `aleazero runs compare runs/pig runs/pig3`
    """
    from aleazero.cli.show import make_console, print_json, quiet_table
    from aleazero.runs.summary import compare_runs

    data: dict[str, Any] = compare_runs(runs)
    if json:
        print_json(data)
        return
    table = quiet_table(("", "left"), *((name, "right") for name in data["runs"]))
    for part in ("settings", "strength"):
        for name, values in data[part].items():
            table.add_row(name, *values)
    make_console().print(table)


def tensorboard(run: RunArgument) -> None:
    """Write the training curves of a run as TensorBoard files.

    **Example**

    - `aleazero runs tensorboard runs/pig`
    """
    from aleazero.runs.directory import read_manifest, require_no_links
    from aleazero.runs.events import write_tensorboard

    read_manifest(run)
    require_no_links(run)
    folder = write_tensorboard(run)
    if folder is None:
        raise RunError(
            "TensorBoard is not installed, install it with: pip install 'aleazero[tensorboard]' (scalars.csv has the "
            "same numbers)"
        )
    typer.echo(printable(f"show it with: tensorboard --logdir {folder}"))


def report(
    run: RunArgument,
    out: Annotated[
        Path | None, option("--out", "FILE", "HTML file to write.", show_default="report.html in RUN")
    ] = None,
    show: Annotated[bool, option("--open", "", "Open the report in the browser.")] = False,
    json: JsonFlag = False,
) -> None:
    """Write the HTML report of a run, which may still be in progress.

    The page is one file; its images are also written to `images/` in the run. In the HTML source, every number is
    marked with the file and field that it comes from.

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
