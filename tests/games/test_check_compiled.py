"""Comparison of compiled rules with plain Python: helpers and parameters are compiled, and differences are found."""

import numba
import numpy as np
import pytest

from aleazero.games.check_compiled import Difference, compare_with_plain, compile_kernels
from aleazero.games.registry import load_game


def test_compiled_kernels_use_parameters_and_helpers():
    kernels = compile_kernels(load_game("pig", target=10).kernels)
    row = np.array([3, 0, 7, 0, 0], np.int16)
    kernels["apply"](row, 1)
    assert row.tolist() == [10, 0, 0, 0, 2]
    board = np.array([1, 1, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0], np.int8)
    compile_kernels(load_game("tic_tac_toe").kernels)["apply"](board, 2)  # completes a line, which a helper finds
    assert board.tolist() == [1, 1, 1, 2, 2, 0, 0, 0, 0, 1, 2, 1]


def test_rows_are_counted_and_a_changed_kernel_is_detected(monkeypatch):
    game = load_game("dice_game")
    rows = [game.state_from_text(text).vector for text in ("3", "3 rolling", "3 over")]
    assert list(compare_with_plain(game, rows)) == [0, 1, 2]
    honest = compile_kernels

    def lying(kernels):
        return {**honest(kernels), "to_play": numba.njit(lambda state: 1)}

    monkeypatch.setattr("aleazero.games.check_compiled.compile_kernels", lying)
    with pytest.raises(Difference) as difference:
        list(compare_with_plain(game, rows))
    assert (difference.value.kernel, difference.value.got, difference.value.expected) == ("to_play", 1, 0)
