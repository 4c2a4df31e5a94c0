"""``aleazero config``: look at, check and explain files of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aleazero.cli.train import SetOption
from aleazero.untrusted import printable

app = typer.Typer(help="Show, check and explain the settings of runs.", no_args_is_help=True)
FileArgument = Annotated[Path, typer.Argument(metavar="CONFIG", help="A file of settings.", show_default=False)]


@app.command()
def show(config: FileArgument, settings: SetOption = None) -> None:
    """All settings of a run, defaults and what suits the game too. The code of a game file that it names is run."""
    from aleazero.runs.config import in_full, read_config

    typer.echo(printable(in_full(read_config(config, settings or ()))), nl=False)


@app.command()
def check(
    configs: Annotated[list[Path], typer.Argument(metavar="CONFIG…", help="Files of settings.", show_default=False)],
    settings: SetOption = None,
) -> None:
    """Validate config files and report the first error. The code of a game file that they name is run."""
    from aleazero.runs.config import read_config

    for config in configs:
        found = read_config(config, settings or ())
        typer.echo(printable(f"{config}: right, {found.load_game()!r} by recipe {found.recipe}"))


@app.command()
def schema() -> None:
    """Every setting with its meaning, bounds and default, as a JSON schema."""
    from aleazero.cli.show import print_json
    from aleazero.runs.config import schema as schema_of

    print_json(schema_of())
