"""``aleazero selfplay`` and ``aleazero fit``: play games into shards, and fit a network to them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import GameOption, JsonFlag, ParamOption, cores, one_line, read_game, refuse_ignored
from aleazero.errors import ConfigError, fields_named
from aleazero.untrusted import whole_number

if TYPE_CHECKING:
    from rich.console import Console

SELFPLAY_OPTIONS = {
    "simulations": "--sims",
    "simulations_by_class": "--sims-by-class",
    "full_share": "--full-share",
    "fast_simulations": "--fast-sims",
    "temperature": "--temperature",
    "temperature.start": "--temperature: start",
    "temperature.end": "--temperature: end",
    "temperature.plies": "--temperature: plies",
    "c": "--c",
    "noise_alpha": "--noise",
    "chance": "--chance",
    "parallel": "--parallel",
}
"""The option of each setting of self-play."""


def selfplay(
    context: typer.Context,
    game: GameOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the samples.", show_default=False)],
    net: Annotated[
        str, typer.Option("--net", metavar="PATH", help="A checkpoint, or `dummy`, which knows nothing.")
    ] = "dummy",
    games: Annotated[int, typer.Option("--games", metavar="N", help="Games to play.", min=1, max=10**8)] = 256,
    sims: Annotated[int, typer.Option("--sims", metavar="N", help="Simulations of a full search.", min=1)] = 64,
    sims_by_class: Annotated[
        str | None,
        typer.Option(
            "--sims-by-class", metavar="CLASS=N,…", help="Simulations by class of decision, e.g. `reroll=32,mark=96`."
        ),
    ] = None,
    full_share: Annotated[
        float, typer.Option("--full-share", metavar="P", help="Share of full searches; only those teach the policy.")
    ] = 1.0,
    fast_sims: Annotated[
        int, typer.Option("--fast-sims", metavar="N", help="Simulations of the other searches.", min=1)
    ] = 16,
    temperature: Annotated[
        str,
        typer.Option(
            "--temperature",
            metavar="SPEC",
            help="Of executed moves; 0 plays the most visited. By ply: `step:1:0:30`, `linear:1:0.1:30` or "
            "`exponential:1:0.1:30`, from start to end.",
        ),
    ] = "1.0",
    c: Annotated[
        float, typer.Option("--c", metavar="C", help="Weight of exploration; small where actions differ little.", min=0)
    ] = 1.5,
    noise: Annotated[
        float, typer.Option("--noise", metavar="A", help="Concentration of the noise at the root; 0 for none.")
    ] = 0.3,
    chance: Annotated[
        str | None,
        typer.Option("--chance", metavar="SPEC", help="`sampling`, `stratified`, `progressive`, `full` or `open`."),
    ] = None,
    parallel: Annotated[
        int, typer.Option("--parallel", metavar="N", help="Games that a worker has under way.", min=1)
    ] = 128,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", help="Processes [default: the cores].", min=1)
    ] = None,
    iteration: Annotated[
        int, typer.Option("--iteration", metavar="I", help="Number of this round; games of other rounds differ.", min=0)
    ] = 0,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Same seed, same games.")] = 0,
    inference: Annotated[
        str, typer.Option("--inference", metavar="NAME", help="What computes the network: `onnxruntime` or `torch`.")
    ] = "onnxruntime",
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Play games against oneself and write their samples into a folder, as training needs them.

    The same seed, iteration and settings give the same games and the same files, whatever the number of workers. A run
    that was stopped goes on: shards that are whole are not played again.

    **Examples**

    - `aleazero selfplay --game pig --games 512 --out replay`

    - `aleazero selfplay --game yatzy --net net.safetensors --iteration 1 --games 256 --out replay`

    - `aleazero selfplay --game examples/race.py --games 64 --sims 32 --out replay --json`
    """
    import time

    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.native.random import check_seed
    from aleazero.players.search import read_net
    from aleazero.processes import Pool
    from aleazero.selfplay.config import SelfplayConfig, Temperature
    from aleazero.training.alphazero import play_games

    if game.startswith("openspiel:"):
        raise ConfigError(f"--game is {game!r}, expected a game of ours or a file: workers cannot load OpenSpiel's")
    if out.is_file():
        raise ConfigError(f"--out is {str(out)!r}, a file, expected a folder")
    loaded = read_game(game, param)
    check_seed(seed)
    processes = workers or cores()
    with fields_named(SELFPLAY_OPTIONS):
        config = SelfplayConfig(
            simulations=sims,
            simulations_by_class=_by_class(sims_by_class),
            full_share=full_share,
            fast_simulations=fast_sims,
            temperature=Temperature.parse(temperature),
            c=c,
            noise_alpha=noise,
            chance=chance,  # type: ignore[arg-type]
            parallel=min(parallel, -(-games // processes)),
        )
        config.full_simulations(loaded)  # a class that is none is refused before anything starts
    all_classes = set(config.simulations_by_class) == set(loaded.info.decision_classes)
    refuse_ignored(context, {
        "sims": "--sims-by-class names every class of decisions" if all_classes else None,
        "fast_sims": "all searches are full, expected --full-share below 1" if full_share == 1.0 else None,
        "inference": "--net is dummy, which computes nothing" if net == "dummy" else None,
    })  # fmt: skip
    read_net(net, loaded, None if net == "dummy" else inference)
    totals = {"games": 0, "decisions": 0, "evaluations": 0, "samples": 0, "seconds": 0.0}
    began = time.perf_counter()

    def count(taken: Any, done: int, of: int) -> None:
        for name, more in (("games", 1), ("decisions", taken.decisions), ("evaluations", taken.evaluations),
                           ("samples", len(taken.record))):  # fmt: skip
            totals[name] += more
        totals["seconds"] = time.perf_counter() - began
        tell(done, of, f"{totals['evaluations'] / totals['seconds']:,.0f} evaluations/s")

    with progress_bar("playing", "games") as tell, Pool(processes) as pool:
        play_games(pool, loaded, net, games, out, config, spec=game, seed=seed, iteration=iteration,
                   inference=inference, on_game=count)  # fmt: skip
    seconds = max(totals["seconds"], 1e-9)
    data = {"game": game, "net": net, "iteration": iteration, "seed": seed, "out": str(out), **totals}
    if json:
        print_json(data)
        return
    table = facts_table()
    table.add_row("games", f"{games:,} in {out} ({totals['games']:,} played now, {totals['samples']:,} samples)")
    rates = {name: totals[name] / seconds for name in ("games", "evaluations")}
    table.add_row("speed", f"{rates['games']:,.1f} games/s, {rates['evaluations']:,.0f} evaluations/s")
    table.add_row("next", f"aleazero fit --replay {out} --out net.safetensors")
    make_console().print(table)


def _by_class(text: str | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair in text.split(",") if text else ():
        name, equals, number = pair.partition("=")
        if not equals or (count := whole_number(number)) is None:
            raise ConfigError(f"--sims-by-class has {pair!r}, expected CLASS=N, e.g. reroll=32")
        found[name.strip()] = count
    return found


FIT_OPTIONS = {
    "net.width": "--width",
    "net.blocks": "--blocks",
    "steps": "--steps",
    "batch_size": "--batch",
    "window": "--window",
    "value_target": "--target",
    "learning_rate": "--rate",
    "optimizer": "--optimizer",
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
    optimizer: Annotated[
        str, typer.Option("--optimizer", metavar="NAME", help="With --start: `kept` moments, or `fresh` ones.")
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
    from aleazero.replay.check import load_origin
    from aleazero.replay.window import Window
    from aleazero.training.alphazero import fit as fit_network
    from aleazero.training.config import TrainConfig

    refuse_ignored(context, {"optimizer": "a network without --start has no moments" if start is None else None})
    form: dict[str, Any] = {"width": width, "blocks": blocks, "afterstates": afterstates, "margin": margin}
    with fields_named(FIT_OPTIONS):
        config = TrainConfig(
            net={name: value for name, value in form.items() if value is not None},  # type: ignore[arg-type]
            steps=steps,
            batch_size=batch,
            window=window,
            value_target=target,  # type: ignore[arg-type]
            learning_rate=rate,
            optimizer=optimizer,  # type: ignore[arg-type]
            seed=seed,
            device=device,  # type: ignore[arg-type]
            threads=threads,
        )
    if find_spec("torch") is None:
        raise ConfigError("torch is not installed, expected it for training: pip install 'aleazero[train]'")
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
