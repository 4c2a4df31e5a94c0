"""``aleazero engine``: answer requests of another program, as JSON lines."""

from __future__ import annotations

from typing import Annotated, Any

from aleazero.cli.options import WorkersOption, cores, option
from aleazero.errors import ConfigError
from aleazero.untrusted import parse_json

GameFileOption = Annotated[
    list[str] | None,
    option(
        "--game-file",
        "[NAME=]PATH",
        "Let requests use the game in this file, `path/file.py` or `path/file.py:NAME`, under its name. Can be "
        "repeated. No request can open other files.",
    ),
]
NetFileOption = Annotated[
    list[str] | None,
    option("--net", "[NAME=]FILE", "Let requests use this network as `net:NAME`. Can be repeated."),
]
LimitOption = Annotated[
    list[str] | None,
    option(
        "--limit",
        "KEY=VALUE",
        "Change a limit of requests: `sims`, `seconds`, `prepare_seconds`, `evaluations`, `nodes`, `tree_nodes`, "
        "`batch`, `moves` or `text`. Can be repeated.",
    ),
]


def engine(
    workers: WorkersOption = None,
    game_file: GameFileOption = None,
    net: NetFileOption = None,
    limit: LimitOption = None,
) -> None:
    """Answer requests of another program: one JSON object per line on stdin and stdout.

    Requests are `analyse`, `plan`, `evaluate`, `review`, `legal`, `apply`, `games`, `cancel` and `version`. Several run
    at once, each in a process of its own. Every request gets one final line with its id; a search also reports partial
    results, if the request has `report_every`. At the end of the input, the engine answers the remaining requests and
    exits. Ctrl-C ends it immediately.

    **Examples**

    - `echo '{"request": "analyse", "game": "pig", "position": "12-30 turn 18"}' | aleazero engine`

    - `aleazero engine --workers 4 --game-file my_game.py --net best=run/champion.safetensors < requests.jsonl`

    - `aleazero engine --limit sims=100000 --limit seconds=10`
    """
    import sys

    from aleazero.serving.engine import run_engine
    from aleazero.serving.requests import Limits, Sources

    try:
        limits = Limits(**_read_limits(limit))
    except ConfigError as error:
        raise error.at("--limit" if error.where else None) from None
    if sys.stdin is None or sys.stdout is None:
        raise ConfigError("stdin or stdout is closed, expected requests on stdin and a reader of stdout")
    run_engine(workers or cores(), Sources.read(game_file or (), net or ()), limits)


def _read_limits(pairs: list[str] | None) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        try:
            given[key.strip()] = parse_json(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ConfigError(f"--limit is {pair!r}, expected KEY=NUMBER, e.g. sims=100000")
    return given
