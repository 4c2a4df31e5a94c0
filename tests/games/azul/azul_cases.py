"""Hand-worked cases of Azul's rules as data, for any engine that reads and writes positions.

A case is a position, the steps from there, and what is expected after them. A step takes tiles (``Take``) or fills the
factories (a list of colours in the order in which they are drawn). Takes name the contents of a factory instead of its
number, because an engine may keep its factories in another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import azul_by_hand as by_hand
from azul_by_hand import FLOOR_MOVE, MARKER, Position

A, B, C, D, E = range(5)
FLOOR = FLOOR_MOVE


class Take(NamedTuple):
    """Take all tiles of a colour from the centre, or from a factory with these contents."""

    colour: int
    destination: int
    factory: tuple[int, ...] | None = None


class Case(NamedTuple):
    """A case; ``expected`` maps names to values, see ``problems``."""

    name: str
    position: Position
    steps: Sequence[Take | list[int]]
    expected: dict[str, Any]
    negative_scores: bool = False


class Engine(Protocol):
    """What a case needs from an engine; states may be of any type."""

    def start(self, position: Position, negative_scores: bool) -> Any: ...
    def act(self, state: Any, action: int) -> Any: ...
    def draw(self, state: Any, tiles: list[int]) -> Any: ...
    def position(self, state: Any) -> Position: ...
    def legal(self, state: Any) -> list[int]: ...
    def returns(self, state: Any) -> list[float]: ...


def run_case(case: Case, engine: Engine) -> list[str]:
    """Run a case; return what is not as expected."""
    state = engine.start(case.position, case.negative_scores)
    for step in case.steps:
        if isinstance(step, Take):
            state = engine.act(state, find_action(engine.position(state), step))
        else:
            state = engine.draw(state, step)
    return problems(case.expected, engine.position(state), engine.legal(state), engine.returns(state))


def find_action(position: Position, take: Take) -> int:
    """Return the lowest id of a take in a position."""
    factories = [tuple(tiles) for tiles in position["factories"]]
    source = len(factories) if take.factory is None else factories.index(take.factory)
    return by_hand.action_id(source, take.colour, take.destination)


def find_take(position: Position, action: int) -> Take:
    """Return the take of an action id."""
    source, colour, destination = by_hand.parts_of(action)
    factories = [tuple(tiles) for tiles in position["factories"]]
    return Take(colour, destination, factories[source] if source < len(factories) else None)


def problems(expected: dict[str, Any], position: Position, legal: list[int], returns: list[float]) -> list[str]:
    """Return the differences between a position and what is expected of it.

    ``scores`` are by seat, ``floors``, ``lines`` and ``walls`` map seats to contents (lines and walls by row, walls as
    columns), ``starter`` is the next seat to move, ``legal`` lists all takes, ``illegal`` lists some that are not among
    them. Other names are those of the position.
    """
    boards = position["boards"]
    phase = by_hand.phase_of(position)
    takes = {find_take(position, action) for action in legal}
    found: dict[str, Any] = {
        "phase": phase,
        "scores": [board["score"] for board in boards],
        "floors": {seat: sorted(board["floor"], key=str) for seat, board in enumerate(boards)},
        "lines": {seat: lines_of(board) for seat, board in enumerate(boards)},
        "walls": {seat: walls_of(board) for seat, board in enumerate(boards)},
        "starter": by_hand.starter(position) if phase == "refill" else position["to_move"],
        "legal": takes,
        "factories": sorted((tuple(tiles) for tiles in position["factories"] if sum(tiles)), reverse=True),
        **{name: position[name] for name in ("centre", "bag", "lid", "marker", "next_start")},
    }
    wrong = (
        [] if by_hand.conserved(position) else [f"tiles by colour: {by_hand.tile_counts(position)}, expected 20 each"]
    )
    for name, value in expected.items():
        if name == "returns":
            same = all(abs(a - b) < 1e-9 for a, b in zip(returns, value, strict=True))
            wrong += [] if same else [f"returns: {returns}, expected {value}"]
        elif name == "illegal":
            wrong += [f"legal: {take}, expected not to be" for take in value if take in takes]
        elif name in ("floors", "lines", "walls"):
            for seat, content in value.items():
                content = sorted(content, key=str) if name == "floors" else content
                if found[name][seat] != content:
                    wrong.append(f"{name} of seat {seat}: {found[name][seat]}, expected {content}")
        elif found[name] != value:
            wrong.append(f"{name}: {found[name]}, expected {value}")
    return wrong


def lines_of(board: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return {row: (colour, count) for row, (colour, count) in enumerate(board["lines"]) if count}


def walls_of(board: dict[str, Any]) -> dict[int, list[int]]:
    """Return the columns with a tile by row; rows without a tile are left out."""
    rows = {row: [column for column in range(5) if cells[column]] for row, cells in enumerate(board["wall"])}
    return {row: columns for row, columns in rows.items() if columns}


# Positions.


def make_board(
    score: int = 0,
    wall: Sequence[tuple[int, int]] = (),
    lines: dict[int, tuple[int, int]] | None = None,
    floor: Sequence[int | str] = (),
) -> dict[str, Any]:
    """Return a board; the wall lists (row, column), lines map rows to (colour, count)."""
    filled = lines or {}
    return {
        "score": score,
        "wall": [[int((row, column) in wall) for column in range(5)] for row in range(5)],
        "lines": [list(filled[row]) if row in filled else [None, 0] for row in range(5)],
        "floor": list(floor),
    }


def make_position(
    *boards: dict[str, Any],
    to_move: int = 0,
    centre: Sequence[int] = (),
    factories: Sequence[tuple[int, ...]] = (),
    marker_with: int | None = 1,
    bag: Sequence[int] | None = None,
    lid: Sequence[int] | None = None,
) -> Position:
    """Return a position of phase ``draft``; tiles that are nowhere else go to the bag, or to the lid if a bag is given.

    Args:
        boards: the boards by seat.
        to_move: the seat to move.
        centre: the colours of the tiles in the centre.
        factories: the contents of factories; the others are empty.
        marker_with: the seat that has taken the marker, which is put on its floor; None while it is in the centre.
        bag: tiles in the bag by colour.
        lid: tiles in the lid by colour.
    """
    empty = [[0] * 5 for _ in range(by_hand.FACTORIES[len(boards)] - len(factories))]
    position: Position = {
        "phase": "draft",
        "players": len(boards),
        "to_move": to_move,
        "next_start": marker_with,
        "marker": marker_with is None,
        "factories": [list(tiles) for tiles in factories] + empty,
        "centre": [list(centre).count(colour) for colour in range(5)],
        "bag": list(bag or [0] * 5),
        "lid": list(lid or [0] * 5),
        "boards": list(boards),
    }
    if marker_with is not None and len(boards[marker_with]["floor"]) < 7:
        boards[marker_with]["floor"].insert(0, MARKER)
    missing = [20 - count for count in by_hand.tile_counts(position)]
    store = "bag" if bag is None else "lid"
    position[store] = [count + more for count, more in zip(position[store], missing, strict=True)]
    if min(position["bag"] + position["lid"]) < 0 or not by_hand.conserved(position):
        raise ValueError(f"a case has too many tiles: bag {position['bag']}, lid {position['lid']}")
    return position


def cells(row: int, *columns: int) -> list[tuple[int, int]]:
    return [(row, column) for column in columns]


def last_tile(board: dict[str, Any], tile: int, score: int = 5) -> Position:
    """Return a two-player position with one tile left, in the centre; seat 1 has only the marker, which costs 1."""
    return make_position(board, make_board(score), centre=[tile])


# Drafting.

MIXED, SINGLE = (2, 1, 1, 0, 0), (0, 0, 0, 4, 0)

DRAFTING = [
    Case(
        "the rest of a factory goes to the centre",
        make_position(make_board(), make_board(), factories=[MIXED, SINGLE], marker_with=None),
        [Take(A, 2, MIXED)],
        {
            "phase": "draft",
            "centre": [0, 1, 1, 0, 0],
            "factories": [SINGLE],
            "starter": 1,
            "marker": True,
            "next_start": None,
            "lines": {0: {2: (A, 2)}},
            "floors": {0: []},
            "scores": [0, 0],
        },
    ),
    Case(
        "the first to take from the centre takes the marker, which is placed before the tiles",
        make_position(make_board(floor=[E] * 5), make_board(), centre=[A, A, A, B], marker_with=None),
        [Take(A, FLOOR)],
        {
            "phase": "draft",
            "marker": False,
            "next_start": 0,
            "floors": {0: [MARKER, *[E] * 5, A]},
            "starter": 1,
            "lid": [2, 0, 0, 0, 0],
            "centre": [0, 1, 0, 0, 0],
        },
    ),
    Case(
        "the second to take from the centre does not take the marker",
        make_position(make_board(), make_board(), centre=[A, A, B], marker_with=1),
        [Take(A, 4)],
        {"marker": False, "next_start": 1, "floors": {0: [], 1: [MARKER]}, "lines": {0: {4: (A, 2)}}},
    ),
    Case(
        "tiles beyond the line go to the floor",
        make_position(make_board(lines={1: (D, 1)}), make_board(), factories=[SINGLE], centre=[A]),
        [Take(D, 1, SINGLE)],
        {"lines": {0: {1: (D, 2)}}, "floors": {0: [D] * 3}, "lid": [0] * 5},
    ),
    Case(
        "tiles beyond the floor go to the lid",
        make_position(make_board(floor=[E] * 5), make_board(), factories=[SINGLE], centre=[A]),
        [Take(D, FLOOR, SINGLE)],
        {"floors": {0: [*[E] * 5, D, D]}, "lid": [0, 0, 0, 2, 0]},
    ),
    Case(
        "tiles beyond the line and the floor go to the lid",
        make_position(make_board(floor=[E] * 6), make_board(), factories=[SINGLE], centre=[A]),
        [Take(D, 0, SINGLE)],
        {"lines": {0: {0: (D, 1)}}, "floors": {0: [*[E] * 6, D]}, "lid": [0, 0, 0, 2, 0]},
    ),
    Case(
        "with a full floor the marker is not placed, but its taker starts the next round",
        make_position(make_board(30, floor=[E] * 7), make_board(5), centre=[A, A, B], marker_with=None),
        [Take(A, FLOOR)],
        {"phase": "draft", "marker": False, "next_start": 0, "floors": {0: [E] * 7}, "lid": [2, 0, 0, 0, 0]},
    ),
    Case(
        "with a full floor the taker of the marker starts the next round",
        make_position(make_board(30, floor=[E] * 7), make_board(5), centre=[A, A, B], marker_with=None),
        [Take(A, FLOOR), Take(B, 4)],
        {"phase": "refill", "starter": 0, "scores": [16, 5], "lid": [2, 0, 0, 0, 7], "lines": {1: {4: (B, 1)}}},
    ),
    Case(
        "with six tiles on the floor the marker takes the last slot",
        make_position(make_board(30, floor=[E] * 6), make_board(5), centre=[A], marker_with=None),
        [Take(A, FLOOR)],
        {"phase": "refill", "starter": 0, "scores": [16, 5], "lid": [1, 0, 0, 0, 6]},
    ),
    Case(
        "lines of another colour, full lines and colours on the wall row are illegal",
        make_position(
            make_board(wall=[(4, 0)], lines={0: (A, 1), 1: (B, 1), 2: (A, 2), 3: (C, 4)}),
            make_board(),
            centre=[A, A, B],
        ),
        [],  # on row 4, colour B belongs to column 0
        {"legal": {Take(A, 2), Take(A, 4), Take(A, FLOOR), Take(B, 1), Take(B, FLOOR)}},
    ),
    Case(
        "a colour that is on the wall row is illegal there",
        make_position(make_board(wall=[(0, 3), (1, 4), (2, 0), (3, 1), (4, 2)]), make_board(), centre=[D, E]),
        [],  # colour D on every row
        {"legal": {Take(D, FLOOR), *(Take(E, row) for row in range(6))}, "illegal": [Take(D, row) for row in range(5)]},
    ),
    Case(
        "a line that is begun excludes other colours only on its row",
        make_position(make_board(lines={3: (E, 1)}), make_board(), factories=[SINGLE]),
        [],
        {"legal": {Take(D, row, SINGLE) for row in (0, 1, 2, 4, FLOOR)}},
    ),
    Case(
        "a centre with only the marker cannot be taken",
        make_position(make_board(), make_board(), factories=[SINGLE], marker_with=None),
        [],
        {"legal": {Take(D, row, SINGLE) for row in range(6)}},
    ),
    Case(
        "if nobody takes the marker, the seat after the last mover starts",
        make_position(make_board(), make_board(), make_board(), to_move=1, factories=[SINGLE], marker_with=None),
        [Take(D, 3, SINGLE)],
        {"phase": "refill", "starter": 2, "scores": [0, 1, 0], "walls": {1: {3: [1]}}, "lid": [0, 0, 0, 3, 0]},
    ),
    Case(
        "if the last seat moves last and nobody takes the marker, seat 0 starts",
        make_position(*(make_board() for _ in range(4)), to_move=3, factories=[SINGLE], marker_with=None),
        [Take(D, 4, SINGLE)],
        {"phase": "refill", "starter": 0, "scores": [0, 0, 0, 0], "lines": {3: {4: (D, 4)}}},
    ),
    Case(
        "one seat can move twice in a row across rounds",
        make_position(make_board(), make_board(), centre=[A], marker_with=0, bag=[0, 20, 0, 0, 0]),
        [Take(A, 4), [B] * 20],
        {"phase": "draft", "starter": 0, "marker": True, "next_start": None, "factories": [(0, 4, 0, 0, 0)] * 5},
    ),
]

# Scores of a round.

FLOOR_TOTALS = (0, 1, 2, 4, 6, 8, 11, 14)

FLOORS = [
    Case(
        f"{count} tiles on the floor cost {total}",
        last_tile(make_board(20, floor=[(A, B, C, D, E, A, B)[n] for n in range(count)]), E),
        [Take(E, 4)],
        {"phase": "refill", "scores": [20 - total, 4], "starter": 1, "floors": {0: [], 1: []},
         "lid": [sum((A, B, C, D, E, A, B)[n] == colour for n in range(count)) for colour in range(5)]},
    )
    for count, total in enumerate(FLOOR_TOTALS)
]  # fmt: skip

PLACEMENTS = [
    Case(
        f"placement: {name}",
        last_tile(make_board(10, wall, {2: (A, 2)}), A),
        [Take(A, 2)],  # to row 2, column 2
        {"phase": "refill", "scores": [10 + points, 4], "lines": {0: {}}, "lid": [2, 0, 0, 0, 0]},
    )
    for name, wall, points in (
        ("isolated", [], 1),
        ("diagonal neighbours", [(1, 1), (1, 3), (3, 1), (3, 3)], 1),
        ("two to the left", cells(2, 0, 1), 3),
        ("row on both sides", cells(2, 1, 3, 4), 4),
        ("row with a gap", cells(2, 0, 3), 2),
        ("only beyond gaps", [(2, 0), (2, 4), (0, 2), (4, 2)], 1),
        ("two above", [(0, 2), (1, 2)], 3),
        ("column on both sides", [(1, 2), (3, 2), (4, 2)], 4),
        ("whole column", [(0, 2), (1, 2), (3, 2), (4, 2)], 5),
        ("column with a gap", [(0, 2), (3, 2)], 2),
        ("cross", [(2, 1), (2, 3), (1, 2)], 3 + 2),
        ("corner", [(2, 3), (3, 2)], 2 + 2),
        ("large cross", [(2, 0), (2, 1), (2, 3), (0, 2), (1, 2), (3, 2), (4, 2)], 4 + 5),
    )
]

TILING = [
    Case(
        "lines are tiled from top to bottom, and each sees those above",
        last_tile(make_board(0, [(3, 2), (4, 2)], {0: (C, 1), 1: (B, 2), 2: (A, 2)}), A),
        [Take(A, 2)],  # column 2: alone, below one, then joined with two below
        {"scores": [1 + 2 + 5, 4], "walls": {0: {row: [2] for row in range(5)}}, "lid": [2, 1, 0, 0, 0],
         "phase": "refill"},
    ),
    Case(
        "a line tiled later does not add to an earlier one",
        last_tile(make_board(0, [(1, 0)], {0: (A, 1), 2: (D, 2)}), D),
        [Take(D, 2)],  # row 0 above the tile on row 1, then row 2 below it
        {"scores": [2 + 3, 4], "walls": {0: {0: [0], 1: [0], 2: [0]}}, "lid": [0, 0, 0, 2, 0]},
    ),
    Case(
        "five lines in one round",
        last_tile(make_board(0, [], {row: ((2 * row) % 5, row + 1) for row in range(4)} | {4: (D, 4)}), D),
        [Take(D, 4)],  # columns 0, 3, 1, 4, 2: no two are neighbours
        {"scores": [5, 4], "walls": {0: {0: [0], 1: [3], 2: [1], 3: [4], 4: [2]}}, "lid": [0, 3, 1, 4, 2]},
    ),
    Case(
        "the tiles of a completed line but one go to the lid",
        last_tile(make_board(0, [], {4: (C, 4)}), C),
        [Take(C, 4)],
        {"scores": [1, 4], "walls": {0: {4: [1]}}, "lid": [0, 0, 4, 0, 0], "lines": {0: {}}},
    ),
    Case(
        "a line of one tile leaves nothing for the lid",
        last_tile(make_board(), C),
        [Take(C, 0)],
        {"scores": [1, 4], "walls": {0: {0: [2]}}, "lid": [0] * 5, "lines": {0: {}}},
    ),
    Case(
        "incomplete lines stay",
        last_tile(make_board(0, [], {1: (A, 1), 2: (B, 2), 3: (C, 3)}), E),
        [Take(E, 4)],
        {"scores": [0, 4], "walls": {0: {}}, "lid": [0] * 5,
         "lines": {0: {1: (A, 1), 2: (B, 2), 3: (C, 3), 4: (E, 1)}}},
    ),
    Case(
        "the overflow of the last take counts in its round",
        make_position(make_board(9), make_board(5), factories=[SINGLE]),
        [Take(D, 0, SINGLE)],
        {"scores": [9 + 1 - 4, 4], "walls": {0: {0: [3]}}, "lid": [0, 0, 0, 3, 0]},
    ),
    Case(
        "the boards of all seats are tiled",
        make_position(
            make_board(1, [], {0: (A, 1)}), make_board(2, [(0, 0)], {0: (B, 1)}), make_board(3), to_move=2, centre=[C]
        ),
        [Take(C, 0)],
        {"scores": [1 + 1, 2 + 2 - 1, 3 + 1], "phase": "refill", "starter": 1},
    ),
]  # fmt: skip

CLAMP = [
    Case(
        f"{name}, negative scores {'allowed' if negative else 'not allowed'}",
        make_position(make_board(score, [], lines, floor), make_board(0), centre=[E]),
        [Take(E, 4)],
        {"scores": [expected if negative else max(0, expected), -1 if negative else 0]},
        negative,
    )
    for name, score, lines, floor, expected in (
        ("a penalty beyond the score", 3, {}, [A] * 7, -11),
        ("a penalty equal to the score", 4, {}, [A] * 3, 0),
        ("placements count before the penalty", 0, {0: (A, 1)}, [B] * 3, -3),
        ("placements pay for the penalty", 0, {0: (A, 1), 1: (E, 2), 2: (D, 3)}, [B] * 3, 2),
    )
    for negative in (False, True)
]

# The end of the game.

ROW_MISSING_FIRST = cells(0, 1, 2, 3, 4)
"""Row 0 without column 0, where colour A belongs: A on line 0 completes it for 5 points, and 2 at the end."""


def row_next(score: int) -> dict[str, Any]:
    """Return a board whose complete line 0 will complete row 0 of the wall."""
    return make_board(score, ROW_MISSING_FIRST, {0: (A, 1)})


def ended(name: str, scores: Sequence[int], expected: Sequence[int], returns: Sequence[float], rows: int = 1) -> Case:
    """Return a case in which the first seats complete row 0 (5 points, 2 bonus points) and the last moves last.

    The last seat has the marker, which costs 1.
    """
    last = len(scores) - 1
    boards = [row_next(score) if seat < rows else make_board(score) for seat, score in enumerate(scores)]
    position = make_position(*boards, to_move=last, centre=[E], marker_with=last)
    wanted = {"phase": "over", "scores": list(expected), "returns": list(returns), "legal": set()}
    return Case(name, position, [Take(E, 4)], wanted)


ENDS = [
    Case(
        "a line that completes a row does not end the round",
        make_position(make_board(3, ROW_MISSING_FIRST), make_board(5), centre=[A, B]),
        [Take(A, 0)],
        {"phase": "draft", "scores": [3, 5], "starter": 1},
    ),
    Case(
        "a complete row ends the game after the round",
        make_position(make_board(3, ROW_MISSING_FIRST), make_board(5), centre=[A, B]),
        [Take(A, 0), Take(B, 4)],
        {"phase": "over", "scores": [3 + 5 + 2, 4], "returns": [1, -1], "legal": set()},
    ),
    Case(
        "a complete column or colour does not end the game",
        last_tile(make_board(0, [(1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 2), (3, 3), (4, 4)]), A),
        [Take(A, 0)],
        {"phase": "refill", "scores": [5, 4], "returns": [0, 0]},
    ),
    Case(
        "a column and a colour count at the end",
        make_position(
            make_board(0, [(1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 2), (3, 3), (4, 4)]), row_next(5), centre=[A]
        ),
        [Take(A, 0)],
        {"phase": "over", "scores": [5 + 7 + 10, 5 + 5 - 1 + 2], "returns": [1, -1]},
    ),
    Case(
        "row, column and colour with one tile",
        last_tile(make_board(0, [*ROW_MISSING_FIRST, *[(row, 0) for row in range(1, 5)],
                                 *[(row, row) for row in range(1, 5)]]), A),
        [Take(A, 0)],
        {"phase": "over", "scores": [10 + 2 + 7 + 10, 4], "returns": [1, -1]},
    ),
    Case(
        "a complete wall",
        last_tile(
            make_board(0, [cell for row in range(5) for cell in cells(row, 1, 2, 3, 4)],
                       {row: (-row % 5, row + 1) for row in range(4)} | {4: (B, 4)}),
            B,
        ),
        [Take(B, 4)],
        {"phase": "over", "scores": [5 * 5 + (2 + 3 + 4 + 5) + 5 * 2 + 5 * 7 + 5 * 10, 4]},
    ),
    Case(
        "the score is clamped before the bonuses",
        make_position(make_board(0, ROW_MISSING_FIRST, {0: (A, 1)}, [B] * 7), make_board(3), centre=[E]),
        [Take(E, 4)],
        {"phase": "over", "scores": [2, 2], "returns": [1, -1]},
    ),
    Case(
        "bonuses count from a negative score",
        make_position(make_board(0, ROW_MISSING_FIRST, {0: (A, 1)}, [B] * 7), make_board(3), centre=[E]),
        [Take(E, 4)],
        {"phase": "over", "scores": [5 - 14 + 2, 2], "returns": [-1, 1]},
        True,
    ),
    Case(
        "two seats complete a row in one round",
        make_position(row_next(10), row_next(12), centre=[E]),
        [Take(E, 4)],
        {"phase": "over", "scores": [17, 18], "returns": [-1, 1]},
    ),
    Case(
        "a row that is complete does not win by itself",
        make_position(row_next(0), make_board(30), centre=[E]),
        [Take(E, 4)],
        {"phase": "over", "scores": [7, 29], "returns": [-1, 1]},
    ),
    ended("two players: complete rows break a tie", [10, 18], [17, 17], [1, -1]),
    Case(
        "two players: two complete rows do not win by themselves",
        make_position(
            make_board(0, [*ROW_MISSING_FIRST, *cells(1, 0, 2, 3, 4)], {0: (A, 1), 1: (A, 2)}), row_next(14), centre=[E]
        ),  # both tiles have a neighbour in their column; the other seat has 14 + 5 − 1 + 2
        [Take(E, 4)],
        {"phase": "over", "scores": [(5 + 2) + (5 + 2) + 2 * 2, 20], "returns": [-1, 1]},
    ),
    Case(
        "two players: two complete rows break a tie with one",
        make_position(
            make_board(2, [*ROW_MISSING_FIRST, *cells(1, 0, 2, 3, 4)], {0: (A, 1), 1: (A, 2)}), row_next(14), centre=[E]
        ),
        [Take(E, 4)],
        {"phase": "over", "scores": [20, 20], "returns": [1, -1]},
    ),
    Case(
        "two players: equal scores and rows are shared",
        make_position(row_next(10), row_next(11), centre=[E]),
        [Take(E, 4)],
        {"phase": "over", "scores": [17, 17], "returns": [0, 0]},
    ),
    ended("three players: one winner", [10, 3, 8], [17, 3, 7], [1, -0.5, -0.5]),
    ended("three players: complete rows break a tie", [10, 17, 18], [17, 17, 17], [1, -0.5, -0.5]),
    ended("three players: two share", [10, 10, 8], [17, 17, 7], [0.25, 0.25, -0.5], rows=2),
    ended("three players: three share", [10, 10, 11], [17, 17, 17], [0, 0, 0], rows=3),
    ended("three players: two share without rows", [0, 20, 21], [7, 20, 20], [-0.5, 0.25, 0.25]),
    ended("four players: one winner", [10, 1, 2, 3], [17, 1, 2, 2], [1, -1 / 3, -1 / 3, -1 / 3]),
    ended("four players: two share", [10, 10, 17, 9], [17, 17, 17, 8], [1 / 3, 1 / 3, -1 / 3, -1 / 3], rows=2),
    ended("four players: three share", [9, 9, 9, 9], [16, 16, 16, 8], [1 / 9, 1 / 9, 1 / 9, -1 / 3], rows=3),
    ended("four players: four share", [9, 9, 9, 10], [16, 16, 16, 16], [0, 0, 0, 0], rows=4),
]  # fmt: skip

# Refills.


def hoards(*lines: dict[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Return four boards with 20 tiles on each wall, 4 of each colour; column ``seat`` is empty on each.

    The only colour that fits line ``row`` of a seat is ``(seat − row) % 5``.
    """
    return [
        make_board(10, [(row, column) for row in range(5) for column in range(5) if column != seat], filled)
        for seat, filled in enumerate(lines)
    ]


