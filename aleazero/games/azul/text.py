"""Texts of Azul: names of drafts and refills, a position in one line, and the boards.

Tiles have the letters b, y, r, k (black) and w; m is the first-player marker. In a line, ``b3k`` are three blue tiles
and a black one::

    draft round 1 drafts 0 player 0 next - bag b16y16r16k16w16 lid - centre - factories b4 y4 r4 k4 w4 /
    0 wall .....,.....,.....,.....,..... lines -,-,-,-,- floor - / 0 wall …
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from aleazero.errors import IllegalActionError, PositionError, shortened
from aleazero.games.azul.board import (
    BAG,
    BOARD,
    BOARDS,
    CENTRE,
    COLOURS,
    CONTENTS,
    DESTINATIONS,
    DRAFTS,
    FACTORY,
    FACTORY_TILES,
    FLOOR,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    KIND,
    LETTERS,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    MARKER,
    MOST_DRAFTS,
    NUM_COLOURS,
    NUM_ROWS,
    PHASES,
    PLAYER,
    ROUND,
    SCORE,
    STARTER,
    TO_FLOOR,
    WALL,
    Vector,
    content_of,
    num_boards,
    num_factories,
    tiles_of,
)
from aleazero.games.azul.positions import ended_by_cap
from aleazero.games.azul.tiling import PENALTIES, complete_rows, wall_of
from aleazero.games.base import CHANCE, DECISION, TERMINAL, State

TYPING_HELP: Final = (
    "type a source, a colour and a line, such as F1 blue 3, centre red 2 or centre red floor; short: f1 b 3, c r f. "
    "The letters are b blue, y yellow, r red, k black, w white"
)

# -- names -------------------------------------------------------------------------------------------------------------


def action_text(action: int, factories: int) -> str:
    """``F1 blue 3``, ``centre red floor``. Factories and lines are counted from 1."""
    rest, to = divmod(int(action), DESTINATIONS)
    source, colour = divmod(rest, NUM_COLOURS)
    return f"{source_name(source, factories)} {COLOURS[colour]} {'floor' if to == TO_FLOOR else to + 1}"


def source_name(source: int, factories: int) -> str:
    """``F1`` for the first factory; ``centre``."""
    return "centre" if source == factories else f"F{source + 1}"


_COLOUR = "|".join((*COLOURS, *LETTERS))
_ACTION = re.compile(rf"(?:f?([1-9])|centre|center|c)[\s-]*({_COLOUR})[\s-]*(?:([1-5])|floor|f)")


def parse_action(line: str, factories: int) -> int:
    """Read other spellings of a draft: ``f1 b 3``, ``F1-blue-3``, ``1b3``, ``c r f``; −1 if it is none."""
    found = _ACTION.fullmatch(line.strip().casefold())
    if found is None or (found[1] and int(found[1]) > factories):
        return -1
    source = int(found[1]) - 1 if found[1] else factories
    colour = COLOURS.index(found[2]) if found[2] in COLOURS else LETTERS.index(found[2])
    to = int(found[3]) - 1 if found[3] else TO_FLOOR
    return (source * NUM_COLOURS + colour) * DESTINATIONS + to


def parse_play(state: State, line: str) -> list[int]:
    """Read a draft that a person types; raise IllegalActionError if it is not legal."""
    action = state.canonical_action(state.string_to_action(line))
    if action < 0:
        raise IllegalActionError(
            f"azul: {line.strip()!r} is illegal here, expected tiles that are at that source, and a line with room "
            "that is empty or has the colour, in a row of the wall without it; or the floor"
        )
    return [action]


def outcome_text(outcome: int) -> str:
    """The tiles of a factory, one letter each: ``bbyk``."""
    return _letters(CONTENTS[outcome].tolist())


def _letters(tiles: list[int]) -> str:
    """``bbyk``; ``-`` without tiles."""
    return "".join(letter * count for letter, count in zip(LETTERS, tiles, strict=True)) or "-"


# -- a line ------------------------------------------------------------------------------------------------------------

_TILES = r"-|(?:[byrkw][0-9]{0,3}){1,5}"
_HEAD = re.compile(
    r"(draft|refill|over) round ([0-9]{1,4}) drafts ([0-9]{1,4}) player ([0-9]) next (-|[0-9]) "
    rf"bag ({_TILES}) lid ({_TILES}) centre ({_TILES}) factories ((?:{_TILES})(?: (?:{_TILES}))*)"
)
_BOARD = re.compile(
    r"(-?[0-9]{1,5}) wall ([byrkw.]{5}(?:,[byrkw.]{5}){4}) lines ((?:-|[byrkw][1-5])(?:,(?:-|[byrkw][1-5])){4}) "
    r"floor (-|[byrkwm]{1,7})"
)


def text(state: Vector) -> str:
    """The position in one line."""
    players = num_boards(state)
    factories = " ".join(_counts(CONTENTS[content].tolist()) for content in state[FACTORY:][: num_factories(players)])
    head = (
        f"{PHASES[state[KIND]]} round {state[ROUND]} drafts {state[DRAFTS]} player {state[PLAYER]} "
        f"next {state[STARTER] - 1 if state[STARTER] else '-'} bag {_counts(tiles_of(state, BAG))} "
        f"lid {_counts(tiles_of(state, LID))} centre {_counts(tiles_of(state, CENTRE))} factories {factories}"
    )
    return " / ".join([head, *(_board_text(state, BOARDS + BOARD * player) for player in range(players))])


def _counts(tiles: list[int]) -> str:
    """``b3k``; ``-`` without tiles."""
    shown = (f"{letter}{'' if count == 1 else count}" for letter, count in zip(LETTERS, tiles, strict=True) if count)
    return "".join(shown) or "-"


def _board_text(state: Vector, board: int) -> str:
    walls, lines = [], []
    for row in range(NUM_ROWS):
        mask, colour = int(state[board + WALL + row]), int(state[board + LINE_COLOUR + row])
        walls.append("".join(_colour_at(row, column) if mask >> column & 1 else "." for column in range(NUM_ROWS)))
        lines.append(f"{LETTERS[colour - 1]}{state[board + LINE_SIZE + row]}" if colour else "-")
    return (
        f"{state[board + SCORE]} wall {','.join(walls)} lines {','.join(lines)} floor {_floor(state, board, '') or '-'}"
    )


def _colour_at(row: int, column: int) -> str:
    """The letter of the colour at a place of the wall."""
    return LETTERS[(column - row) % NUM_COLOURS]


def _floor(state: Vector, board: int, between: str) -> str:
    held = state[board + FLOOR : board + FLOOR + int(state[board + FLOOR_SIZE])]
    return between.join("m" if x == MARKER else LETTERS[int(x) - 1] for x in held)


def parse(line: str, players: int) -> Vector:
    """Read what ``text`` writes, of a game with this number of players."""
    parts = " ".join(line.split()).split(" / ")
    head = _HEAD.fullmatch(parts[0])
    boards = [_BOARD.fullmatch(part) for part in parts[1:]]
    if head is None or None in boards:
        part = parts[0] if head is None else parts[1 + boards.index(None)]
        raise PositionError(
            f"azul: cannot read {shortened(part, 80, 40)!r} of a position, expected 'draft round 1 drafts 0 player 0 "
            "next - bag b16y16r16k16w16 lid - centre - factories b4 y4 r4 k4 w4' and for each player ' / 0 wall "
            ".....,.....,.....,.....,..... lines -,-,-,-,- floor -'"
        )
    factories = head[9].split()
    if len(boards) != players or len(factories) != num_factories(players):
        raise PositionError(
            f"azul: got {len(factories)} factories and {len(boards)} boards, expected {num_factories(players)} and "
            f"{players}"
        )
    state = np.zeros(BOARDS + BOARD * players, np.int64)
    state[KIND] = PHASES.index(head[1])
    state[ROUND], state[DRAFTS], state[PLAYER] = int(head[2]), int(head[3]), int(head[4])
    state[STARTER] = 0 if head[5] == "-" else int(head[5]) + 1
    for place, word in ((BAG, head[6]), (LID, head[7]), (CENTRE, head[8])):
        state[place : place + NUM_COLOURS] = _read_tiles(word)
    for i, word in enumerate(factories):
        tiles = _read_tiles(word)
        if sum(tiles) > FACTORY_TILES:
            raise PositionError(f"azul: got {sum(tiles)} tiles {word!r} in factory {i + 1}, expected at most 4")
        state[FACTORY + i] = content_of(tiles)
    for player, board in enumerate(boards):
        if board is not None:
            _read_board(board, player, state[BOARDS + BOARD * player :])
    return state


def _read_tiles(word: str) -> list[int]:
    tiles = [0] * NUM_COLOURS
    for letter, count in re.findall(r"([byrkw])([0-9]*)", word):
        tiles[LETTERS.index(letter)] += int(count or 1)
    return tiles


def _read_board(found: re.Match[str], player: int, out: Vector) -> None:
    out[SCORE] = int(found[1])
    for row, (wall, line) in enumerate(zip(found[2].split(","), found[3].split(","), strict=True)):
        for column, letter in enumerate(wall):
            if letter not in (".", _colour_at(row, column)):
                raise PositionError(
                    f"azul: got {letter!r} at place {column + 1} of row {row + 1} of the wall of player {player}, "
                    f"expected '.' or {_colour_at(row, column)!r}"
                )
            out[WALL + row] |= (letter != ".") << column
        if line != "-":
            out[LINE_COLOUR + row], out[LINE_SIZE + row] = LETTERS.index(line[0]) + 1, int(line[1:])
    floor = found[4].replace("-", "")
    out[FLOOR_SIZE] = len(floor)
    for slot, letter in enumerate(floor):
        out[FLOOR + slot] = MARKER if letter == "m" else LETTERS.index(letter) + 1


# -- the boards --------------------------------------------------------------------------------------------------------


def render(state: Vector) -> str:
    """The tiles on display, then the boards side by side: lines, wall and floor.

    Capital letters are tiles. On the wall, a small letter is the colour of an empty place.
    """
    players = num_boards(state)
    bag, lid = tiles_of(state, BAG), tiles_of(state, LID)
    factories = [_letters(CONTENTS[content].tolist()) for content in state[FACTORY:][: num_factories(players)]]
    in_centre = zip(LETTERS.upper(), tiles_of(state, CENTRE), strict=True)
    centre = [letter * count for letter, count in in_centre if count]
    marker = ["m"] if state[STARTER] == 0 and state[KIND] == DECISION else []
    lines = [
        f"round {state[ROUND]}   bag {sum(bag)}: {_spaced(bag)}   lid {sum(lid)}: {_spaced(lid)}",
        "factories  " + "   ".join(f"F{i + 1} {tiles.upper()}" for i, tiles in enumerate(factories)),
        "centre     " + (" ".join([*marker, *centre]) or "-"),
        "",
    ]
    boards = [_draw_board(state, player) for player in range(players)]
    gap = "     " if players < 4 else "  "
    lines += [gap.join(f"{row:<23}" for row in rows).rstrip() for rows in zip(*boards, strict=True)]
    return "\n".join([*lines, "", status(state)])


def _spaced(tiles: list[int]) -> str:
    return " ".join(f"{letter}{count}" for letter, count in zip(LETTERS, tiles, strict=True))


def _draw_board(state: Vector, player: int) -> list[str]:
    """The rows of a board, each of at most 23 characters."""
    board = BOARDS + BOARD * player
    arrow = "→ " if state[KIND] != TERMINAL and state[PLAYER] == player else "  "
    rows = [f"{arrow}player {player}: {state[board + SCORE]}"]
    for row in range(NUM_ROWS):
        size, colour = int(state[board + LINE_SIZE + row]), int(state[board + LINE_COLOUR + row])
        letter = LETTERS[colour - 1].upper()
        cells = [" "] * (NUM_ROWS - 1 - row) + ["."] * (row + 1 - size) + [letter] * size
        mask = int(state[board + WALL + row])
        wall = [_colour_at(row, column) for column in range(NUM_ROWS)]
        shown = [letter.upper() if mask >> column & 1 else letter for column, letter in enumerate(wall)]
        rows.append(f"{row + 1} {' '.join(cells)} | {' '.join(shown)}")
    size = int(state[board + FLOOR_SIZE])
    slots = " ".join([*_floor(state, board, " ").upper().replace("M", "m").split(), *["."] * (FLOOR_SLOTS - size)])
    rows.append(f"floor {slots} {-int(PENALTIES[size]) or ''}".rstrip())
    return rows


def status(state: Vector) -> str:
    """What happens next, or who has won."""
    player = int(state[PLAYER])
    if state[KIND] == CHANCE:
        filled = int((state[FACTORY : FACTORY + num_factories(num_boards(state))] > 0).sum())
        return f"factory {filled + 1} is filled next; player {player} starts the round"
    if state[KIND] == DECISION:
        rest = "" if state[STARTER] == 0 else f"; player {state[STARTER] - 1} starts the next round"
        return f"player {player} drafts{rest}"
    boards = [BOARDS + BOARD * who for who in range(num_boards(state))]
    ranks = [(int(state[board + SCORE]), complete_rows(wall_of(state, board))) for board in boards]
    best = [str(who) for who, rank in enumerate(ranks) if rank == max(ranks)]
    cap = f" at the cap of {MOST_DRAFTS} drafts" if ended_by_cap(state) else ""
    won = f"player {best[0]} has won" if len(best) == 1 else f"players {' and '.join(best)} share the first place"
    return f"the game is over{cap}, {won}"
