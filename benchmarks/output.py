"""Output of the benchmarks: ``--json [FILE]``, lists of names in options, and targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from aleazero.errors import ConfigError, nearest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STDOUT = "-"
GamesOption = Annotated[str | None, typer.Option("--games", metavar="A,B", help="Games to measure, e.g. `pig,2048`.")]
JsonOption = Annotated[
    str | None,
    typer.Option("--json", metavar="[FILE]", help="Print JSON; with FILE, print tables and write JSON to it."),
]
PlotsOption = Annotated[
    str | None, typer.Option("--plots", metavar="FOLDER", help="Write the figures of the benchmark's page to a folder.")
]


class FileAfterJson(TyperCommand):
    """A command whose ``--json`` takes an optional file; without one it prints to stdout."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the name for stdout if no file is given."""
        filled: list[str] = []
        for i, word in enumerate(args):
            filled.append(word)
            if word == "--json" and (i + 1 == len(args) or args[i + 1].startswith("--")):
                filled.append(STDOUT)
        return super().parse_args(ctx, filled)


def read_file(json: str | None) -> Path | None:
    """Return the file to write after checking its folder; None for no file or for stdout."""
    file = None if json in (None, STDOUT) else Path(str(json))
    if file is not None and not file.resolve().parent.is_dir():
        raise ConfigError(f"--json is {json!r}, expected a file in a folder that exists")
    return file


def deliver(data: dict[str, Any], json_option: str | None, show: Callable[[dict[str, Any], Console], None]) -> None:
    """Print the results as JSON, or show tables and write the file that ``--json`` names."""
    from aleazero.cli.show import make_console, print_json
    from aleazero.files import write_file

    if json_option == STDOUT:
        print_json(data)
        return
    console = make_console()
    show(data, console)
    file = read_file(json_option)
    if file is None:
        return
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(file, text, ConfigError)
    console.print(f"written to {file}", markup=False, soft_wrap=True)


def pick(option: str, text: str | None, known: Sequence[str]) -> list[str]:
    """Parse a comma-separated list of known names; None selects all of them."""
    chosen = list(known) if text is None else [name.strip() for name in text.split(",") if name.strip()]
    for name in chosen:
        if name not in known:
            raise ConfigError(f"{option} has {name!r}, {nearest(name, known)}")
    if not chosen:
        raise ConfigError(f"{option} is empty, expected some of {', '.join(known)}")
    return chosen


def target(what: str, measured: float | None, bound: float, unit: str, *, at_least: bool) -> list[dict[str, Any]]:
    """Return a target and whether it is met; an empty list if nothing was measured."""
    if measured is None:
        return []
    met = measured >= bound if at_least else measured <= bound
    side = "at least" if at_least else "at most"
    return [{"what": what, "measured": measured, "bound": side, "target": bound, "unit": unit, "met": met}]


def show_targets(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the targets, if there are any."""
    from aleazero.cli.show import quiet_table

    if not rows:
        return
    table = quiet_table(("target", "left"), ("measured", "right"), ("required", "right"), ("", "left"))
    for row in rows:
        unit = row["unit"]
        table.add_row(
            row["what"], _amount(row["measured"], unit), f"{row['bound']} {_amount(row['target'], unit)}",
            met_text(row["met"]),
        )  # fmt: skip
    console.print(table)


def _amount(value: float, unit: str) -> str:
    return f"{value:,.0f}{unit}" if unit == "/s" else f"{value:,.1f}{unit}" if unit == "×" else f"{value:.2f} {unit}"


def met_text(met: bool) -> Text:
    """Return whether a target is met, in colour."""
    from rich.text import Text

    return Text("met", "green") if met else Text("missed", "bold red")
