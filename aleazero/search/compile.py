"""Compiling a game's loop with numba; the machine code is kept on disk by ``aleazero.jit``."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numba
from numba import njit
from numba.core.errors import NumbaError
from numba.core.types import intp
from numba.extending import intrinsic

from aleazero.errors import GameError
from aleazero.fingerprint import fingerprint, names_used, plain_function
from aleazero.games.twins import gist
from aleazero.jit import CacheInfo as CacheInfo
from aleazero.jit import ContentCache, versions
from aleazero.jit import cache_info as cache_info
from aleazero.jit import clear_cache as clear_cache
from aleazero.search.borrow import borrow, sized
from aleazero.search.compile_parts import PartCompiler

OURS = ("aleazero.search.", "aleazero.nets.", "aleazero.training.")
"""Where functions are that take many arrays at a time, all of them borrowed."""

OPTIONS = {"nogil": True, "error_model": "numpy"}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


@intrinsic  # type: ignore[untyped-decorator]
def _borrow_compiled(typing_context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _sized_compiled(typing_context: Any, array: Any, size: Any) -> Any:
    """The same array (contiguous, of one or two axes), with a last axis whose length and steps are constants."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        length = context.cast(builder, arguments[1], signature.args[1], intp)
        item = context.get_constant(intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        view.shape = builder.insert_value(view.shape, length, kind.ndim - 1)
        view.strides = builder.insert_value(view.strides, item, kind.ndim - 1)
        if kind.ndim == 2:
            view.strides = builder.insert_value(view.strides, builder.mul(length, item), 0)
        return view._getvalue()

    return array(array, size), codegen


_SUBSTITUTES = {borrow: _borrow_compiled, sized: _sized_compiled}


def compile_loop(advance: Callable[..., int], game: str) -> Callable[..., int]:
    """The compiled form of a loop: itself under NUMBA_DISABLE_JIT, else machine code from the cache or anew."""
    function = plain_function(advance)
    assert function is not None
    # Taken also where nothing is compiled: what cannot be fingerprinted is refused in every mode.
    stamp = fingerprint(function, *versions(), repr(OPTIONS), repr(_INNER))
    if numba.config.DISABLE_JIT:
        return advance
    dispatcher = njit(**OPTIONS)(_specialise(function, stamp, {}, ()))
    dispatcher._cache = ContentCache(game, lambda: stamp, announced=True)

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
