"""Files that are whole or not there, and the folder of what can be made anew."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

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
        temporary.unlink(missing_ok=True)
        with open_in_place(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def open_in_place(path: Path, flags: int) -> BinaryIO:
    """Open a file, unbuffered where it is appended to; raises OSError if the path is a symbolic link."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from None
        raise
    mode = "r+b" if flags & os.O_RDWR else "ab" if flags & os.O_APPEND else "wb"
    return os.fdopen(descriptor, mode, buffering=0 if flags & os.O_APPEND else -1)  # type: ignore[return-value]


def odd_entry(folder: Path) -> Path | None:
    """The first entry below a folder that is neither a directory nor a regular file; None if there is none.

    A write through a symbolic link would leave the folder, and reading a pipe could block.
    """
    for parent, folders, names in os.walk(folder):
        for name in sorted([*folders, *names]):
            path = Path(parent, name)
            with contextlib.suppress(FileNotFoundError):
                mode = path.lstat().st_mode
                if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                    return path
    return None
