"""``aleazero web``: the playground in a browser."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from aleazero.cli.options import argument, option
from aleazero.errors import ConfigError
from aleazero.untrusted import printable

MOST_LOAD_SECONDS: Final = 300.0
"""Seconds for loading and compiling a game: the first search of a game compiles it."""


def web(
    games: Annotated[
        list[str] | None,
        argument(
            "[GAME]...",
            "Games to show: names from `aleazero games`, with parameters as `'pig(target=50)'`, or your own as "
            "`path/file.py`. Without any, all bundled games are shown.",
        ),
    ] = None,
    host: Annotated[
        str, option("--host", "ADDRESS", "Address to listen on. Any other than 127.0.0.1 requires a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, option("--port", "PORT", "Port to listen on.", show_default="a free one", min=0, max=65535)
    ] = 0,
    open_browser: Annotated[
        bool, option("--open/--no-open", "", "Open the page in the browser.", show_default=True)
    ] = True,
    token_file: Annotated[
        Path | None,
        option(
            "--token-file",
            "FILE",
            "File with a token that the address of the page must have.",
            show_default="the environment variable ALEAZERO_API_TOKEN; without it, no token",
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        option("--allow-host", "NAME", "Accept this name in the Host header of requests. Can be repeated."),
    ] = None,
    net: Annotated[
        list[str] | None,
        option("--net", "FILE", "Offer this network as `net:NAME`; `FILE` or `NAME=FILE`. Can be repeated."),
    ] = None,
    runs: Annotated[Path | None, option("--runs", "FOLDER", "Show the training runs in this folder.")] = None,
    sessions: Annotated[
        Path | None,
        option("--sessions", "FOLDER", "Folder for saved games.", show_default="in the user's state folder"),
    ] = None,
    workers: Annotated[
        int | None,
        option("--workers", "N", "Processes for searches.", show_default="twice the number of cores", min=1),
    ] = None,
    limit: Annotated[
        list[str] | None,
        option("--limit", "KEY=VALUE", "Change a limit, e.g. `sims=100000`. Can be repeated; see `serve api`."),
    ] = None,
) -> None:
    """Play, analyse and learn about chance in a browser.

    Starts a server on this machine, prints its address and opens it. Ctrl-C ends it; games are saved. The HTTP API of
    `aleazero serve api` is at /api/v1 of the same address.

    **Examples**

    - `aleazero web`

    - `aleazero web yatzy my_game.py`

    - `aleazero web --host 0.0.0.0 --allow-host box.example --token-file token.txt --no-open`
    """
    from aleazero.serving.api.settings import ApiSettings, read_limits, read_token
    from aleazero.serving.requests import Sources

    if runs is not None and not runs.is_dir():
        raise ConfigError(f"--runs is {str(runs)!r}, expected a folder")
    files, names = _split(games or ())
    sources = Sources.read(files, net or ())
    settings = ApiSettings(
        host=host,
        port=port,
        token=read_token(token_file),
        host_names=tuple(allow_host or ()),
        sources=sources,
        runs=runs,
        sessions=sessions or _session_folder(),
        workers=workers or 2 * (os.cpu_count() or 1),
        limits=read_limits([f"load_seconds={MOST_LOAD_SECONDS}", *(limit or ())])
        if not any(text.startswith("load_seconds=") for text in limit or ())
        else read_limits(limit or ()),
    )
    try:
        from aleazero.web.app import make_app
        from aleazero.web.server import serve
    except ImportError as error:
        raise ConfigError(f"{error.name} is not installed, install it with: pip install 'aleazero[web]'") from None
    shown = (*sources.games, *names) if games else ()
    serve(
        make_app(settings, shown),
        settings,
        lambda address: typer.echo(printable(f"the playground is at {address}, Ctrl-C ends it"), err=True),
        open_browser,
    )


def _split(games: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files and the names in the arguments.

    Raises:
        ConfigError: a name is not that of a game, or a file does not exist.
    """
    from aleazero.errors import UnknownGameError, nearest
    from aleazero.games.registry import game_names, parse_game_text

    files, names = [], []
    for text in games:
        if ".py" in text:
            path = text.partition("=")[2] or text
            if not Path(path.partition(".py:")[0].removesuffix(".py") + ".py").is_file():
                raise ConfigError(f"{text} does not exist, expected the file of a game")
            files.append(text)
        else:
            name = parse_game_text(text)[0]
            if name not in game_names():
                raise UnknownGameError(f"no game {name!r}, {nearest(name, game_names())}")
            names.append(text)
    return files, names


def _session_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_state_dir("aleazero")) / "playground"
