from __future__ import annotations

import pytest

from aleazero.evaluation.yatzy_sampling import SETS, sample_set
from aleazero.evaluation.yatzy_sets import FOLDER, PREFIX, set_bytes, set_names
from aleazero.oracles.judge import YatzyJudge


@pytest.mark.parametrize("name", ["small", pytest.param("standard", marks=pytest.mark.long)])
def test_a_set_made_anew_has_the_same_bytes(oracle, name):
    assert set_bytes(sample_set(name, YatzyJudge(oracle))) == (FOLDER / f"{PREFIX}{name}.json").read_bytes()


def test_every_set_that_ships_can_be_made_anew():
    assert set_names() == sorted(SETS)
