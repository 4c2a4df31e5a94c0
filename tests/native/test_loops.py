"""Compiled loops: their functions belong to the library or the game, arrays are borrowed, and each is made once."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import aleazero
from aleazero.errors import GameError
from aleazero.games.kernel import KernelGame
from aleazero.native import compile as native_compile
from aleazero.native.cache import names_used, plain_function
from aleazero.native.compile import borrow, compile_loop, is_ours, kernel_dtype, loop_of, made_once, not_inlined
from aleazero.nets import values
from aleazero.nets.table_play import make_run
from aleazero.nets.tables import has_board, make_value_boards, shape_of
from aleazero.search.plan.loop import make_plan_loop
from aleazero.search.tree.group import sizes_of
from aleazero.search.tree.loop import make_loop
from aleazero.selfplay.compiled_games import make_proceed, make_replay
from aleazero.training.table_loop import make_learn, make_move
from aleazero.training.turns_compiled import make_lane_loop

COMPILES = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
FILES = ("examples/race.py", "examples/shut_the_box.py", "examples/tag.py")


def reached(*starts: Any) -> set[types.FunctionType]:
    """Return these functions and all Python functions that they use, directly or indirectly."""
    found: set[types.FunctionType] = set()
    waiting = [plain_function(start) for start in starts]
    while waiting:
        function = waiting.pop()
        if function is not None and function not in found:
            found.add(function)
            waiting += [plain_function(value) for value in names_used(function).values()]
    return found


def loops_of(game: KernelGame) -> dict[str, Callable[..., int]]:
    """Return all loops that the library compiles for a game."""
    kernels = game.kernels
    found = {
        "search": make_loop(kernels, sizes_of(game), open_loop=False),
        "open-loop search": make_loop(kernels, sizes_of(game), open_loop=True),
        "plan": make_plan_loop(kernels),
        "lanes": make_lane_loop(kernels),
        "selfplay": make_proceed(kernels),
        "replay": make_replay(kernels),
        "ends": values.make_see(kernels, kernels.reads_points),
    }
    if has_board(game):
        shape = shape_of(game)
        found |= {f"play, {plies} plies": make_run(game, shape, plies) for plies in (1, 2, 3)}
        found |= {"value": make_value_boards(shape), "move": make_move(game, shape), "learn": make_learn(shape)}
    return found


@pytest.mark.parametrize("name", [*aleazero.game_names(), *FILES])
def test_functions_of_a_loop_belong_to_the_library_or_to_the_game(name: str) -> None:
    """A library function outside ``OURS`` is not inlined and counts references, which is slow without an error."""
    game = aleazero.load_game(name)
    assert isinstance(game, KernelGame)
    kernels = [value for value in vars(game.kernels).values() if plain_function(value)]
    rules = reached(*kernels, game.kernels.uncompiled.get("points"))
    for loop, function in loops_of(game).items():
        inside = reached(function)
        strange = [f"{one.__module__}.{one.__qualname__}" for one in inside if not is_ours(one) and one not in rules]
        assert strange == [], loop
        assert is_ours(function)
        assert any(one in rules for one in inside) or loop in ("value", "learn")


@COMPILES
def test_a_library_function_outside_these_packages_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    def helper() -> int:
        return 1

    def loop() -> int:
        return helper()

    helper.__module__ = "aleazero.evaluation.new"
    with pytest.raises(AssertionError, match=r"aleazero\.evaluation\.new"):
        compile_loop(loop, "some")


# -- borrow ----------------------------------------------------------------------------------------------------


class Inner(NamedTuple):
    """Arrays inside."""

    numbers: Any
    records: Any


class Outer(NamedTuple):
    """Arrays, a tuple of arrays, numbers and a pair of equal types."""

    first: Any
    inner: Inner
    scale: float
    pair: Any


def make_sum() -> Callable[..., int]:
    def total(outer: Any) -> Any:
        records = outer.inner.records
        found = 0.0
        for i in range(len(outer.first)):
            found += outer.scale * outer.first[i] + outer.inner.numbers[i, 0] + records[i].x
            found += outer.pair[0][i] - outer.pair[1][i]
        return found

    total.__module__ = "aleazero.search.test"  # compiled as a library function, without reference counting

    def loop(outer_: Any, alone_: Any, out: Any) -> int:
        outer, alone = borrow(outer_), borrow(alone_)
        out[0] = total(outer)
        alone[0] = 7
        return 3

    return loop


def test_borrowed_tuples_are_the_same_arrays(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    records = np.zeros(3, [("x", np.float32), ("y", np.int8)]).view(np.recarray)
    records.x[:] = 1, 2, 3
    pair = (np.full(3, 5.0), np.ones(3))
    outer = Outer(np.arange(3), Inner(np.full((3, 1), 10, np.int16), records), 100.0, pair)
    loop = compile_loop(make_sum(), "borrow")
    for _ in range(3):
        alone, out = np.zeros(1, np.int64), np.zeros(1)
        assert loop(outer, alone, out) == 3
        assert (out[0], alone[0]) == (300.0 + 30.0 + 6.0 + 12.0, 7)
    assert borrow(outer) is outer


# -- functions that loops share ----------------------------------------------------------------------------------


def make_game_loop(step: int) -> Callable[..., int]:
    """Make a loop with a rule of a game, functions of the library that call it or not, and two equal ones."""

    def rule(x: Any) -> Any:
        return x + step

    def make_twice() -> Callable[..., int]:
        def twice(x: Any) -> Any:
            return 2 * x

        return twice

    def make_ruled() -> Callable[..., int]:
        def ruled(x: Any) -> Any:
            return rule(x)

        return ruled

    rule.__module__ = "some_game"
    first, second, ruled, ruled_again = make_twice(), make_twice(), make_ruled(), make_ruled()
    for function in (first, second, ruled, ruled_again):
        function.__module__ = "aleazero.search.test"

    def loop(x: Any) -> Any:
        return first(ruled(x)) + second(ruled_again(x))

    return loop


def parts_of(loop: Callable[..., int]) -> dict[str, Any]:
    """Return the dispatchers inside a loop's specialized copy, by the name of its variable."""
    parts = native_compile._Parts("stamp")
    copy = native_compile._specialize(plain_function(loop), parts, ())
    return dict(zip(copy.__code__.co_freevars, (cell.cell_contents for cell in copy.__closure__ or ()), strict=True))


