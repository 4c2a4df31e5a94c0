"""Machine code on disk, named by a fingerprint of everything that it depends on.

The cache of numba compares the modification time of one file only. It returns stale code if a function, a constant or
a table in another file changes, and one damaged file breaks every later start. Here a damaged file is replaced, and a
cache that cannot be read or written only costs compile time.

The fingerprint covers bytecode, constants and, through globals and closures across modules, every function, table and
number that a function names. Line numbers and comments do not count. A dependency that the fingerprint cannot read is
rejected, because its changes would go unnoticed.
"""

from __future__ import annotations

import enum
import hashlib
import inspect
import logging
import math
import platform
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import caching, serialize
from numba.core.runtime import rtsys

from aleazero.errors import GameError
from aleazero.files import cache_root, write_atomic

FORMAT = 7
"""Version of the cache files. They name modules of the library, and fingerprints do not cover its intrinsics."""

MOST_FILES = 1024
"""The oldest files are removed if there are more."""

_MAGIC = b"aleazero"
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LIBRARIES = (np, math)

log = logging.getLogger("aleazero")


def plain_function(value: Any) -> types.FunctionType | None:
    """Return the Python function of a value, also of a numba dispatcher; None if the value is not a function."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, types.FunctionType) else None


def options_text(options: Mapping[str, Any]) -> str:
    """Return numba options as a text that is the same in every process. Sets are sorted, as they have no order."""
    plain = {name: sorted(value) if isinstance(value, set | frozenset) else value for name, value in options.items()}
    return repr(sorted((name, value) for name, value in plain.items() if isinstance(value, (*_PLAIN, list))))


def names_used(function: types.FunctionType) -> dict[str, Any]:
    """Return the globals that a function reads, and its closure cells, by name."""
    used: dict[str, Any] = {}
    stack = [function.__code__]
    while stack:
        code = stack.pop()
        stack.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
        used.update((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    used.update((name, cell.cell_contents) for name, cell in cells)
    return used


def _is_library(value: Any) -> bool:
    """Return whether a value is a builtin or belongs to numpy or math. Its name is its fingerprint."""
    if isinstance(value, type):
        return value.__module__.partition(".")[0] in ("builtins", "numpy")
    return isinstance(value, types.BuiltinFunctionType | np.ufunc | type(np.sum)) or value in _LIBRARIES


class _Walk:
    def __init__(self, known: Mapping[int, str]) -> None:
        self.digest = hashlib.sha256()
        self.known = known
        self.seen: dict[int, int] = {}

    def add(self, text: str) -> None:
        self.digest.update(f"{len(text)}:{text}".encode())

    def value(self, value: Any, where: str) -> None:
        function = plain_function(value)
        if function is not None:
            if hasattr(value, "targetoptions"):  # a dispatcher, compiled with its options
                self.add(options_text(value.targetoptions))
            self.function(function)
        elif isinstance(value, enum.Enum):
            self.add(f"enum {type(value).__qualname__}.{value.name}")
            self.value(value.value, where)
        elif isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise GameError(f"{where} is an array of objects, expected numbers")
            self.add(f"array {value.dtype.str} {value.shape} {value.flags.c_contiguous}")
            self.digest.update(np.ascontiguousarray(value).tobytes())
        elif isinstance(value, np.generic):
            self.add(f"scalar {value.dtype.str}")
            self.digest.update(value.tobytes())
        elif isinstance(value, _PLAIN):
            self.add(f"{type(value).__name__} {value!r}")
        elif isinstance(value, tuple | frozenset):
            self.add(f"{type(value).__name__} {len(value)} {getattr(value, '_fields', '')}")
            for item in value if isinstance(value, tuple) else sorted(value, key=repr):
                self.value(item, where)
        elif isinstance(value, np.dtype):
            self.add(f"dtype {value.descr!r}")
        elif isinstance(value, type) and hasattr(value, "_fields"):
            self.add(f"namedtuple {value.__qualname__} {value._fields!r}")
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            self.add(f"enum class {value.__qualname__}")
            for member in value:
                self.value(member, where)
        elif _is_library(value):
            self.add(f"name {getattr(value, '__module__', '')}.{value.__name__}")
        elif isinstance(value, types.ModuleType):
            raise GameError(
                f"{where} is the module {value.__name__}, expected numpy or math: import its functions by name instead"
            )
        else:
            raise GameError(f"{where} is a {type(value).__name__}, expected a number, a tuple, an array or a function")

    def function(self, function: types.FunctionType) -> None:
        if id(function) in self.known:
            self.add(f"known {self.known[id(function)]}")
            return
        if id(function) in self.seen:
            self.add(f"seen {self.seen[id(function)]}")
            return
        self.seen[id(function)] = len(self.seen)
        self.code(function.__code__, function.__qualname__)
        if hasattr(function, "not_inlined"):
            self.add("not inlined")
        self.value(function.__defaults__, f"a default of {function.__name__}")
        for name, value in sorted(names_used(function).items()):
            self.add(name)
            self.value(value, f"{name}, used by {function.__name__},")

    def code(self, code: types.CodeType, where: str) -> None:
        self.add(f"code {code.co_argcount} {code.co_flags} {code.co_names} {code.co_varnames} {code.co_freevars}")
        self.digest.update(code.co_code + code.co_exceptiontable)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.code(constant, where)
            else:
                self.value(constant, f"a constant of {where}")


def fingerprint(function: types.FunctionType, *more: str, known: Mapping[int, str] = MappingProxyType({})) -> str:
    """Return 32 hexadecimal digits that change with anything the function's machine code depends on.

    Args:
        function: the function.
        more: further texts that the machine code depends on, such as options.
        known: fingerprints of functions that it calls, by ``id``. These are not read again.

    Raises:
        GameError: the function names something that the fingerprint cannot read.
    """
    walk = _Walk(known)
    for word in more:
        walk.add(word)
    walk.function(function)
    return walk.digest.hexdigest()[:32]


def function_stamp(function: Any, options: Mapping[str, Any]) -> str:
    """Return the fingerprint of a function that is compiled with these options."""
    found = plain_function(function)
    assert found is not None
    return fingerprint(found, *versions(), function.__module__, function.__qualname__, options_text(options))


def file_stamp(function: Any, options: Mapping[str, Any]) -> str:
    """Return a fingerprint from the text of a function's file, for files that depend on libraries only."""
    digest = hashlib.sha256(Path(inspect.getfile(function)).read_bytes())
    for word in (*versions(), function.__module__, function.__qualname__, options_text(options)):
        digest.update(f"{len(word)}:{word}".encode())
    return digest.hexdigest()[:32]


