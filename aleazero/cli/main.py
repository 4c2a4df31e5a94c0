"""The command's entry point: the verbs, and how errors end it.

numpy, numba, pydantic and the search are imported inside the verbs only, so that ``--help`` answers at once.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

import aleazero
from aleazero.cli.options import USER_ERROR, OneLineErrors, error_line, one_line
from aleazero.cli.verbs import analyse, bench, evaluate, games, match, play, replay, runs, selfplay, train, yatzy
from aleazero.files import reason

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with `aleazero games`, then `aleazero analyse pig`, then `aleazero play pig`.",
)
app.command("games")(games.games)
app.command("champions")(games.champions)
app.command("analyse")(analyse.analyse)
app.command("play")(play.play)
app.command("check")(games.check)
app.command("selfplay")(selfplay.selfplay)
app.command("fit")(selfplay.fit)
app.command("train")(train.train)
app.command("resume")(train.resume)
app.command("report")(runs.report)
app.command("match")(match.match)
app.command("gate")(match.gate)
app.command("watch")(play.watch)
evaluate.app.command("solitaire")(yatzy.solitaire)
app.add_typer(evaluate.app, name="evaluate")
app.add_typer(runs.app, name="runs")
app.add_typer(train.config_app, name="config")
oracle = typer.Typer(no_args_is_help=True, help="Show exact values, and play by them.")
oracle.add_typer(yatzy.oracle, name="yatzy")
app.add_typer(oracle, name="oracle")
app.add_typer(replay.app, name="replay")
app.command("bench")(bench.bench)
app.add_typer(games.cache_app, name="cache")
app.command("demo")(games.demo)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aleazero {aleazero.__version__}")
        raise typer.Exit


@app.callback()
def aleazero_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """AlphaZero for games of chance: rules in Python, searched at native speed with explicit chance nodes."""


def run(command: typer.Typer = app, name: str = "aleazero") -> None:
    """Run the command; letters that cannot be shown, or bytes that are no letters, are replaced."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(_flushed(_run(command, name)))


def _flushed(code: int) -> int:
    """Write what is left of the output; an error if that cannot be, which Python would show again when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not code:
                typer.echo(f"error: cannot write the output: {reason(error)}", err=True)
            code = code or USER_ERROR
    return code


def _run(command: typer.Typer, name: str) -> int:
    try:
        code = command(prog_name=name, standalone_mode=False)
    except typer.Abort:
        return 130
    except Exception as error:
        if not hasattr(error, "format_message"):
            if (said := error_line(error)) is None:
                raise
            typer.echo(f"error: {said}", err=True)
            return USER_ERROR
        said = error.format_message().rstrip(".")
        if said:  # a group of verbs without a verb has shown its help already
            typer.echo(f"error: {one_line(said)}; `{_command_of(error, name)} --help` shows what there is", err=True)
        return USER_ERROR
    return code if isinstance(code, int) else 0


def _command_of(error: Exception, name: str) -> str:
    """The command that an error of usage belongs to, as it is typed."""
    names, context = [], getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.append(context.info_name)
        context = context.parent
    return " ".join((name, *reversed(names)))


if __name__ == "__main__":
    run()
