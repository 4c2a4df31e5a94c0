"""``aleazero selfplay`` and ``aleazero fit``: generate training samples, and fit a network to them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import one_line
from aleazero.cli.options import (
    OPENSPIEL,
    GameArgument,
    JsonFlag,
    ParamOption,
    WorkersOption,
    argument,
    cores,
    option,
    read_game,
    refuse_ignored,
)
from aleazero.errors import ConfigError, fields_named
from aleazero.untrusted import parse_digits

if TYPE_CHECKING:
    from rich.console import Console

log = logging.getLogger("aleazero")
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
"""Option of each setting of self-play."""


def selfplay(
    context: typer.Context,
    game: GameArgument,
    out: Annotated[Path, option("--out", "DIR", "Folder for the samples.")],
    net: Annotated[
        str, option("--net", "FILE", "Network that plays. `dummy` stands for uniform priors and zero values.")
    ] = "dummy",
    games: Annotated[int, option("--games", "N", "Number of games.", min=1, max=10**8)] = 256,
    sims: Annotated[int, option("--sims", "N", "Simulations per full search.", min=1)] = 64,
    sims_by_class: Annotated[
        str | None,
        option(
            "--sims-by-class",
            "CLASS=N,…",
            "Simulations per full search by class of decision, e.g. `reroll=32,mark=96`.",
        ),
    ] = None,
    full_share: Annotated[
        float,
        option(
            "--full-share",
            "SHARE",
            "Fraction of decisions with a full search of --sims simulations. Only these are policy targets.",
        ),
    ] = 1.0,
    fast_sims: Annotated[
        int,
        option("--fast-sims", "N", "Simulations per fast search, if --full-share is below 1.", min=1),
    ] = 16,
    temperature: Annotated[
        str,
        option(
            "--temperature",
            "T",
            "Temperature of move selection; 0 plays the most visited action. Schedules from 1 to 0.1: "
            "`linear:1:0.1:30` falls over 30 plies, `step:1:0.1:30` changes after 30 plies, `exponential:1:0.1:30` "
            "halves the distance to 0.1 every 30 plies.",
        ),
    ] = "1.0",
    c: Annotated[float, option("--c", "C", "Exploration constant, for values scaled to 0..1.", min=0)] = 1.5,
    noise: Annotated[
        float, option("--noise", "ALPHA", "Concentration of the Dirichlet noise on the root's priors; 0 for none.")
    ] = 0.3,
    chance: Annotated[
        str | None,
        option(
            "--chance",
            "MODE",
            "Chance mode: `sampling`, `stratified`, `progressive`, `full` or `open`.",
            show_default="stratified, or progressive if outcomes cannot be listed",
        ),
    ] = None,
    parallel: Annotated[int, option("--parallel", "N", "Games that a worker plays at the same time.", min=1)] = 128,
    workers: WorkersOption = None,
    iteration: Annotated[
        int, option("--iteration", "N", "Index of the iteration. Each index has its own games.", min=0)
    ] = 0,
    seed: Annotated[int, option("--seed", "SEED", "Random seed. The same seed gives the same games.")] = 0,
    inference: Annotated[
        str, option("--inference", "NAME", "Library that runs the network: `onnxruntime` or `torch`.")
    ] = "onnxruntime",
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Generate self-play games and write the training samples to a folder.

    The same seed, iteration and settings write the same files, with any number of workers. The samples
    are written in files of several games each (*shards*). After an interruption, the same command continues after the
    completed shards.

    **Examples**

    - `aleazero selfplay pig --games 512 --out replay`

    - `aleazero selfplay yatzy --net net.safetensors --iteration 1 --out replay`

    - `aleazero selfplay examples/race.py --games 64 --sims 32 --out replay --json`
    """
    import time

    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.native.random import check_seed
    from aleazero.players.search import read_net
    from aleazero.processes import Pool
    from aleazero.selfplay.config import SelfplayConfig, Temperature
    from aleazero.training.alphazero import play_games

    if game.startswith(OPENSPIEL):
        raise ConfigError(f"GAME is {game!r}, expected a bundled game or your own: workers cannot load OpenSpiel's")
    if out.is_file():
        raise ConfigError(f"--out is {str(out)!r}, which is a file, expected a folder")
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
        config.full_simulations(loaded)  # rejects an unknown class before anything starts
    all_classes = set(config.simulations_by_class) == set(loaded.info.decision_classes)
    refuse_ignored(context, {
        "sims": "--sims-by-class sets all classes of decisions" if all_classes else None,
        "fast_sims": "all searches are full, expected --full-share below 1" if full_share == 1.0 else None,
        "inference": "--net is dummy, which needs no library" if net == "dummy" else None,
    })  # fmt: skip
    read_net(net, loaded, None if net == "dummy" else inference)
    totals = {"games": 0, "decisions": 0, "evaluations": 0, "samples": 0, "seconds": 0.0}
    began = time.perf_counter()

    def count(taken: Any, done: int, of: int) -> None:
        for name, more in (("games", 1), ("decisions", taken.decisions), ("evaluations", taken.evaluations),
                           ("samples", len(taken.record))):  # fmt: skip
            totals[name] += more
        totals["seconds"] = time.perf_counter() - began
        show(done, of, f"{totals['evaluations'] / totals['seconds']:,.0f} evaluations/s")

    with progress_bar("playing", "games") as show, Pool(processes) as pool:
        play_games(pool, loaded, net, games, out, config, spec=game, seed=seed, iteration=iteration,
                   inference=inference, on_game=count)  # fmt: skip
    seconds = max(totals["seconds"], 1e-9)
    data = {"game": game, "net": net, "iteration": iteration, "seed": seed, "out": str(out), **totals}
    if json:
        print_json(data)
        return
    table = facts_table()
    table.add_row("games", f"{games:,} in {out} ({totals['games']:,} new, {totals['samples']:,} samples)")
    rates = {name: totals[name] / seconds for name in ("games", "evaluations")}
    table.add_row("speed", f"{rates['games']:,.1f} games/s, {rates['evaluations']:,.0f} evaluations/s")
    table.add_row("next", f"aleazero fit {out} --out net.safetensors")
    make_console().print(table)


