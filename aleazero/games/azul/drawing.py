"""The picture of Azul: the tiles on display, then the boards with lines, wall and floor.

A draft is two clicks: the tiles of one colour at a source, then a line or the floor of the mover's board. Every colour
of tiles has its own mark, so that tiles can be told apart without their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aleazero.games.azul.board import (
    BAG,
    BOARD,
    BOARDS,
    CENTRE,
    COLOURS,
    COLUMN,
    CONTENTS,
    DESTINATIONS,
    FACTORY,
    FLOOR,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    KIND,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    MARKER,
    NUM_COLOURS,
    NUM_ROWS,
    PLAYER,
    ROUND,
    SCORE,
    STARTER,
    TO_FLOOR,
    WALL,
    Vector,
    num_boards,
    num_factories,
    tiles_of,
)
from aleazero.games.azul.text import source_name, status
from aleazero.games.azul.tiling import PENALTIES
from aleazero.games.base import DECISION, TERMINAL
from aleazero.games.scene import Circle, Group, Label, Line, Move, Piece, Polygon, Rect, Scene, Shape

WIDTH: Final = 360
TILE, STEP = 24, 27
"""Size of a tile on a board, and distance of tiles."""
SMALL, SMALL_STEP = 20, 24
"""Size of a tile at a source, and distance of tiles."""
FACTORY_SIZE, TOP = 66, 56
BOARD_HEIGHT: Final = 34 + (NUM_ROWS + 1) * STEP + 14


def draw(state: Vector) -> Scene:
    """The sources and the boards of all players."""
    players, what = num_boards(state), status(state)
    bag, lid = sum(tiles_of(state, BAG)), sum(tiles_of(state, LID))
    shapes: list[Shape] = [
        Label(10, 14, f"round {state[ROUND]}", 15, anchor="start", bold=True),
        Label(WIDTH - 10, 14, f"{bag} in the bag, {lid} in the lid", 13, "faint", "end"),
        Label(10, 36, what, 13, anchor="start"),
    ]
    per_row = 4 if players == 3 else 5
    for factory in range(num_factories(players)):
        row, column = divmod(factory, per_row)
        in_row = min(per_row, num_factories(players) - row * per_row)
        x = WIDTH / 2 + (column - (in_row - 1) / 2) * (FACTORY_SIZE + 4)
        y = TOP + FACTORY_SIZE / 2 + row * (FACTORY_SIZE + 4)
        shapes += _factory(state, factory, x, y)
    top: float = TOP + -(-num_factories(players) // per_row) * (FACTORY_SIZE + 4) + 4
    centre, height = _centre(state, num_factories(players), top)
    shapes += centre
    top += height + 10
    for player in range(players):
        shapes += _board(state, player, top + BOARD_HEIGHT * player)
    return Scene(WIDTH, top + BOARD_HEIGHT * players, shapes, _moves(state), f"Azul, round {state[ROUND]}, {what}")


def _moves(state: Vector) -> list[Move]:
    """Every draft, also those from a factory that equals an earlier one."""
    if state[KIND] != DECISION:
        return []
    from aleazero.games.azul.rules import open_lines  # the rules import this module

    lines, factories = int(open_lines(state, state[PLAYER])), num_factories(num_boards(state))
    contents = state[FACTORY : FACTORY + factories].tolist()
    moves = []
    for source in range(factories + 1):
        tiles = tiles_of(state, CENTRE) if source == factories else CONTENTS[contents[source]].tolist()
        same = source if source == factories else contents.index(contents[source])
        for colour in range(NUM_COLOURS):
            first = (same * NUM_COLOURS + colour) * DESTINATIONS
            allowed = [row for row in range(NUM_ROWS) if lines >> (5 * colour + row) & 1] + [TO_FLOOR]
            part = f"{source_name(source, factories)}-{COLOURS[colour]}"
            moves += [Move(first + to, (part, _destination(to))) for to in allowed if tiles[colour]]
    return moves


def _destination(to: int) -> str:
    return "floor" if to == TO_FLOOR else f"line{to + 1}"


# -- tiles -------------------------------------------------------------------------------------------------------------


def _tile(x: float, y: float, size: float, colour: int) -> list[Shape]:
    """A tile with its upper left corner at (x, y), and the mark of its colour."""
    middle = x + size / 2, y + size / 2
    box = Rect(x, y, size, size, COLOURS[colour], 0.15 * size, outline="line")
    return [box, *_mark(*middle, size, colour)]


def _mark(x: float, y: float, size: float, colour: int) -> list[Shape]:
    """The mark of a colour: a ring, a diamond, a cross, a square, a disc."""
    far, near, ink = 0.28 * size, 0.16 * size, "black" if colour in (1, 4) else "white"
    diamond = [(x, y - far), (x + far, y), (x, y + far), (x - far, y)]
    if colour == 0:
        return [Circle(x, y, far, ink), Circle(x, y, near, COLOURS[colour])]
    if colour == 1:
        return [Polygon(diamond, ink)]
    if colour == 2:
        arm = 0.22 * size
        ends = ((x - arm, y - arm, x + arm, y + arm), (x - arm, y + arm, x + arm, y - arm))
        return [Line(*end, color=ink, thickness=0.13 * size) for end in ends]
    if colour == 3:
        return [Rect(x - 0.2 * size, y - 0.2 * size, 0.4 * size, 0.4 * size, ink)]
    return [Circle(x, y, 0.22 * size, ink)]


def _drafted(places: Sequence[tuple[float, float]], source: str, name: str, colour: int) -> Shape:
    """The tiles of one colour at a source, as one part. ``places`` are their upper left corners, from left to right."""
    left, top = min(x for x, _ in places), min(y for _, y in places)
    right, bottom = max(x for x, _ in places) + SMALL, max(y for _, y in places) + SMALL
    shapes: list[Shape] = [Rect(left - 1, top - 1, right - left + 2, bottom - top + 2, "none", 4)]
    for x, y in places:
        shapes += _tile(x, y, SMALL, colour)
    what = f"{len(places)} {COLOURS[colour]} tile{'s' * (len(places) > 1)}, {name}"
    return Group(shapes, part=f"{source}-{COLOURS[colour]}", title=what)


def _factory(state: Vector, factory: int, x: float, y: float) -> list[Shape]:
    """A factory with up to four tiles, sorted by colour in two rows."""
    half = FACTORY_SIZE / 2
    shapes: list[Shape] = [Rect(x - half, y - half, 2 * half, 2 * half, "board", 18, outline="line")]
    tiles = CONTENTS[state[FACTORY + factory]].tolist()
    if not any(tiles):
        return [*shapes, Label(x, y, f"F{factory + 1}", 14, "faint")]
    places = _factory_places(tiles, x, y)
    for colour, count in enumerate(tiles):
        if count:
            shapes.append(_drafted(places[colour], f"F{factory + 1}", f"factory {factory + 1}", colour))
    return shapes


def _factory_places(tiles: Sequence[int], x: float, y: float) -> dict[int, list[tuple[float, float]]]:
    """Places of the tiles by colour; tiles of a colour are neighbours, so that their areas do not overlap."""
    half = SMALL_STEP / 2
    corners = [(-half, -half), (half, -half), (half, half), (-half, half)]  # clockwise
    order = [colour for colour, count in sorted(enumerate(tiles), key=lambda pair: -pair[1]) for _ in range(count)]
    if sorted(tiles)[-1] == 3:  # three tiles of a colour in the corners would surround the fourth
        corners = [(-SMALL - 1, -half), (0, -half), (SMALL + 1, -half), (0, half)]
    places: dict[int, list[tuple[float, float]]] = {}
    for colour, (across, down) in zip(order, corners, strict=False):
        places.setdefault(colour, []).append((x + across - SMALL / 2, y + down - SMALL / 2))
    return places


def _centre(state: Vector, factories: int, top: float) -> tuple[list[Shape], float]:
    """The tiles in the centre, each colour in its own column, and the height of the area."""
    tiles = tiles_of(state, CENTRE)
    height, width = 52, (WIDTH - 20 - 34) / NUM_COLOURS
    shapes: list[Shape] = [Rect(10, top, WIDTH - 20, height, "board", 8, outline="line")]
    if state[KIND] == DECISION and state[STARTER] == 0:
        shapes.append(Group([Piece(28, top + height / 2, 12, "accent", "1")], title="first-player marker"))
    if not any(tiles):
        shapes.append(Label(WIDTH / 2, top + height / 2, "centre", 14, "faint"))
    for colour, count in enumerate(tiles):
        if count:
            shapes.append(_pile(count, colour, 44 + width * colour, top + height / 2, width - 3))
    return shapes, height


def _pile(count: int, colour: int, left: float, y: float, width: float) -> Shape:
    """Tiles of one colour in the centre: a tile and the number."""
    shapes: list[Shape] = [
        Rect(left, y - 20, width, 40, "none", 5),
        *_tile(left + 4, y - SMALL / 2, SMALL, colour),
        Label(left + 4 + SMALL + 4, y, f"×{count}", 14, anchor="start", bold=True),
    ]
    what = f"{count} {COLOURS[colour]} tile{'s' * (count > 1)}, centre"
    return Group(shapes, part=f"centre-{COLOURS[colour]}", title=what)


# -- boards ------------------------------------------------------------------------------------------------------------


def _board(state: Vector, player: int, top: float) -> list[Shape]:
    """A board: name and score, lines, wall and floor. Lines and floor of the mover are parts."""
    board, mover = BOARDS + BOARD * player, bool(state[PLAYER] == player and state[KIND] != TERMINAL)
    shapes: list[Shape] = [
        Rect(10, top, WIDTH - 20, BOARD_HEIGHT - 8, "board", 8, outline=f"player{player}" if mover else None),
        Circle(24, top + 16, 6, f"player{player}"),
        Label(36, top + 16, f"player {player}", 15, anchor="start", bold=mover),
        Label(WIDTH - 20, top + 16, f"{state[board + SCORE]} points", 15, anchor="end", bold=True),
    ]
    drafting = mover and state[KIND] == DECISION
    for row in range(NUM_ROWS):
        line = _line(state, board, row, top + 34 + STEP * row)
        part = {"part": _destination(row)} if drafting else {}
        size, held = int(state[board + LINE_SIZE + row]), int(state[board + LINE_COLOUR + row])
        what = f"line {row + 1} of player {player}, " + (f"{size} {COLOURS[held - 1]}" if held else "empty")
        shapes.append(Group(line, title=what, key=str(row + 1) if drafting else "", **part))
        shapes += _wall_row(int(state[board + WALL + row]), row, top + 34 + STEP * row)
    shapes.append(_floor(state, board, top + 40 + STEP * NUM_ROWS, drafting))
    return shapes


def _line(state: Vector, board: int, row: int, top: float) -> list[Shape]:
    """A pattern line, which is filled from the right."""
    right = 18 + NUM_ROWS * STEP
    size, colour = int(state[board + LINE_SIZE + row]), int(state[board + LINE_COLOUR + row]) - 1
    left = right - STEP * (row + 1)
    shapes: list[Shape] = [Rect(left, top, STEP * (row + 1) - STEP + TILE, TILE, "none", 4)]
    for i in range(row + 1):
        x = right - STEP * (i + 1)
        shapes += _tile(x, top, TILE, colour) if i < size else [Rect(x, top, TILE, TILE, "field", 4)]
    return shapes


def _wall_row(mask: int, row: int, top: float) -> list[Shape]:
    """A row of the wall: tiles, and a small tile on empty places."""
    shapes: list[Shape] = []
    for colour in range(NUM_COLOURS):
        column = int(COLUMN[row, colour])
        x = WIDTH - 20 - STEP * (NUM_ROWS - column) + STEP - TILE
        if mask >> column & 1:
            shapes += _tile(x, top, TILE, colour)
        else:
            shapes.append(Rect(x, top, TILE, TILE, "field", 4))
            shapes += _tile(x + 6, top + 6, TILE - 12, colour)
    return shapes


def _floor(state: Vector, board: int, top: float, drafting: bool) -> Shape:
    """The floor with its seven slots and the penalty so far."""
    size = int(state[board + FLOOR_SIZE])
    shapes: list[Shape] = [Rect(17, top - 1, WIDTH - 34, TILE + 2, "none", 5)]
    for slot in range(FLOOR_SLOTS):
        x, held = 19 + STEP * slot, int(state[board + FLOOR + slot])
        if slot < size and held != MARKER:
            shapes += _tile(x, top, TILE, held - 1)
            continue
        shapes.append(Rect(x, top, TILE, TILE, "field", 4))
        cost = int(PENALTIES[slot + 1] - PENALTIES[slot])
        middle = x + TILE / 2, top + TILE / 2
        shapes.append(Piece(*middle, 10, "accent", "1") if slot < size else Label(*middle, f"−{cost}", 12, "faint"))
    total = int(PENALTIES[size])
    text = f"floor −{total}" if total else "floor"
    shapes.append(Label(WIDTH - 30, top + TILE / 2, text, 14, anchor="end", bold=bool(total)))
    part = {"part": "floor"} if drafting else {}
    return Group(shapes, title=f"floor, {size} of {FLOOR_SLOTS} slots, −{total}", key="f" if drafting else "", **part)
