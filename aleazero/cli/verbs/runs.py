"""``aleazero runs`` and ``aleazero report``: list, show and compare runs, and write the report of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aleazero.cli.options import USER_ERROR, JsonFlag, one_line
from aleazero.errors import AleaZeroError, RunError
from aleazero.untrusted import printable

app = typer.Typer(help="List, show and compare runs.", no_args_is_help=True)
FolderOption = Annotated[Path, typer.Option("--folder", metavar="DIR", help="Where runs lie.")]
RunArgument = Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a run.", show_default=False)]


@app.command("list")
def list_runs(folder: FolderOption = Path("runs"), json: JsonFlag = False) -> None:
    """The runs in a folder; those that are damaged are told behind the others."""
    from aleazero.cli.show import print_json
    from aleazero.runs.summary import find_runs, summary_of

    found, damaged = [], []
    for path in find_runs(folder):
        try:
            found.append(summary_of(path))
        except AleaZeroError as error:
            damaged.append(one_line(error))
    for said in damaged:
        typer.echo(f"error: {said}", err=True)
    if json:
        print_json(found)
    elif found:
        _show_list(found)
    elif not damaged:
        raise RunError(f"{folder} holds no runs, expected some that `aleazero train` made, or --folder")
    if damaged:
        raise typer.Exit(USER_ERROR)


def _show_list(found: list[dict[str, Any]]) -> None:
    from rich.text import Text

    from aleazero.cli.show import make_console, quiet_table
    from aleazero.games.registry import title_of

    table = quiet_table(("run", "left"), ("game", "left"), ("recipe", "left"), ("iterations", "right"),
                        ("minutes", "right"), ("champion", "right"), ("MB", "right"))  # fmt: skip
    for one in found:
        done = f"{one['iterations']['done']}/{one['iterations']['of']}"
        run, game = Text(one["run"], overflow="fold"), Text(title_of(one["game"]))
        table.add_row(run, game, one["recipe"], done, f"{one['seconds'] / 60:.1f}", str(one["champion"] or "–"),
                      f"{one['bytes'] / 1e6:.1f}")  # fmt: skip
    make_console().print(table)


@app.command()
def show(run: RunArgument, json: JsonFlag = False) -> None:
    """How a run stands, and how strong its champion is."""
    from rich.text import Text

    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.runs.summary import disk_use, summary_of

    data = summary_of(run)
    if json:
        print_json({**data, "disk": disk_use(run)})
        return
    table = facts_table()
    for name, text in data["lines"].items():
        table.add_row(name, Text(text))
    use = disk_use(run)
    parts = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sorted(use.items(), key=lambda one: -one[1])[1:4])
    table.add_row("disk", f"{use['all'] / 1e6:.1f} MB ({parts})")
    make_console().print(table)


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR DIR…", help="Directories of runs.", show_default=False)],
    json: JsonFlag = False,
) -> None:
    """Runs side by side: what differs in their settings, and how strong they are."""
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


@app.command()
def tensorboard(run: RunArgument) -> None:
    """Write a run's numbers for TensorBoard, if it is installed."""
    from aleazero.runs.directory import read_manifest, require_no_links
    from aleazero.runs.events import write_tensorboard

    read_manifest(run)
    require_no_links(run)
    folder = write_tensorboard(run)
    if folder is None:
        raise RunError(
            "TensorBoard is not installed, expected `pip install aleazero[tensorboard]` "
            "(scalars.csv has the same numbers)"
        )
    typer.echo(printable(f"look at it with: tensorboard --logdir {folder}"))


def report(
    run: RunArgument,
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
