"""Tic-tac-toe: three in a row wins. Two players, no chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import DECISION, TERMINAL, Game, GameInfo
from aleazero.games.kit import Example, GameKit
from aleazero.games.scene import Circle, Group, Label, Line, Move, Rect, Scene, Shape

Vector = NDArray[np.int64]

# The state vector: nine cells row by row from the top (0 empty, 1 x, 2 o), the mover, the kind, the winner's mark.
CELLS, PLAYER, KIND, WINNER = 9, 9, 10, 11
EMPTY = 0
MARKS = ".xo"


def describe() -> GameInfo:
    """Describe the game. It has no parameters; x moves first."""
    return GameInfo(
        name="tic_tac_toe",
        num_players=2,
        num_actions=CELLS,
        utility=(-1.0, 1.0),
        state_size=12,
        state_dtype="int8",
        observation_size=18,
        observation_schema="tic_tac_toe-1",
    )


def kind(state: Vector) -> int:
    """DECISION or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """0 for x, 1 for o."""
    return state[PLAYER]


def legal(state: Vector, out: Vector) -> int:
    """The empty cells."""
    count = 0
    for cell in range(CELLS):
        if state[cell] == EMPTY:
            out[count] = cell
            count += 1
    return count


def apply(state: Vector, action: int) -> None:
    """Mark a cell; a row, column or diagonal wins, a full board is a draw."""
    mark = state[PLAYER] + 1
    state[action] = mark
    state[PLAYER] = 1 - state[PLAYER]
    if _has_line(state, mark):
        state[WINNER] = mark
        state[KIND] = TERMINAL
        return
    for cell in range(CELLS):
        if state[cell] == EMPTY:
            return
    state[KIND] = TERMINAL


def _has_line(state: Vector, mark: int) -> bool:
    for i in range(3):
        if state[3 * i] == mark and state[3 * i + 1] == mark and state[3 * i + 2] == mark:
            return True
        if state[i] == mark and state[i + 3] == mark and state[i + 6] == mark:
            return True
    if state[4] != mark:
        return False
    return (state[0] == mark and state[8] == mark) or (state[2] == mark and state[6] == mark)


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """1 for the winner, −1 for the loser, 0 before the end and in a draw."""
    out[0] = 0.0
    out[1] = 0.0
    if state[WINNER] != EMPTY:
        winner = state[WINNER] - 1
        out[winner] = 1.0
        out[1 - winner] = -1.0


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """For each of the nine cells, 1 if it has the player's own mark; then the same for the opponent's mark."""
    for cell in range(CELLS):
        out[cell] = 1.0 if state[cell] == player + 1 else 0.0
        out[CELLS + cell] = 1.0 if state[cell] == 2 - player else 0.0


def action_text(state: Vector, action: int) -> str:
    """Column letter and row number, from ``a1`` at the top left to ``c3``."""
    return f"{'abc'[action % 3]}{action // 3 + 1}"


def text(state: Vector) -> str:
    """Rows from the top, e.g. ``x.o/.x./...``; the marks determine whose move it is."""
    marks = "".join(MARKS[state[cell]] for cell in range(CELLS))
    return f"{marks[:3]}/{marks[3:6]}/{marks[6:]}"


def parse(line: str) -> Vector:
    """Read what ``text`` writes; reject boards that no play reaches."""
    rows = line.strip().lower().split("/")
    if [len(row) for row in rows] != [3, 3, 3] or set("".join(rows)) - set(MARKS):
        raise PositionError(f"tic_tac_toe: cannot read position {line!r}, expected e.g. 'x.o/.x./...'")
    state = np.zeros(12, np.int64)
    state[:CELLS] = [MARKS.index(mark) for mark in "".join(rows)]
    _settle(state)
    return state