def _by_class(text: str | None) -> dict[str, int]:
    found: dict[str, int] = {}
    for pair in text.split(",") if text else ():
        name, equals, number = pair.partition("=")
        if not equals or (count := parse_digits(number)) is None:
            raise ConfigError(f"--sims-by-class has {pair!r}, expected CLASS=N, e.g. reroll=32")
        found[name.strip()] = count
    return found


FIT_OPTIONS = {
    "net.width": "--width",
    "net.blocks": "--blocks",
    "steps": "--steps",
    "batch_size": "--batch-size",
    "window": "--window",
    "value_target": "--target",
    "learning_rate": "--learning-rate",
    "optimizer": "--optimizer",
    "seed": "--seed",
    "device": "--device",
    "threads": "--threads",
}
"""Option of each setting of a fit."""


def fit(
    context: typer.Context,
    replay: Annotated[Path, argument("DIR", "Folder of samples, written by `aleazero selfplay`.")],
    out: Annotated[Path, option("--out", "FILE", "Network file to write.")],
    start: Annotated[
        Path | None, option("--start", "FILE", "Continue from this network.", show_default="a new network")
    ] = None,
    steps: Annotated[int, option("--steps", "N", "Number of gradient steps.", min=1)] = 1000,
    batch_size: Annotated[int, option("--batch-size", "N", "Samples per gradient step.", min=1)] = 512,
    window: Annotated[int, option("--window", "N", "Number of newest samples to use.", min=1)] = 500_000,
    width: Annotated[
        int | None, option("--width", "N", "Width of the hidden layers.", show_default="128", min=1)
    ] = None,
    blocks: Annotated[
        int | None, option("--blocks", "N", "Number of residual blocks.", show_default="2", min=0)
    ] = None,
    afterstates: Annotated[
        bool | None,
        option("--afterstates/--no-afterstates", "", "Add a head for the values of chance nodes.", show_default="yes"),
    ] = None,
    margin: Annotated[
        bool | None,
        option("--margin/--no-margin", "", "Add a head for the final points of each player.", show_default="no"),
    ] = None,
    target: Annotated[
        str,
        option(
            "--target",
            "NAME",
            "Value target: `outcome`, `root`, `mix`, `td`, `expectation`, or `exact` if the game has an oracle.",
        ),
    ] = "td",
    learning_rate: Annotated[float, option("--learning-rate", "RATE", "Learning rate of the optimizer.")] = 1e-3,
    optimizer: Annotated[
        str, option("--optimizer", "kept|fresh", "With --start: keep the optimizer's moments, or reset them.")
    ] = "kept",
    seed: Annotated[int, option("--seed", "SEED", "Random seed. The same seed gives the same weights.")] = 0,
    device: Annotated[str, option("--device", "NAME", "Device: `auto`, `cpu`, `cuda` or `mps`.")] = "cpu",
    threads: Annotated[int, option("--threads", "N", "Threads of torch on the CPU.", min=1)] = 1,
    json: JsonFlag = False,
) -> None:
    """Fit a network to the newest samples of a folder.

    Use the network in player specs of the same game as `net:FILE`. The state of the optimizer is written next to it, so
    that `--start` can continue its training.

    **Examples**

    - `aleazero fit replay --out net.safetensors`

    - `aleazero fit replay --start net.safetensors --out net2.safetensors --steps 500`
    """
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.replay.check import load_origin
    from aleazero.replay.window import Window
    from aleazero.training.alphazero import fit as fit_network
    from aleazero.training.config import TrainConfig

    refuse_ignored(context, {"optimizer": "it requires --start" if start is None else None})
    form: dict[str, Any] = {"width": width, "blocks": blocks, "afterstates": afterstates, "margin": margin}
    with fields_named(FIT_OPTIONS):
        config = TrainConfig(
            net={name: value for name, value in form.items() if value is not None},  # type: ignore[arg-type]
            steps=steps,
            batch_size=batch_size,
            window=window,
            value_target=target,  # type: ignore[arg-type]
            learning_rate=learning_rate,
            optimizer=optimizer,  # type: ignore[arg-type]
            seed=seed,
            device=device,  # type: ignore[arg-type]
            threads=threads,
        )
    if find_spec("torch") is None:
        raise ConfigError("torch is not installed, install it with: pip install 'aleazero[train]'")
    if out.is_dir():
        raise ConfigError(f"--out is {str(out)!r}, which is a folder, expected a file, e.g. net.safetensors")
    samples = Window(replay, window)
    game = load_origin(samples.origin)
    for broken in samples.broken:
        log.warning("damaged shard skipped: %s", one_line(f"{broken.path.name}: {broken.why}"))
    with progress_bar("fitting", "steps") as progress:

        def show(done: int, of: int, losses: Mapping[str, float]) -> None:
            progress(done, of, f"policy {losses['policy_loss']:.3f}, value {losses['value_loss']:.3f}")

        summary = fit_network(game, samples, out, config, start=start, progress=show)
    data: dict[str, Any] = {"out": str(out), **summary.to_dict()}
    if json:
        print_json(data)
        return
    _show_fit(data, make_console())


