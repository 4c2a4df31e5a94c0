"""The benchmark ``yatzy``: benefits and costs of explicit chance in Yatzy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.chance.command import read_budgets, read_folder, with_error
from benchmarks.output import JsonOption, PlotsOption, deliver, pick, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

PARTS = ("nodes", "variance", "regret", "fresh", "speed", "oracle")
BUDGETS = (50, 500, 5000)
TARGET_SPEED = 200_000


def yatzy(
    parts: Annotated[
        str,
        typer.Option(
            "--parts", metavar="A,B", help="Parts: `nodes`, `variance`, `regret`, `fresh`, `speed`, `oracle`."
        ),
    ] = ",".join(PARTS),
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,N", help="Evaluations per search, ascending.")
    ] = ",".join(map(str, BUDGETS)),
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Seeds per variance.", min=2)] = 20,
    positions: Annotated[int, typer.Option("--positions", metavar="N", help="Positions per regret.", min=45)] = 225,
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="Minimum time per speed.", min=0)] = 0.5,
    json: JsonOption = None,
    plots: PlotsOption = None,
) -> None:
    """Measure benefits and costs of explicit chance in Yatzy: nodes, variance, regret, first roll, speed, oracle.

    Most parts use one-player Yatzy, where the exact value of every decision is known; the speed is measured with two
    players. The table of the oracle is built in a temporary folder. Takes about three minutes.

    **Examples**

    - `python -m benchmarks yatzy`

    - `python -m benchmarks yatzy --parts regret --positions 900`

    - `python -m benchmarks yatzy --json yatzy.json --plots .`
    """
    from aleazero.cli.show import make_console
    from benchmarks.search import machine

    chosen = pick("--parts", parts, PARTS)
    amounts = read_budgets(budgets)
    read_file(json)  # rejects a wrong name before the measurements
    folder = read_folder(plots)
    data: dict[str, Any] = {"machine": machine(), "budgets": amounts, "seeds": seeds}
    with make_console(stderr=True).status("measuring") as status:
        data |= _measure(chosen, amounts, seeds, positions, seconds, status.update)
    data["targets"] = oracle_targets(data)
    if folder is not None:
        from benchmarks.yatzy.plot import draw_all

        draw_all(data, folder)
    deliver(data, json, _show)


def _measure(
    chosen: list[str], budgets: list[int], seeds: int, positions: int, seconds: float, report: Any
) -> dict[str, Any]:
    from benchmarks.yatzy import measure
    from benchmarks.yatzy.trees import measure_trees

    measures: dict[str, Callable[[], Any]] = {
        "nodes": lambda: measure_trees(budgets, report),
        "variance": lambda: measure.measure_all_variances(budgets, seeds, report),
        "regret": lambda: measure.measure_regret(budgets, positions, report),
        "fresh": lambda: measure.measure_all_fresh(budgets, seeds, report),
        "speed": lambda: measure.measure_speed(seconds, report),
        "oracle": lambda: measure.measure_oracle(seconds, report),
    }
    return {part: measures[part]() for part in chosen}


def oracle_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """Compare the results of the oracle with the project's targets."""
    found = data.get("oracle", {})
    return [
        *target("solving a turn", found.get("turn_microseconds"), 15.0, "µs", at_least=False),
        *target("building the oracle's table", found.get("build_seconds"), 15.0, "s", at_least=False),
        *target("loading the oracle's table", found.get("load_seconds"), 0.3, "s", at_least=False),
    ]


