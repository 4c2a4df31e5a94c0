"""The picture of backgammon: the board from the side of player 0, who bears off at the lower right.

A half-move is two clicks: the place of a checker and the place that it moves to. A checker that moves with both dice
can also be clicked straight to its last place. Parts have the point numbers of player 0; the board shows the numbers
of the player who moves or rolls, as in notation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from aleazero.games.backgammon.board import (
    BAR,
    HIGH,
    KIND,
    LOW,
    NUM_ACTIONS,
    NUM_POINTS,
    OFF,
    OPENING,
    PASS,
    PLACES,
    PLAYER,
    PLAYING,
    POINTS,
    SECOND,
    SETUP,
    Vector,
)
from aleazero.games.backgammon.moves import canonical, legal, move, place_of, scan, sources
from aleazero.games.backgammon.text import pips
from aleazero.games.base import CHANCE, DECISION, TERMINAL
from aleazero.games.scene import Button, Circle, Die, Group, Label, Move, Piece, Polygon, Rect, Scene, Shape

LEFT, POINT, BAR_WIDTH, TRAY = 6, 24, 26, 30
TOP, HALF, GAP = 48, 132, 44
"""Upper edge of the board, height of the points with their checkers, and height of the middle with the dice."""
RADIUS, STACK = 11, 5
BOTTOM: Final = TOP + 2 * HALF + GAP
RIGHT: Final = LEFT + 12 * POINT + BAR_WIDTH
WIDTH: Final = RIGHT + TRAY + 10


def draw(state: Vector, clicks: Sequence[str] = ()) -> Scene:
    """The board after the half-moves that ``clicks`` complete."""
    board = state.copy()
    used = _play_clicks(board, clicks)
    player, deciding = int(state[PLAYER]), state[KIND] == DECISION
    shapes: list[Shape] = [
        Rect(LEFT - 3, TOP - 3, RIGHT - LEFT + 6, BOTTOM - TOP + 6, "board", 6, outline="line"),
        Rect(LEFT + 6 * POINT, TOP - 3, BAR_WIDTH, BOTTOM - TOP + 6, "field"),
        *(_point(board, place, player) for place in range(1, NUM_POINTS + 1)),
        *(shape for who in (0, 1) for shape in (_bar(board, who), _tray(board, who), _name(board, who))),
    ]
    moves = _moves(state) if deciding else []
    must_pass = any(move.steps == ("pass",) for move in moves)
    if must_pass:
        left = LEFT + (0 if player == 0 else 6 * POINT + BAR_WIDTH)
        shapes.append(Button(left + 22, TOP + HALF + 4, 100, 36, "pass", part="pass", title="pass", key="p"))
    shapes += _dice(state, used)
    return Scene(WIDTH, BOTTOM + TOP, shapes, moves, f"backgammon, player {player} {_status(state, player)}")


def _status(state: Vector, player: int) -> str:
    """What a player does, e.g. ``to roll``; nothing if it is the other player's turn."""
    if player != state[PLAYER]:
        return ""
    if state[SETUP] != PLAYING:
        return "opening roll" if state[SETUP] == OPENING else "random start"
    return {CHANCE: "to roll", DECISION: "to move", TERMINAL: "has won"}[int(state[KIND])]


# -- moves -------------------------------------------------------------------------------------------------------------


def _part(player: int, place: int) -> str:
    """The part of a point of a player."""
    return f"point{place if player == 0 else NUM_POINTS + 1 - place}"


def _start(player: int, place: int) -> str:
    return _part(player, place) if place else f"bar{player}"


def _end(player: int, place: int, die: int) -> str:
    end = (place or NUM_POINTS + 1) - die
    return _part(player, end) if end > 0 else f"off{player}"


def _moves(state: Vector) -> list[Move]:
    """The clicks of all legal actions, with the half-moves in every possible order."""
    player, high, low = int(state[PLAYER]), int(state[HIGH]), int(state[LOW])
    found: dict[tuple[str, ...], set[int]] = {}
    for order in ((high, low),) if high == low else ((high, low), (low, high)):
        for first, board in _half_moves(state, order[0]):
            for second, _ in _half_moves(board, order[1]):
                places = (first, second) if order[0] == high else (second, first)
                action = int(canonical(state, PLACES * places[0] + places[1]))
                start, between = _start(player, first), _end(player, first, order[0])
                end = _end(player, second, order[1])
                found.setdefault((start, between, _start(player, second), end), set()).add(action)
                if _start(player, second) == between:
                    found.setdefault((start, end), set()).add(action)
    if found:
        starts = {steps[:2] for steps in found if len(steps) > 2}
        # A direct way to the last place needs one meaning: no other path with another result, and no half-move.
        direct = {steps for steps in found if len(steps) == 2 and (len(found[steps]) > 1 or steps in starts)}
        return [Move(min(actions), steps) for steps, actions in found.items() if steps not in direct]
    listed = np.zeros(NUM_ACTIONS, np.int64)
    moves = []
    for action in listed[: legal(state, listed)].tolist():
        places = divmod(action, PLACES)
        halves = [(place, die) for place, die in zip(places, (high, low), strict=True) if place != PASS]
        steps = [part for place, die in halves for part in (_start(player, place), _end(player, place, die))]
        moves.append(Move(action, tuple(steps) or ("pass",)))
    return moves


