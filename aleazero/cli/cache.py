"""``aleazero cache``: the compiled code kept on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from aleazero.cli.options import JsonFlag
from aleazero.untrusted import printable

if TYPE_CHECKING:
    from aleazero.native.cache import CacheInfo

app = typer.Typer(no_args_is_help=True, help="The compiled code kept on disk: what it holds, and emptying it.")


@app.command("info")
def info(json: JsonFlag = False) -> None:
    """Say where compiled code is kept and how much there is.

    The folder is `$ALEAZERO_CACHE_DIR`, or the user's cache folder. Files are named by the content they were
    made from: they are never stale, and old ones go by themselves.
    """
    from aleazero.native.cache import cache_info

    _show(cache_info(), "holds", json)


@app.command("clear")
def clear(json: JsonFlag = False) -> None:
    """Remove all compiled code; each game is compiled once more when next searched."""
    from aleazero.native.cache import clear_cache

    _show(clear_cache(), "is empty; it held", json)


def _show(cache: CacheInfo, verb: str, json: bool) -> None:
    from aleazero.cli.show import print_json

    if json:
        data: dict[str, Any] = {"folder": str(cache.folder), "files": cache.files, "bytes": cache.bytes}
        print_json(data)
        return
    plural = "" if cache.files == 1 else "s"
    typer.echo(printable(f"{cache.folder} {verb} {cache.files} file{plural}, {cache.bytes / 1e6:.1f} MB"))
