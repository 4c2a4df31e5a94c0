"""``aleazero fit``: fit a network to samples of self-play."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.failure import one_line
from aleazero.cli.options import JsonFlag
from aleazero.errors import ConfigError, fields_named

if TYPE_CHECKING:
    from rich.console import Console


OPTIONS = {
    "net.width": "--width",
    "net.blocks": "--blocks",
    "steps": "--steps",
    "batch_size": "--batch",
    "window": "--window",
    "value_target": "--target",
    "learning_rate": "--rate",
    "optimiser": "--optimiser",
    "seed": "--seed",
    "device": "--device",
    "threads": "--threads",
}
"""The option of each setting of a fit."""


def fit(
    context: typer.Context,
    replay: Annotated[Path, typer.Option("--replay", metavar="DIR", help="Folder of samples.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", metavar="PATH", help="Checkpoint to write.", show_default=False)],
    start: Annotated[
        Path | None,
        typer.Option("--start", metavar="PATH", help="Checkpoint to go on from [default: from nothing]."),
    ] = None,
    steps: Annotated[int, typer.Option("--steps", metavar="N", help="Batches.", min=1)] = 1000,
    batch: Annotated[int, typer.Option("--batch", metavar="N", help="Samples a batch.", min=1)] = 512,
    window: Annotated[
        int, typer.Option("--window", metavar="N", help="Newest samples that are used.", min=1)
    ] = 500_000,
    width: Annotated[
        int | None, typer.Option("--width", metavar="N", help="Of a new network [default: 128].", min=1)
    ] = None,
    blocks: Annotated[
        int | None, typer.Option("--blocks", metavar="N", help="Of a new network [default: 2].", min=0)
    ] = None,
    afterstates: Annotated[
        bool | None,
        typer.Option("--afterstates/--no-afterstates", help="A head for the value of chance nodes [default: yes]."),
    ] = None,
    margin: Annotated[
        bool | None, typer.Option("--margin/--no-margin", help="A head for the final scores [default: no].")
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            metavar="NAME",
            help="Values: `outcome`, `root`, `mix`, `td`, `expectation`; `exact` asks an oracle, where there is one.",
        ),
    ] = "td",
    rate: Annotated[float, typer.Option("--rate", metavar="R", help="Learning rate.")] = 1e-3,
    optimiser: Annotated[
        str, typer.Option("--optimiser", metavar="NAME", help="With --start: `kept` moments, or `fresh` ones.")
    ] = "kept",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Same seed and samples, same weights.")] = 0,
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="`auto`, `cpu`, `cuda` or `mps`.")] = "cpu",
    threads: Annotated[int, typer.Option("--threads", metavar="N", help="Of torch on the processor.", min=1)] = 1,
    json: JsonFlag = False,
) -> None:
    """Fit a network to the newest samples, and write the checkpoint that plays.

    Beside it stands what training needs to go on from there (`--start`). The game is the one of the samples.

    **Examples**

    - `aleazero fit --replay replay --out net.safetensors`

    - `aleazero fit --replay replay --start net.safetensors --out net2.safetensors --steps 500 --target td`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.cli.specs import refuse_ignored
    from aleazero.replay.check import load_origin
    from aleazero.replay.window import Window
    from aleazero.training.alphazero import fit as fit_network
    from aleazero.training.config import TrainConfig

    refuse_ignored(context, {"optimiser": "a network without --start has no moments" if start is None else None})
    form: dict[str, Any] = {"width": width, "blocks": blocks, "afterstates": afterstates, "margin": margin}
    with fields_named(OPTIONS):
        config = TrainConfig(
            net={name: value for name, value in form.items() if value is not None},  # type: ignore[arg-type]
            steps=steps,
            batch_size=batch,
            window=window,
            value_target=target,  # type: ignore[arg-type]
            learning_rate=rate,
            optimiser=optimiser,  # type: ignore[arg-type]
            seed=seed,
            device=device,  # type: ignore[arg-type]
            threads=threads,
        )
    try:
        import torch  # noqa: F401 -- asked for before anything is read
    except ImportError:
        raise ConfigError("torch is not installed, expected it for training: pip install 'aleazero[train]'") from None
    if out.is_dir():
        raise ConfigError(f"--out is {str(out)!r}, a folder, expected a file, e.g. net.safetensors")
    samples = Window(replay, window)
    game = load_origin(samples.origin)
    for broken in samples.broken:
        typer.echo(f"left out: {one_line(f'{broken.path.name}: {broken.why}')}", err=True)
    with progress_bar("fitting", "steps") as tell:

        def show(done: int, of: int, losses: Mapping[str, float]) -> None:
            tell(done, of, f"policy {losses['policy_loss']:.3f}, value {losses['value_loss']:.3f}")

        summary = fit_network(game, samples, out, config, start=start, progress=show)
    data: dict[str, Any] = {"out": str(out), **summary.to_dict()}
    if json:
        print_json(data)
        return
    _show(data, make_console())


def _show(data: Mapping[str, Any], console: Console) -> None:
    from aleazero.cli.show import facts_table, quiet_table

    table = facts_table()
    table.add_row("step", f"{data['step']:,}")
    table.add_row("network", str(data["out"]))
    table.add_row("samples", f"{data['samples']:,}, {data['sample_age']:.1f} iterations old on average")
    table.add_row("policy", f"loss {data['policy_loss']:.4f}, {data['kl']:.4f} above the targets' entropy")
    table.add_row("value", f"loss {data['value_loss']:.4f}, at afterstates {data['afterstate_loss']:.4f}")
    if exact := data["exact"]:
        apart = ", ".join(
            f"{what} {'none' if loss is None else f'{loss:.4f}'}"
            for what, loss in (("loss there", exact["loss"]), ("elsewhere", exact["other_loss"]))
        )
        table.add_row("oracle", f"covers {exact['share']:.1%} of the samples, {apart}")
    table.add_row("speed", f"{data['samples_per_second']:,.0f} samples/s")
    console.print(table)
    shown = quiet_table(("predicted", "right"), ("target", "right"), ("samples", "right"), title="Values, by tenths")
    for predicted, target, count in data["calibration"]:
        shown.add_row(f"{predicted:.3f}", f"{target:.3f}", f"{count:,}")
    console.print(shown)
