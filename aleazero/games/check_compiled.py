"""Check that the functions of a kernel game compile, and that they agree with plain Python.

This compiles the functions with plain ``numba.njit``, without the cache and the specialization of the search.
"""

from __future__ import annotations

import random
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aleazero.games.base import CHANCE, DECISION, MANY, TERMINAL
from aleazero.games.kernel import Kernel, KernelGame, Kernels

COMPILED = (
    *("init", "kind", "to_play", "legal", "apply", "outcomes", "apply_outcome", "sample"),
    *("returns", "viewer", "observe", "decision_class", "canonical", "turn", "playout", "phase", "features", "points"),
    "prior_logit",
)
SPARE = 64
"""Extra length of arrays, for kernels that write after the end."""
CHOICES = 40
"""Maximum number of actions or outcomes that are compared per state."""
FEW_DRAWS, DRAWS = 200, 100_000
"""Number of actions and outcomes per call of the compiled games: few at first, for slow games."""
UNITS = (0.0, 0.123, 0.5, 0.777, 1.0 - 2.0**-53)

Reader = Callable[[Any, NDArray[Any]], Any]
"""Calls a kernel on a row and returns its result in a form that can be compared."""


class Difference(Exception):
    """A kernel does not compile (``row`` is None), or its result differs from plain Python."""

    def __init__(self, kernel: str, row: NDArray[Any] | None, got: Any, expected: Any) -> None:
        super().__init__(kernel)
        self.kernel, self.row, self.got, self.expected = kernel, row, got, expected


def compile_kernels(kernels: Kernels) -> dict[str, Kernel]:
    """Return the kernels as numba dispatchers, which compile at the first call."""
    compiled: dict[int, Any] = {}
    return {name: _compile(kernel, compiled) for name, kernel in _plain(kernels).items()}


def _plain(kernels: Kernels) -> dict[str, Kernel]:
    """Return the functions that compiled code calls, including ``points`` only if training reads it."""
    found = {name: getattr(kernels, name, None) for name in COMPILED}
    if kernels.reads_points:
        found["points"] = kernels.uncompiled["points"]
    return {name: kernel for name, kernel in found.items() if kernel is not None}


def _compile(function: Kernel, compiled: dict[int, Any]) -> Any:
    """Compile a function and all plain functions that it calls by name."""
    import numba

    from aleazero.native.compile import pausing

    if not isinstance(function, types.FunctionType):
        return function
    if id(function) in compiled:
        return compiled[id(function)]
    namespace = dict(function.__globals__)
    copy = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    compiled[id(function)] = pausing(numba.njit(copy))
    for name in function.__code__.co_names:
        if isinstance(namespace.get(name), types.FunctionType):
            namespace[name] = _compile(namespace[name], compiled)
    return compiled[id(function)]


def compare_with_plain(
    game: KernelGame, rows: Sequence[NDArray[np.int64]], compiled: dict[str, Kernel] | None = None
) -> Iterator[int]:
    """Compare compiled and plain functions on each row, and yield its number afterwards. Raises ``Difference``."""
    plain = _plain(game.kernels)
    compiled = compile_kernels(game.kernels) if compiled is None else compiled
    for place, vector in enumerate(rows):
        for name, readers in _readers(game, vector).items():
            if name in plain:
                for reader in readers:
                    expected = reader(plain[name], vector.copy())
                    got = _read(name, reader, compiled[name], vector.astype(game.info.state_dtype))
                    if not _same(got, expected):
                        raise Difference(name, vector, got, expected)
        yield place


