"""``aleazero bench forest``: many trees beside the network they share, and beside mctx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.json_file import deliver, pick, read_file
from aleazero.cli.targets import show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

GAMES = ("2048", "pig")
PARTS = ("forest", "mctx")
AS_SHIPPED = ("--variants", "stochastic", "--networks", "mlp")
"""What is measured of mctx as it comes: its search with explicit chance, and a network."""
BATCHES = (256, 1024)
"""Rows of a batch. Between batches threads take turns at Python's lock: a second one gives more in large batches."""


def forest(
    games: Annotated[str | None, typer.Option("--games", metavar="A,B", help="Only these, of `2048`, `pig`.")] = None,
    parts: Annotated[str, typer.Option("--parts", metavar="A,B", help="Some of `forest`, `mctx`.")] = ",".join(PARTS),
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Runs for each figure.", min=1)] = 7,
    searches: Annotated[int, typer.Option("--searches", metavar="N", help="Searches a row of the batch.", min=1)] = 4,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="[FILE]", help="Print JSON instead; with FILE print tables and write it there."),
    ] = None,
) -> None:
    """Measure the forest: what trees cost beside a network in numpy, what a second thread gives, and mctx beside it.

    The network is 128 wide with two hidden layers. mctx searches the same 2048 boards with the same kind of network,
    with pgx as its exact model; jax is installed for it in an environment of its own, the first time. As it ships
    it is measured on two cores, by the clock; its best variants, tuned by us, on one core, by CPU time. Takes about ten
    minutes, most of them mctx's compiling.

    **Examples**

    - `aleazero bench forest`

    - `aleazero bench forest --parts forest --games pig`
    """
    from aleazero.cli.measure import machine
    from aleazero.cli.show import make_console

    names = pick("--games", games, GAMES)
    chosen = pick("--parts", parts, PARTS)
    read_file(json)  # a wrong name is refused before anything is measured
    data: dict[str, Any] = {"machine": machine()}
    with make_console(stderr=True).status("measuring") as status:
        if "forest" in chosen:
            data["forest"] = _measure_forests(names, rounds, searches, status.update)
        if "mctx" in chosen:
            data["mctx"] = _measure_mctx(rounds, searches, status.update)
    data["targets"] = forest_targets(data)
    deliver(data, json, _show)


def _measure_forests(names: list[str], rounds: int, searches: int, say: Any) -> list[dict[str, Any]]:
    from aleazero.cli.measure_forest import measure_forest

    rows = []
    for name in names:
        say(f"{name}, a forest on one and two threads")
        for batch in BATCHES:
            rows.append(measure_forest({"game": name, "batch": batch, "rounds": rounds, "searches": searches * batch}))
    return rows


def _measure_mctx(rounds: int, searches: int, say: Any) -> dict[str, Any]:
    """mctx's best figures, and ours on the boards that it searched."""
    from aleazero.cli.measure_forest import measure_forest
    from aleazero.cli.rivals_mctx import compare_mctx

    theirs = compare_mctx(say)
    if not theirs["installed"]:
        return theirs
    as_shipped = compare_mctx(say, 2, AS_SHIPPED)
    together = []
    for row in as_shipped["rows"]:
        if row["parts"] > 1:
            continue  # one batch on both cores is what a call of mctx does; halves on a core each are our doing
        say(f"2048, two threads, the boards of mctx, {row['roots']}")
        boards = as_shipped["roots"][row["roots"]]
        request = {"game": "2048", "boards": boards, "rounds": rounds, "searches": searches * len(boards)}
        ours = measure_forest(request)
        speed = ours["per_second_2_threads"] * ours["simulations_share"]  # mctx's roots are not counted either
        together.append({"roots": row["roots"], "ours_per_second": speed, "mctx_per_second": row["per_second"],
                         "ratio": speed / row["per_second"]})  # fmt: skip
    rows = []
    for best in theirs["best"]:
        if best["network"] == "mlp_lookup":
            continue
        say(f"2048, {best['network']}, the boards of mctx")
        boards = theirs["roots"][best["roots"]]
        request = {"game": "2048", "network": best["network"], "boards": boards, "trees": len(boards)}
        ours = measure_forest({**request, "rounds": rounds, "searches": searches * len(boards), "threads": [1]})
        speed = ours["per_cpu_second"] * ours["simulations_share"]
        rows.append(
            {
                "network": best["network"],
                "roots": best["roots"],
                "ours_per_second": speed,
                "explicit": {**best["explicit"], "ratio": speed / best["explicit"]["per_second"]},
                "any": {**best["any"], "ratio": speed / best["any"]["per_second"]},
            }
        )
    return {**theirs, "beside": rows, "together": together}


def forest_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The project's targets beside what was measured."""
    found: list[dict[str, Any]] = []
    for row in data.get("forest", []):
        what = f"{row['game']}, batches of {row['batch']:,}"
        if row["batch"] == min(BATCHES):
            found += target(f"{what}, trees, a leaf", row["tree_microseconds"], 2.0, "µs", at_least=False)
        else:
            found += target(f"{what}, two threads beside one", row["speedup"], 1.7, "×", at_least=True)
    for row in data.get("mctx", {}).get("together", []):
        found += target(f"2048, {row['roots']}, beside mctx", row["ratio"], 5.0, "×", at_least=True)
    return found


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}", markup=False)
    if "forest" in data:
        table = quiet_table(("game", "left"), ("batch", "right"), ("leaves/s", "right"), ("2 threads", "right"),
                            ("ratio", "right"), ("trees, µs", "right"), ("network, µs", "right"),
                            title="Forest")  # fmt: skip
        for row in data["forest"]:
            table.add_row(
                row["game"], f"{row['batch']:,}", f"{row['per_second']:,.0f}", f"{row['per_second_2_threads']:,.0f}",
                f"{row['speedup']:.2f}×", f"{row['tree_microseconds']:.2f}", f"{row['network_microseconds']:.2f}",
            )  # fmt: skip
        console.print(table)
    if "mctx" in data:
        _show_mctx(data["mctx"], console)
    show_targets(data["targets"], console)


def _show_mctx(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    if not data["installed"]:
        console.print(f"mctx was not measured: {data['why']}", style="bold yellow", markup=False)
        return
    table = quiet_table(("2048 from", "left"), ("ours/s", "right"), ("mctx/s", "right"), ("ratio", "right"),
                        title="Beside mctx as it ships, two cores")  # fmt: skip
    for row in data["together"]:
        table.add_row(
            row["roots"], f"{row['ours_per_second']:,.0f}", f"{row['mctx_per_second']:,.0f}", f"{row['ratio']:.1f}×"
        )
    console.print(table)
    table = quiet_table(("2048 from", "left"), ("network", "left"), ("ours/s", "right"), ("mctx/s", "right"),
                        ("ratio", "right"), ("hidden chance/s", "right"), ("ratio", "right"),
                        title="Beside mctx at its best, one core")  # fmt: skip
    for row in data["beside"]:
        table.add_row(
            row["roots"], row["network"], f"{row['ours_per_second']:,.0f}", f"{row['explicit']['per_second']:,.0f}",
            f"{row['explicit']['ratio']:.1f}×", f"{row['any']['per_second']:,.0f}", f"{row['any']['ratio']:.1f}×",
        )  # fmt: skip
    console.print(table)
