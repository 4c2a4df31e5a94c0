"""A fingerprint of everything that a kernel's machine code depends on.

Bytecode, constants, and (through globals and closures, across modules) every function, table and number that it
names. Line numbers and comments do not count. What is not understood is refused: a dependency that the
fingerprint cannot see would one day be served stale.
"""

from __future__ import annotations

import enum
import hashlib
import math
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from aleazero.errors import GameError

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LIBRARIES = (np, math)


def plain_function(value: Any) -> types.FunctionType | None:
    """The Python function behind a value, if there is one (numba's dispatchers are looked through)."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, types.FunctionType) else None


def options_text(options: Mapping[str, Any]) -> str:
    """Options of numba as a text that is the same in every process: sets have no order of their own."""
    plain = {name: sorted(value) if isinstance(value, set | frozenset) else value for name, value in options.items()}
    return repr(sorted((name, value) for name, value in plain.items() if isinstance(value, (*_PLAIN, list))))


def names_used(function: types.FunctionType) -> dict[str, Any]:
    """The globals that a function reads, and its closure cells, by name."""
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
    """Builtins, and what numpy and math hold: known by name."""
    if isinstance(value, type):
        return value.__module__.partition(".")[0] in ("builtins", "numpy")
    return isinstance(value, types.BuiltinFunctionType | np.ufunc | type(np.sum)) or value in _LIBRARIES


class _Walk:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self.seen: dict[int, int] = {}

    def add(self, text: str) -> None:
        self.digest.update(f"{len(text)}:{text}".encode())

    def value(self, value: Any, where: str) -> None:
        function = plain_function(value)
        if function is not None:
            if hasattr(value, "targetoptions"):  # a function that is compiled with options of its own
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
        if id(function) in self.seen:
            self.add(f"seen {self.seen[id(function)]}")
            return
        self.seen[id(function)] = len(self.seen)
        self.code(function.__code__, function.__qualname__)
        self.add(" ".join(sorted(vars(function))))  # marks that say how it is compiled
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


def fingerprint(function: types.FunctionType, *more: str) -> str:
    """Thirty-two hexadecimal digits that change with anything the function's machine code depends on."""
    walk = _Walk()
    for word in more:
        walk.add(word)
    walk.function(function)
    return walk.digest.hexdigest()[:32]
