"""The rules of 2048 in plain Python, independent of aleazero and pgx, to check the boards of both.

A board is 16 exponents row by row from the top: 0 for an empty cell, e for the tile 2^e. Actions are numbered as in
pgx: left, up, right, down.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

SIDE, CELLS, ACTIONS = 4, 16, 4
LONGEST_PLAY = 100
"""Maximum number of moves before a root."""

Board = tuple[int, ...]


def lines(action: int) -> list[list[int]]:
    """Return the four lines of cells, each beginning at the side to which tiles slide."""
    rows = [[SIDE * r + c for c in range(SIDE)] for r in range(SIDE)]
    columns = [[SIDE * r + c for r in range(SIDE)] for c in range(SIDE)]
    ways = rows if action in (0, 2) else columns
    return [way if action < 2 else way[::-1] for way in ways]


def slide(board: Sequence[int], action: int) -> tuple[Board, int]:
    """Return the board after the slide, before a new tile appears, and the score of the merges."""
    after, score = [0] * CELLS, 0
    for line in lines(action):
        tiles = [board[cell] for cell in line if board[cell]]
        merged: list[int] = []
        while tiles:
            tile = tiles.pop(0)
            if tiles and tiles[0] == tile:
                tiles.pop(0)
                tile += 1
                score += 2**tile
            merged.append(tile)
        for cell, tile in zip(line, merged, strict=False):
            after[cell] = tile
    return tuple(after), score


def legal(board: Sequence[int]) -> list[bool]:
    """Return which actions change the board."""
    return [slide(board, action)[0] != tuple(board) for action in range(ACTIONS)]


def spawn(board: Sequence[int], cell: int, tile: int) -> Board:
    """Return the board with a tile on an empty cell."""
    if board[cell]:
        raise ValueError(f"got cell {cell} of {board}, expected an empty one")
    return (*board[:cell], tile, *board[cell + 1 :])


def random_spawn(board: Sequence[int], dice: random.Random) -> Board:
    """Place a 2 (90 %) or a 4 on a random empty cell."""
    cell = dice.choice([cell for cell in range(CELLS) if not board[cell]])
    return spawn(board, cell, 1 if dice.random() < 0.9 else 2)


def random_openings(count: int, dice: random.Random) -> list[Board]:
    """Return initial boards with two tiles."""
    return [random_spawn(random_spawn((0,) * CELLS, dice), dice) for _ in range(count)]


def random_roots(count: int, dice: random.Random) -> list[Board]:
    """Return boards with a legal move, each after up to ``LONGEST_PLAY`` random moves."""
    roots: list[Board] = []
    while len(roots) < count:
        (board,) = random_openings(1, dice)
        for _ in range(dice.randrange(LONGEST_PLAY)):
            moves = [action for action, can in enumerate(legal(board)) if can]
            if not moves:
                break
            board = random_spawn(slide(board, dice.choice(moves))[0], dice)
        if any(legal(board)):
            roots.append(board)
    return roots


def random_boards(count: int, dice: random.Random) -> list[Board]:
    """Return arbitrary boards with many equal tiles: sparse, crowded and full ones, some without a legal move."""
    sparse = [0, 0, 0, 1, 1, 2, 3, 16]
    crowded = [0, 1, 1, 1, 2, 2, 3, 16]
    full = list(range(1, 17))
    return [tuple(dice.choices((sparse, crowded, full)[i % 3], k=CELLS)) for i in range(count)]
