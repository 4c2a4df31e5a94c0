"""Compilation of loops and functions with numba, with machine code kept on disk by ``native/cache.py``.

A loop is one compiled function per game. ``compile_loop`` compiles it together with everything that it calls, and
``loop_of`` keeps it per game. ``cached_njit`` compiles single functions that do not depend on a game.
"""

from __future__ import annotations

import gc
import hashlib
import re
import types
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import numba
from llvmlite import ir
from numba import _dynfunc, njit
from numba import types as numba_types
from numba.core import cgutils
from numba.core import ir as numba_ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.errors import NumbaError
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic

from aleazero.errors import GameError
from aleazero.native.cache import (
    ContentCache,
    file_stamp,
    fingerprint,
    function_stamp,
    names_used,
    plain_function,
    versions,
)

OURS = ("aleazero.native.", "aleazero.search.", "aleazero.nets.", "aleazero.selfplay.", "aleazero.training.")
"""Packages whose functions are inlined into the loops, and count no references to arrays.

Loops therefore pass only borrowed arrays to functions that return arrays or views of them. Functions of other packages
stay calls: a kernel of the library in a package that is missing here makes loops slow without an error.
"""

OPTIONS = {"nogil": True, "error_model": "numpy"}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}

Function = TypeVar("Function", bound=Callable[..., Any])
Made = TypeVar("Made")


def compile_loop(function: Callable[..., int], game: str, name: str = "") -> Callable[..., int]:
    """Compile a loop, or load its machine code from the cache. With NUMBA_DISABLE_JIT, return it as it is.

    Args:
        function: the loop, called with arguments of the same types every time.
        game: name of the game, for errors and file names.
        name: name of the loop among those of the game.

    Raises:
        GameError: the loop depends on something that the fingerprint cannot read. Later, at the first call: the rules
            do not compile.
    """
    plain = plain_function(function)
    assert plain is not None
    try:
        # Also without compilation, so that the same rules are rejected in every mode.
        stamp = fingerprint(plain, *versions(), repr(OPTIONS), repr(_INNER), repr(OURS))
        if not compiles_loops():
            return function
        dispatcher = njit(**OPTIONS, no_cfunc_wrapper=True)(_named(_specialize(plain, _Parts(stamp), ()), stamp))
    except GameError as error:
        raise type(error)(f"{game}: {error}") from error
    dispatcher._cache = ContentCache(f"{game}_{name}" if name else game, lambda: stamp, announced=game)

    entry: Callable[..., int] | None = None

    def call(*arguments: Any) -> int:
        nonlocal entry
        if entry is not None:  # the type checks of the dispatcher take longer than a small loop
            return entry(*arguments)
        try:
            with paused_collector():
                found = int(dispatcher(*arguments))
        except NumbaError as error:
            raise GameError(f"{game}: the rules do not compile: {gist(error)}") from error
        (only,) = dispatcher.overloads.values()
        entry = only.entry_point
        return found

    return call


def compiles_loops() -> bool:
    """Return whether loops are compiled. With NUMBA_DISABLE_JIT they run as Python."""
    return not numba.config.DISABLE_JIT


@contextmanager
def paused_collector() -> Iterator[None]:
    """Pause Python's garbage collector. It would take a quarter of a compilation, because numba makes many objects."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def pausing(dispatcher: Made) -> Made:
    """Return a dispatcher of numba that pauses Python's garbage collector whenever it compiles."""
    compiler = getattr(dispatcher, "_compiler", None)
    if compiler is None:  # without compilation it is a function
        return dispatcher
    compile_once = compiler.compile

    def compile_paused(*arguments: Any) -> Any:
        with paused_collector():
            return compile_once(*arguments)

    compiler.compile = compile_paused
    return dispatcher


def loop_of(game: Any, name: str, make: Callable[[Any], Callable[..., int]], *key: Hashable) -> Callable[..., int]:
    """Return a compiled loop of a kernel game, made at the first call.

    Args:
        game: the kernel game.
        name: name of the loop; empty for the tree search.
        make: makes the loop from the game's kernels.
        key: everything else that the loop depends on.
    """
    return made_once(game, (name, *key), lambda: compile_loop(make(game.kernels), game.name, name))


