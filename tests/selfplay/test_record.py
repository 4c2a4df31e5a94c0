"""Records of self-play games: types and shapes of arrays, equality."""

from dataclasses import replace

import numpy as np
import pytest
from played_episodes import episode

from aleazero.errors import ReplayError


def test_a_record_counts_its_samples_and_equals_itself():
    record = episode("pig")
    assert len(record) == len(record.ply) > 5
    assert record.equals(replace(record, policies=record.policies.copy()))
    assert not record.equals(episode("pig", 1))
    assert not record.equals(replace(record, seed=record.seed ^ 1))


def test_records_that_differ_in_one_number_are_unequal():
    record = episode("pig")
    values = record.root_values.copy()
    values[-1, 0] = np.nextafter(values[-1, 0], np.float32(9))
    assert not record.equals(replace(record, root_values=values))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": [[0.5, 0.5]]}, "game 0: policies is list, expected an array of float32"),
        ({"weights": np.zeros(3)}, "game 0: weights has type float64, expected float32"),
        ({"steps": np.zeros(4, np.int32)}, r"game 0: steps has shape \(4,\), expected \(steps, 2\)"),
        ({"steps": np.zeros((4, 3), np.int32)}, r"game 0: steps has shape \(4, 3\), expected 2 for 2"),
        ({"weights": np.zeros(3, np.float32)}, r"game 0: weights has shape \(3,\), expected \d+ for samples"),
        ({"game_number": -1}, "game_number is -1, expected at least 0"),
        ({"seed": 2**64}, "game 0: seed is 18446744073709551616, expected 64 bits"),
    ],
)
def test_invalid_records_are_rejected(change, message):
    with pytest.raises(ReplayError, match=message):
        replace(episode("pig"), **change)
