"""Compiled code that numba may keep: with a place for it, and without any."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import caching

import aleazero
from aleazero.jit import compile_and_keep


def double(number):
    return 2 * number


def test_code_is_kept_where_there_is_a_place() -> None:
    compiled = compile_and_keep()(double)
    assert compiled.stats.cache_path is not None
    assert compiled(4) == 8


def test_options_are_numbas() -> None:
    compiled = compile_and_keep(nogil=True, error_model="numpy")(double)
    assert compiled.targetoptions["nogil"]
    assert compiled.targetoptions["error_model"] == "numpy"


def test_code_is_compiled_where_there_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    compiled = compile_and_keep()(double)
    assert compiled.stats.cache_path is None
    assert compiled(4) == 8


WITHOUT_A_PLACE = """
import numpy as np
from numba.core import caching

caching.CacheImpl._locator_classes = []

from aleazero.games import yatzy_turn
from aleazero.nets import inference
from aleazero.search import intake, noise
from aleazero.training import targets

compiled = (
    yatzy_turn.solve_layers, inference._read_values, intake.take_in, noise._fill, noise._unit, targets._targets
)
assert all(function.stats.cache_path is None for function in compiled)

one, yes = np.ones((1, 1)), np.ones((1, 1), np.bool_)
assert yatzy_turn.solve_rerolls(np.ones((1, 120)), 1)[2, 0, 0] == 1.0
assert abs(noise.dirichlet_noise(1, 0.3, 4).sum() - 1.0) < 1e-12

taken = np.zeros((2, 1, 1))
assert intake.take_in(3 * one, 4 * one, yes, 1, taken[0], taken[1])
assert taken.ravel().tolist() == [3.0, 4.0]

out = np.zeros((1, 1), np.float32)
inference._read_values(np.array([[0.0, 2.0]], np.float32), yes, 1, 1, False, 0.0, 1.0, 5.0, 10.0, out)
assert out[0, 0] == 25.0

ones = np.ones(1, np.int64)
spans = np.array([[0, 1]])
targets._targets(targets.MIX, 0.5, 0.9, spans, 8 * one, 4 * one, yes[0], ~yes[0], 0 * ones, one)
assert one[0, 0] == 6.0
"""


def test_all_that_is_kept_works_without_a_place() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_A_PLACE], check=True, timeout=300)


def test_nothing_else_asks_numba_to_keep_code() -> None:
    folder = Path(aleazero.__file__).parent
    asking = [path.name for path in folder.rglob("*.py") if "cache=True" in path.read_text(encoding="utf-8")]
    assert asking == ["jit.py"]
