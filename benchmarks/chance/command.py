"""Compare the chance modes and the planner with exact values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import ExplorationOption
from aleazero.errors import ConfigError, fields_named
from benchmarks.output import deliver, pick, read_file

if TYPE_CHECKING:
    from rich.console import Console

BUDGETS = (32, 128, 512)
PRESETS = "sampling,stratified,progressive,full,open"
LARGEST = 2**24


def chance(
    games: Annotated[str | None, typer.Option("--games", metavar="A,B", help="Only these, e.g. `pig,2048`.")] = None,
    settings: Annotated[
        str, typer.Option("--settings", metavar="A,B", help="These; `all` has single knobs besides the presets.")
    ] = PRESETS,
    evaluators: Annotated[
        str | None, typer.Option("--evaluators", metavar="A,B", help="Only `rollout`, or only `network`.")
    ] = None,
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,N", help="Evaluations a search, ascending.")
    ] = ",".join(map(str, BUDGETS)),
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Seeds for each figure.", min=2)] = 20,
    c: ExplorationOption = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="[FILE]", help="Print JSON instead; with FILE print tables and write it there."),
    ] = None,
    plots: Annotated[
        str | None, typer.Option("--plots", metavar="FOLDER", help="Draw the figures of docs/answers.md there.")
    ] = None,
) -> None:
    """Measure the ways to treat chance against exact values, at equal evaluations, and the planner beside them.

    Four games solved exactly, from four positions each; leaves are valued by random playouts, and by exact values that
    are spoilt by a fixed error, as a network's would be. Takes about three minutes.

    **Examples**

    - `python -m benchmarks chance`

    - `python -m benchmarks chance --games pig --settings sampling,stratified --seeds 100`

    - `python -m benchmarks chance --json chance.json --plots .`
    """
    from aleazero.cli.show import make_console
    from aleazero.players.make import search_config
    from benchmarks.chance.cases import EVALUATORS, SETTINGS, known_cases
    from benchmarks.chance.measure import measure_all
    from benchmarks.search import machine

    names = pick("--games", games, known_cases())
    chosen = pick("--settings", None if settings == "all" else settings, list(SETTINGS))
    asked = pick("--evaluators", evaluators, EVALUATORS)
    amounts = read_budgets(budgets)
    with fields_named({"c": "--c"}):
        search_config({} if c is None else {"c": c}, 1)  # refuses a wrong weight before anything is measured
    read_file(json)  # a wrong name is refused before anything is measured
    folder = read_folder(plots)
    with make_console(stderr=True).status("measuring") as status:
        measured = measure_all(names, asked, chosen, amounts, seeds, c, status.update)
    data = {"machine": machine(), "seeds": seeds, "budgets": amounts, "c": c, **measured}
    if folder is not None:
        from benchmarks.chance.plot import draw_all

        draw_all(data, folder)
    deliver(data, json, _show)


def read_budgets(words: str) -> list[int]:
    """The numbers of ``--budgets``, ascending."""
    amounts = [word.strip() for word in words.split(",") if word.strip()]
    for word in amounts:
        if not word.isdecimal() or not 2 <= int(word) <= LARGEST:
            raise ConfigError(f"--budgets has {word!r}, expected whole numbers from 2 to {LARGEST}, e.g. 32,128,512")
    if not amounts:
        raise ConfigError("--budgets is empty, expected e.g. 32,128,512")
    return sorted({int(word) for word in amounts})


def read_folder(plots: str | None) -> Path | None:
    """The folder of ``--plots``, checked before anything is measured; None for no figures."""
    if plots is None:
        return None
    folder = Path(plots)
    if not folder.is_dir():
        raise ConfigError(f"--plots is {plots!r}, expected a folder that exists")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError("--plots draws with matplotlib, which is missing: pip install matplotlib") from None
    return folder


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table
    from benchmarks.chance.cases import CASES

    for game, evaluator in dict.fromkeys((row["game"], row["evaluator"]) for row in data["search"]):
        rows = [row for row in data["search"] if (row["game"], row["evaluator"]) == (game, evaluator)]
        budgets = list(dict.fromkeys(row["budget"] for row in rows))
        table = quiet_table(
            ("error", "left"), *((f"{budget:,}", "right") for budget in budgets), ("regret", "right"),
            ("nodes", "right"), ("ms", "right"), title=f"{CASES[game].title}, {evaluator}",
        )  # fmt: skip
        for setting in dict.fromkeys(row["setting"] for row in rows):
            line = [row for row in rows if row["setting"] == setting]
            table.add_row(
                setting, *(with_error(row, "value_rmse") for row in line), f"{line[-1]['regret']:.3g}",
                f"{line[-1]['nodes']:,.0f}", f"{1000 * line[-1]['seconds']:.2f}",
            )  # fmt: skip
        console.print(table)
    table = quiet_table(("planner", "left"), ("evaluator", "left"), ("looks", "left"), ("error", "right"),
                        ("regret", "right"), ("ms", "right"), ("search needs", "left"))  # fmt: skip
    for row, crossing in zip(data["planner"], data["crossings"], strict=True):
        reached = {name: seconds for name, seconds in crossing["seconds"].items() if seconds is not None}
        best = min(reached, key=lambda name: reached[name]) if reached else None
        table.add_row(
            row["game"], row["evaluator"], row["plan"], f"{row['value_rmse']:.3g}", f"{row['regret']:.3g}",
            f"{1000 * row['seconds']:.2f}", f"{1000 * reached[best]:.2f} ms, {best}" if best else "more than measured",
        )  # fmt: skip
    console.print(table)
    if data["beside_sampling"]:
        table = quiet_table(("times sampling's", "left"), ("evaluator", "left"), ("error", "right"), ("luck", "right"),
                            ("regret", "right"), ("time", "right"))  # fmt: skip
        for row in data["beside_sampling"]:
            table.add_row(
                row["setting"], row["evaluator"], with_error(row, "value_rmse"), with_error(row, "value_deviation"),
                with_error(row, "regret"), f"{row['seconds']:.2f}",
            )  # fmt: skip
        console.print(table)
    console.print("Errors are root mean squares ± a standard error. Regret, nodes and times are of the last budget.",
                  style="dim")  # fmt: skip


def with_error(row: dict[str, Any], name: str) -> str:
    """A figure with its standard error; a dash where there is none."""
    value, error = row[name], row[f"{name}_se"]
    if value is None:
        return "-"
    digits = 3 if abs(value) < 1 else 2
    return f"{value:.{digits}f}±{error:.{digits}f}"
