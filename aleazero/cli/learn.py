"""``aleazero learn``: learn a game by the afterstate recipe, in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import GameOption, JsonFlag, ParamOption, cores
from aleazero.errors import ConfigError

if TYPE_CHECKING:
    from aleazero.games.base import Game

RECIPES = ("afterstate", "alphazero")


def learn(
    context: typer.Context,
    game: GameOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run.", show_default=False)],
    recipe: Annotated[str, typer.Option("--recipe", metavar="NAME", help="`afterstate`.")] = "afterstate",
    minutes: Annotated[
        float | None, typer.Option("--minutes", metavar="M", help="About how long [default: 6].", min=0.01)
    ] = None,
    rounds: Annotated[
        int | None, typer.Option("--rounds", metavar="N", help="Exactly how many rounds, instead of minutes.", min=1)
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting, e.g. `target=td` or `net.hidden=[64,64]`."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Same seed and rounds, same networks.", min=0)] = 0,
    threads: Annotated[
        int | None, typer.Option("--threads", metavar="N", help="[default: the cores]; results do not change.", min=1)
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge/--no-judge", help="Measure checkpoints, where something can tell.")
    ] = True,
    param: ParamOption = None,
    json: JsonFlag = False,
) -> None:
    """Learn what positions between turns are worth, by planning every turn exactly; from nothing, without an oracle.

    The folder gets the newest network (`net.safetensors`), those on the way by number, and a line about each
    (`events.ndjson`). The same command goes on with a run that was stopped, and ends with the same networks. Play with
    what was learnt as `net:DIR/net.safetensors`.

    **Examples**

    - `aleazero learn --game yatzy --minutes 6 --out runs/yatzy`

    - `aleazero learn --game yatzy -p players=1 --minutes 2 --out runs/solitaire --set target=td`

    - `aleazero learn --game 2048 --minutes 6 --out runs/2048`

    - `aleazero learn --game examples/race.py --rounds 500 --out runs/race --json`
    """
    from contextlib import closing

    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console, print_json
    from aleazero.cli.specs import read_game, refuse_ignored
    from aleazero.evaluation.strength import can_measure
    from aleazero.training.learn import MEASURED, open_run
    from aleazero.training.learn import learn as learn_rounds
    from aleazero.training.recipe import make_learner

    if recipe not in RECIPES:
        raise ConfigError(f"--recipe is {recipe!r}, expected afterstate")
    if recipe == "alphazero":
        raise ConfigError(
            "--recipe is 'alphazero', which is trained from a config file: expected `aleazero train CONFIG` with "
            "`recipe: alphazero` in it, or `aleazero selfplay` and `aleazero fit`"
        )
    if minutes is not None and rounds is not None:
        raise ConfigError("--minutes and --rounds are both given, expected one of them")
    loaded = read_game(game, param)
    unknown = f"nothing is known to measure checkpoints of {loaded!r} by"
    refuse_ignored(context, {"judge": unknown if judge and not can_measure(loaded) else None})
    config = read_settings(loaded, settings or [], seed, rounds)
    limit = None if rounds is not None else 6.0 if minutes is None else minutes
    if limit is not None and getattr(config, "hold", 1.0) < MEASURED:
        raise ConfigError(
            f"--set is hold={config.hold}, expected at least {MEASURED:.3g}, or --rounds: with --minutes the number of "
            "rounds is measured first"
        )
    wanted = {"settings": config.model_dump(mode="json", exclude={"rounds"}), "rounds": rounds}
    workers = threads or cores()
    with (
        closing(make_learner(loaded, config, workers)) as learner,
        open_run(out, loaded, game, wanted, limit) as run,
        progress_bar("learning", "rounds") as bar,
    ):
        view = View(loaded, bar, workers, judge)
        newest = learn_rounds(learner, run, view.tell, view.judge)
    data = {
        "out": str(newest),
        "rounds": run.rounds,
        "seconds": run.seconds,
        "turns_per_second": view.turns / max(1e-9, view.seconds(run)),
        **(view.judged or last_judged(out)),
    }
    if json:
        print_json(data)
    else:
        _show(data, make_console())


def read_settings(game: Game, pairs: list[str], seed: int, rounds: int | None) -> Any:
    """The settings of the recipe: what suits the game, and what is asked for."""
    from aleazero.cli.specs import read_params
    from aleazero.training.recipe import make_config

    given: dict[str, Any] = {"seed": seed, **({} if rounds is None else {"rounds": rounds})}
    net: dict[str, Any] = {}
    for name, value in read_params(pairs, "--set", "target=td").items():
        if name in ("seed", "rounds"):
            raise ConfigError(f"--set is {name}={value}, expected --{name} {value}")
        if name == "net":
            raise ConfigError(f"--set is net={value}, expected a setting of it, e.g. net.hidden=[64,64]")
        if name.startswith("net."):
            net[name.removeprefix("net.")] = value
        else:
            given[name] = value
    return make_config(game, given, net)


class View:
    """What is shown while a run goes on."""

    def __init__(self, game: Game, bar: Callable[..., None], threads: int, judges: bool) -> None:
        self.game, self._bar, self._threads, self._judges = game, bar, threads, judges
        self.turns = 0
        self.judged: dict[str, Any] = {}
        self._first: float | None = None

    def seconds(self, run: Any) -> float:
        """Spent on rounds in this process."""
        return float(run.seconds - (self._first or 0.0))

    def tell(self, told: Any, run: Any) -> None:
        """A round is done."""
        if self._first is None:
            self._first = run.seconds  # the first round compiles
            return
        self.turns += told.turns
        rate = self.turns / max(1e-9, self.seconds(run))
        note = f"{rate:,.0f} turns/s{''.join(f', {name} {text}' for name, text in describe(self.judged).items())}"
        self._bar(told.number, run.rounds, note)

    def judge(self, path: Path, run: Any) -> Mapping[str, Any]:
        """A checkpoint is written: measure it, where there is something to measure it by."""
        if not self._judges:
            return {}
        from aleazero.evaluation.strength import measure_values

        self.judged = measure_values(path, self.game, threads=self._threads)
        return self.judged


def last_judged(folder: Path) -> dict[str, Any]:
    """What the run's last line says was measured."""
    from aleazero.training.learn import read_events

    events = read_events(folder)
    last = events[-1] if events else {}
    return {name: found for name, found in last.items() if isinstance(found, dict) and "mean" in found}


def describe(judged: Mapping[str, Any]) -> dict[str, str]:
    """What was measured, in a few words each."""
    return {
        name.replace("_", " "): f"{found['mean']:.4g} ± {found['error']:.2g}"
        for name, found in judged.items()
        if isinstance(found, Mapping)
    }


def _show(data: Mapping[str, Any], console: Any) -> None:
    from aleazero.cli.show import facts_table

    table = facts_table()
    table.add_row("network", str(data["out"]))
    table.add_row("rounds", f"{data['rounds']:,} in {data['seconds'] / 60:.1f} minutes")
    table.add_row("speed", f"{data['turns_per_second']:,.0f} turns/s")
    for name, words in describe(data).items():
        table.add_row(name, words)
    console.print(table)
