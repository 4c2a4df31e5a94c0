"""What the project promises beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def target(what: str, measured: float | None, bound: float, unit: str, *, at_least: bool) -> list[dict[str, Any]]:
    """A promise and whether it is kept; nothing where nothing was measured."""
    if measured is None:
        return []
    met = measured >= bound if at_least else measured <= bound
    word = "at least" if at_least else "at most"
    return [{"what": what, "measured": measured, "bound": word, "target": bound, "unit": unit, "met": met}]


def show_targets(rows: list[dict[str, Any]], console: Console) -> None:
    """Print the promises, if there are any."""
    from aleazero.cli.show import met_text, quiet_table

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