def versions() -> tuple[str, ...]:
    """Return the versions and settings that all machine code depends on."""
    numbers = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), sys.byteorder)
    return (f"format {FORMAT}", *numbers, f"boundscheck {numba.config.BOUNDSCHECK} opt {numba.config.OPT}")


def cache_folder() -> Path:
    """Return the folder of the machine code."""
    return cache_root() / "kernels"


class ContentCache(caching._Cache):  # type: ignore[misc]
    """numba's cache of one function, with files named by fingerprint. Each file contains its own checksum.

    Args:
        name: start of the file names.
        stamp: returns the fingerprint. It is called at the first use, when all names of a module are defined.
        announced: game to name in a log message before compiling; empty for no message.
    """

    def __init__(self, name: str, stamp: Callable[[], str], announced: str = "") -> None:
        self._name = "".join(letter if letter.isalnum() else "_" for letter in name)
        self._make_stamp, self._announced = stamp, announced
        self._enabled = True

    @cached_property
    def stamp(self) -> str:
        """The fingerprint of the function."""
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
        """Part of numba's interface. There is no index to clear."""

    def _file(self, signature: Any, target: Any) -> Path:
        kind = hashlib.sha256(repr((str(signature), target.codegen().magic_tuple())).encode()).hexdigest()[:16]
        return cache_folder() / f"{self._name}-{self.stamp}-{kind}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the machine code of a signature, or None if it is not in the cache and numba has to compile it."""
        rtsys.initialize(target)  # sufficient for loading; compiling initializes the rest (0.3 s)
        try:
            content = self._file(signature, target).read_bytes()
            size = len(_MAGIC) + 32
            if content[:size] == _MAGIC + hashlib.sha256(content[size:]).digest():
                payload = serialize.loads(content[size:])
                return caching.CompileResultCacheImpl.rebuild(None, target, payload)
            log.debug("replacing a damaged file in the cache")
        except FileNotFoundError:
            pass
        except Exception as error:  # a broken cache must not stop the program
            log.debug("cache not read: %s", error)
        if self._announced:
            log.warning("compiling %s, once (about 20 s)", self._announced)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write machine code. If the disk is full or read-only, the next start compiles again."""
        try:
            payload = serialize.dumps(compiled._reduce())
            parts = [_MAGIC, hashlib.sha256(payload).digest(), payload]
            write_atomic(self._file(signature, compiled.target_context), parts)
            _prune(cache_folder())
        except Exception as error:  # a full disk must not stop the program
            log.debug("cache not written: %s", error)


def _prune(folder: Path) -> None:
    files = sorted(folder.glob("*.code"), key=lambda file: file.stat().st_mtime)
    for file in files[: max(0, len(files) - MOST_FILES)]:
        file.unlink(missing_ok=True)


@dataclass(frozen=True)
class CacheInfo:
    """Number and size of the files in the cache."""

    folder: Path
    files: int
    bytes: int


def cache_info() -> CacheInfo:
    """Return the number and size of the files in the cache."""
    files = [file for file in cache_folder().glob("*.code") if file.is_file()]
    return CacheInfo(cache_folder(), len(files), sum(file.stat().st_size for file in files))


def clear_cache() -> CacheInfo:
    """Remove all files of the cache and return their number and size."""
    held = cache_info()
    for file in cache_folder().glob("*.code"):
        if file.is_file():
            file.unlink(missing_ok=True)
    return held