def made_once(game: Any, key: Hashable, make: Callable[[], Made]) -> Made:
    """Return the result of ``make``, which is called once per game and key. If ``game`` is None, once per process."""
    kept: dict[Hashable, Made] = _KEPT if game is None else vars(game).setdefault("_made_once", {})
    if key not in kept:
        kept[key] = make()
    return kept[key]


_KEPT: dict[Hashable, Any] = {}


def cached_njit(*, stands_alone: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator: ``numba.njit`` with these options and with the library's cache on disk.

    Args:
        stands_alone: use the text of the function's file as its fingerprint. This is for functions that the fingerprint
            cannot read, e.g. because they call an intrinsic, in files that depend on libraries only.
        options: options of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        compiled = pausing(numba.njit(**options)(function))
        if not numba.config.DISABLE_JIT:
            stamp = file_stamp if stands_alone else function_stamp
            name = f"{function.__module__.rpartition('.')[2]}_{function.__name__}"
            compiled._cache = ContentCache(name, lambda: stamp(function, options))
        return compiled

    return decorate


def kernel_dtype(dtype: str) -> str:
    """Return the name of the dtype of state arrays: the game's own, or int64 without compilation.

    In interpreted kernels, small integers of numpy overflow; compiled code computes in 64 bits.
    """
    return dtype if compiles_loops() else "int64"


def not_inlined(function: Function) -> Function:
    """Mark a function that is not inlined into loops. It compiles faster; if it is hot, it should take few arrays."""
    function.not_inlined = True  # type: ignore[attr-defined]
    return function


def borrow(value: Made) -> Made:
    """Return an array, or a named tuple of arrays and such tuples, without its owner.

    Compiled loops then count no references, which saves 15-20 % of their time. The caller must keep the arrays alive.
    Without compilation this returns the value itself.
    """
    return value


@intrinsic  # type: ignore[untyped-decorator]
def _borrow_compiled(typing_context: Any, value: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return value(value), codegen


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Generate code that clears the owners of all arrays in a value of this numba type."""
    if isinstance(kind, numba_types.BaseTuple):
        items = [
            _without_owner(context, builder, item, builder.extract_value(value, place))
            for place, item in enumerate(kind)
        ]
        return context.make_tuple(builder, kind, items)
    if isinstance(kind, numba_types.Array):
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()
    return value


def sized(array: Any, size: int) -> Any:
    """Return the same array, whose last axis has ``size`` entries. In compiled loops this length is then a constant."""
    return array


@intrinsic  # type: ignore[untyped-decorator]
def _sized_compiled(typing_context: Any, array: Any, size: Any) -> Any:
    """Return the same array (contiguous, one or two axes) with a last axis whose length and steps are constants."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        length = context.cast(builder, arguments[1], signature.args[1], numba_types.intp)
        item = context.get_constant(numba_types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        view.shape = builder.insert_value(view.shape, length, kind.ndim - 1)
        view.strides = builder.insert_value(view.strides, item, kind.ndim - 1)
        if kind.ndim == 2:
            view.strides = builder.insert_value(view.strides, builder.mul(length, item), 0)
        return view._getvalue()

    return array(array, size), codegen


def prefetch(array: Any, index: Any) -> None:
    """Prefetch the memory of ``array[index]`` into the processor's cache; without compilation, do nothing."""


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch_compiled(typing_context: Any, array: Any, index: Any) -> Any:
    """Emit LLVM's prefetch, for a read and all levels of the cache. The index is an integer or a tuple of them."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        steps = cgutils.unpack_tuple(builder, view.strides)
        if signature.args[0].layout == "C":
            steps[-1] = steps[-1].type(context.get_abi_sizeof(context.get_data_type(signature.args[0].dtype)))
        address = builder.ptrtoint(view.data, steps[0].type)
        kind = signature.args[1]
        if isinstance(kind, numba_types.BaseTuple):
            places = list(zip(cgutils.unpack_tuple(builder, arguments[1]), kind, strict=True))
        else:
            places = [(arguments[1], kind)]
        for step, (place, place_kind) in zip(steps, places, strict=False):
            number = context.cast(builder, place, place_kind, numba_types.intp)
            address = builder.add(address, builder.mul(number, step))
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function_kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, function_kind, "llvm.prefetch.p0i8")
        builder.call(function, [builder.inttoptr(address, pointer), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return numba_types.none(array, index), codegen


_SUBSTITUTES: dict[Any, Any] = {borrow: _borrow_compiled, sized: _sized_compiled, prefetch: _prefetch_compiled}


@dataclass
class _Parts:
    """The functions inside one loop, by ``id`` of the original."""

    loop: str  # the loop's fingerprint
    compiled: dict[int, Any] = field(default_factory=dict)  # dispatchers; None as long as a function is copied
    stamps: dict[int, str] = field(default_factory=dict)  # fingerprints
    of_game: set[int] = field(default_factory=set)  # functions of the game, and those that call one
    of_loop: dict[str, Any] = field(default_factory=dict)  # dispatchers by fingerprint


_SHARED_PARTS: dict[str, Any] = {}
"""Dispatchers by fingerprint of library functions that call none of a game. All loops of a process share them.

Without this, the second search of a process would compile for half as long again. Functions of a game are not shared:
numba lets them inherit from their first caller whether they are inlined, so the first loop would decide for all others.
"""


def _specialize(function: types.FunctionType, parts: _Parts, inside: tuple[str, ...]) -> types.FunctionType:
    """Return a copy of a function in which the functions that it names are compiled copies. The original is unchanged.

    The copy's module is this one, which can be imported wherever the code is loaded.
    """
    if function.__name__ in inside and id(function) in parts.compiled and parts.compiled[id(function)] is None:
        raise GameError(f"{function.__name__} calls itself: kernels cannot recurse, expected a loop")
    parts.compiled[id(function)] = None

    def replace(value: Any) -> Any:
        if isinstance(value, types.FunctionType) and value in _SUBSTITUTES:
            return _SUBSTITUTES[value]
        plain = plain_function(value)
        if plain is None:
            return value
        if parts.compiled.get(id(plain)) is None:
            copy = _specialize(plain, parts, (*inside, function.__name__))
            parts.compiled[id(plain)] = _compile_part(plain, copy, parts)
        if id(plain) in parts.of_game:
            parts.of_game.add(id(function))
        return parts.compiled[id(plain)]

    names = names_used(function)
    free = function.__code__.co_freevars
    scope = dict(function.__globals__)
    scope.update((name, replace(value)) for name, value in names.items() if name not in free)
    cells = tuple(types.CellType(replace(names[name])) for name in free)
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, cells or None)
    copy.__module__ = __name__
    return copy


def _compile_part(function: types.FunctionType, copy: types.FunctionType, parts: _Parts) -> Any:
    """Return the dispatcher of a function's copy, or of an equal function that was compiled earlier."""
    options = _part_options(function)
    words = (*versions(), repr(OPTIONS), repr(_INNER), repr(options), function.__name__)
    stamp = parts.stamps[id(function)] = fingerprint(function, *words, known=parts.stamps)
    if not is_ours(function):
        parts.of_game.add(id(function))
    shared = id(function) not in parts.of_game
    known = _SHARED_PARTS if shared else parts.of_loop
    if stamp not in known:
        copy = _named(copy, stamp if shared else parts.loop)
        known[stamp] = njit(**OPTIONS, **_INNER, **options, pipeline_class=PartCompiler)(copy)
    return known[stamp]


def _named(copy: types.FunctionType, stamp: str) -> types.FunctionType:
    """Make a fingerprint part of a function's name, and so of the symbols in its machine code.

    Code of several games is loaded from the cache into one process, where equal symbols must mean equal functions.
    """
    copy.__qualname__ = f"{copy.__name__}_{stamp}"
    return copy


def _part_options(function: types.FunctionType) -> dict[str, bool]:
    """Return the options of a function inside a loop."""
    if is_ours(function):
        # These take complete trees by value, so a call costs as much as its work. Their arrays have no owners, so no
        # references need to be counted.
        return {"forceinline": not hasattr(function, "not_inlined"), "_nrt": False}
    module = function.__module__
    assert not module.startswith("aleazero.") or module.startswith("aleazero.games."), f"{module} is missing in OURS"
    # A game's functions may allocate. Without this option they would inherit that of their caller.
    return {"_nrt": True}


def is_ours(function: types.FunctionType) -> bool:
    """Return whether a function is compiled as part of the library, not of a game."""
    return function.__module__.startswith(OURS)


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of one function of a loop, to be linked into others.

    numba optimizes and emits every function separately, and again inside each of its callers. A loop has a hundred
    functions in nested calls. Optimized and emitted once as one module, it compiles in a fraction of the time.
    """

    def _optimize_final_module(self) -> None:
        """Do nothing, because the complete loop is optimized later."""

    def _finalize_final_module(self) -> None:
        """Close the library without emitting machine code."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(NativeLowering):  # type: ignore[misc]
    """numba's lowering, into a ``PartLibrary``."""

    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:
        """Lower one function and register it for its callers."""
        state.func_id.func_qualname += _layout_stamp(state.args)
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        if not state.flags.nrt:  # a function of the library: see ``_part_options``
            state.calltypes = {step: _unsigned_index(step, call) for step, call in state.calltypes.items()}
        super().run_pass(state)
        result = state.cr
        keep = (state.library,)
        part = _dynfunc.make_function(result.fndesc.lookup_module(), "part", "", 0, result.env, keep)  # never called
        state.targetctx.insert_user_function(part, result.fndesc, [state.library])
        state.cr = result._replace(cfunc=part)
        return True


def _layout_stamp(arguments: Sequence[Any]) -> str:
    """Return a fingerprint of the layout of records in argument types; empty without records.

    In symbols, numba names a type of records by its number in the process. Code of two games, compiled by two
    processes, could therefore have equal symbols for records of different sizes.
    """
    text = ", ".join(str(kind) for kind in arguments)
    return f"_{hashlib.sha256(text.encode()).hexdigest()[:16]}" if "Record(" in text else ""


def _unsigned_index(step: Any, call: Any) -> Any:
    """Return the signature of a step; if it reads or writes an entry of an array, with an unsigned index.

    numba then generates no code that counts negative indices from the end. The library's kernels have none, and the
    code would delay every step from one array to the next (5 to 8 % of a search).
    """
    reads = isinstance(step, numba_ir.Expr) and step.op in ("getitem", "static_getitem")
    if call is None or not (reads or isinstance(step, numba_ir.SetItem | numba_ir.StaticSetItem)):
        return call
    array, index, *value = call.args
    kinds = tuple(index) if isinstance(index, numba_types.BaseTuple) else (index,)
    if not isinstance(array, numba_types.Array) or not all(isinstance(kind, numba_types.Integer) for kind in kinds):
        return call
    unsigned = numba_types.uintp if index is kinds[0] else numba_types.UniTuple(numba_types.uintp, len(kinds))
    return call.replace(args=(array, unsigned, *value))


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """numba's nopython pipeline with ``LowerPart`` as its lowering."""

    def define_pipelines(self) -> list[Any]:
        """Return the only pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(LowerPart if step is NativeLowering else step, why) for step, why in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]


UNSUPPORTED_GLOBAL: Final = (
    r"Untyped global name '(?P<name>\w+)'.*[Cc]annot determine Numba type of <class '(?P<kind>[\w.]+)'>",
    r"The use of a (?P<kind>.+) type, assigned to variable '(?P<name>\w+)' in globals, is not supported",
)
"""Errors of numba about module globals that compiled code cannot read."""


def gist(error: Exception) -> str:
    """Return the one line of a numba error that names the problem."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    relevant = [line for line in lines if not line.startswith(("Failed in", "During:", "File", "<source", "-"))]
    for pattern in UNSUPPORTED_GLOBAL:
        found = re.search(pattern, str(error))
        if found is not None:
            name, kind = found["name"], found["kind"].partition("(")[0].removeprefix("reflected ")
            return f"the global {name} is a {kind}, expected a number, a tuple of numbers or a numpy array"
    return f"{type(error).__name__}: {(relevant or lines or [''])[0]}"
