"""Entry point of the command line: the table of commands, their help, and the exit code.

numpy, numba, pydantic and the search are imported inside the commands only, so that ``--help`` is quick.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import aleazero
from aleazero.cli.errors import USER_ERROR, OneLineErrors, error_line, one_line
from aleazero.cli.verbs import (
    analyse,
    backgammon,
    bench,
    engine,
    evaluate,
    games,
    match,
    play,
    replay,
    review,
    runs,
    selfplay,
    serve,
    train,
    yatzy,
)
from aleazero.files import reason

COMMANDS: dict[str, dict[str, tuple[Any, str]]] = {
    "Play and analyse": {
        "play": (play.play, "start/quickstart.md"),
        "web": (serve.web, "guides/playground.md"),
        "analyse": (analyse.analyse, "guides/search.md"),
        "watch": (play.watch, "guides/evaluation.md"),
        "review": (review.review, "guides/review.md"),
        "engine": (engine.engine, "guides/engine.md"),
        "games": (games.games, "games/index.md"),
        "check": (games.check, "guides/games.md"),
        "demo": (games.demo, "start/quickstart.md"),
    },
    "Train": {
        "train": (train.train, "guides/runs.md"),
        "resume": (train.resume, "guides/runs.md"),
        "report": (runs.report, "guides/runs.md"),
        "runs": (
            {"list": runs.list_runs, "show": runs.show, "compare": runs.compare, "tensorboard": runs.tensorboard},
            "guides/runs.md",
        ),
        "config": (
            {
                "new": train.new_config,
                "show": train.show_config,
                "check": train.check_config,
                "schema": train.config_schema,
            },
            "reference/config.md",
        ),
        "models": (games.models, "benchmarks/training.md"),
    },
    "Evaluate": {
        "match": (match.match, "guides/players.md"),
        "gate": (match.gate, "guides/evaluation.md"),
        "evaluate": (
            {
                "strength": evaluate.strength,
                "regret": evaluate.regret,
                "errors": evaluate.errors,
                "solitaire": yatzy.solitaire,
            },
            "guides/evaluation.md",
        ),
        "oracle": (
            {
                "yatzy": {"expected": yatzy.expected, "show": yatzy.show, "simulate": yatzy.simulate},
                "bearoff": {"build": backgammon.build, "show": backgammon.show, "check": backgammon.check},
            },
            "guides/oracles.md",
        ),
    },
    "Data": {
        "selfplay": (selfplay.selfplay, "guides/alphazero.md"),
        "fit": (selfplay.fit, "guides/alphazero.md"),
        "replay": ({"show": replay.show, "check": replay.check}, "reference/formats.md"),
    },
    "Tools": {
        "serve": ({"api": serve.api}, "guides/api.md"),
        "bench": (bench.bench, "guides/forest.md"),
        "cache": ({"info": games.cache_info, "clear": games.cache_clear}, "start/install.md"),
    },
}
"""Commands by panel and name: the function, or the functions of a group by name, and the page of the documentation."""
GROUPS = {
    "runs": "List, show and compare runs.",
    "config": "Write, show and check config files.",
    "evaluate": "Measure the strength of a player.",
    "oracle": "Show exact values of one-player Yatzy and of backgammon bear-offs.",
    "yatzy": "Show exact values of one-player Yatzy. The first use computes a table, which takes a few seconds.",
    "bearoff": "Show exact values of backgammon bear-offs. The first use computes a table, which takes a few seconds.",
    "serve": "Serve games, searches and runs to other programs.",
    "replay": "Show and check training samples.",
    "cache": "Show or delete the compiled code on disk.",
}
DOCS = "https://aleazero.github.io/aleazero/"
HELP: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}


class PlainHelp:
    """Help without Python types and ranges; the usage line shows GAME instead of {GAME}."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in params:
            parameter._get_number_range_help_str = lambda: None
            if isinstance(getattr(parameter, "show_default", None), str):  # typer would put it in parentheses
                parameter._get_default_string = lambda text=parameter.show_default, **_: text
            if parameter.param_type_name == "argument" or parameter.is_flag:
                parameter.display_type_rich = lambda ctx: None
        return params

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line."""
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]
        return [piece.replace("{", "").replace("}...", "").replace("}", "") for piece in pieces]


class Command(PlainHelp, TyperCommand):
    """A command with plain help."""


class Group(PlainHelp, OneLineErrors):
    """A group of commands with plain help."""


app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    epilog="Start with `aleazero play yatzy` and `aleazero analyse pig`. Documentation: " + DOCS,
    **HELP,
)


def _add(parent: typer.Typer, name: str, what: Any, page: str, **more: Any) -> None:
    """Add a command, or a group of commands, to its parent."""
    epilog = f"Documentation: {DOCS}{page.removesuffix('index.md').removesuffix('.md').rstrip('/')}/"
    if callable(what):
        parent.command(name, cls=Command, epilog=epilog, **more)(what)
        return
    group = typer.Typer(cls=Group, no_args_is_help=True, help=GROUPS[name], epilog=epilog, **HELP)
    for inner, one in what.items():
        _add(group, inner, one, page)
    parent.add_typer(group, name=name, **more)


for _panel, _commands in COMMANDS.items():
    for _name, (_what, _page) in _commands.items():
        _add(app, _name, _what, _page, rich_help_panel=_panel)
_add(app, "analyze", analyse.analyse, "guides/search.md", hidden=True)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"aleazero {aleazero.__version__}")
        raise typer.Exit


@app.callback()
def aleazero_command(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes on stderr.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show debug messages and tracebacks.")] = False,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Play, analyse and train players for games with dice and other chance events."""
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose are both given, expected only one of them")
    logger = logging.getLogger("aleazero")
    logger.setLevel(logging.ERROR if quiet else logging.DEBUG if verbose else logging.WARNING)
    logger.handlers = [handler for handler in logger.handlers if not isinstance(handler, Notes)] + [Notes()]


class Notes(logging.Handler):
    """Prints log messages to stderr, each one once."""

    def __init__(self) -> None:
        super().__init__()
        self.printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print a message."""
        text = record.getMessage()
        if text not in self.printed:
            self.printed.add(text)
            typer.echo(one_line(text), err=True)


def run(command: typer.Typer = app, name: str = "aleazero") -> None:
    """Run the command and exit. Characters that the terminal lacks, and bytes that are not text, are replaced."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(_flushed(_run(command, name)))


def _run(command: typer.Typer, name: str) -> int:
    """Run the command and return the exit code."""
    try:
        code = command(prog_name=name, standalone_mode=False)
    except typer.Abort:
        return 130
    except Exception as error:
        if hasattr(error, "format_message"):  # an error of usage; empty if a group has printed its help
            if message := error.format_message().rstrip("."):
                see = " See" if message.endswith("?") else "; see"
                typer.echo(f"error: {one_line(message)}{see} `{_command_of(error, name)} --help`", err=True)
        elif line := error_line(error):
            typer.echo(f"error: {line}", err=True)
        else:
            raise
        return USER_ERROR
    return code if isinstance(code, int) else 0


def _command_of(error: Exception, name: str) -> str:
    """Return the command that a usage error belongs to, as it is typed."""
    names, context = [], getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.append(context.info_name)
        context = context.parent
    return " ".join((name, *reversed(names)))


def _flushed(code: int) -> int:
    """Flush the output; return an error code if that fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python would report the error again
            if not code:
                typer.echo(f"error: cannot write the output: {reason(error)}", err=True)
            code = code or USER_ERROR
    return code


if __name__ == "__main__":
    run()
