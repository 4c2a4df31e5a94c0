"""Output of the benchmarks: ``--json [FILE]``, lists of names in options, and targets."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from aleazero.errors import ConfigError, nearest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STDOUT = "-"


class FileAfterJson(TyperCommand):
    """A command whose ``--json`` may have a file behind it, or nothing: then it means stdout."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name that stands for stdout where none is given."""
        filled: list[str] = []
        for i, word in enumerate(args):
            filled.append(word)
            if word == "--json" and (i + 1 == len(args) or args[i + 1].startswith("--")):
                filled.append(STDOUT)
        return super().parse_args(ctx, filled)


def read_file(json: str | None) -> Path | None:
    """The file to write, checked before anything is measured; None for none, or for stdout."""
    file = None if json in (None, STDOUT) else Path(str(json))
    if file is not None and not file.resolve().parent.is_dir():
        raise ConfigError(f"--json is {json!r}, expected a file in a folder that exists")
    return file


def deliver(data: dict[str, Any], said: str | None, show: Callable[[dict[str, Any], Console], None]) -> None:
    """Print what was measured as JSON, or show it, and write the file that ``--json`` names."""
    from aleazero.cli.show import make_console, print_json
    from aleazero.files import write_file

    if said == STDOUT:
        print_json(data)
        return
    console = make_console()
    show(data, console)
    file = read_file(said)
    if file is None:
        return
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_file(file, text, ConfigError)
    console.print(f"written to {file}", markup=False, soft_wrap=True)


def pick(option: str, words: str | None, known: Sequence[str]) -> list[str]:
    """Some of the known words, written with commas; None for all of them."""
    chosen = list(known) if words is None else [word.strip() for word in words.split(",") if word.strip()]
    for word in chosen:
        if word not in known:
            raise ConfigError(f"{option} has {word!r}, {nearest(word, known)}")
    if not chosen:
        raise ConfigError(f"{option} is empty, expected some of {', '.join(known)}")
    return chosen


def target(what: str, measured: float | None, bound: float, unit: str, *, at_least: bool) -> list[dict[str, Any]]:
    """A promise and whether it is kept; nothing where nothing was measured."""
    if measured is None:
        return []
    met = measured >= bound if at_least else measured <= bound
    word = "at least" if at_least else "at most"
    return [{"what": what, "measured": measured, "bound": word, "target": bound, "unit": unit, "met": met}]


def show_targets(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the promises, if there are any."""
    from aleazero.cli.show import quiet_table

    if not rows:
        return
    table = quiet_table(("target", "left"), ("measured", "right"), ("wanted", "right"), ("", "left"))
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
