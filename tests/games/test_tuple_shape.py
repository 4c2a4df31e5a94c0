"""The description of a board for n-tuple tables."""

from __future__ import annotations

import pytest

import aleazero
from aleazero.errors import ContractError
from aleazero.games.kit import TupleShape
from aleazero.nets.tables import shape_of
from tests.tuple_boards import SMALL


def test_2048_describes_its_board() -> None:
    shape = shape_of(aleazero.load_game("2048"))
    assert (len(shape.tuples), len(set(shape.symmetries)), shape.entries) == (4, 8, 4 * 16**6)
    assert tuple(range(16)) in shape.symmetries


@pytest.mark.parametrize(
    "change",
    [
        {"tuples": ((0, 16),)},
        {"tuples": ((1, 1),)},
        {"tuples": ()},
        {"symmetries": (tuple(range(15)),)},
        {"values": 1},
        {"values": 100, "tuples": ((0, 1, 2, 3, 4),)},
    ],
)
def test_invalid_shapes_are_rejected(change) -> None:
    made = {"cells": 16, "values": 12, "tuples": SMALL.tuples, "symmetries": SMALL.symmetries}
    with pytest.raises(ContractError):
        TupleShape(**{**made, **change})