def _show_nodes(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    table = quiet_table(("evaluator", "left"), ("setting", "left"), ("evaluations", "right"), ("nodes", "right"),
                        ("chance", "right"), ("duplicates", "right"), title="Stored nodes")  # fmt: skip
    for row in data["rows"]:
        table.add_row(
            row["evaluator"], row["setting"], f"{row['budget']:,}", f"{row['nodes']:,.0f}±{row['nodes_se']:.0f}",
            f"{row['chance_nodes']:,.0f}", f"{row['duplicates']:,.0f}",
        )  # fmt: skip
    console.print(table)
    for game in data["games"]:
        console.print(
            f"A game with {game['setting']}: of {game['five_dice_rolls']:,} rolls of five dice in its trees, the "
            f"largest stores {game['fullest']} outcomes, and {game['beyond']} store more than widening allows.",
            markup=False,
        )


def _show_variance(rows: list[dict[str, Any]], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    for dice, evaluator in dict.fromkeys((row["dice"], row["evaluator"]) for row in rows):
        own = [row for row in rows if (row["dice"], row["evaluator"]) == (dice, evaluator)]
        budgets = list(dict.fromkeys(row["budget"] for row in own))
        table = quiet_table(("variance", "left"), *((f"{budget:,}", "right") for budget in budgets),
                            title=f"A roll of {dice} {'die' if dice == 1 else 'dice'}, {evaluator}")  # fmt: skip
        for setting in dict.fromkeys(row["setting"] for row in own):
            table.add_row(setting, *(with_error(row, "variance") for row in own if row["setting"] == setting))
        console.print(table)


def _show_regret(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    rows = data["rows"]
    budgets = list(dict.fromkeys(row["budget"] for row in rows))
    table = quiet_table(("regret", "left"), *((f"{budget:,}", "right") for budget in budgets), ("ratio", "right"),
                        ("disjoint", "left"), title=f"{rows[0]['positions']} decisions, playouts")  # fmt: skip
    ratios = {row["setting"]: row for row in data["ratios"]}
    for setting in dict.fromkeys(row["setting"] for row in rows):
        ratio = ratios.get(setting)
        table.add_row(
            setting, *(with_error(row, "regret") for row in rows if row["setting"] == setting),
            with_error(ratio, "ratio") if ratio else "", ("yes" if ratio["intervals_apart"] else "no") if ratio else "",
        )  # fmt: skip
    console.print(table)
    console.print("Ratio: regret at the last budget to the first. Disjoint: their 95 % confidence intervals.",
                  style="dim")  # fmt: skip


def _show_fresh(rows: list[dict[str, Any]], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    table = quiet_table(("after scoring", "left"), ("setting", "left"), ("sims", "right"), ("evals", "right"),
                        ("nodes", "right"), ("variance", "right"), ("error", "right"), ("ms", "right"))  # fmt: skip
    for row in rows:
        table.add_row(
            row["way"], row["setting"], f"{row['simulations']:,.0f}", f"{row['evaluations']:,.0f}",
            f"{row['nodes']:,.0f}", with_error(row, "variance"), with_error(row, "rmse"),
            f"{1000 * row['seconds']:.1f}",
        )  # fmt: skip
    console.print(table)


def _show_speed(rows: list[dict[str, Any]], console: Console) -> None:
    from aleazero.cli.show import quiet_table
    from benchmarks.output import met_text

    table = quiet_table(("setting", "left"), ("evaluations/s", "right"), ("reused search", "right"),
                        ("", "left"), title="Two players, uniform")  # fmt: skip
    for row in rows:
        table.add_row(row["setting"], f"{row['per_second']:,.0f}", f"{row['per_second_again']:,.0f}",
                      met_text(row["per_second"] >= TARGET_SPEED))  # fmt: skip
    console.print(table)
    console.print(f"Target: at least {TARGET_SPEED:,} evaluations/s per core.", style="dim")


SHOWN: dict[str, Any] = {
    "nodes": _show_nodes,
    "variance": _show_variance,
    "regret": _show_regret,
    "fresh": _show_fresh,
    "speed": _show_speed,
}


def _show(data: dict[str, Any], console: Console) -> None:
    for part, show in SHOWN.items():
        if part in data:
            show(data[part], console)
    show_targets(data["targets"], console)
    if data["targets"]:
        console.print("A turn: all hands, rerolls and scores of one player with 15 open categories.", style="dim")
