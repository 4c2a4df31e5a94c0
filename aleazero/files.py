"""Files: atomic writes, folder locks, hashes, JSON without NaN, conversion of OSErrors, and the cache folder."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

from aleazero.errors import AleaZeroError
from aleazero.untrusted import read_regular

LOCK: Final = ".lock"


def cache_root() -> Path:
    """Return the folder of cached files: ``$ALEAZERO_CACHE_DIR``, or the user's cache folder."""
    import platformdirs

    named = os.environ.get("ALEAZERO_CACHE_DIR")
    return Path(named) if named else Path(platformdirs.user_cache_dir("aleazero"))


def reason(error: OSError) -> str:
    """Return the reason of an OSError without its number and path."""
    return str(error.strerror or error)


@contextmanager
def os_errors_as(kind: type[AleaZeroError], problem: str, expected: str = "") -> Iterator[None]:
    """Convert an OSError that is raised in this block into an AleaZeroError.

    The message is ``problem: reason, expected ...``, e.g. ``a.json cannot be read: Permission denied``.
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{problem}: {reason(error)}{expected and f', expected {expected}'}") from None


def write_file(path: Path, data: str | bytes, kind: type[AleaZeroError]) -> None:
    """Write a file atomically; an OSError is raised as this kind of error."""
    with os_errors_as(kind, f"{path} cannot be written"):
        write_atomic(path, [data.encode() if isinstance(data, str) else data])


@contextmanager
def locked(folder: Path, kind: type[AleaZeroError]) -> Iterator[None]:
    """Lock a folder against other processes in this block. The folder is created if it does not exist."""
    with os_errors_as(kind, f"{folder} cannot be written", "a directory"):
        folder.mkdir(parents=True, exist_ok=True)
    with os_errors_as(kind, f"{folder / LOCK} cannot be written", "a file, or none"):
        lock = open_in_place(folder / LOCK, os.O_RDWR | os.O_CREAT)
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise kind(f"{folder} is in use by another process, expected a directory that is not in use") from None
        yield


def file_hash(path: Path, kind: type[AleaZeroError]) -> str:
    """Return a hash of a file's bytes as 16 hexadecimal digits."""
    with os_errors_as(kind, f"{path} cannot be read"):
        return hashlib.blake2b(read_regular(path), digest_size=8).hexdigest()


def without_nan(value: Any) -> Any:
    """Return a copy for JSON: NaN and infinity become None, keys and paths become text."""
    if isinstance(value, Mapping):
        return {str(name): without_nan(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(one) for one in value]
    if isinstance(value, Path):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_atomic(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file atomically: after an error it is unchanged. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not (path.is_file() or path.is_dir()):  # /dev/null or a pipe: write into it
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


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of ``write_atomic`` for this path that were left by processes that were killed."""
    with contextlib.suppress(OSError):
        for file in path.parent.iterdir():
            found = re.fullmatch(rf"\.{re.escape(path.name)}\.([0-9]{{1,9}})\.tmp", file.name)
            if found is not None and not _is_running(int(found[1])):
                file.unlink()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # another user's
        pass
    return True


def open_in_place(path: Path, flags: int) -> BinaryIO:
    """Open a file, unbuffered for appending. Raises OSError if the path is a symbolic link."""
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a symbolic link", str(path)) from None
        raise
    mode = "r+b" if flags & os.O_RDWR else "ab" if flags & os.O_APPEND else "wb"
    return os.fdopen(descriptor, mode, buffering=0 if flags & os.O_APPEND else -1)  # type: ignore[return-value]


def odd_entry(folder: Path) -> Path | None:
    """Return the first entry below a folder that is neither a directory nor a regular file; None if there is none.

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