REFILLS = [
    Case(
        "the lid is put into the empty bag in mid-refill",
        make_position(make_board(), make_board(), centre=[E], bag=[16, 2, 0, 0, 0]),
        [Take(E, FLOOR), [A] * 8 + [B, A, A, A] + [A] * 5 + [B] + [D, E]],
        {"phase": "draft", "bag": [4, 18, 20, 19, 19], "lid": [0] * 5, "starter": 1, "marker": True,
         "factories": [(4, 0, 0, 0, 0)] * 3 + [(3, 1, 0, 0, 0)] + [(1, 1, 0, 1, 1)]},
    ),
    Case(
        "a refill that ends on an empty bag leaves the lid alone",
        make_position(make_board(), make_board(), centre=[E], bag=[18, 2, 0, 0, 0]),
        [Take(E, FLOOR), [A] * 9 + [B] + [A] * 9 + [B]],
        {"phase": "draft", "bag": [0] * 5, "lid": [2, 18, 20, 20, 20],
         "factories": [(4, 0, 0, 0, 0)] * 3 + [(3, 1, 0, 0, 0)] * 2},
    ),
    Case(
        "an empty bag is filled before the first draw",
        make_position(*hoards({}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4)}), to_move=2, centre=[A], bag=[0] * 5),
        [Take(A, FLOOR), [A, B, B, B, A, A, A, B]],
        {"phase": "draft", "bag": [0] * 5, "lid": [0] * 5, "factories": [(3, 1, 0, 0, 0), (1, 3, 0, 0, 0)]},
    ),
    Case(
        "with three players seven factories are filled",
        make_position(make_board(), make_board(), make_board(), centre=[E], bag=[20, 8, 0, 0, 0]),
        [Take(E, 4), [A] * 20 + [B] * 8],
        {"phase": "draft", "bag": [0] * 5, "factories": [(4, 0, 0, 0, 0)] * 5 + [(0, 4, 0, 0, 0)] * 2,
         "lid": [0, 12, 20, 20, 19]},
    ),
    Case(
        "factories stay partial when bag and lid are empty",
        make_position(*hoards({}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4)}), to_move=2, centre=[A], bag=[0, 2, 0, 0, 0]),
        [Take(A, FLOOR), [B, B, A, A, A, B, A, B]],
        {"phase": "draft", "bag": [0] * 5, "lid": [0] * 5, "starter": 1, "scores": [10, 9, 9, 10],
         "factories": [(2, 2, 0, 0, 0)] * 2},
    ),
    Case(
        "a factory can be partial",
        make_position(*hoards({4: (B, 4)}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 2)}), to_move=2, centre=[A],
                      bag=[0, 0, 0, 0, 2]),
        [Take(A, FLOOR), [E, E, A, A, A, A]],
        {"phase": "draft", "bag": [0] * 5, "lid": [0] * 5, "factories": [(2, 0, 0, 0, 2), (2, 0, 0, 0, 0)]},
    ),
    Case(
        "one tile is a round",
        make_position(*hoards({4: (B, 4)}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4), 3: (A, 3)}), to_move=2, centre=[A]),
        [Take(A, FLOOR), [A]],
        {"phase": "draft", "starter": 1, "factories": [(1, 0, 0, 0, 0)],
         "legal": {Take(A, 1, (1, 0, 0, 0, 0)), Take(A, FLOOR, (1, 0, 0, 0, 0))}},
    ),
    Case(
        "a round of one tile, of which nobody takes the marker",
        make_position(*hoards({4: (B, 4)}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4), 3: (A, 3)}), to_move=2, centre=[A]),
        [Take(A, FLOOR), [A], Take(A, FLOOR, (1, 0, 0, 0, 0))],
        {"phase": "refill", "starter": 2, "lid": [1, 0, 0, 0, 0], "scores": [10, 8, 9, 10]},
    ),
    Case(
        "without a tile the game ends, and bonuses count",
        make_position(*hoards({4: (B, 4)}, {4: (C, 4)}, {4: (D, 4)}, {4: (E, 4), 3: (A, 3)}), to_move=2, centre=[A]),
        [Take(A, 2)],  # four columns each
        {"phase": "over", "scores": [38, 37, 38, 38], "bag": [0] * 5, "lid": [0] * 5, "legal": set(),
         "returns": [1 / 9, -1 / 3, 1 / 9, 1 / 9]},
    ),
]  # fmt: skip

CASES = [*DRAFTING, *FLOORS, *PLACEMENTS, *TILING, *CLAMP, *ENDS, *REFILLS]
