"""Compiled functions, and one cache on disk for the machine code of all of them.

numba's own cache looks at the time of one file only: it serves stale code when a function, a constant or a table of
another file changes, and one damaged file of it breaks every later start. Here the name of a cached file is the
fingerprint of all that the code depends on. A file that is damaged is replaced; a cache that cannot be read or written
costs compile time and nothing else.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, serialize
from numba.core.runtime import rtsys

from aleazero.files import cache_root, write_whole
from aleazero.fingerprint import fingerprint, options_text, plain_function

FORMAT = 3
"""Version of the cache files."""

MOST_FILES = 1024
"""Older files go when there are more."""

_MAGIC = b"aleazero"

log = logging.getLogger("aleazero")


def compile_and_keep(*, stands_alone: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator: ``numba.njit`` with these options, and machine code that is kept on disk.

    Args:
        stands_alone: the function depends on nothing outside its own file but libraries, and on something that the
            fingerprint does not understand, such as an intrinsic. The file's text is then its fingerprint.
        options: those of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        compiled = numba.njit(**options)(function)
        if not numba.config.DISABLE_JIT:
            # The fingerprint is taken at the first call: by then all names of the module are defined.
            stamp = _stamp_of_file if stands_alone else _stamp_of_function
            name = f"{function.__module__.rpartition('.')[2]}_{function.__name__}"
            compiled._cache = ContentCache(name, lambda: stamp(function, options), announced=False)
        return compiled

    return decorate


def _stamp_of_function(function: Any, options: dict[str, Any]) -> str:
    found = plain_function(function)
    assert found is not None
    return fingerprint(found, *versions(), function.__module__, function.__qualname__, options_text(options))


def _stamp_of_file(function: Any, options: dict[str, Any]) -> str:
    digest = hashlib.sha256(Path(inspect.getfile(function)).read_bytes())
    for word in (*versions(), function.__module__, function.__qualname__, options_text(options)):
        digest.update(f"{len(word)}:{word}".encode())
    return digest.hexdigest()[:32]


def versions() -> tuple[str, ...]:
    """What all compiled code depends on besides its own text."""
    numbers = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), sys.byteorder)
    return (f"format {FORMAT}", *numbers, f"boundscheck {numba.config.BOUNDSCHECK} opt {numba.config.OPT}")


def cache_folder() -> Path:
    """Where compiled code is kept."""
    return cache_root() / "kernels"


class ContentCache(caching._Cache):  # type: ignore[misc]
    """Machine code by the content it was made from; the file carries a checksum of itself."""

    def __init__(self, name: str, stamp: Callable[[], str], announced: bool) -> None:
        self._name = "".join(letter if letter.isalnum() else "_" for letter in name)
        self._make_stamp, self._announced = stamp, announced
        self._enabled = True

    @cached_property
    def stamp(self) -> str:
        """The fingerprint of the code."""
        return self._make_stamp()

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(cache_folder())

    def enable(self) -> None:
        """Part of numba's interface."""
        self._enabled = True

    def disable(self) -> None:
        """Part of numba's interface."""
        self._enabled = False

    def flush(self) -> None:
        """Part of numba's interface: there is no index to forget."""

    def _file(self, signature: Any, target: Any) -> Path:
        kind = hashlib.sha256(repr((str(signature), target.codegen().magic_tuple())).encode()).hexdigest()[:16]
        return cache_folder() / f"{self._name}-{self.stamp}-{kind}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code of a signature, or None: then it is about to be compiled."""
        rtsys.initialize(target)  # all that loading needs; compiling loads the rest (0.3 s) by itself
        try:
            content = self._file(signature, target).read_bytes()
            size = len(_MAGIC) + 32
            if content[:size] == _MAGIC + hashlib.sha256(content[size:]).digest():
                payload = serialize.loads(content[size:])
                return caching.CompileResultCacheImpl.rebuild(None, target, payload)
            log.debug("a damaged file in the cache is replaced")
        except FileNotFoundError:
            pass
        except Exception as error:  # whatever is wrong with the cache, the search goes on
            log.debug("cache not read: %s", error)
        if self._announced:
            log.warning("compiling %s, once", self._name)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep compiled code; a disk that is full or read-only costs only the next start."""
        try:
            payload = serialize.dumps(compiled._reduce())
            parts = [_MAGIC, hashlib.sha256(payload).digest(), payload]
            write_whole(self._file(signature, compiled.target_context), parts)
            _prune(cache_folder())
        except Exception as error:  # whatever is wrong with the disk, the search goes on
            log.debug("cache not written: %s", error)


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.code"), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - MOST_FILES)]:
        file.unlink(missing_ok=True)


@dataclass(frozen=True)
class CacheInfo:
    """What the cache holds."""

    folder: Path
    files: int
    bytes: int


def cache_info() -> CacheInfo:
    """What the cache holds."""
    files = [file for file in cache_folder().glob("*.code") if file.is_file()]
    return CacheInfo(cache_folder(), len(files), sum(file.stat().st_size for file in files))


def clear_cache() -> CacheInfo:
    """Empty the cache; what it held."""
    held = cache_info()
    for file in cache_folder().glob("*.code"):
        if file.is_file():
            file.unlink(missing_ok=True)
    return held