def check(state: Vector) -> None:
    """Reject numbers that no play reaches."""
    if state[:CELLS].min() < EMPTY or state[:CELLS].max() >= len(MARKS):
        raise PositionError(f"tic_tac_toe: got the cells {state[:CELLS].tolist()}, expected 0 (empty), 1 (x) or 2 (o)")
    settled = state.copy()
    _settle(settled)
    if not np.array_equal(state, settled):
        raise PositionError(
            f"tic_tac_toe: got mover, kind and winner {state[CELLS:].tolist()} with {text(state)!r}, expected "
            f"{settled[CELLS:].tolist()}"
        )


def _settle(state: Vector) -> None:
    """Set the mover, the kind and the winner from the cells; reject cells that no play reaches."""
    state[CELLS:] = 0
    crosses, noughts = int((state[:CELLS] == 1).sum()), int((state[:CELLS] == 2).sum())
    if crosses - noughts not in (0, 1):
        raise PositionError(
            f"tic_tac_toe: {text(state)!r} cannot happen, got {crosses} x and {noughts} o, expected equal numbers or "
            f"one more x"
        )
    state[PLAYER] = crosses - noughts
    last, other = (1, 2) if crosses > noughts else (2, 1)
    if _has_line(state, other):
        raise PositionError(
            f"tic_tac_toe: {text(state)!r} cannot happen, {MARKS[last]} moved after {MARKS[other]} had won"
        )
    if _has_line(state, last):
        state[WINNER] = last
    state[KIND] = TERMINAL if state[WINNER] or crosses + noughts == CELLS else DECISION


def render(state: Vector) -> str:
    """The board with its coordinates."""
    rows = [f"{r + 1} {' '.join(MARKS[state[3 * r + c]] for c in range(3))}" for r in range(3)]
    return "\n".join(["  a b c", *rows])


CELL, MARGIN = 96, 30


def draw(state: Vector) -> Scene:
    """The board with its coordinates; a click on an empty cell marks it."""
    shapes: list[Shape] = []
    for i in range(3):
        middle = MARGIN + CELL * i + CELL / 2
        shapes += [Label(middle, 16, "abc"[i], color="faint"), Label(14, middle, str(i + 1), color="faint")]
    for cell in range(CELLS):
        name = action_text(state, cell)
        left, top, mark = MARGIN + CELL * (cell % 3), MARGIN + CELL * (cell // 3), int(state[cell])
        box = Rect(left + 3, top + 3, CELL - 6, CELL - 6, "board", 8, outline="line")
        what = f"{name}, {('empty', 'x', 'o')[mark]}"
        shapes.append(Group([box, *_draw_mark(left + CELL / 2, top + CELL / 2, mark)], part=name, title=what))
    running = state[KIND] == DECISION
    turn = f"{MARKS[state[PLAYER] + 1]} to move"
    status = turn if running else f"{MARKS[state[WINNER]]} has won" if state[WINNER] else "draw"
    bottom = MARGIN + 3 * CELL
    shapes.append(Label(MARGIN + 1.5 * CELL, bottom + 20, status, 18))
    moves = [Move(cell, (action_text(state, cell),)) for cell in range(CELLS) if running and state[cell] == EMPTY]
    return Scene(bottom + 8, bottom + 40, shapes, moves, f"tic-tac-toe, {status}")


def _draw_mark(x: float, y: float, mark: int) -> list[Shape]:
    """The mark of a cell with this center."""
    arm = 0.24 * CELL
    if mark == 1:
        cross = ((x - arm, y - arm, x + arm, y + arm), (x - arm, y + arm, x + arm, y - arm))
        return [Line(*ends, color="player0", thickness=11) for ends in cross]
    return [Circle(x, y, 1.25 * arm, "player1"), Circle(x, y, 0.82 * arm, "board")] if mark == 2 else []


def kit(game: Game) -> GameKit:
    """Examples for the demo."""
    return GameKit(examples=(Example("x to move, o threatens to win; this game has no chance", "x.o/.x./..o"),))