def play_compiled(
    game: KernelGame, compiled: dict[str, Kernel], seed: int, games: int, max_length: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Play random games with compiled kernels.

    A game longer than ``max_length`` is abandoned. Playing stops if no game ends within ``DRAWS`` steps.

    Yields:
        Terminal states (ends, state_size) and their returns (ends, players) of the games that ended since the last
        yield. There may be none, so that the caller can check its time limit.

    Raises:
        Difference: a kernel raised an error, wrote after the end of the state, or listed no legal action.
    """
    import numba

    from aleazero.native.compile import gist

    info, draw = game.info, np.random.default_rng([seed, 15])
    draws, idle = FEW_DRAWS, 0
    if numba.config.DISABLE_JIT:
        games = min(games, 50)
    play = _make_play(compiled, game.kernels.sample is not None, info.num_actions, max_length)
    state = np.zeros(info.state_size + SPARE, info.state_dtype)
    actions, ids = np.zeros(info.num_actions + SPARE, np.int64), np.zeros(info.max_outcomes + SPARE, np.int64)
    shares, progress = np.zeros(info.max_outcomes + SPARE), np.zeros(2, np.int64)
    while games > 0 and idle < DRAWS:
        ends = np.zeros((min(games, 500), info.state_size), info.state_dtype)
        returns = np.full((len(ends), info.num_players), np.nan)
        room = (state[: info.state_size], progress, draw.random(draws), actions, ids, shares, ends, returns)
        try:
            count = int(play(*room))
        except Exception as error:  # errors of the kernels and of numba
            raise Difference("random games", None, gist(error), "games that play to their end") from error
        row = state[: info.state_size].astype(np.int64)
        if count < 0:
            raise Difference("legal", row, "no legal action or an unknown kind", "at least one at a decision")
        if state[info.state_size :].any():
            raise Difference("apply", row, "a number written after the end", f"state_size, {info.state_size}")
        yield ends[:count].astype(np.int64), returns[:count]
        games -= count
        idle = 0 if count else idle + draws
        draws = min(2 * draws, DRAWS)


def _make_play(compiled: dict[str, Kernel], samples: bool, num_actions: int, max_length: int) -> Kernel:
    """Return the compiled loop of random games. A call continues the current game until all draws are used, or the
    array of ends is full."""
    import numba

    from aleazero.native.compile import pausing

    init, kind_of, legal, apply = (compiled[name] for name in ("init", "kind", "legal", "apply"))
    outcomes, apply_outcome, returns_of = (compiled[name] for name in ("outcomes", "apply_outcome", "returns"))
    sample = compiled.get("sample", outcomes)

    @numba.njit  # type: ignore[untyped-decorator]
    def draw_sample(state: Any, u: float, ids: Any, shares: Any) -> int:
        return sample(state, u)

    @numba.njit  # type: ignore[untyped-decorator]
    def draw_listed(state: Any, u: float, ids: Any, shares: Any) -> int:
        count = outcomes(state, ids, shares)
        below = 0.0
        for i in range(count - 1):
            below += shares[i]
            if u < below:
                return ids[i]
        return ids[max(0, count - 1)]

    draw_outcome = draw_sample if samples else draw_listed

    @numba.njit  # type: ignore[untyped-decorator]
    def play(
        state: Any, progress: Any, draws: Any, actions: Any, ids: Any, shares: Any, ends: Any, returns: Any
    ) -> int:
        count = 0
        for u in draws:
            if progress[0] == 0:  # a new game
                for i in range(len(state)):
                    state[i] = 0
                init(state)
                progress[0], progress[1] = 1, 0
            kind = kind_of(state)
            if kind == TERMINAL:
                for i in range(len(state)):
                    ends[count, i] = state[i]
                returns_of(state, returns[count])
                count += 1
                progress[0] = 0
                if count == len(ends):
                    break
                continue
            if kind == DECISION:
                legal_count = legal(state, actions)
                if not 1 <= legal_count <= num_actions:
                    return -1
                apply(state, actions[int(u * legal_count)])
            elif kind == CHANCE:
                apply_outcome(state, draw_outcome(state, u, ids, shares))
            else:
                return -1
            progress[1] += 1
            if progress[1] > max_length:
                progress[0] = 0
        return count

    return pausing(play)


def _same(got: Any, expected: Any) -> bool:
    """Compare; float32 observations may differ in the last bits, because plain Python computes in float64."""
    if isinstance(expected, tuple):
        return len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, list) and expected and isinstance(expected[0], float):
        return len(got) == len(expected) and np.allclose(got, expected, rtol=1e-6, atol=1e-9, equal_nan=True)
    return bool(got == expected)


def _read(name: str, reader: Reader, kernel: Kernel, row: NDArray[Any]) -> Any:
    try:
        return reader(kernel, row)
    except Exception as error:  # the errors of numba have no common base class
        from aleazero.native.compile import gist

        raise Difference(name, None, gist(error), "a function that numba compiles") from error


def _readers(game: KernelGame, vector: NDArray[np.int64]) -> dict[str, list[Reader]]:
    """Return the calls to compare, for every kernel that can be called in this state."""
    info, kernels = game.info, game.kernels
    draw = random.Random(vector.tobytes())

    def subset(choices: NDArray[Any]) -> list[int]:
        listed: list[int] = choices.tolist()
        return listed if len(listed) <= CHOICES else draw.sample(listed, CHOICES)

    kind = int(kernels.kind(vector))
    readers: dict[str, list[Reader]] = {
        "init": [lambda kernel, row: _after(kernel, np.zeros_like(row))],
        "kind": [_number],
        "to_play": [_number],
        "viewer": [_number],
        "returns": [lambda kernel, row: _filled(kernel, row, np.zeros(info.num_players))],
        "observe": [_observing(player, game.observation_size) for player in range(info.num_players)],
        "points": [lambda kernel, row: _filled(kernel, row, _room(info.num_players, np.float64))],
    }
    if kind in (DECISION, CHANCE):
        readers["turn"] = readers["phase"] = [_number]
        if info.features is not None:
            size = info.features.size(info.num_players)
            readers["features"] = [_observing(player, size) for player in range(info.num_players)]
    if kind == DECISION:
        actions = np.zeros(info.num_actions, np.int64)
        count = int(kernels.legal(vector, actions))
        readers["decision_class"] = [_number]
        readers["legal"] = [_list_legal(info.num_actions)]
        readers["apply"] = [_applying(action) for action in subset(actions[:count])]
        readers["playout"] = [_choosing(actions, count, u) for u in UNITS]
        readers["prior_logit"] = [_real_with(action) for action in subset(actions[:count])]
        readers["canonical"] = [_with(action) for action in subset(np.arange(info.num_actions))]
    elif kind == CHANCE:
        ids, probabilities = np.zeros(info.max_outcomes, np.int64), np.zeros(info.max_outcomes)
        count = int(kernels.outcomes(vector, ids, probabilities))
        readers["outcomes"] = [_list_outcomes(info.max_outcomes)]
        readers["sample"] = [_with(u) for u in UNITS]
        listed = ids[:count] if count != MANY else [kernels.sample(vector, u) for u in UNITS] if kernels.sample else []
        readers["apply_outcome"] = [_applying(outcome) for outcome in subset(np.array(listed))]
    return readers


def _number(kernel: Kernel, row: NDArray[Any]) -> int:
    return int(kernel(row))


def _after(kernel: Kernel, row: NDArray[Any]) -> list[int]:
    kernel(row)
    return [int(x) for x in row]


def _filled(kernel: Kernel, row: NDArray[Any], out: NDArray[Any]) -> list[float]:
    """Return what a kernel writes, including numbers that it writes after the end."""
    kernel(row, out)
    room = out.base if out.base is not None and np.isfinite(out.base[len(out) :]).any() else out
    return [float(x) for x in room]


def _observing(player: int, size: int) -> Reader:
    return lambda kernel, row: _filled(lambda row, out: kernel(row, player, out), row, _room(size, np.float32))


def _room(size: int, dtype: Any) -> NDArray[Any]:
    """Return an array with spare memory after its end, because compiled kernels have no bounds checks."""
    room: NDArray[Any] = np.full(size + SPARE, np.nan, dtype)[:size]
    return room


def _with(argument: Any) -> Reader:
    return lambda kernel, row: int(kernel(row, argument))


def _real_with(argument: Any) -> Reader:
    return lambda kernel, row: float(kernel(row, argument))


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
