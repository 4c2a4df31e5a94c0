"""``aleazero train`` and ``aleazero resume``: a run, from one file to a stronger player."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.cli.options import JsonFlag, cores
from aleazero.untrusted import printable

if TYPE_CHECKING:
    from aleazero.runs.directory import RunDirectory

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Another setting than the file's, e.g. `seed=3`, `gate.pairs=200`."
    ),
]
WorkersOption = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes [default: the cores]; results do not change.", min=1),
]  # fmt: skip


def train(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A file of settings.", show_default=False)],
    run: Annotated[
        Path | None,
        typer.Option("--run", metavar="DIR", help="Directory of the run [default: runs/ and the file's name]."),
    ] = None,
    settings: SetOption = None,
    workers: WorkersOption = None,
    json: JsonFlag = False,
) -> None:
    """Train a player from a file of settings: networks, gates, evaluations, and a report.

    Everything goes into the run's directory. Ctrl-C, or a power cut, loses nothing that was finished: the same command,
    or `aleazero resume DIR`, goes on, and ends as if nothing had happened.

    **Examples**

    - `aleazero train configs/yatzy_quick.yaml`

    - `aleazero train configs/pig.yaml --run runs/pig3 --set seed=3`
    """
    from aleazero.runs.config import read_config

    folder = run or Path("runs") / config.stem
    _go(folder, read_config(config, settings or ()), workers, json)


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
    _go(run, read_config(run / CONFIG, settings) if settings else None, workers, json)


def _go(folder: Path, config: Any, workers: int | None, json: bool) -> None:
    from aleazero.cli.failure import rules_of
    from aleazero.cli.show import make_console, print_json
    from aleazero.runs.directory import open_directory
    from aleazero.runs.loop import train as train_run
    from aleazero.runs.report import why_no_report, write_report
    from aleazero.runs.summary import summary_of

    with open_directory(folder, config) as held:
        game = held.config.load_game()
        try:
            with rules_of(held.config.game), live_view(held) as listener:
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
            self.strength = strength_in_words(measured[-1]) if measured else ""

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
            words = in_words(name, results)
            if name == "evaluate":
                self.strength = strength_in_words(results) or self.strength
                words += f"; {self.left(iteration)}" if iteration < held.config.iterations else ""
            console.print(f"{iteration:>3}/{held.config.iterations} {name:<9} {words}", highlight=False, soft_wrap=True)

        def left(self, iteration: int) -> str:
            """How long the iterations that are missing will take, by those that this process saw."""
            each = (time.monotonic() - self.began) / (iteration + 1 - self.first)
            evaluate = held.config.evaluate
            then = ", then the champion is measured" if evaluate.final_pairs or evaluate.final_games else ""
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


def in_words(phase: str, results: Mapping[str, Any]) -> str:
    """What a phase came to, in a line."""
    from aleazero.cli.show_pairs import mean_text

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
    said = strength_in_words(results) or "not measured"
    return f"champion: network {results['network']}, {said}" if phase == "final" else said


def strength_in_words(results: Mapping[str, Any]) -> str:
    """What was measured, in a line."""
    parts = [f"{name} {part['mean']:.1%}" for name, part in results.get("opponents", {}).items()]
    if "oracle" in results:
        parts.append(f"oracle {results['oracle']['mean']:.2%}")
    for name in ("score", "regret", "regret_a_game"):
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
