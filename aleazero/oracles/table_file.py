"""Files of solved tables: a header with a key and a checksum, then the numbers of one array, mapped into memory.

The key names the table, its version, and the shape and type of the array. Files are written atomically. A file that is
missing, damaged or has another key is built again.
"""

from __future__ import annotations

import hashlib
import logging
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from aleazero.errors import ConfigError
from aleazero.files import cache_root, write_atomic

_HEADER: Final = struct.Struct("<16s80s32s")
_MAGIC: Final = b"aleazero table\n\0"

Array = NDArray[Any]
log = logging.getLogger("aleazero")


def table_path(file: str) -> Path:
    """Return the path of a table in the cache folder."""
    return cache_root() / "oracles" / file


def load_or_make(path: Path, name: str, shape: tuple[int, ...], dtype: DTypeLike, make: Callable[[], Array]) -> Array:
    """Return the table of a file, mapped into memory; if there is none, make it and store it if possible.

    Args:
        path: the file.
        name: name and version of the table.
        shape: shape of the table; an axis of length −1 has any length.
        dtype: type of its numbers.
        make: computes the table.
    """
    stored = read_table(path, name, shape, dtype)
    if stored is not None:
        return stored
    made = make()
    try:
        write_table(path, name, made)
    except OSError as error:  # if the disk is full or read-only, the next start builds it again
        log.debug("table not written: %s", error)
        return made
    stored = read_table(path, name, shape, dtype)
    return made if stored is None else stored


def write_table(path: Path, name: str, values: Array) -> None:
    """Write a table atomically. Raises OSError."""
    payload = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    write_atomic(path, [_header(name, payload), payload.data])


def read_table(path: Path, name: str, shape: tuple[int, ...], dtype: DTypeLike) -> Array | None:
    """Return the table of a file, mapped into memory; None if the file is missing, damaged or has another key."""
    kind = np.dtype(dtype).newbyteorder("<")
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER.size)
        found = _shape_of(header)
        if len(found) == len(shape) and all(want in (-1, have) for want, have in zip(shape, found, strict=True)):
            mapped = np.memmap(path, kind, "r", _HEADER.size, found)
            if path.stat().st_size == _HEADER.size + mapped.nbytes and header == _header(name, mapped):
                return np.asarray(mapped)
        log.debug("table is damaged or has another version: %s", path)
    except (OSError, ValueError, OverflowError, struct.error) as error:
        log.debug("table not read: %s", error)
    return None


def _header(name: str, payload: Array) -> bytes:
    key = f"{name} {payload.dtype.str} {'x'.join(map(str, payload.shape))}".encode()
    assert len(key) <= 80
    return _HEADER.pack(_MAGIC, key, hashlib.sha256(payload.data).digest())


def _shape_of(header: bytes) -> tuple[int, ...]:
    """Return the shape in a header; raises ValueError or struct.error if there is none."""
    magic, key, _ = _HEADER.unpack(header)
    if magic != _MAGIC:
        raise ValueError("the file is not a table")
    return tuple(int(size) for size in key.rstrip(b"\0").decode("ascii").rpartition(" ")[2].split("x"))


def check_memory(what: str, needed: int, instead: str) -> None:
    """Raise ConfigError if a table needs more memory than is available.

    Args:
        what: the table.
        needed: memory that is needed at most, in bytes.
        instead: what the user can do.
    """
    free = available_memory()
    if free is not None and needed > free:
        raise ConfigError(
            f"{what} needs up to {size_text(needed)} of memory, expected at most the {size_text(free)} that are "
            f"available: {instead}"
        )


def size_text(size: int) -> str:
    """Return a number of bytes as MB or GB."""
    return f"{size / 1e6:,.0f} MB" if size < 1e9 else f"{size / 1e9:,.1f} GB"


def available_memory() -> int | None:
    """Return the memory that is available, in bytes; None if it is unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, StopIteration):
        return None
    try:  # the limit of this process's cgroup; "max" for no limit
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        return max(0, min(free, limit - int(Path("/sys/fs/cgroup/memory.current").read_text())))
    except (OSError, ValueError):
        return free
