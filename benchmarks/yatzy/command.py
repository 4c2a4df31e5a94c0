"""``python -m benchmarks yatzy``: what explicit chance gives and costs in Yatzy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchmarks.chance.command import read_budgets, read_folder, with_error
from benchmarks.output import deliver, pick, read_file, show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

PARTS = ("nodes", "variance", "regret", "fresh", "speed", "oracle")
BUDGETS = (50, 500, 5000)
TARGET_SPEED = 200_000


def yatzy(
    parts: Annotated[
        str,
        typer.Option(
            "--parts", metavar="A,B", help="Some of `nodes`, `variance`, `regret`, `fresh`, `speed`, `oracle`."
        ),
    ] = ",".join(PARTS),
    budgets: Annotated[
        str, typer.Option("--budgets", metavar="N,N", help="Evaluations a search, ascending.")
    ] = ",".join(map(str, BUDGETS)),
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="Seeds of a variance.", min=2)] = 20,
    positions: Annotated[int, typer.Option("--positions", metavar="N", help="Positions of a regret.", min=45)] = 225,
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="Time for each speed.", min=0)] = 0.5,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="[FILE]", help="Print JSON instead; with FILE print tables and write it there."),
    ] = None,
    plots: Annotated[
        str | None, typer.Option("--plots", metavar="FOLDER", help="Draw the figures of docs/explicit-chance.md there.")
    ] = None,
) -> None:
    """Measure what explicit chance gives and costs in Yatzy: nodes, luck, regret, the fresh roll, speed; the oracle.

    One player, whose every decision has an exact value; the speed is that of two. The oracle's table is built once
    more, in a folder that is removed. Takes about three minutes.

    **Examples**

    - `python -m benchmarks yatzy`

    - `python -m benchmarks yatzy --parts regret --positions 900`

    - `python -m benchmarks yatzy --json yatzy.json --plots .`
    """
    from aleazero.cli.show import make_console
    from benchmarks.search import machine

    chosen = pick("--parts", parts, PARTS)
    amounts = read_budgets(budgets)
    read_file(json)  # a wrong name is refused before anything is measured
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
    chosen: list[str], budgets: list[int], seeds: int, positions: int, seconds: float, say: Any
) -> dict[str, Any]:
    from benchmarks.yatzy import measure
    from benchmarks.yatzy.trees import measure_trees

    measures: dict[str, Callable[[], Any]] = {
        "nodes": lambda: measure_trees(budgets, say),
        "variance": lambda: measure.measure_all_luck(budgets, seeds, say),
        "regret": lambda: measure.measure_regret(budgets, positions, say),
        "fresh": lambda: measure.measure_all_fresh(budgets, seeds, say),
        "speed": lambda: measure.measure_speed(seconds, say),
        "oracle": lambda: measure.measure_oracle(seconds, say),
    }
    return {part: measures[part]() for part in chosen}


def oracle_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The project's targets for Yatzy's oracle beside what was measured."""
    found = data.get("oracle", {})
    return [
        *target("a turn solved", found.get("turn_microseconds"), 15.0, "µs", at_least=False),
        *target("the oracle's table built", found.get("build_seconds"), 15.0, "s", at_least=False),
        *target("the oracle's table loaded", found.get("load_seconds"), 0.3, "s", at_least=False),
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
            f"A game with {game['setting']}: {game['five_dice_rolls']:,} rolls of five dice in its trees store at most "
            f"{game['fullest']} outcomes, {game['beyond']} of them more than widening allows.",
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
                        ("apart", "left"), title=f"{rows[0]['positions']} decisions, playouts")  # fmt: skip
    ratios = {row["setting"]: row for row in data["ratios"]}
    for setting in dict.fromkeys(row["setting"] for row in rows):
        ratio = ratios.get(setting)
        table.add_row(
            setting, *(with_error(row, "regret") for row in rows if row["setting"] == setting),
            with_error(ratio, "ratio") if ratio else "", ("yes" if ratio["intervals_apart"] else "no") if ratio else "",
        )  # fmt: skip
    console.print(table)
    console.print("The ratio is the last budget's regret to the first's; apart: their 95 % intervals.", style="dim")


def _show_fresh(rows: list[dict[str, Any]], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    table = quiet_table(("behind a mark", "left"), ("setting", "left"), ("sims", "right"), ("asked", "right"),
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

    table = quiet_table(("setting", "left"), ("evaluations/s", "right"), ("with memory at hand", "right"),
                        ("", "left"), title="Two players, uniform")  # fmt: skip
    for row in rows:
        table.add_row(row["setting"], f"{row['per_second']:,.0f}", f"{row['per_second_again']:,.0f}",
                      met_text(row["per_second"] >= TARGET_SPEED))  # fmt: skip
    console.print(table)
    console.print(f"Wanted: at least {TARGET_SPEED:,} evaluations/s a core.", style="dim")


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
        console.print("A turn: every hand, keep and mark of one player, 15 categories open.", style="dim")
