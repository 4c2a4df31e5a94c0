"""Files that are whole or not there, and the folder of what can be made anew."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import platformdirs


def cache_root() -> Path:
    """Where things are kept that can be made anew: ``$ALEAZERO_CACHE_DIR``, or the user's cache folder."""
    named = os.environ.get("ALEAZERO_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("aleazero"))


def write_whole(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file from its parts so that it is either there whole or not at all; raises OSError where it cannot be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not (path.is_file() or path.is_dir()):  # /dev/null, a pipe: not to be put a file in its place
        with path.open("wb") as file:
            file.writelines(parts)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