def _half_moves(state: Vector, die: int) -> Iterator[tuple[int, Vector]]:
    """Yield the places from which a die can be played, 0 for the bar, and the board after it."""
    own, _, clear, _ = scan(state)
    left = int(sources(own, clear, die))
    while left:
        bit = left & -left
        left ^= bit
        place = int(place_of(bit)) % PASS
        board = state.copy()
        move(board, int(state[PLAYER]), place, die)
        yield place, board


def _play_clicks(board: Vector, clicks: Sequence[str]) -> list[int]:
    """Play the half-moves of the clicks on a board; return the dice that they use."""
    player, used = int(board[PLAYER]), []
    left = [int(board[HIGH]), int(board[LOW])]
    for start, end in zip(clicks[::2], clicks[1::2], strict=False):
        for die in sorted(left):
            places = [place for place in range(NUM_POINTS + 1) if _start(player, place) == start]
            if places and _end(player, places[0], die) == end:
                move(board, player, places[0], die)
                left.remove(die)
                used.append(die)
                break
    return used


# -- the board ---------------------------------------------------------------------------------------------------------


def _place(point: int) -> tuple[float, float, int]:
    """The middle of a point of player 0, its y at the edge of the board, and the direction to the middle (1 or −1)."""
    column = 12 - point if point <= 12 else point - 13
    x = LEFT + POINT * (column + 0.5) + (BAR_WIDTH if column >= 6 else 0)
    return x, (BOTTOM if point <= 12 else TOP), (-1 if point <= 12 else 1)


def _point(state: Vector, point: int, mover: int) -> Shape:
    """A point with its checkers and its number from the view of the mover."""
    x, y, way = _place(point)
    count = int(state[POINTS + point - 1])
    number = point if mover == 0 else NUM_POINTS + 1 - point
    tip = y + way * (HALF - 8)
    owner = "empty" if count == 0 else f"{abs(count)} of player {int(count < 0)}"
    shapes: list[Shape] = [
        Rect(x - POINT / 2 + 1, min(y, y + way * HALF), POINT - 2, HALF, "none", 3),
        Polygon([(x - POINT / 2, y), (x + POINT / 2, y), (x, tip)], "dark" if point % 2 else "light"),
        *_stack(x, y + way * (RADIUS + 1), way, abs(count), int(count < 0)),
        Label(x, y - way * 11, str(number), 12, "faint"),
    ]
    return Group(shapes, part=f"point{point}", title=f"point {number}, {owner}")


def _stack(x: float, y: float, way: int, count: int, player: int) -> list[Shape]:
    """Up to five checkers; the last one shows the number if there are more."""
    shown = min(count, STACK)
    return [
        Piece(
            x,
            y + way * (2 * RADIUS + 1) * i,
            RADIUS,
            f"player{player}",
            str(count) if count > STACK and i == shown - 1 else "",
        )
        for i in range(shown)
    ]


def _bar(state: Vector, player: int) -> Shape:
    """The checkers of a player on the bar, on the side where they enter."""
    count, way = int(state[BAR + player]), -1 if player == 0 else 1
    x, y = LEFT + 6 * POINT + BAR_WIDTH / 2, TOP + HALF + GAP / 2
    box = Rect(x - BAR_WIDTH / 2 + 1, y if way > 0 else TOP, BAR_WIDTH - 2, HALF + GAP / 2, "none", 3)
    checkers = _stack(x, y + way * (RADIUS + 8), way, count, player)
    return Group([box, *checkers], part=f"bar{player}", title=f"bar, {count} of player {player}")


def _tray(state: Vector, player: int) -> Shape:
    """The checkers that a player has borne off."""
    count, left = int(state[OFF + player]), RIGHT + 7
    top = BOTTOM - HALF if player == 0 else TOP
    shapes: list[Shape] = [Rect(left, top, TRAY, HALF, "board", 4, outline="line")]
    for i in range(count):
        y = BOTTOM - 9 - 8.5 * i if player == 0 else TOP + 2 + 8.5 * i
        shapes.append(Rect(left + 3, y, TRAY - 6, 7, f"player{player}", 2))
    return Group(shapes, part=f"off{player}", title=f"off, {count} of player {player}")


def _name(state: Vector, player: int) -> Shape:
    """The line of a player: checkers, pips, and what the player does."""
    y, status = (BOTTOM + 36 if player == 0 else 12), _status(state, player)
    return Group([
        Circle(LEFT + 8, y, 7, f"player{player}"),
        Label(LEFT + 22, y, f"player {player} {status}".strip(), 15, anchor="start", bold=bool(status)),
        Label(RIGHT - 8, y, f"{pips(state, player)} pips", 14, "faint", "end"),
        Label(RIGHT + 7 + TRAY, y, f"{int(state[OFF + player])} off", 12, "faint", "end"),
    ])  # fmt: skip


def _dice(state: Vector, used: list[int]) -> list[Shape]:
    """The dice on the side of the mover; dice that have been played are pale. A double has four."""
    high, low = int(state[HIGH]), int(state[LOW])
    if not high:
        return []
    faces = [high] * 4 if high == low else [high, low]
    played = [*used, *[high] * (2 * int(state[SECOND]))]
    middle = LEFT + 3 * POINT + (6 * POINT + BAR_WIDTH if state[PLAYER] == 0 else 0)
    shapes: list[Shape] = []
    for i, face in enumerate(faces):
        is_played = face in played
        if is_played:
            played.remove(face)
        x = middle + 34 * (i - len(faces) / 2) + 2
        die = Die(x, TOP + HALF + 7, 30, face, "field" if is_played else "paper")
        shapes.append(Group([die], title=f"die {face}{', played' * is_played}"))
    return shapes