@COMPILES
def test_loops_share_functions_of_the_library_but_not_of_the_game() -> None:
    one, other = parts_of(make_game_loop(1)), parts_of(make_game_loop(1))
    assert one["first"] is one["second"] is other["first"] is other["second"]
    assert one["ruled"] is one["ruled_again"]
    assert one["ruled"] is not other["ruled"]
    assert one["ruled"].py_func.__qualname__ == "ruled_stamp"
    assert one["first"].py_func.__qualname__ != "twice_stamp"


@COMPILES
def test_equal_functions_with_other_options_are_not_shared() -> None:
    def make(module: str, inlined: bool) -> Any:
        def twice(x: Any) -> Any:
            return 2 * x

        def calls(x: Any) -> Any:
            return twice(x)

        def loop(x: Any) -> Any:
            return calls(x)

        twice.__module__, calls.__module__ = module, "aleazero.search.test"
        if not inlined:
            not_inlined(twice)
        return parts_of(loop)["calls"]

    library = make("aleazero.search.test", True)
    assert make("aleazero.search.test", True) is library
    assert make("aleazero.search.test", False) is not library
    assert make("some_game", True) is not library


@COMPILES
def test_loops_that_share_functions_compute_their_own_results(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    loops = [compile_loop(make_game_loop(step), "some") for step in (1, 5)]
    assert [loop(10) for loop in loops for _ in range(2)] == [44, 44, 60, 60]
    assert len(list(tmp_path.rglob("*.code"))) == 2
    again = [compile_loop(make_game_loop(step), "some") for step in (5, 1)]  # loaded from the cache
    assert [loop(10) for loop in again] == [60, 44]


# -- the memo --------------------------------------------------------------------------------------------------


def make_add(more: int) -> Callable[[Any], Callable[..., int]]:
    def make(kernels: Any) -> Callable[..., int]:
        kind = kernels.kind

        def add(state: Any) -> int:
            return int(kind(state)) + more

        return add

    return make


def test_a_loop_is_made_once_per_game_name_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str]] = []

    def compile_nothing(function: Any, game: str, name: str = "") -> Any:
        made.append((game, name))
        return function

    monkeypatch.setattr(native_compile, "compile_loop", compile_nothing)
    games = [aleazero.load_game("pig", target=10) for _ in range(2)]
    loops = [loop_of(game, name, make_add(key), key) for game in games for name in "ab" for key in (0, 1)]
    again = [loop_of(game, name, make_add(9), key) for game in games for name in "ab" for key in (0, 1)]
    assert loops == again
    assert len(set(map(id, loops))) == 8
    assert made == 2 * ([("pig", "a")] * 2 + [("pig", "b")] * 2)
    state = games[0].new_initial_state().vector
    assert loops[1](state) == loops[0](state) + 1


