"""2048: slide the tiles of a four by four board; equal tiles that meet merge and score their sum.

A new game has an empty board and two chance events in a row before the first move. The first has 32 outcomes; after a
move there are at most 30, because there is at least one tile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from aleazero.errors import PositionError
from aleazero.games.base import CHANCE, DECISION, TERMINAL, Game, GameInfo
from aleazero.games.kit import Example, GameKit, TupleShape
from aleazero.games.scene import Group, Label, Move, Polygon, Rect, Scene, Shape, Tile
from aleazero.untrusted import parse_digits

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

Vector = NDArray[np.int64]

# The state vector: 16 cells row by row from the top (0 empty, e for the tile 2^e), the kind, the score.
SIDE, CELLS, KIND, SCORE = 4, 16, 16, 17
STATE_SIZE = 18
UP, RIGHT, DOWN, LEFT = 0, 1, 2, 3
ACTIONS = ("up", "right", "down", "left")
TWO_SHARE = 0.9
LARGEST = 17
"""Exponent of the largest possible tile."""
HIGHEST_TOTAL = (2 << LARGEST) - 4
"""Highest sum of the tiles, reached with sixteen different tiles from 4 to 2^17 on a full board."""
HIGHEST_SCORE = 1_000_000_000
PLANES = LARGEST + 1


def describe() -> GameInfo:
    """Describe the game. It has no parameters; new tiles are 2 (90 %) or 4 (10 %)."""
    return GameInfo(
        name="2048",
        num_players=1,
        num_actions=4,
        max_outcomes=2 * CELLS,
        utility=None,
        state_size=STATE_SIZE,
        state_dtype="int32",
        observation_size=CELLS * PLANES + 1,
        observation_schema="2048-onehot-1",
    )


def tuple_shape() -> TupleShape:
    """Four tables of six cells each (two lines, two blocks of two by three) with the eight symmetries of the square."""
    board = np.arange(CELLS).reshape(SIDE, SIDE)
    turned = [np.rot90(flipped, turns) for flipped in (board, np.fliplr(board)) for turns in range(4)]
    return TupleShape(
        cells=CELLS,
        values=16,
        tuples=((0, 1, 2, 3, 4, 5), (4, 5, 6, 7, 8, 9), (0, 1, 2, 4, 5, 6), (4, 5, 6, 8, 9, 10)),
        symmetries=tuple(tuple(int(cell) for cell in places.ravel()) for places in turned),
    )


def init(state: Vector) -> None:
    """An empty board; chance places the first tile."""
    state[KIND] = CHANCE


def kind(state: Vector) -> int:
    """CHANCE before a new tile, DECISION, or TERMINAL."""
    return state[KIND]


def to_play(state: Vector) -> int:
    """The only player."""
    return 0


def legal(state: Vector, out: Vector) -> int:
    """The directions in which a tile moves or merges, found from the 24 pairs of neighbouring cells.

    Written without branches, because branches on random boards are mispredicted (17 ns instead of 134 ns).
    """
    up = right = down = left = False
    for cell in range(CELLS):
        tile = state[cell]
        if cell % SIDE != SIDE - 1:
            neighbor = state[cell + 1]
            merge = (tile == neighbor) & (tile != 0)
            left |= merge | ((tile == 0) & (neighbor != 0))
            right |= merge | ((tile != 0) & (neighbor == 0))
        if cell < CELLS - SIDE:
            below = state[cell + SIDE]
            merge = (tile == below) & (tile != 0)
            up |= merge | ((tile == 0) & (below != 0))
            down |= merge | ((tile != 0) & (below == 0))
    # Each direction is written after the legal ones so far; an illegal one is overwritten by the next.
    out[0] = UP
    count = 0 + up
    out[count] = RIGHT
    count += right
    out[count] = DOWN
    count += down
    out[count] = LEFT
    return count + left


def apply(state: Vector, action: int) -> None:
    """Slide the tiles of the four lines and add merged tiles to the score.

    Written without branches on tiles, like ``legal`` (40 ns instead of 65 ns).
    """
    # A line has the cells first, first + step, …, counted from the side that the tiles slide to.
    if action == UP:
        first, step, across = 0, SIDE, 1
    elif action == RIGHT:
        first, step, across = SIDE - 1, -1, SIDE
    elif action == DOWN:
        first, step, across = CELLS - SIDE, -SIDE, 1
    else:
        first, step, across = 0, 1, SIDE
    gained = 0
    for _ in range(SIDE):
        a, b, c, d = state[first], state[first + step], state[first + 2 * step], state[first + 3 * step]
        gap = c == 0
        c, d = d if gap else c, 0 if gap else d
        gap = b == 0
        b, c, d = c if gap else b, d if gap else c, 0 if gap else d
        gap = a == 0
        a, b, c, d = b if gap else a, c if gap else b, d if gap else c, 0 if gap else d
        # Pairs merge from the front and the rest moves up, so that no tile merges twice.
        merge = (a == b) & (a != 0)
        gained += 2 << a if merge else 0
        a, b, c, d = a + merge, c if merge else b, d if merge else c, 0 if merge else d
        merge = (b == c) & (b != 0)
        gained += 2 << b if merge else 0
        b, c, d = b + merge, d if merge else c, 0 if merge else d
        merge = (c == d) & (c != 0)
        gained += 2 << c if merge else 0
        c, d = c + merge, 0 if merge else d
        state[first] = a
        state[first + step] = b
        state[first + 2 * step] = c
        state[first + 3 * step] = d
        first += across
    state[SCORE] += gained
    state[KIND] = CHANCE


def outcomes(state: Vector, ids: Vector, probabilities: NDArray[np.float64]) -> int:
    """Outcome id = 2 × cell, plus 1 for a 4; empty cells are equally likely."""
    count = 0
    for cell in range(CELLS):
        if state[cell] == 0:
            ids[count] = 2 * cell
            ids[count + 1] = 2 * cell + 1
            count += 2
    empty = count // 2
    for i in range(empty):
        probabilities[2 * i] = TWO_SHARE / empty
        probabilities[2 * i + 1] = (1.0 - TWO_SHARE) / empty
    return count


def sample(state: Vector, u: float) -> int:
    """The integer part of u × empty cells selects the cell; the fraction selects a 2 (below 0.9) or a 4."""
    empty = 0
    for cell in range(CELLS):
        if state[cell] == 0:
            empty += 1
    place = u * empty
    skip = int(place)
    four = 1 if place - skip >= TWO_SHARE else 0
    chosen = -1
    for cell in range(CELLS):
        free = state[cell] == 0
        chosen = cell if free & (skip == 0) else chosen
        skip -= free
    return 2 * chosen + four


def apply_outcome(state: Vector, outcome: int) -> None:
    """Place the new tile. The first tile of a game is followed by another; a board without a move ends the game."""
    tiles = 1
    for cell in range(CELLS):  # before the new tile is written: reading cells at once has to wait for a write
        tiles += state[cell] != 0
    state[outcome // 2] = 1 + outcome % 2
    if tiles == 1:
        state[KIND] = CHANCE
    elif tiles < CELLS or _has_pair(state):
        state[KIND] = DECISION
    else:
        state[KIND] = TERMINAL


def _has_pair(state: Vector) -> bool:
    """Whether a full board has equal neighbours."""
    for cell in range(CELLS):
        if cell % SIDE != SIDE - 1 and state[cell] == state[cell + 1]:
            return True
        if cell < CELLS - SIDE and state[cell] == state[cell + SIDE]:
            return True
    return False


def returns(state: Vector, out: NDArray[np.float64]) -> None:
    """The score so far."""
    out[0] = state[SCORE]


def observe(state: Vector, player: int, out: NDArray[np.float32]) -> None:
    """One-hot tile (empty, 2, 4, … 2^17) of each cell, 18 numbers per cell; last, 1 before a new tile."""
    for i in range(CELLS * PLANES):
        out[i] = 0.0
    for cell in range(CELLS):
        out[cell * PLANES + min(state[cell], LARGEST)] = 1.0
    out[CELLS * PLANES] = 1.0 if state[KIND] == CHANCE else 0.0


def action_text(state: Vector, action: int) -> str:
    """``up``, ``right``, ``down`` or ``left``."""
    return ACTIONS[action]


def outcome_text(state: Vector, outcome: int) -> str:
    """The tile and its cell, from ``2@a1`` at the top left to ``4@d4``."""
    cell = outcome // 2
    return f"{2 + 2 * (outcome % 2)}@{'abcd'[cell % SIDE]}{cell // SIDE + 1}"


def text(state: Vector) -> str:
    """Rows of tiles from the top and the score: ``2 . . 4/. . . ./8 . . ./. . . . score 12``.

    It ends with ``spawning`` before a new tile.
    """
    rows = "/".join(" ".join(_tile(state[SIDE * r + c]) for c in range(SIDE)) for r in range(SIDE))
    return f"{rows} score {state[SCORE]}" + (" spawning" if state[KIND] == CHANCE else "")


def _tile(exponent: int) -> str:
    return str(1 << int(exponent)) if exponent else "."


def parse(line: str) -> Vector:
    """Read what ``text`` writes. An empty cell may be written as 0; the score is optional and 0 by default."""
    match = re.fullmatch(r"\s*([0-9. ]+(?:/[0-9. ]+){3}?)(?:\s*score\s+([0-9]{1,10}))?(\s+spawning)?\s*", line)
    words = [row.split() for row in match[1].split("/")] if match else []
    if match is None or any(parse_digits(word) is None and word != "." for row in words for word in row):
        raise PositionError(
            f"2048: cannot read position {line!r}, expected e.g. '2 . . 4/. . . ./8 . . ./. . . . score 12'"
        )
    rows = [[0 if word == "." else int(word) for word in row] for row in words]
    return _vector(rows, int(match[2] or 0), match[3] is not None)


def from_board(rows: Sequence[Sequence[int]], score: int = 0) -> KernelState:
    """Return the state with this board.

    Args:
        rows: four rows of four tile values, 0 for an empty cell.
        score: the score so far.

    Returns:
        A decision; a terminal state if no move is left; the start of a game if the board is empty.

    Raises:
        PositionError: the board or the score is impossible.
    """
    from aleazero.games.registry import load_game

    game = cast("KernelGame", load_game("2048"))
    empty = not any(any(row) for row in rows)
    return game.state_from_vector(_vector(rows, score, spawning=empty))


def to_board(state: KernelState) -> list[list[int]]:
    """Return the board as four rows of tile values, 0 for an empty cell."""
    cells = [1 << int(e) if e else 0 for e in state.vector[:CELLS]]
    return [cells[SIDE * r : SIDE * (r + 1)] for r in range(SIDE)]


def _vector(rows: Sequence[Sequence[int]], score: int, spawning: bool) -> Vector:
    sizes = [len(row) for row in rows]
    if sizes != [SIDE] * SIDE:
        raise PositionError(f"2048: got rows of {sizes} cells, expected 4 rows of 4")
    state = np.zeros(STATE_SIZE, np.int64)
    for cell, value in enumerate(int(value) for row in rows for value in row):
        exponent = value.bit_length() - 1
        if value != 0 and (value != 1 << max(exponent, 1) or exponent > LARGEST):
            raise PositionError(f"2048: got a tile {value}, expected 0 or a power of two from 2 to {1 << LARGEST}")
        state[cell] = exponent if value else 0
    state[KIND] = CHANCE if spawning else TERMINAL if is_stuck(state) else DECISION
    state[SCORE] = score
    check(state)
    return state


def check(state: Vector) -> None:
    """Reject numbers that no play reaches. Every possible board is accepted with every score."""
    cells, score = state[:CELLS], int(state[SCORE])
    if cells.min() < 0 or cells.max() > LARGEST:
        raise PositionError(f"2048: got the cells {cells.tolist()}, expected powers of two from 0 (empty) to {LARGEST}")
    total = sum(1 << int(exponent) for exponent in cells if exponent)
    if total > HIGHEST_TOTAL:
        raise PositionError(f"2048: got tiles that sum to {total}, expected at most {HIGHEST_TOTAL}")
    if not 0 <= score <= HIGHEST_SCORE:
        raise PositionError(f"2048: got the score {score}, expected 0 to {HIGHEST_SCORE}")
    empty = int((cells == 0).sum())
    if state[KIND] == CHANCE and empty == 0:
        raise PositionError("2048: got a full board with a tile about to appear, expected an empty cell")
    if state[KIND] != CHANCE and empty == CELLS:
        raise PositionError("2048: got an empty board and no tile about to appear, expected a tile or 'spawning'")
    expected = TERMINAL if is_stuck(state) else DECISION
    if state[KIND] not in (CHANCE, expected):
        raise PositionError(f"2048: got a state of kind {state[KIND]}, expected {expected} for this board")


def is_stuck(state: Vector) -> bool:
    """Whether the board is full and no two tiles can merge."""
    return bool((state[:CELLS] != 0).all()) and not _has_pair(state)


def render(state: Vector) -> str:
    """The score and the board as a grid."""
    edge = "+" + "------+" * SIDE
    lines = [f"score {state[SCORE]}", edge]
    for r in range(SIDE):
        cells = (_tile(state[SIDE * r + c]).replace(".", "") for c in range(SIDE))
        lines += ["|" + "|".join(f"{cell:^6}" for cell in cells) + "|", edge]
    return "\n".join(lines)


EDGE, STEP, TOP = 36, 72, 40
"""Sizes of the picture: width of the arrows, distance of tiles, and the top of the upper arrow."""
COLOR_STEPS = 12


def draw(state: Vector) -> Scene:
    """The score, the board, and an arrow on each side that slides the tiles."""
    ends = {CHANCE: "a tile appears", DECISION: "choose a direction", TERMINAL: "no move is left"}
    status = ends[int(state[KIND])]
    side = SIDE * STEP
    shapes: list[Shape] = [
        Label(EDGE, 20, f"score {state[SCORE]}", 20, anchor="start", bold=True),
        Label(EDGE + side, 20, status, 14, "faint", "end"),
        Rect(EDGE, TOP + EDGE, side, side, "field", 8),
    ]
    for cell in range(CELLS):
        left, top = EDGE + STEP * (cell % SIDE) + 4, TOP + EDGE + STEP * (cell // SIDE) + 4
        exponent, size = int(state[cell]), STEP - 8
        if exponent:
            color = f"scale{min(exponent, COLOR_STEPS) - 1}"
            shapes.append(Tile(left, top, size, size, _tile(exponent), color))
        else:
            shapes.append(Rect(left, top, size, size, "board", 6))
    actions = np.zeros(SIDE, np.int64)
    allowed = actions[: legal(state, actions)].tolist() if state[KIND] == DECISION else []
    shapes += [_draw_arrow(action, action in allowed) for action in range(len(ACTIONS))]
    moves = [Move(action, (ACTIONS[action],)) for action in allowed]
    return Scene(side + 2 * EDGE, TOP + side + 2 * EDGE, shapes, moves, f"2048, score {state[SCORE]}, {status}")


def _draw_arrow(action: int, allowed: bool) -> Shape:
    """The arrow of a direction, with the side of the board as its area."""
    side, far = SIDE * STEP, EDGE + SIDE * STEP
    left, top = ((EDGE, 0), (far, EDGE), (EDGE, far), (0, EDGE))[action]
    width, height = (side, EDGE) if action in (UP, DOWN) else (EDGE, side)
    x, y = left + width / 2, TOP + top + height / 2
    along, across = ((0, -10), (10, 0), (0, 10), (-10, 0))[action]
    head = [(x + along, y + across), (x - along - 2 * across, y - across - 2 * along)]
    head.append((x - along + 2 * across, y - across + 2 * along))
    name = ACTIONS[action]
    area = Rect(left + 4, TOP + top + 4, width - 8, height - 8, "none", 8)
    arrow = Polygon(head, "accent" if allowed else "field")
    return Group([area, arrow], part=name, title=f"slide {name}", key=f"Arrow{name.capitalize()}")


def kit(game: Game) -> GameKit:
    """Examples for the demo."""
    return GameKit(
        examples=(Example("Which direction to slide", "2 4 8 16/4 8 16 32/2 4 64 128/. 2 4 256 score 2800"),)
    )
