"""``aleazero selfplay``: let a network play against itself, and keep the samples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from aleazero.cli.options import GameOption, JsonFlag, ParamOption, cores
from aleazero.errors import ConfigError, fields_named
from aleazero.untrusted import whole_number

OPTIONS = {
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
    from aleazero.cli.specs import read_game, refuse_ignored
    from aleazero.games.luck import check_seed
    from aleazero.players.net import read_net
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
    with fields_named(OPTIONS):
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
