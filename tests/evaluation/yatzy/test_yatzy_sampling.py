from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from aleazero.evaluation.yatzy.positions import FOLDER, PREFIX, set_bytes, set_names

_FILE = Path(__file__).parents[3] / "benchmarks" / "yatzy" / "sampling.py"
_SPEC = importlib.util.spec_from_file_location("yatzy_sampling", _FILE)
sampling = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(sampling)


@pytest.mark.parametrize("name", ["small", pytest.param("standard", marks=pytest.mark.long)])
def test_a_regenerated_set_has_the_same_bytes(oracle, name):
    assert set_bytes(sampling.sample_set(name, oracle)) == (FOLDER / f"{PREFIX}{name}.json").read_bytes()


def test_every_bundled_set_can_be_regenerated():
    assert set_names() == sorted(sampling.SETS)
