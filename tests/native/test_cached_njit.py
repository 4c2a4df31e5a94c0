"""Compiled functions in the cache on disk: never stale, and errors of the cache do not matter."""

from __future__ import annotations

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import aleazero
from aleazero.native.cache import ContentCache, cache_info
from aleazero.native.compile import cached_njit

PACKAGE = Path(aleazero.__file__).parent
COMPILES = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
FACTOR = 2


def double(number):
    return FACTOR * number


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def hits(compiled) -> int:
    return sum(compiled.stats.cache_hits.values())


@COMPILES
def test_code_is_cached(folder: Path) -> None:
    for kept in (0, 1):
        compiled = cached_njit()(double)
        assert compiled(4) == 8
        assert hits(compiled) == kept
    assert cache_info().files == 1


@COMPILES
def test_options_are_passed_to_numba_and_change_the_fingerprint(folder: Path) -> None:
    compiled = cached_njit(nogil=True, error_model="numpy")(double)
    assert compiled.targetoptions["nogil"]
    assert compiled.targetoptions["error_model"] == "numpy"
    for options in ({}, {"fastmath": {"contract", "reassoc"}}, {"fastmath": {"contract"}}):
        compiled = cached_njit(**options)(double)
        assert compiled(4) == 8
        assert hits(compiled) == 0
    assert cache_info().files == 3


@COMPILES
@pytest.mark.parametrize("damage", ["cut", "empty", "bit", "nonsense"])
def test_damaged_files_are_replaced(folder: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    assert cached_njit()(double)(4) == 8
    (file,) = (folder / "cache" / "kernels").glob("*.code")
    whole = file.read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :]
    file.write_bytes({"cut": whole[:-9], "empty": b"", "bit": flipped, "nonsense": b"no code" * 99}[damage])
    for kept in (0, 1):
        compiled = cached_njit()(double)
        assert compiled(4) == 8
        assert hits(compiled) == kept
    assert not caplog.messages


SOME = """
import numpy as np
from aleazero.games.yatzy import turn as yatzy_turn
from aleazero.nets import inference
from aleazero.search import evaluator, root
from aleazero.training import targets

one, yes = np.ones((1, 1)), np.ones((1, 1), np.bool_)
assert yatzy_turn.solve_rerolls(np.ones((1, 120)), 1)[2, 0, 0] == 1.0
assert abs(root.dirichlet_noise(1, 0.3, 4).sum() - 1.0) < 1e-12

taken = np.zeros((2, 1, 1))
assert evaluator.copy_answer(3 * one, 4 * one, yes, 1, taken[0], taken[1])
assert taken.ravel().tolist() == [3.0, 4.0]

out = np.zeros((1, 1), np.float32)
inference._read_values(np.array([[0.0, 2.0]], np.float32), yes, 1, 1, False, 0.0, 1.0, 5.0, 10.0, out)
assert out[0, 0] == 25.0

ones = np.ones(1, np.int64)
spans = np.array([[0, 1]])
targets._targets(targets.MIX, 0.5, 0.9, spans, 8 * one, 4 * one, yes[0], ~yes[0], 0 * ones, one)
assert one[0, 0] == 6.0
print("right")
"""
NOISE = "from aleazero.search.root import dirichlet_noise; print(dirichlet_noise(1, 0.5, 3).tolist())"
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""


def python(program: str, **environment: str) -> str:
    """Run a program in a new process without output to stderr, and return its output."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd="/",
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def test_a_read_only_cache_is_no_error(folder: Path) -> None:
    """A folder that cannot be created, and a disk that is full."""
    assert python(SOME, ALEAZERO_CACHE_DIR="/proc/aleazero") == "right"
    assert python(FULL + NOISE) == python(NOISE, ALEAZERO_CACHE_DIR="/proc/aleazero")
    assert cache_info().files == 0


# -- never stale -----------------------------------------------------------------------------------------------

HELPER = "SCALE = {scale}\ndef bonus(x):\n    return x + {bonus}\n"
USER = """
from aleazero.native.compile import cached_njit
from helper import SCALE, bonus

helped = cached_njit()(bonus)

@cached_njit()
def value(x):
    return SCALE * later(helped(x))

@cached_njit()
def later(x):
    return x + 1
"""


@COMPILES
def test_a_change_in_another_file_recompiles(folder: Path) -> None:
    """A constant and a function of another module change, but not the time and size of its file."""
    (folder / "user.py").write_text(USER)
    found = []
    for change in ({"scale": 1, "bonus": 0}, {"scale": 2, "bonus": 0}, {"scale": 1, "bonus": 5}):
        (folder / "helper.py").write_text(HELPER.format(**change))
        os.utime(folder / "helper.py", ns=(10**18, 10**18))
        found.append(python("from user import value; print(value(3))", PYTHONPATH=f"{folder}:{PACKAGE.parent}"))
    assert found == ["4", "8", "9"]
    again = "from user import value; print(value(3), sum(value.stats.cache_hits.values()))"
    assert python(again, PYTHONPATH=f"{folder}:{PACKAGE.parent}") == "9 1"


@COMPILES
def test_a_change_in_the_library_recompiles(folder: Path) -> None:
    """Noise depends on ``native/random.py``: an edit of that file in a copy of the package changes it."""
    shutil.copytree(PACKAGE, folder / "aleazero", ignore=shutil.ignore_patterns("__pycache__"))
    streams = folder / "aleazero" / "native" / "random.py"
    text, old = streams.read_text(), "0xBF58476D1CE4E5B9"
    assert old in text
    first = python(NOISE, PYTHONPATH=str(folder))
    streams.write_text(text.replace(old, "0xBF58476D1CE4E5B7"))
    second = python(NOISE, PYTHONPATH=str(folder))
    assert second != first
    assert second == python(NOISE, PYTHONPATH=str(folder), ALEAZERO_CACHE_DIR=str(folder / "another"))


def cached_functions() -> dict[str, Dispatcher]:
    """Return all functions of the library that are compiled with the cache, by name."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if "cached_njit(" in path.read_text(encoding="utf-8"):
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            for function, value in vars(importlib.import_module(name)).items():
                if isinstance(value, Dispatcher) and isinstance(value._cache, ContentCache):
                    found[f"{name}.{function}"] = value
    return found


@COMPILES
def test_every_cached_function_has_a_fingerprint() -> None:
    functions = cached_functions()
    assert len(functions) > 30
    stamps = {value._cache.stamp for value in functions.values()}
    assert len(stamps) == len({id(value) for value in functions.values()})


def test_functions_that_stand_alone_depend_on_no_other_file() -> None:
    """The text of the file is the fingerprint, so the file may import only libraries and the decorator."""
    alone = [path for path in PACKAGE.rglob("*.py") if "stands_alone=True" in path.read_text(encoding="utf-8")]
    assert [path.name for path in alone] == ["value_kernels.py"]
    for path in alone:
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
        libraries = ("__future__", "math", "typing", "numpy", "numba", "llvmlite")
        assert {name for name in names if name.partition(".")[0] not in libraries} == {
            "aleazero.native.compile.cached_njit"
        }


def test_nothing_uses_the_cache_of_numba() -> None:
    assert [path.name for path in PACKAGE.rglob("*.py") if "cache=True" in path.read_text(encoding="utf-8")] == []


def test_functions_are_plain_without_compilation() -> None:
    plain, compiled = (python(NOISE, **more) for more in ({"NUMBA_DISABLE_JIT": "1"}, {}))
    np.testing.assert_allclose(ast.literal_eval(plain), ast.literal_eval(compiled), rtol=1e-12)
