"""``aleazero train``, ``resume`` and ``config``: training runs from a config file or for a game, and their settings."""

from __future__ import annotations

import logging
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.errors import blame_rules
from aleazero.cli.options import (
    OPENSPIEL,
    GameArgument,
    JsonFlag,
    ParamOption,
    WorkersOption,
    argument,
    cores,
    option,
    read_params,
    refuse_ignored,
)
from aleazero.errors import ConfigError
from aleazero.untrusted import path_exists, printable

if TYPE_CHECKING:
    from aleazero.runs.config import RunConfig
    from aleazero.runs.directory import RunDirectory

log = logging.getLogger("aleazero")
MINUTES = 6.0
"""Default of ``--minutes``."""
YAML = (".yaml", ".yml")
WIDTH = 100
"""Width of a new config file."""
SetOption = Annotated[
    list[str] | None,
    option("--set", "KEY=VALUE", "Change a setting, e.g. `seed=3` or `gate.pairs=200`. Can be repeated."),
]
ExtendOption = Annotated[
    list[str] | None, option("--set", "KEY=VALUE", "Change a setting, e.g. `iterations=12`. Can be repeated.")
]
FileArgument = Annotated[Path, argument("FILE", "Config file.")]


def train(
    context: typer.Context,
    what: Annotated[
        str,
        argument(
            "CONFIG|GAME",
            "Config file in YAML, or a game: a name from `aleazero games`, also as `'pig(target=50)'`, or your "
            "own as `path/file.py` or `path/file.py:NAME`.",
        ),
    ],
    out: Annotated[
        Path | None,
        option("--out", "DIR", "Directory of the run.", show_default="runs/ and the name of the file or game"),
    ] = None,
    minutes: Annotated[
        float | None,
        option(
            "--minutes",
            "MINUTES",
            "Training time of a GAME, without evaluation.",
            show_default=f"{MINUTES:.0f}",
            min=0.01,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        option("--rounds", "N", "Training rounds (steps) of a GAME, instead of minutes.", min=1),
    ] = None,
    seed: Annotated[
        int | None,
        option(
            "--seed",
            "SEED",
            "Random seed for a GAME. The same seed and rounds give the same network.",
            show_default="0",
            min=0,
        ),
    ] = None,
    param: ParamOption = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Train a player for a game or from a config file.

    A run trains networks, tests them in gates, evaluates them and writes a report. All files are written to the
    directory of the run. After Ctrl-C or a crash, the same command or `aleazero resume RUN` continues, with the same
    results as without the interruption.

    For a GAME, the run uses the recipe `afterstate` and by default has one iteration, without a gate. Play with the
    network in `DIR/models/0001.safetensors` as `net:FILE`. `aleazero config new GAME` writes a config file with all
    settings. With a CONFIG, `--minutes`, `--rounds`, `--seed` and `--param` are errors; use `--set`.

    **Examples**

    - `aleazero train configs/yatzy_quick.yaml`

    - `aleazero train configs/pig.yaml --out runs/pig3 --set seed=3`

    - `aleazero train yatzy --minutes 5`

    - `aleazero train 'yatzy(players=1)' --minutes 2 --out runs/solo --set afterstate.target=td`

    - `aleazero train my_game.py --set iterations=4`
    """
    from aleazero.games.registry import parse_game_text
    from aleazero.runs.config import read_config

    if what.endswith(YAML):
        why = f"{what} has the settings, expected --set"
        ignored = {name: f"{why} {name}=VALUE" for name in ("minutes", "rounds", "seed")}
        refuse_ignored(context, {**ignored, "param": f"{why} params.KEY=VALUE"})
        config, name = read_config(Path(what), settings or ()), what
    else:
        options = {"minutes": minutes, "rounds": rounds, "seed": seed}
        with blame_rules(what):
            config, name = config_of_game(what, param or [], options, settings or []), parse_game_text(what)[0]
    _train_and_report(out or Path("runs") / Path(name.partition(":")[0]).stem, config, workers, json)


def config_of_game(game: str, params: Sequence[str], options: Mapping[str, Any], changes: Sequence[str]) -> RunConfig:
    """Return the settings of a run without a config file.

    Args:
        game: text of the game. The path of a file becomes absolute, so that a run can be resumed from any directory.
        params: further parameters of the game as ``KEY=VALUE``.
        options: values of ``minutes``, ``rounds`` and ``seed``; None for an option that is not given.
        changes: settings as ``key.inner=value``.
    """
    from aleazero.evaluation.strength import can_measure
    from aleazero.games.registry import parse_game_text
    from aleazero.runs.config import apply_change, check_config, file_near, make_config

    if game.startswith(OPENSPIEL):
        raise ConfigError(f"GAME is {game!r}, expected a bundled game or your own: OpenSpiel's cannot be trained")
    given = {name: value for name, value in options.items() if value is not None}
    if {"minutes", "rounds"} <= given.keys():
        raise ConfigError("--minutes and --rounds are both given, expected only one of them")
    name, found = parse_game_text(game)
    more = read_params(params)
    for key in found.keys() & more.keys():
        raise ConfigError(f"GAME is {game!r} and --param sets {key} too, expected only one of them")
    file, colon, inner = name.partition(":")
    data: dict[str, Any] = {"game": f"{file_near(Path.cwd(), file)}{colon}{inner}" if file.endswith(".py") else name}
    if found or more:
        data["params"] = {**found, **more}
    data |= given
    for change in changes:
        key = change.partition("=")[0].partition(".")[0].strip()
        if key in data:
            option = {"game": "GAME", "params": "a parameter of the game"}.get(key, f"--{key}")
            raise ConfigError(f"--set is {change!r} and {option} is given too, expected only one of them")
    for change in changes:
        apply_change(data, change)
    if data.get("recipe", "afterstate") == "afterstate":
        data.setdefault("iterations", 1)
        if "rounds" not in data and "minutes" not in data:
            data["minutes"] = MINUTES
    config = make_config(data)
    if config.recipe == "afterstate" and "against" not in config.evaluate.model_fields_set:
        against = () if can_measure(config.load_game()) else ("random",)
        evaluate = config.evaluate.model_copy(update={"against": against})
        config = config.model_copy(update={"evaluate": evaluate})
    check_config(config)
    return config


def resume(
    run: Annotated[Path, argument("RUN", "Directory of a run.")],
    settings: ExtendOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Continue a run that was stopped, or extend a finished one.

    `--set` can increase iterations, rounds or minutes, and change how networks are evaluated and which files are
    kept. Other settings of the training cannot change.

    **Examples**

    - `aleazero resume runs/yatzy_quick`

    - `aleazero resume runs/yatzy_quick --set iterations=12`
    """
    from aleazero.runs.config import read_config
    from aleazero.runs.directory import CONFIG, read_manifest

    read_manifest(run)  # its errors name the missing file
    _train_and_report(run, read_config(run / CONFIG, settings) if settings else None, workers, json)


def _train_and_report(folder: Path, config: RunConfig | None, workers: int | None, json: bool) -> None:
    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.report import why_no_report, write_report
    from aleazero.runs.directory import open_directory
    from aleazero.runs.loop import train as train_run
    from aleazero.runs.summary import summary_of

    with open_directory(folder, config) as run:
        game = run.config.load_game()
        try:
            with blame_rules(run.config.game), _live_view(run) as listener:
                train_run(run, game, workers or cores(), listener)
        except KeyboardInterrupt:
            typer.echo(f"\nstopped; continue with: {printable(f'aleazero resume {folder}')}", err=True)
            raise typer.Exit(130) from None
        why = why_no_report()
        report = write_report(folder) if why is None else None
    data = {**summary_of(folder), "report": None if report is None else str(report)}
    if json:
        print_json(data)
    else:
        from rich.text import Text

        table = facts_table()
        for name, text in {**data["lines"], "report": data["report"] or "none"}.items():
            table.add_row(name, Text(text))
        make_console().print(table)
    if why is not None:
        log.warning("no report: %s", why)


@contextmanager
def _live_view(run: RunDirectory) -> Iterator[_View]:
    """Yield a listener of the run; close its bar at the end."""
    view = _View(run)
    try:
        yield view
    finally:
        view.close()


class _View:
    """Shows a bar for the current phase, with the strength so far below it, and one line per finished phase."""

    def __init__(self, run: RunDirectory) -> None:
        from aleazero.cli.progress import is_quiet
        from aleazero.cli.show import make_console

        self.config = run.config
        self.console = make_console(stderr=True)
        self.console.quiet = is_quiet()
        self.bar: Any = None
        self.began, self.first = time.monotonic(), 0
        measured = [one.results["evaluate"] for one in run.manifest.iterations if one.results.get("evaluate")]
        self.strength = strength_line(measured[-1]) if measured else ""

    def phase(self, iteration: int, of: int, name: str) -> None:
        """Start the bar of a phase."""
        from aleazero.cli.progress import progress_bar

        self.close()
        self.first = self.first or iteration
        unit = {"learn": "rounds", "selfplay": "games", "fit": "steps"}.get(name, "pairs")
        self.bar = progress_bar(f"{iteration}/{of} {name}", unit)
        self.show = self.bar.__enter__()

    def progress(self, done: int, of: int | None, note: str) -> None:
        """Update the bar."""
        strength = f"strength so far: {self.strength}" if self.strength else ""
        self.show(done, of, "; ".join(text for text in (note, strength) if text))

    def ended(self, iteration: int, name: str, results: Mapping[str, Any]) -> None:
        """Print the results of a phase, and after an iteration the time left."""
        self.close()
        of = self.config.iterations
        self.console.print(f"{iteration:>3}/{of} {name:<9} {phase_line(name, results)}", soft_wrap=True)
        if name == "evaluate":
            self.strength = strength_line(results) or self.strength
            if iteration < of:
                self.console.print(f"{iteration:>3}/{of} {'':<9} {self._left(iteration)}", soft_wrap=True)

    def close(self) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.__exit__(None, None, None)
            self.bar = None

    def _left(self, iteration: int) -> str:
        """Estimate the time of the missing iterations from those that this process has seen."""
        from aleazero.cli.show import time_text

        each = (time.monotonic() - self.began) / (iteration + 1 - self.first)
        evaluate = self.config.evaluate
        then = ", then the final evaluation" if evaluate.final_pairs or evaluate.final_reference_games else ""
        return f"about {time_text(max(1, round(each * (self.config.iterations - iteration))))} left{then}"


def phase_line(phase: str, results: Mapping[str, Any]) -> str:
    """Describe the results of a phase in one line."""
    from aleazero.cli.show import mean_text

    if phase == "learn":
        return f"{results['rounds']:,} rounds in total"
    if phase == "selfplay":
        return f"{results['games']:,} games"
    if phase == "fit":
        return f"{results['samples']:,} samples, step {results['step']:,}"
    if phase == "gate":
        if not results["pairs"]:
            return "first champion"
        verdict = "candidate promoted" if results["promoted"] else "champion kept"
        result = f"score {mean_text(results['score'], '.1%')}"
        if "gain" in results:
            form = "+,.0f" if abs(results["gain"]["mean"]) >= 1000 else "+.3g"
            result = f"difference of returns {mean_text(results['gain'], form)}"
        return f"{verdict}: {result}, {results['pairs']:,} pairs"
    strength = strength_line(results) or "not evaluated"
    return f"champion is network {results['network']}, {strength}" if phase == "final" else strength


def strength_line(results: Mapping[str, Any]) -> str:
    """Describe the results of an evaluation in one line."""
    from aleazero.runs.summary import percent

    parts = [f"{name} {percent(part)}" for name, part in results.get("opponents", {}).items()]
    for name in ("score", "regret", "regret_per_game"):
        if name in results:
            mean = results[name]["mean"]
            parts.append(f"{name.replace('_', ' ')} {f'{mean:,.0f}' if mean >= 1000 else f'{mean:.4g}'}")
    return ", ".join(parts)


def new_config(
    game: GameArgument,
    out: Annotated[Path | None, option("--out", "FILE", "File to write.", show_default="standard output")] = None,
    param: ParamOption = None,
    settings: SetOption = None,
) -> None:
    """Write a config file for a game, with every setting and its description.

    `aleazero train FILE` runs it. Values are the defaults for this game; `--set` changes them.

    **Examples**

    - `aleazero config new pig --out pig.yaml`

    - `aleazero config new my_game.py --set minutes=30 --set iterations=4 --out my_game.yaml`
    """
    from aleazero.files import write_file

    if out is not None and path_exists(out):
        raise ConfigError(f"--out is {str(out)!r}, which exists, expected a new file")
    with blame_rules(game):
        text = _commented_config(config_of_game(game, param or [], {}, settings or []))
    if out is None:
        typer.echo(printable(text), nl=False)
    else:
        write_file(out, text.encode(), ConfigError)
        typer.echo(printable(f"written to {out}; train with: aleazero train {out}"))


def _commented_config(config: RunConfig) -> str:
    """Return all settings of a run as YAML, each below a comment with its description."""
    game = config.load_game()
    recipe = config.learning(game) if config.recipe == "afterstate" else config.alphazero
    values = {**dict(config), "params": game.params, config.recipe: recipe}
    lines = ["# Settings of a training run. Reference: `aleazero config schema`. Check: `aleazero config check FILE`."]
    for name, field in type(config).model_fields.items():
        if name not in ("afterstate", "alphazero") or name == config.recipe:
            lines += ["", *_setting(name, values[name], field.description, "")]
    return "\n".join(lines) + "\n"


def _setting(name: str, value: Any, description: str | None, indent: str) -> Iterator[str]:
    """Yield the lines of one setting; nested settings are indented below it."""
    import yaml
    from pydantic import BaseModel

    from aleazero.runs.config import RUN_LEVEL

    yield from textwrap.wrap(description or "", WIDTH, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")
    if isinstance(value, BaseModel):
        yield f"{indent}{name}:"
        for inner, field in type(value).model_fields.items():
            if inner not in RUN_LEVEL:  # a file has them only once, at the top
                yield from _setting(inner, getattr(value, inner), field.description, f"{indent}  ")
    else:
        plain = list(value) if isinstance(value, tuple) else value
        text = yaml.safe_dump(plain, default_flow_style=True, allow_unicode=True, width=10**6)
        yield f"{indent}{name}: {text.strip().removesuffix('...').strip()}"


def show_config(config: FileArgument, settings: SetOption = None) -> None:
    """Show the full configuration of a config file, including defaults and game-specific values.

    The code of a game file named by the config is executed.

    **Example**

    - `aleazero config show configs/pig.yaml --set seed=3`
    """
    from aleazero.runs.config import in_full, read_config

    typer.echo(printable(in_full(read_config(config, settings or ()))), nl=False)


def check_config(
    configs: Annotated[list[Path], argument("FILE…", "Config files.")],
    settings: SetOption = None,
) -> None:
    """Validate config files and report the first error.

    The code of a game file named by a config is executed.

    **Example**

    - `aleazero config check configs/*.yaml`
    """
    from aleazero.runs.config import read_config

    for config in configs:
        found = read_config(config, settings or ())
        typer.echo(printable(f"{config}: valid, {found.load_game()!r}, recipe {found.recipe}"))


def config_schema() -> None:
    """Print the JSON schema of config files: every setting with its description, bounds and default."""
    from aleazero.cli.show import print_json
    from aleazero.runs.config import schema

    print_json(schema())
