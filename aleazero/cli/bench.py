"""``aleazero bench``: the speeds that the README promises, measured here and now; the ways to treat chance; Yatzy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli import bench_chance, bench_e2e, bench_forest, bench_yatzy
from aleazero.cli.json_file import FileAfterJson, deliver, pick, read_file
from aleazero.cli.targets import show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

PARTS = ("speed", "starts", "openspiel")

app = typer.Typer(no_args_is_help=True, help="Measure speed, and how well chance is treated.")
app.command("chance", cls=FileAfterJson)(bench_chance.chance)
app.command("forest", cls=FileAfterJson)(bench_forest.forest)
app.command("e2e", cls=FileAfterJson)(bench_e2e.e2e)
app.command("yatzy", cls=FileAfterJson)(bench_yatzy.yatzy)


@app.callback()
def bench() -> None:
    """Measure speed, and how well chance is treated."""


@app.command("search", cls=FileAfterJson)
def search(
    games: Annotated[
        str | None, typer.Option("--games", metavar="A,B", help="Only these games, e.g. `pig,2048`.")
    ] = None,
    parts: Annotated[
        str, typer.Option("--parts", metavar="A,B", help="Some of `speed`, `starts`, `openspiel`.")
    ] = ",".join(PARTS),
    sims: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations a search.", min=1)] = 10_000,
    seconds: Annotated[
        float, typer.Option("--seconds", metavar="T", help="Time for each figure, the best of its runs.", min=0)
    ] = 1.0,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="[FILE]", help="Print JSON instead; with FILE print tables and write it there."),
    ] = None,
) -> None:
    """Measure the search: simulations a second, bytes a simulation, start times, and OpenSpiel beside it.

    Everything is measured in one run, on one thread (speeds by its CPU time, starts by the clock), and set
    against the targets. Takes some minutes.

    **Examples**

    - `aleazero bench search`

    - `aleazero bench search --games pig --parts openspiel`

    - `aleazero bench search --json bench.json`
    """
    from aleazero.cli.measure import OPENINGS, machine
    from aleazero.cli.show import make_console

    names = pick("--games", games, list(OPENINGS))
    chosen = pick("--parts", parts, PARTS)
    read_file(json)  # a wrong name is refused before anything is measured
    data: dict[str, Any] = {"machine": machine(), "sims": sims}
    with make_console(stderr=True).status("measuring") as status:
        for part in chosen:
            data[part] = MEASURES[part](names, sims, seconds, status.update)
    data["targets"] = targets(data)
    deliver(data, json, _show)


def _measure_speed(names: list[str], sims: int, seconds: float, say: Any) -> list[dict[str, Any]]:
    from aleazero.cli.measure import measure_speed

    rows = []
    for name in names:
        for evaluator in ("uniform", "rollout"):
            for chance in ("closed", "open"):
                say(f"{name}, {evaluator}, {chance}")
                rows.append(measure_speed(name, evaluator, chance, sims, seconds))
    return rows


def _measure_starts(names: list[str], sims: int, seconds: float, say: Any) -> dict[str, float]:
    from aleazero.cli.measure import measure_starts

    say("fresh processes")
    return measure_starts()


def _measure_openspiel(names: list[str], sims: int, seconds: float, say: Any) -> dict[str, Any]:
    from aleazero.cli.rivals import SHARED, compare, find_openspiel

    pyspiel = find_openspiel()
    if pyspiel is None:
        return {"installed": False, "rows": []}
    rows = []
    for name in SHARED:
        if name in names:
            say(f"{name}, beside OpenSpiel")
            rows += compare(pyspiel, name, sims, seconds)
    return {"installed": True, "rows": rows}


MEASURES = {"speed": _measure_speed, "starts": _measure_starts, "openspiel": _measure_openspiel}


def targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The project's targets beside what was measured; those not measured are left out."""
    ratios = {(r["game"], r["evaluator"]): r["ratio"] for r in data.get("openspiel", {}).get("rows", []) if r["rival"]}
    speeds = {(r["game"], r["evaluator"], r["chance"]): r["per_second"] for r in data.get("speed", [])}
    starts = data.get("starts", {})
    return [
        *target("pig, rollouts, beside the C++ bot", ratios.get(("pig", "rollout")), 5, "×", at_least=True),
        *target("pig, uniform, beside Python MCTS", ratios.get(("pig", "uniform")), 40, "×", at_least=True),
        *target(
            "2048, uniform, explicit chance", speeds.get(("2048", "uniform", "closed")), 700_000, "/s", at_least=True
        ),
        *target("warm start to a first result", starts.get("warm_start_seconds"), 1.5, "s", at_least=False),
        *target("aleazero --help", starts.get("help_seconds"), 0.5, "s", at_least=False),
    ]


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import facts_table, quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}; one thread", markup=False)
    if "speed" in data:
        table = quiet_table(("game", "left"), ("evaluator", "left"), ("chance", "left"),
                            (f"sims/s at {data['sims']:,}", "right"), (f"at {10 * data['sims']:,}", "right"),
                            ("bytes/sim", "right"), title="Search")  # fmt: skip
        for row in data["speed"]:
            table.add_row(
                row["game"], row["evaluator"], row["chance"], f"{row['per_second']:,.0f}",
                f"{row['per_second_at_10_times']:,.0f}", f"{row['bytes_per_simulation']:,.0f}",
            )  # fmt: skip
        console.print(table)
    if "starts" in data:
        facts = facts_table()
        facts.add_row("cold start (compiles pig)", f"{data['starts']['cold_start_seconds']:.2f} s")
        facts.add_row("warm start to a first result", f"{data['starts']['warm_start_seconds']:.2f} s")
        facts.add_row("aleazero --help", f"{data['starts']['help_seconds']:.2f} s")
        console.print(facts)
    if "openspiel" in data:
        _show_openspiel(data["openspiel"], console)
    show_targets(data["targets"], console)


def _show_openspiel(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    if not data["installed"]:
        console.print(
            "\nOpenSpiel is not installed, so nothing stands beside our figures: pip install 'aleazero[openspiel]'",
            style="bold yellow",
        )
        return
    table = quiet_table(("game", "left"), ("OpenSpiel's", "left"), ("sims", "right"), ("ours/s", "right"),
                        ("theirs/s", "right"), ("ratio", "right"), title="Beside OpenSpiel")  # fmt: skip
    notes = []
    for row in data["rows"]:
        if row["rival"] is None:
            notes.append(f"{row['game']}: {row['skipped']}.")
            continue
        table.add_row(
            row["game"], row["rival"], f"{row['simulations']:,}", f"{row['ours_per_second']:,.0f}",
            f"{row['theirs_per_second']:,.0f}", f"{row['ratio']:,.1f}×",
        )  # fmt: skip
        steps = row.get("playout_steps")
        if steps and abs(steps["ours"] / steps["theirs"] - 1) > 0.1:
            notes.append(
                f"{row['game']}: a random playout has {steps['ours']:.0f} steps in our rules, {steps['theirs']:.0f} in "
                f"OpenSpiel's; step for step the ratio is {row['ratio'] * steps['ours'] / steps['theirs']:.1f}×."
            )
    console.print(table)
    for note in notes:
        console.print(note, style="dim", markup=False)
