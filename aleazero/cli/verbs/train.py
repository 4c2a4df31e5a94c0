"""``aleazero train``, ``resume`` and ``config``: runs from a config file or from options, and their settings."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import OPENSPIEL, JsonFlag, ParamOption, blame_rules, cores, read_params, refuse_ignored
from aleazero.errors import ConfigError
from aleazero.untrusted import printable

if TYPE_CHECKING:
    from aleazero.runs.config import RunConfig
    from aleazero.runs.directory import RunDirectory

MINUTES = 6.0
"""Default of ``--minutes``."""
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting of the file, or a default, e.g. `seed=3`, `gate.pairs=200`.",
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes [default: the cores]; results do not change.", min=1),
]  # fmt: skip

config_app = typer.Typer(help="Show, check and explain the settings of runs.", no_args_is_help=True)
FileArgument = Annotated[Path, typer.Argument(metavar="CONFIG", help="A config file.", show_default=False)]


def train(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help="A config file, or use --game.", show_default=False)
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            "--game",
            metavar="GAME",
            help="Train without a config file: a name from `aleazero games`, or your own as `path/file.py:NAME`.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run", metavar="DIR", help="Directory of the run [default: runs/ and the name of the file or game]."
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", metavar="M", help="With --game: about how long to train [default: 6].", min=0.01),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", help="With --game: exactly how many rounds, instead of minutes.", min=1),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="S", help="With --game: same seed and rounds, same network [default: 0].", min=0
        ),
    ] = None,
    param: ParamOption = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Train a player, from a config file or for a game: networks, gates, evaluations and a report.

    Everything is written to the run's directory. Nothing that was finished is lost by Ctrl-C or a power cut: the same
    command, or `aleazero resume DIR`, continues, and the results are the same as without the interruption.

    With `--game` the run has one iteration by the recipe `afterstate`, so there is no gate. The network is
    `DIR/models/0001.safetensors`; play with it as `net:PATH`. It is evaluated once, at the end: by the game's own fast
    measurement (Yatzy, 2048), or else in games against random play. `--set` changes all of this, as in a config file.

    **Examples**

    - `aleazero train configs/yatzy_quick.yaml`

    - `aleazero train configs/pig.yaml --run runs/pig3 --set seed=3`

    - `aleazero train --game yatzy --minutes 6 --run runs/yatzy`

    - `aleazero train --game yatzy -p players=1 --minutes 2 --run runs/solitaire --set afterstate.target=td`

    - `aleazero train --game pig --set iterations=4`
    """
    from aleazero.runs.config import read_config

    if config is not None and game is not None:
        raise ConfigError(f"CONFIG is {str(config)!r} and --game is {game!r}, expected one of them")
    if config is not None:
        why = f"{config} has the settings, expected --set"
        ignored = {name: f"{why} {name}=VALUE" for name in ("minutes", "rounds", "seed")}
        refuse_ignored(context, {**ignored, "param": f"{why} params.KEY=VALUE"})
        _train_and_report(run or Path("runs") / config.stem, read_config(config, settings or ()), workers, json)
        return
    if game is None:
        raise ConfigError("no CONFIG and no --game, expected `aleazero train CONFIG` or `aleazero train --game GAME`")
    options = {"minutes": minutes, "rounds": rounds, "seed": seed}
    found = config_of_options(game, param or [], options, settings or [])
    _train_and_report(run or Path("runs") / Path(game.partition(":")[0]).stem, found, workers, json)


