"""``aleazero serve``: servers for other programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from aleazero.cli.options import option
from aleazero.errors import ConfigError
from aleazero.untrusted import printable


def api(
    host: Annotated[
        str, option("--host", "ADDRESS", "Address to listen on. Any other than 127.0.0.1 requires a token.")
    ] = "127.0.0.1",
    port: Annotated[int, option("--port", "PORT", "Port to listen on; 0 for a free one.", min=0, max=65535)] = 8000,
    token_file: Annotated[
        Path | None,
        option(
            "--token-file",
            "FILE",
            "File with a token that every request must have.",
            show_default="the environment variable ALEAZERO_API_TOKEN; without it, no token",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host", "NAME", "Accept this name in the Host header of requests. Can be repeated."),
    ] = None,
    game_file: Annotated[
        list[str] | None,
        option(
            "--game-file",
            "FILE",
            "Let clients use your own game, `path/file.py` or `path/file.py:NAME`, by its name, or with `NAME=FILE` by "
            "another one. Can be repeated.",
        ),
    ] = None,
    net: Annotated[
        list[str] | None,
        option("--net", "FILE", "Let clients use this network as `net:NAME`; `FILE` or `NAME=FILE`. Can be repeated."),
    ] = None,
    runs: Annotated[Path | None, option("--runs", "FOLDER", "Let clients read the runs in this folder.")] = None,
    sessions: Annotated[
        Path | None,
        option("--sessions", "FOLDER", "Folder for idle sessions.", show_default="in the user's state folder"),
    ] = None,
    workers: Annotated[
        int | None,
        option("--workers", "N", "Processes for searches.", show_default="twice the number of cores", min=1),
    ] = None,
    limit: Annotated[
        list[str] | None,
        option("--limit", "KEY=VALUE", "Change a limit, e.g. `sims=100000`. Can be repeated; see the documentation."),
    ] = None,
) -> None:
    """Serve the HTTP API until Ctrl-C.

    Clients cannot name files: games and networks in files, and the folder of runs, are named here. Searches run in
    processes of their own and can be cancelled. The description of the API is at /api/v1/openapi.json.

    **Examples**

    - `aleazero serve api`

    - `aleazero serve api --game-file my_game.py --runs runs --limit seconds=10`

    - `aleazero serve api --host 0.0.0.0 --allow-host box.example --token-file token.txt`
    """
    from aleazero.serving.api.settings import ApiSettings, read_limits, read_token
    from aleazero.serving.requests import Sources

    if runs is not None and not runs.is_dir():
        raise ConfigError(f"--runs is {str(runs)!r}, expected a folder")
    settings = ApiSettings(
        host=host,
        port=port,
        token=read_token(token_file),
        host_names=tuple(allow_host or ()),
        sources=Sources.read(game_file or (), net or ()),
        runs=runs,
        sessions=sessions,
        workers=workers or 2 * (os.cpu_count() or 1),
        limits=read_limits(limit or ()),
    )
    try:
        from aleazero.serving.api.app import make_app
        from aleazero.serving.api.server import serve
    except ImportError as error:
        raise ConfigError(f"{error.name} is not installed, install it with: pip install 'aleazero[web]'") from None
    serve(make_app(settings), settings, lambda address: typer.echo(printable(f"listening on {address}"), err=True))
