"""``aleazero bench e2e``: self-play as a whole, beside what its network alone would reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.json_file import deliver, read_file
from aleazero.cli.targets import show_targets, target

if TYPE_CHECKING:
    from rich.console import Console

LEAST_SHARE, LEAST_SPEEDUP = 0.6, 1.7


def e2e(
    game: Annotated[str, typer.Option("--game", metavar="GAME", help="The game to play.")] = "yatzy",
    param: Annotated[list[str] | None, typer.Option("--param", "-p", metavar="KEY=VALUE", help="Of the game.")] = None,
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="For each figure.", min=0.1)] = 10.0,
    parallel: Annotated[int, typer.Option("--parallel", metavar="N", help="Games under way in a worker.", min=1)] = 256,
    simulations: Annotated[int, typer.Option("--simulations", metavar="N", help="Of a search.", min=1)] = 64,
    in_flight: Annotated[
        int, typer.Option("--max-inflight", metavar="N", help="Leaves of a search that may wait at once.", min=1)
    ] = 4,
    chance: Annotated[
        str | None, typer.Option("--chance", metavar="SPEC", help="As in `aleazero selfplay` [default: by game].")
    ] = None,
    width: Annotated[int, typer.Option("--width", metavar="N", help="Of the network.", min=1)] = 256,
    blocks: Annotated[int, typer.Option("--blocks", metavar="N", help="Of the network.", min=0)] = 2,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="[FILE]", help="Print JSON instead; with FILE print tables and write it there."),
    ] = None,
) -> None:
    """Measure self-play: leaves a second, as a share of what the network alone reaches on one core.

    Both ways to infer on one worker, by CPU time; then two workers beside one, by the clock. The network has random
    weights, so games are those of a beginner.

    **Examples**

    - `aleazero bench e2e`

    - `aleazero bench e2e --game pig --seconds 3 --parallel 64 --max-inflight 1 --width 64`
    """
    from aleazero.cli.measure import machine
    from aleazero.cli.measure_e2e import measure_e2e
    from aleazero.cli.show import make_console
    from aleazero.cli.specs import read_game
    from aleazero.selfplay.config import SelfplayConfig

    read_game(game, param)
    SelfplayConfig(chance=chance)  # type: ignore[arg-type]  # refused here rather than in another process
    read_file(json)
    request: dict[str, Any] = {
        "game": game, "params": param, "seconds": seconds, "parallel": parallel, "simulations": simulations,
        "in_flight": in_flight, "chance": chance, "width": width, "blocks": blocks,
    }  # fmt: skip
    data: dict[str, Any] = {"machine": machine(), "settings": request, "inference": []}
    with make_console(stderr=True).status("measuring") as status:
        for inference in ("onnxruntime", "torch"):
            status.update(f"{game}, one worker, {inference}")
            (row,) = measure_e2e({**request, "inference": inference}, 1)
            data["inference"].append({"inference": inference, **row})
        status.update(f"{game}, two workers")
        both = measure_e2e({**request, "inference": "onnxruntime"}, 2)
    one = data["inference"][0]["per_second"]
    together = sum(row["per_second"] for row in both)
    data["workers"] = {"one_per_second": one, "two_per_second": together, "speedup": together / one}
    data["targets"] = e2e_targets(data)
    deliver(data, json, _show)


def e2e_targets(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The project's targets beside what was measured."""
    best = data["inference"][0]
    share = target("self-play beside its network alone", best["share"], LEAST_SHARE, "", at_least=True)
    return share + target("two workers beside one", data["workers"]["speedup"], LEAST_SPEEDUP, "×", at_least=True)


def _show(data: dict[str, Any], console: Console) -> None:
    from aleazero.cli.show import quiet_table

    about = data["machine"]
    console.print(f"{about['processor']}, Python {about['python']}, numba {about['numba']}", markup=False)
    table = quiet_table(("inference", "left"), ("leaves/s", "right"), ("network alone/s", "right"), ("share", "right"),
                        title="Self-play, one core")  # fmt: skip
    for row in data["inference"]:
        table.add_row(
            row["inference"], f"{row['per_cpu_second']:,.0f}", f"{row['network_alone_per_second']:,.0f}",
            f"{row['share']:.0%}",
        )  # fmt: skip
    console.print(table)
    workers = data["workers"]
    console.print(
        f"two workers: {workers['two_per_second']:,.0f} leaves/s, {workers['speedup']:.2f}× one", markup=False
    )
    show_targets(data["targets"], console)