def config_of_options(game: str, params: list[str], options: Mapping[str, Any], changes: list[str]) -> RunConfig:
    """Return the settings of a run without a config file.

    Args:
        game: name, or ``path/file.py:NAME``, which becomes absolute: a run is resumed from any directory.
        params: parameters of the game as ``KEY=VALUE``.
        options: values of ``minutes``, ``rounds`` and ``seed``; None for an option that is not given.
        changes: settings as ``key.inner=value``.
    """
    from aleazero.evaluation.strength import can_measure
    from aleazero.runs.config import apply_change, check_config, file_near, make_config

    if game.startswith(OPENSPIEL):
        raise ConfigError(f"--game is {game!r}, expected a bundled game or your own: OpenSpiel's cannot be trained")
    given = {name: value for name, value in options.items() if value is not None}
    if {"minutes", "rounds"} <= given.keys():
        raise ConfigError("--minutes and --rounds are both given, expected one of them")
    file, colon, name = game.partition(":")
    data: dict[str, Any] = {"game": f"{file_near(Path.cwd(), file)}{colon}{name}" if file.endswith(".py") else game}
    if params:
        data["params"] = read_params(params)
    data |= given
    for change in changes:
        key = change.partition("=")[0].partition(".")[0].strip()
        if key in data:
            option = {"params": "--param"}.get(key, f"--{key}")
            raise ConfigError(f"--set is {change!r} and {option} is given too, expected one of them")
    for change in changes:
        apply_change(data, change)
    if data.get("recipe", "afterstate") == "afterstate":
        data.setdefault("iterations", 1)
        if "rounds" not in data and "minutes" not in data:
            data["minutes"] = MINUTES
        evaluate = data.setdefault("evaluate", {})
        if isinstance(evaluate, dict) and "against" not in evaluate:
            measured = can_measure(make_config({**data, "evaluate": {}}).load_game())
            evaluate["against"] = [] if measured else ["random"]
    config = make_config(data)
    check_config(config)
    return config