def _show_fit(data: Mapping[str, Any], console: Console) -> None:
    from aleazero.cli.show import facts_table, quiet_table

    table = facts_table()
    table.add_row("step", f"{data['step']:,}")
    table.add_row("network", str(data["out"]))
    table.add_row("samples", f"{data['samples']:,}, {data['sample_age']:.1f} iterations old on average")
    table.add_row("policy", f"loss {data['policy_loss']:.4f}, KL divergence from the targets {data['kl']:.4f}")
    table.add_row("value", f"loss {data['value_loss']:.4f}, at afterstates {data['afterstate_loss']:.4f}")
    if exact := data["exact"]:
        apart = ", ".join(
            f"{where} {'none' if loss is None else f'{loss:.4f}'}"
            for where, loss in (("loss there", exact["loss"]), ("elsewhere", exact["other_loss"]))
        )
        table.add_row("oracle", f"covers {exact['share']:.1%} of the samples, {apart}")
    table.add_row("speed", f"{data['samples_per_second']:,.0f} samples/s")
    console.print(table)
    shown = quiet_table(
        ("predicted", "right"), ("target", "right"), ("samples", "right"), title="Calibration, by tenths"
    )
    for predicted, target, count in data["calibration"]:
        shown.add_row(f"{predicted:.3f}", f"{target:.3f}", f"{count:,}")
    console.print(shown)
