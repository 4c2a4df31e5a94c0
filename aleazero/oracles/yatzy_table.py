"""The table of the Yatzy oracle on disk: versions, a checksum, and numbers that are mapped into memory.

It is kept in the user's cache folder. A file that is missing, damaged or of another version is never trusted, but built
anew; it is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from aleazero.files import cache_root, write_whole
from aleazero.games.yatzy import describe
from aleazero.games.yatzy_card import ALL_OPEN, BONUS_FROM

if TYPE_CHECKING:
    from aleazero.oracles.yatzy_build import Progress

Values = NDArray[np.float64]

FORMAT: Final = 1
"""Version of the file and of what computes its numbers; that of the rules counts too."""
SHAPE: Final = (ALL_OPEN + 1, BONUS_FROM + 1)
_HEADER = struct.Struct("<16sII8x32s")
_MAGIC = b"aleazero yatzy\n\0"

log = logging.getLogger("aleazero")


def table_path() -> Path:
    """Where the table is kept."""
    return cache_root() / "oracles" / "yatzy.table"


def load_table(progress: Progress | None = None) -> Values:
    """The stored table, or one that is built now and stored where the disk allows it."""
    stored = read_table(table_path())
    if stored is not None:
        return stored
    from aleazero.oracles.yatzy_build import build_values

    log.warning("solving yatzy, once")
    built = build_values(progress)
    try:
        write_table(table_path(), built)
    except OSError as error:  # a disk that is full or read-only costs only the next start
        log.debug("yatzy's table not written: %s", error)
        return built
    stored = read_table(table_path())
    return built if stored is None else stored


def write_table(path: Path, values: Values) -> None:
    """Keep a table: a header with versions and checksum, then the numbers."""
    payload = np.ascontiguousarray(values, "<f8")
    write_whole(path, [_header(payload), payload.data])


def read_table(path: Path) -> Values | None:
    """The table of a file, mapped into memory; None where the file is missing, old or damaged."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
        mapped = np.memmap(path, "<f8", "r", _HEADER.size, SHAPE)
        if path.stat().st_size == _HEADER.size + mapped.nbytes and header == _header(mapped):
            return np.asarray(mapped)
        log.debug("yatzy's table is old or damaged: %s", path)
    except (OSError, ValueError) as error:
        log.debug("yatzy's table not read: %s", error)
    return None


def _header(payload: Values) -> bytes:
    return _HEADER.pack(_MAGIC, FORMAT, describe(1).version, hashlib.sha256(payload.data).digest())
