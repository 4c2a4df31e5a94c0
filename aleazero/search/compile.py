"""Compiling a game's loop with numba, and keeping the machine code on disk under its content's fingerprint.

numba's own cache looks at a file's name and time, which serves stale code when a helper, a constant or a table
changes, and never hits for closures. Here the file's name is the fingerprint of all that the code depends on:
no index, no times, nothing to race for. A cache that cannot be read or written never breaks a search.
"""

from __future__ import annotations

import hashlib
import logging
import platform
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core import caching, serialize
from numba.core.errors import NumbaError
from numba.extending import intrinsic

from aleazero.errors import GameError
from aleazero.files import cache_root, write_whole
from aleazero.games.twins import gist
from aleazero.search.borrow import borrow
from aleazero.search.compile_parts import PartCompiler
from aleazero.search.fingerprint import fingerprint, names_used, plain_function

FORMAT = 2
"""Version of the cache files."""

MOST_FILES = 256
"""Older files go when there are more."""

OURS = ("aleazero.search.", "aleazero.nets.", "aleazero.training.")
"""Where functions are that take many arrays at a time, all of them borrowed."""

OPTIONS = {"nogil": True, "error_model": "numpy"}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_MAGIC = b"aleazero"

log = logging.getLogger("aleazero")


@intrinsic  # type: ignore[untyped-decorator]
def _borrow_compiled(typing_context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), codegen


_SUBSTITUTES = {borrow: _borrow_compiled}


def compile_loop(advance: Callable[..., int], game: str) -> Callable[..., int]:
    """The compiled form of a loop: itself under NUMBA_DISABLE_JIT, else machine code from the cache or anew."""
    function = plain_function(advance)
    assert function is not None
    # Taken also where nothing is compiled: what cannot be fingerprinted is refused in every mode.
    stamp = fingerprint(function, *_versions())
    if numba.config.DISABLE_JIT:
        return advance
    dispatcher = njit(**OPTIONS)(_specialise(function, stamp, {}, ()))
    dispatcher._cache = ContentCache(game, stamp)

    entry: Callable[..., int] | None = None

    def call(*arguments: Any) -> int:
        nonlocal entry
        if entry is not None:  # types are the same in every call: looking at them takes longer than all the rest
            return entry(*arguments)
        try:
            found = int(dispatcher(*arguments))
        except NumbaError as error:
            raise GameError(f"{game}: the rules do not compile: {gist(error)}") from error
        (only,) = dispatcher.overloads.values()
        entry = only.entry_point
        return found

    return call


def loop_of(game: Any, name: str, make: Callable[[Any], Callable[..., int]]) -> Callable[..., int]:
    """A kernel game's compiled loop of a name, made once a game from its kernels."""
    kept: dict[str, Callable[..., int]] = vars(game).setdefault("_loops", {})
    if name not in kept:
        try:
            kept[name] = compile_loop(make(game.kernels), f"{game.name}_{name}")
        except GameError as error:
            raise type(error)(f"{game.name}: {error}") from error
    return kept[name]


def _specialise(
    function: types.FunctionType, stamp: str, done: dict[int, Any], inside: tuple[str, ...]
) -> types.FunctionType:
    """A copy of a function that names compiled copies of the functions it names; the original stays as it is.

    The stamp goes into its name, and so into the machine code's symbols: two games loaded from the cache into one
    process must not share any. Its module becomes this one, which can be imported wherever the code is loaded.
    """
    if function.__name__ in inside and id(function) in done and done[id(function)] is None:
        raise GameError(f"{function.__name__} calls itself: kernels cannot recurse, expected a loop")
    done[id(function)] = None

    def replace(value: Any) -> Any:
        if isinstance(value, types.FunctionType) and value in _SUBSTITUTES:
            return _SUBSTITUTES[value]
        plain = plain_function(value)
        if plain is None:
            return value
        if done.get(id(plain)) is None:
            copy = _specialise(plain, stamp, done, (*inside, function.__name__))
            ours = plain.__module__.startswith(OURS)
            # Ours take whole trees by value: calls that stay calls cost as much as the work they do. And their arrays
            # have no owners, so no references need be counted.
            # A game's own functions may allocate; they say so themselves, or they would inherit what callers say.
            own = {"forceinline": not hasattr(plain, "seldom"), "_nrt": False} if ours else {"_nrt": True}
            done[id(plain)] = njit(**OPTIONS, **_INNER, **own, pipeline_class=PartCompiler)(copy)
        return done[id(plain)]

    names = names_used(function)
    free = function.__code__.co_freevars
    scope = dict(function.__globals__)
    scope.update((name, replace(value)) for name, value in names.items() if name not in free)
    cells = tuple(types.CellType(replace(names[name])) for name in free)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells or None)
    copy.__qualname__ = f"{function.__name__}_{stamp}"
    copy.__module__ = __name__
    return copy


def _versions() -> tuple[str, ...]:
    numbers = (numba.__version__, llvmlite.__version__, np.__version__, platform.python_version(), sys.byteorder)
    checks = f"boundscheck {numba.config.BOUNDSCHECK} opt {numba.config.OPT}"
    return (f"format {FORMAT}", *numbers, checks, repr(OPTIONS), repr(_INNER))


def cache_folder() -> Path:
    """Where compiled code is kept."""
    return cache_root() / "kernels"


class ContentCache(caching._Cache):  # type: ignore[misc]
    """Machine code by the content it was made from; the file carries a checksum of itself."""

    def __init__(self, game: str, stamp: str) -> None:
        self._game = "".join(letter if letter.isalnum() else "_" for letter in game)
        self._stamp = stamp
        self._enabled = True

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
        return cache_folder() / f"{self._game}-{self._stamp}-{kind}.code"

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code of a signature, or None: then it is about to be compiled."""
        target.refresh()
        try:
            content = self._file(signature, target).read_bytes()
            size = len(_MAGIC) + 32
            if content[:size] == _MAGIC + hashlib.sha256(content[size:]).digest():
                payload = serialize.loads(content[size:])
                return caching.CompileResultCacheImpl.rebuild(None, target, payload)
            log.warning("a damaged file in the cache is made anew")
        except FileNotFoundError:
            pass
        except Exception as error:  # whatever is wrong with the cache, the search goes on
            log.debug("cache not read: %s", error)
        log.warning("compiling %s, once", self._game)
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
