"""The plain rules of 2048, which check the boards of mctx, equal those of aleazero."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from aleazero.games import twenty48

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
PGX_ACTIONS = ("left", "up", "right", "down")


@pytest.fixture
def plain(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import plain_2048

    yield plain_2048
    del sys.modules["plain_2048"]


def ours(board):
    cells = [1 << e if e else 0 for e in board]
    return twenty48.from_board([cells[4 * r : 4 * r + 4] for r in range(4)])


def can_be_built(board):
    return sum(1 << e for e in board if e) <= twenty48.HIGHEST_TOTAL


def test_slides_and_scores(plain):
    dice = random.Random(1)
    boards = [board for board in plain.random_boards(300, dice) if any(board) and can_be_built(board)]
    moved = 0
    for board in boards:
        texts = {ours(board).action_to_string(action): action for action in ours(board).legal_actions()}
        assert [name in texts for name in PGX_ACTIONS] == plain.legal(board)
        for i, name in enumerate(PGX_ACTIONS):
            if name in texts:
                state = ours(board)
                state.apply_action(texts[name])
                after, score = plain.slide(board, i)
                assert tuple(state.vector[:16]) == after
                assert state.returns()[0] == score
                moved += 1
    assert moved > 500
    assert any(ours(board).is_terminal() for board in boards)


def test_roots_have_a_move(plain):
    roots = plain.random_roots(64, random.Random(1)) + plain.random_openings(64, random.Random(1))
    assert len(roots) == 128
    assert all(ours(root).legal_actions() for root in roots)
    assert [sum(map(bool, root)) for root in roots[64:]] == [2] * 64


def test_a_tile_needs_an_empty_cell(plain):
    with pytest.raises(ValueError, match="expected an empty one"):
        plain.spawn((1,) + (0,) * 15, 0, 1)
