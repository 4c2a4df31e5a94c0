"""The benchmark ``chance``: compare chance modes and the planner with exact values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import ExplorationOption
from aleazero.errors import ConfigError, fields_named
from benchmarks.output import GamesOption, JsonOption, PlotsOption, deliver, pick, read_file

if TYPE_CHECKING:
    from rich.console import Console

BUDGETS = (32, 128, 512)
PRESETS = "sampling,stratified,progressive,full,open"
LARGEST = 2**24


def chance(
    games: GamesOption = None,
    settings: Annotated[
        str, typer.Option("--settings", metavar="A,B", help="Chance modes; `all` adds variants of the presets.")
    ] = PRESETS,
    evaluators: Annotated[
        str | None, typer.Option("--evaluators", metavar="A,B", help="Evaluators: `rollout`, `network`.")
    ] = None,
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,N", help="Evaluations per search, ascending.")
    ] = ",".join(map(str, BUDGETS)),
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Seeds per result.", min=2)] = 20,
    c: ExplorationOption = None,
    json: JsonOption = None,
    plots: PlotsOption = None,
) -> None:
    """Compare chance modes and the planner with exact values, at equal numbers of evaluations.

    Four games are solved exactly, and each is searched from four positions. Leaves are evaluated by random playouts, or
    by exact values with a fixed random error per state, like a network. Takes about three minutes.

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
    chosen_evaluators = pick("--evaluators", evaluators, EVALUATORS)
    amounts = read_budgets(budgets)
    with fields_named({"c": "--c"}):
        search_config({} if c is None else {"c": c}, 1)  # rejects a wrong value before the measurements
    read_file(json)  # rejects a wrong name before the measurements
    folder = read_folder(plots)
    with make_console(stderr=True).status("measuring") as status:
        measured = measure_all(names, chosen_evaluators, chosen, amounts, seeds, c, status.update)
    data = {"machine": machine(), "seeds": seeds, "budgets": amounts, "c": c, **measured}
    if folder is not None:
        from benchmarks.chance.plot import draw_all

        draw_all(data, folder)
    deliver(data, json, _show)


def read_budgets(text: str) -> list[int]:
    """Parse the numbers of ``--budgets`` and sort them."""
    amounts = [amount.strip() for amount in text.split(",") if amount.strip()]
    for amount in amounts:
        if not amount.isdecimal() or not 2 <= int(amount) <= LARGEST:
            raise ConfigError(f"--budgets has {amount!r}, expected integers from 2 to {LARGEST}, e.g. 32,128,512")
    if not amounts:
        raise ConfigError("--budgets is empty, expected e.g. 32,128,512")
    return sorted({int(amount) for amount in amounts})


def read_folder(plots: str | None) -> Path | None:
    """Return the folder of ``--plots`` after checking it; None for no figures."""
    if plots is None:
        return None
    folder = Path(plots)
    if not folder.is_dir():
        raise ConfigError(f"--plots is {plots!r}, expected a folder that exists")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError("--plots needs matplotlib, which is not installed: pip install matplotlib") from None
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
    table = quiet_table(("planner", "left"), ("evaluator", "left"), ("horizon", "left"), ("error", "right"),
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
        table = quiet_table(("ratio to sampling", "left"), ("evaluator", "left"), ("error", "right"), ("std", "right"),
                            ("regret", "right"), ("time", "right"))  # fmt: skip
        for row in data["beside_sampling"]:
            table.add_row(
                row["setting"], row["evaluator"], with_error(row, "value_rmse"), with_error(row, "value_deviation"),
                with_error(row, "regret"), f"{row['seconds']:.2f}",
            )  # fmt: skip
        console.print(table)
    console.print("Errors are root mean squares ± standard error. Regret, nodes and times belong to the last budget.",
                  style="dim")  # fmt: skip


def with_error(row: dict[str, Any], name: str) -> str:
    """Format a result with its standard error; a dash if there is none."""
    value, error = row[name], row[f"{name}_se"]
    if value is None:
        return "-"
    digits = 3 if abs(value) < 1 else 2
    return f"{value:.{digits}f}±{error:.{digits}f}"
