"""Run a benchmark: ``python -m benchmarks NAME``."""

from __future__ import annotations

import typer

from aleazero.cli.errors import OneLineErrors
from aleazero.cli.main import run
from benchmarks.api import api
from benchmarks.chance.command import chance
from benchmarks.engine import engine
from benchmarks.forest import forest
from benchmarks.output import FileAfterJson
from benchmarks.search import search
from benchmarks.selfplay import selfplay
from benchmarks.web import web
from benchmarks.yatzy.command import yatzy

app = typer.Typer(
    cls=OneLineErrors,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for benchmark in (search, forest, selfplay, chance, yatzy, engine, api, web):
    app.command(cls=FileAfterJson)(benchmark)


@app.callback()
def benchmarks() -> None:
    """Measure the speed of AleaZero, compare it with other libraries, and compare chance modes with exact values."""


@app.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []})
def ceiling(context: typer.Context) -> None:
    """Measure the search's share of the speed of the same search in C++."""
    from benchmarks.ceiling.__main__ import main

    raise typer.Exit(main(context.args))


if __name__ == "__main__":
    run(app, "python -m benchmarks")