def resume(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="Directory of a run.", show_default=False)],
    settings: SetOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Go on with a run that was stopped, or extend one that is finished.

    Settings of what is learnt cannot change; the number of iterations can grow, and what is measured and kept.

    **Examples**

    - `aleazero resume runs/yatzy_quick`

    - `aleazero resume runs/yatzy_quick --set iterations=12`
    """
    from aleazero.runs.config import read_config
    from aleazero.runs.directory import CONFIG, read_manifest

    read_manifest(run)  # says what is missing before anything else is read
    _train_and_report(run, read_config(run / CONFIG, settings) if settings else None, workers, json)


def _train_and_report(folder: Path, config: Any, workers: int | None, json: bool) -> None:
    from aleazero.cli.show import make_console, print_json
    from aleazero.report import why_no_report, write_report
    from aleazero.runs.directory import open_directory
    from aleazero.runs.loop import train as train_run
    from aleazero.runs.summary import summary_of

    with open_directory(folder, config) as held:
        game = held.config.load_game()
        try:
            with blame_rules(held.config.game), live_view(held) as listener:
                train_run(held, game, workers or cores(), listener)
        except KeyboardInterrupt:
            go_on = printable(f"aleazero resume {folder}")
            typer.echo(f"\nstopped; nothing that was finished is lost. Go on with: {go_on}", err=True)
            raise typer.Exit(130) from None
        why = why_no_report()
        report = write_report(folder) if why is None else None
    data = {**summary_of(folder), "report": None if report is None else str(report)}
    if json:
        print_json(data)
    else:
        show_summary(data, make_console())
    if why is not None:
        typer.echo(f"no report: {why}", err=True)


@contextmanager
def live_view(held: RunDirectory) -> Iterator[Any]:
    """A bar for the phase, with rates and the time left, and a line for each phase that is over."""
    from aleazero.cli.progress import progress_bar
    from aleazero.cli.show import make_console

    console = make_console(stderr=True)

    class View:
        """Shows what it is told."""

        def __init__(self) -> None:
            self.bar: Any = None
            self.open: Any = None
            self.began, self.first = time.monotonic(), 0
            measured = [one.results["evaluate"] for one in held.manifest.iterations if one.results.get("evaluate")]
            self.strength = strength_line(measured[-1]) if measured else ""

        def phase(self, iteration: int, of: int, name: str) -> None:
            self.close()
            self.first = self.first or iteration
            unit = {"learn": "rounds", "selfplay": "games", "fit": "steps"}.get(name, "pairs")
            self.open = progress_bar(f"{iteration}/{of} {name}", unit)
            self.bar = self.open.__enter__()

        def progress(self, done: int, of: int | None, note: str) -> None:
            self.bar(done, of, ", ".join(word for word in (note, self.strength and f"so far {self.strength}") if word))

        def ended(self, iteration: int, name: str, results: Mapping[str, Any]) -> None:
            self.close()
            words = phase_line(name, results)
            if name == "evaluate":
                self.strength = strength_line(results) or self.strength
                words += f"; {self.left(iteration)}" if iteration < held.config.iterations else ""
            console.print(f"{iteration:>3}/{held.config.iterations} {name:<9} {words}", highlight=False, soft_wrap=True)

        def left(self, iteration: int) -> str:
            """How long the iterations that are missing will take, by those that this process saw."""
            each = (time.monotonic() - self.began) / (iteration + 1 - self.first)
            evaluate = held.config.evaluate
            then = ", then the champion is measured" if evaluate.final_pairs or evaluate.final_reference_games else ""
            return f"about {each * (held.config.iterations - iteration) / 60:.1f} minutes left{then}"

        def close(self) -> None:
            if self.open is not None:
                self.open.__exit__(None, None, None)
                self.open = None

    view = View()
    try:
        yield view
    finally:
        view.close()


def phase_line(phase: str, results: Mapping[str, Any]) -> str:
    """What a phase came to, in a line."""
    from aleazero.cli.show import mean_text

    if phase == "learn":
        return f"{results['rounds']:,} rounds so far"
    if phase == "selfplay":
        return f"{results['games']:,} games"
    if phase == "fit":
        return f"{results['samples']:,} samples, step {results['step']:,}"
    if phase == "gate":
        if not results["pairs"]:
            return "the first champion"
        verdict = "promoted" if results["promoted"] else "kept the champion"
        scored = mean_text(results["score"], ".1%")
        if "gain" in results:
            form = "+,.0f" if abs(results["gain"]["mean"]) >= 1000 else "+.3g"
            scored = f"{mean_text(results['gain'], form)} ahead"
        return f"{verdict}: {scored} in {results['pairs']:,} pairs"
    said = strength_line(results) or "not measured"
    return f"champion: network {results['network']}, {said}" if phase == "final" else said


def strength_line(results: Mapping[str, Any]) -> str:
    """What was measured, in a line."""
    from aleazero.runs.summary import percent

    parts = [f"{name} {percent(part)}" for name, part in results.get("opponents", {}).items()]
    for name in ("score", "regret", "regret_per_game"):
        if name in results:
            mean = results[name]["mean"]
            parts.append(f"{name.replace('_', ' ')} {f'{mean:,.0f}' if mean >= 1000 else f'{mean:.4g}'}")
    return ", ".join(parts)


def show_summary(data: Mapping[str, Any], console: Any) -> None:
    """The table at the end."""
    from rich.text import Text

    from aleazero.cli.show import facts_table

    table = facts_table()
    for name, text in data["lines"].items():
        table.add_row(name, Text(text))
    table.add_row("report", Text(data["report"] or "none"))
    console.print(table)


@config_app.command()
def show(config: FileArgument, settings: SetOption = None) -> None:
    """All settings of a run, defaults and what suits the game too. The code of a game file that it names is run."""
    from aleazero.runs.config import in_full, read_config

    typer.echo(printable(in_full(read_config(config, settings or ()))), nl=False)


@config_app.command()
def check(
    configs: Annotated[list[Path], typer.Argument(metavar="CONFIG…", help="Files of settings.", show_default=False)],
    settings: SetOption = None,
) -> None:
    """Validate config files and report the first error. The code of a game file that they name is run."""
    from aleazero.runs.config import read_config

    for config in configs:
        found = read_config(config, settings or ())
        typer.echo(printable(f"{config}: right, {found.load_game()!r} by recipe {found.recipe}"))


@config_app.command()
def schema() -> None:
    """Every setting with its meaning, bounds and default, as a JSON schema."""
    from aleazero.cli.show import print_json
    from aleazero.runs.config import schema as schema_of

    print_json(schema_of())
