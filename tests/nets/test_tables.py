"""N-tuple tables: values and files."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save

import aleazero
from aleazero import CheckpointError, ConfigError
from aleazero.nets.tables import TupleTables, require_board, shape_of
from tests.tuple_boards import SMALL, random_boards, slow_value


@pytest.fixture
def tuples():
    made = TupleTables(SMALL)
    made.weights[:] = np.random.default_rng(1).normal(size=len(made.weights))
    return made


def test_values_equal_the_reference_implementation(tuples) -> None:
    boards = random_boards(150)  # more than fit into one batch
    assert boards.max() > SMALL.values
    expected = [slow_value(SMALL, tuples.weights, board) for board in boards]
    np.testing.assert_array_equal(tuples.values(boards), np.array(expected, np.float32))
    np.testing.assert_array_equal(tuples.values(boards[7:8]), np.array(expected[7:8], np.float32))
    assert len(tuples.values(boards[:0])) == 0


def test_symmetric_boards_have_the_same_value(tuples) -> None:
    board = random_boards(1, seed=3)[0].reshape(4, 4)
    alike = [np.rot90(side, turns).ravel() for side in (board, board.T) for turns in range(4)]
    values = tuples.values(np.array(alike))
    assert len({tuple(x) for x in alike}) == 8
    np.testing.assert_allclose(values, values[0], rtol=1e-5)
    board[0, 0] = 1 if board[0, 0] == 0 else 0
    assert abs(tuples.values(board.reshape(1, 16))[0] - values[0]) > 1e-3


def test_tensors_are_sparse_and_exact() -> None:
    made = TupleTables(SMALL)
    made.weights[[0, 5, 20_735, 20_736, -1]] = [0.1, -2.5, 3e-41, 1e30, -0.0]
    tensors = load(save(made.tensors()))
    assert [len(tensors[f"tables.{n}.index"]) for n in range(3)] == [3, 1, 1]
    back = TupleTables.from_tensors(SMALL, tensors)
    assert back.weights.tobytes() == made.weights.tobytes()


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("tables.0.index", np.array([3, 3], np.int32), "invalid indices"),
        ("tables.0.index", np.array([3, 20_736], np.int32), "invalid indices"),
        ("tables.0.index", np.array([-1, 3], np.int32), "invalid indices"),
        ("tables.0.index", np.array([1, 3], np.int64), "int64"),
        ("tables.0.weight", np.array([1], np.float32), "of equal length"),
        ("tables.0.weight", np.array([1, np.nan], np.float32), "non-finite"),
        ("tables.3.weight", np.array([1], np.float32), "tables.3.weight"),
    ],
)
def test_damaged_tensors_are_rejected(name, array, message) -> None:
    made = TupleTables(SMALL)
    made.weights[[1, 3]] = 1.0
    with pytest.raises(CheckpointError, match=message):
        TupleTables.from_tensors(SMALL, {**made.tensors(), name: array})


def test_other_games_are_rejected(tuples) -> None:
    with pytest.raises(ConfigError, match="no tuple_shape"):
        shape_of(aleazero.load_game("pig"))
    with pytest.raises(ConfigError, match="1 player"):
        require_board(aleazero.load_game("tic_tac_toe"), SMALL)
    with pytest.raises(ConfigError, match="expected rows of 16"):
        tuples.values(np.zeros((3, 15)))
