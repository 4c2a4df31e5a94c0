"""Compiled twins: whether a kernel game's functions compile, and then say the same as in plain Python.

A small stand-in for the search's own compiler: nothing is cached and nothing is specialised.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, MANY
from aleazero.games.kernel import Kernel, KernelGame, Kernels

COMPILED = (
    *("init", "kind", "to_play", "legal", "apply", "outcomes", "apply_outcome", "sample"),
    *("returns", "viewer", "observe", "decision_class", "canonical", "turn", "playout", "phase"),
)
UNITS = (0.0, 0.123, 0.5, 0.777, 1.0 - 2.0**-53)

Reader = Callable[[Any, NDArray[Any]], Any]
"""Calls some kernel on a row and gives what it answered, as something that can be compared."""


class Difference(Exception):
    """A kernel did not compile (``row`` is None), or said something else than in plain Python."""

    def __init__(self, kernel: str, row: NDArray[Any] | None, got: Any, expected: Any) -> None:
        super().__init__(kernel)
        self.kernel, self.row, self.got, self.expected = kernel, row, got, expected


def compile_kernels(kernels: Kernels) -> dict[str, Kernel]:
    """The kernels as numba dispatchers; they compile when first called."""
    compiled: dict[int, Any] = {}
    return {
        name: _compile(kernel, compiled) for name in COMPILED if (kernel := getattr(kernels, name, None)) is not None
    }


def _compile(function: Kernel, compiled: dict[int, Any]) -> Any:
    """The function and all the plain functions that it calls by name, compiled."""
    import numba

    if not isinstance(function, types.FunctionType):
        return function
    if id(function) in compiled:
        return compiled[id(function)]
    namespace = dict(function.__globals__)
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    compiled[id(function)] = numba.njit(copy)
    for name in function.__code__.co_names:
        if isinstance(namespace.get(name), types.FunctionType):
            namespace[name] = _compile(namespace[name], compiled)
    return compiled[id(function)]


def compare_twins(game: KernelGame, rows: Iterable[NDArray[np.int64]]) -> int:
    """Compare both on each row; the number of rows. Raises ``Difference``."""
    plain = {name: getattr(game.kernels, name) for name in COMPILED if getattr(game.kernels, name, None) is not None}
    compiled = compile_kernels(game.kernels)
    count = 0
    for vector in rows:
        count += 1
        for name, readers in _readers(game, vector).items():
            if name in plain:
                for reader in readers:
                    expected = reader(plain[name], vector.copy())
                    got = _ask(name, reader, compiled[name], vector.astype(game.info.state_dtype))
                    if not _same(got, expected):
                        raise Difference(name, vector, got, expected)
    return count


def _same(got: Any, expected: Any) -> bool:
    """Equal; float32 observations may differ in the last bits, as plain Python computes them in float64."""
    if isinstance(expected, float):
        return bool(np.isclose(got, expected, rtol=1e-6, atol=1e-9, equal_nan=True))
    if isinstance(expected, tuple | list):
        return len(got) == len(expected) and all(map(_same, got, expected))
    return bool(got == expected)


def _ask(name: str, reader: Reader, kernel: Kernel, row: NDArray[Any]) -> Any:
    try:
        return reader(kernel, row)
    except Exception as error:  # numba's own errors have no common base
        raise Difference(name, None, gist(error), "a function that numba compiles") from error


def gist(error: Exception) -> str:
    """The one line of a numba error that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(("Failed in", "During:", "File", "<source", "-"))]
    return f"{type(error).__name__}: {(telling or lines or [''])[0]}"


def _readers(game: KernelGame, vector: NDArray[np.int64]) -> dict[str, list[Reader]]:
    """For every kernel that may be called in this state, the calls to compare."""
    info, kernels = game.info, game.kernels
    kind = int(kernels.kind(vector))
    readers: dict[str, list[Reader]] = {
        "init": [lambda kernel, row: _after(kernel, np.zeros_like(row))],
        "kind": [_number],
        "to_play": [_number],
        "viewer": [_number],
        "returns": [lambda kernel, row: _filled(kernel, row, np.zeros(info.num_players))],
        "observe": [_observing(player, game.observation_size) for player in range(info.num_players)],
    }
    if kind in (DECISION, CHANCE):
        readers["turn"] = readers["phase"] = [_number]
    if kind == DECISION:
        actions = np.zeros(info.num_actions, np.int64)
        count = int(kernels.legal(vector, actions))
        readers["decision_class"] = [_number]
        readers["legal"] = [_list_legal(info.num_actions)]
        readers["apply"] = [_applying(int(action)) for action in actions[:count]]
        readers["playout"] = [_choosing(actions, count, u) for u in UNITS]
        readers["canonical"] = [_with(action) for action in range(info.num_actions)]
    elif kind == CHANCE:
        ids, probabilities = np.zeros(info.max_outcomes, np.int64), np.zeros(info.max_outcomes)
        count = int(kernels.outcomes(vector, ids, probabilities))
        readers["outcomes"] = [_list_outcomes(info.max_outcomes)]
        readers["sample"] = [_with(u) for u in UNITS]
        listed = ids[:count] if count != MANY else [kernels.sample(vector, u) for u in UNITS] if kernels.sample else []
        readers["apply_outcome"] = [_applying(int(outcome)) for outcome in listed]
    return readers


def _number(kernel: Kernel, row: NDArray[Any]) -> int:
    return int(kernel(row))


def _after(kernel: Kernel, row: NDArray[Any]) -> list[int]:
    kernel(row)
    return [int(x) for x in row]


def _filled(kernel: Kernel, row: NDArray[Any], out: NDArray[Any]) -> list[float]:
    kernel(row, out)
    return [float(x) for x in out]


def _observing(player: int, size: int) -> Reader:
    return lambda kernel, row: _filled(lambda row, out: kernel(row, player, out), row, np.zeros(size, np.float32))


def _with(argument: Any) -> Reader:
    return lambda kernel, row: int(kernel(row, argument))


def _choosing(actions: NDArray[np.int64], count: int, u: float) -> Reader:
    return lambda kernel, row: int(kernel(row, actions.copy(), count, u))


def _applying(argument: int) -> Reader:
    return lambda kernel, row: _after(lambda row: kernel(row, argument), row)


def _list_legal(most: int) -> Reader:
    def read(kernel: Kernel, row: NDArray[Any]) -> list[int]:
        out = np.zeros(most, np.int64)
        return [int(action) for action in out[: kernel(row, out)]]

    return read


def _list_outcomes(most: int) -> Reader:
    def read(kernel: Kernel, row: NDArray[Any]) -> tuple[list[int], list[float]]:
        ids, probabilities = np.zeros(most, np.int64), np.zeros(most)
        count = max(0, int(kernel(row, ids, probabilities)))
        return [int(o) for o in ids[:count]], [float(p) for p in probabilities[:count]]

    return read