def test_values_without_a_game_are_made_once_per_process() -> None:
    made: list[int] = []
    for _ in range(2):
        made_once(None, ("test", 1), lambda: made.append(1))
    assert made == [1]


def test_loops_with_and_without_points_are_different(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop that reads points and the loop that does not are different loops."""
    monkeypatch.setattr(native_compile, "compile_loop", lambda function, game, name="": function)
    game = aleazero.load_game("yatzy", players=2)
    states = np.array([game.new_initial_state().vector], np.int64)
    size = game.info.features.size(2)
    without, with_points = (values.SeenStates(game, size, states, points) for points in (False, True))
    assert without.points.shape == (1, 0)
    assert with_points.points.shape == (1, 2)
    loops = [vars(game)["_made_once"]["ends", points] for points in (False, True)]
    assert [game.kernels.uncompiled["points"] in reached(loop) for loop in loops] == [False, True]


def test_the_error_for_rejected_rules_names_the_game() -> None:
    table: dict[int, int] = {}

    def loop(x: int) -> int:
        return table[x]

    with pytest.raises(GameError, match=r"^climb: table, used by loop, is a dict"):
        compile_loop(loop, "climb", "plan")


# -- other ----------------------------------------------------------------------------------------------------


def test_states_are_int64_without_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    assert kernel_dtype("int8") == "int8"
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert kernel_dtype("int8") == "int64"


def test_functions_marked_as_not_inlined() -> None:
    def work() -> int:
        return 1

    work.__module__ = "aleazero.search.test"
    assert native_compile._part_options(work) == {"forceinline": True, "_nrt": False}
    assert native_compile._part_options(not_inlined(work)) == {"forceinline": False, "_nrt": False}
    work.__module__ = "some_game"
    assert native_compile._part_options(work) == {"_nrt": True}


@COMPILES
def test_kernels_read_arrays_by_unsigned_indices() -> None:
    """No code counts from the end of an array; calls of functions with the same arguments stay as they are."""
    array = numba.types.Array(numba.types.float64, 2, "C")
    pair, unsigned = (numba.types.UniTuple(kind, 2) for kind in (numba.types.intp, numba.types.uintp))
    call = numba.core.typing.signature(numba.types.float64, array, pair)
    read, other = (numba.core.ir.Expr(name, numba.core.ir.Loc("", 0)) for name in ("getitem", "call"))
    assert native_compile._unsigned_index(read, call).args == (array, unsigned)
    assert native_compile._unsigned_index(other, call) is call
