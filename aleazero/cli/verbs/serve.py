"""``aleazero serve api`` and ``aleazero web``: servers for other programs and for people."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aleazero.cli.options import argument, option
from aleazero.errors import ConfigError
from aleazero.untrusted import printable

if TYPE_CHECKING:
    from aleazero.serving.api.settings import ApiSettings
    from aleazero.serving.requests import Sources

PLAYGROUND_LIMITS: Final = {"load_seconds": 300, "waiting": 200}
"""Other defaults of the playground: the first search of a game compiles it, and a page starts up to three tasks."""

HostOption = Annotated[
    str, option("--host", "ADDRESS", "Address to listen on. Any other than 127.0.0.1 requires a token.")
]
TokenOption = Annotated[
    Path | None,
    option(
        "--token-file",
        "FILE",
        "File with a token that every client must have.",
        show_default="the environment variable ALEAZERO_API_TOKEN; without it, no token",
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    option("--allow-host", "NAME", "Accept this name in the Host header of requests. Can be repeated."),
]
NetOption = Annotated[
    list[str] | None,
    option("--net", "FILE", "Offer this network as `net:NAME`; `FILE` or `NAME=FILE`. Can be repeated."),
]
RunsOption = Annotated[Path | None, option("--runs", "FOLDER", "Show the training runs in this folder.")]
SessionsOption = Annotated[
    Path | None,
    option("--sessions", "FOLDER", "Folder for saved games.", show_default="in the user's state folder"),
]
WorkersOption = Annotated[
    int | None,
    option("--workers", "N", "Processes for searches.", show_default="twice the number of cores", min=1),
]
LimitOption = Annotated[
    list[str] | None,
    option(
        "--limit",
        "KEY=VALUE",
        "Change a limit, e.g. `sims=100000`. Can be repeated; the guide of the HTTP API lists all limits.",
    ),
]


def api(
    host: HostOption = "127.0.0.1",
    port: Annotated[int, option("--port", "PORT", "Port to listen on; 0 for a free one.", min=0, max=65535)] = 8000,
    token_file: TokenOption = None,
    allow_host: AllowHostOption = None,
    game_file: Annotated[
        list[str] | None,
        option(
            "--game-file",
            "FILE",
            "Let clients use your own game, `path/file.py` or `path/file.py:NAME`, by its name, or with `NAME=FILE` by "
            "another one. Can be repeated.",
        ),
    ] = None,
    net: NetOption = None,
    runs: RunsOption = None,
    sessions: SessionsOption = None,
    workers: WorkersOption = None,
    limit: LimitOption = None,
) -> None:
    """Serve the HTTP API until Ctrl-C.

    Clients cannot name files: games and networks in files, and the folder of runs, are named here. Searches run in
    processes of their own and can be cancelled. The description of the API is at /api/v1/openapi.json.

    **Examples**

    - `aleazero serve api`

    - `aleazero serve api --game-file my_game.py --runs runs --limit seconds=10`

    - `aleazero serve api --host 0.0.0.0 --allow-host box.example --token-file token.txt`
    """
    from aleazero.serving.requests import Sources

    sources = Sources.read(game_file or (), net or ())
    settings = _settings(sources, host, port, token_file, allow_host, runs, sessions, workers, limit or ())
    try:
        from aleazero.serving.api.app import make_app
        from aleazero.serving.api.server import serve
    except ImportError as error:
        raise _not_installed(error) from None
    serve(make_app(settings), settings, lambda address: typer.echo(printable(f"listening on {address}"), err=True))


def web(
    games: Annotated[
        list[str] | None,
        argument(
            "GAME",
            "Games to show: names from `aleazero games`, with parameters as `'pig(target=50)'`, or your own as "
            "`path/file.py`. Without any, all bundled games are shown.",
        ),
    ] = None,
    host: HostOption = "127.0.0.1",
    port: Annotated[
        int, option("--port", "PORT", "Port to listen on.", show_default="a free one", min=0, max=65535)
    ] = 0,
    open_browser: Annotated[
        bool, option("--open/--no-open", "", "Open the page in the browser.", show_default=True)
    ] = True,
    token_file: TokenOption = None,
    allow_host: AllowHostOption = None,
    net: NetOption = None,
    runs: RunsOption = None,
    sessions: SessionsOption = None,
    workers: WorkersOption = None,
    limit: LimitOption = None,
) -> None:
    """Play, analyse and learn about chance in a browser.

    Starts a server on this machine, prints its address and opens it. Ctrl-C ends it; games are saved. The HTTP API of
    `aleazero serve api` is at /api/v1 of the same address.

    **Examples**

    - `aleazero web`

    - `aleazero web yatzy my_game.py`

    - `aleazero web --host 0.0.0.0 --allow-host box.example --token-file token.txt --no-open`
    """
    from aleazero.serving.requests import Sources

    files, names = _split(games or ())
    sources = Sources.read(files, net or ())
    folder = sessions or _session_folder()
    settings = _settings(
        sources, host, port, token_file, allow_host, runs, folder, workers, limit or (), **PLAYGROUND_LIMITS
    )
    try:
        from aleazero.web.app import make_app
        from aleazero.web.server import serve
    except ImportError as error:
        raise _not_installed(error) from None
    serve(
        make_app(settings, (*sources.games, *names) if games else ()),
        settings,
        lambda address: typer.echo(printable(f"the playground is at {address}, Ctrl-C ends it"), err=True),
        open_browser,
    )


def _settings(
    sources: Sources,
    host: str,
    port: int,
    token_file: Path | None,
    allow_host: Sequence[str] | None,
    runs: Path | None,
    sessions: Path | None,
    workers: int | None,
    limits: Sequence[str],
    **defaults: float,
) -> ApiSettings:
    from aleazero.serving.api.settings import ApiSettings, read_limits, read_token

    if runs is not None and not runs.is_dir():
        raise ConfigError(f"--runs is {str(runs)!r}, expected a folder")
    return ApiSettings(
        host=host,
        port=port,
        token=read_token(token_file),
        host_names=tuple(allow_host or ()),
        sources=sources,
        runs=runs,
        sessions=sessions,
        workers=workers or 2 * (os.cpu_count() or 1),
        limits=read_limits(limits, **defaults),
    )


def _not_installed(error: ImportError) -> ConfigError:
    return ConfigError(f"{error.name} is not installed, install it with: pip install 'aleazero[web]'")


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
