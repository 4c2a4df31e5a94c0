"""Positions of Azul from outside: dicts, the check of state vectors, and the 500-id encoding of actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from aleazero.errors import GameError, IllegalActionError, PositionError, shortened
from aleazero.games.azul.board import (
    BAG,
    BOARD,
    BOARDS,
    CENTRE,
    COLOURS,
    COLUMN,
    CONTENTS,
    DESTINATIONS,
    DRAFTS,
    FACTORY,
    FACTORY_TILES,
    FIRST,
    FLOOR,
    FLOOR_SIZE,
    FLOOR_SLOTS,
    KIND,
    LID,
    LINE_COLOUR,
    LINE_SIZE,
    MARKER,
    MOST_DRAFTS,
    MOST_FACTORIES,
    NUM_COLOURS,
    NUM_ROWS,
    PHASES,
    PLAYER,
    PLAYER_COUNTS,
    ROUND,
    SCORE,
    STARTER,
    TILES_PER_COLOUR,
    TO_FLOOR,
    WALL,
    Vector,
    content_of,
    num_actions,
    num_boards,
    num_factories,
    tiles_of,
)
from aleazero.games.azul.tiling import FULL_ROW, complete_rows, wall_of
from aleazero.games.base import CHANCE, DECISION, KIND_NAMES, TERMINAL

if TYPE_CHECKING:
    from aleazero.games.kernel import KernelGame, KernelState

REQUIRED: Final = ("players", "to_move", "next_start", "marker", "factories", "centre", "bag", "lid", "boards")
OPTIONAL: Final = ("phase", "round", "drafts")
BOARD_KEYS: Final = ("score", "wall", "lines", "floor")
SCORE_RANGE: Final = (-14 * MOST_DRAFTS, 999)
MOST_COUNTED_DRAFTS: Final = MOST_DRAFTS + NUM_COLOURS * TILES_PER_COLOUR
"""Drafts of a game: the last round begins before the cap and has at most one per tile."""
SEED_LINES, SEED_CENTRE, SEED_IDS = 5, 9, 500

Position = dict[str, Any]


def from_position(position: Mapping[str, Any], negative_scores: bool = False) -> KernelState:
    """Return the state of a position.

    Args:
        position: a dict as ``to_position`` returns it. The keys ``phase``, ``round`` and ``drafts`` are optional.
            Without a phase, a position with tiles on display is a draft. Without tiles on display it is over if it has
            a complete row or no tile to draw, and a refill otherwise.
        negative_scores: whether scores may fall below 0 at the end of a round.

    Returns:
        The state. Factories keep their order in a draft, so that the sources of actions are those of the position.

    Raises:
        PositionError: the dict cannot be read, tiles are missing or too many, or the rules do not allow the position.
    """
    from aleazero.games.registry import load_game

    vector = _vector_of(position)
    game = load_game("azul", players=num_boards(vector), negative_scores=negative_scores)
    return cast("KernelGame", game).state_from_vector(vector)


def to_position(state: KernelState) -> Position:
    """Return the position of a state as a dict of plain JSON data.

    Args:
        state: a state of Azul.

    Returns:
        A dict with these keys:

        - ``players``: the number of players.
        - ``to_move``: the player to move; in a refill, the player that starts the round.
        - ``next_start``: the player that has taken the first-player marker, or None.
        - ``marker``: whether the marker lies in the centre. It does during a refill and at the end.
        - ``factories``: the tiles by colour of each factory; ``centre``, ``bag``, ``lid``: the tiles by colour.
        - ``boards``: by player, a dict of the ``score``, the ``wall`` by row and column (0 or 1), the ``lines`` as
          [colour or None, count], and the ``floor``, a list of colours and ``"marker"``.
        - ``phase``: ``"draft"``, ``"refill"`` or ``"over"``.
        - ``round``, if it is not the first, and ``drafts``, the number of drafts so far, if it is not 0.
    """
    vector = state.vector
    players = num_boards(vector)
    starter = int(vector[STARTER])
    position: Position = {
        "players": players,
        "to_move": int(vector[PLAYER]),
        "next_start": starter - 1 if starter else None,
        "marker": starter == 0,
        "factories": [CONTENTS[vector[FACTORY + i]].tolist() for i in range(num_factories(players))],
        "centre": tiles_of(vector, CENTRE),
        "bag": tiles_of(vector, BAG),
        "lid": tiles_of(vector, LID),
        "boards": [_board_of(vector, BOARDS + BOARD * player) for player in range(players)],
        "phase": PHASES[vector[KIND]],
    }
    if vector[ROUND] != 1:
        position["round"] = int(vector[ROUND])
    if vector[DRAFTS]:
        position["drafts"] = int(vector[DRAFTS])
    return position


def _board_of(vector: Vector, board: int) -> dict[str, Any]:
    held = [int(x) for x in vector[board : board + BOARD]]
    lines = zip(held[LINE_COLOUR:LINE_SIZE], held[LINE_SIZE:FLOOR_SIZE], strict=True)
    return {
        "score": held[SCORE],
        "wall": [[row >> column & 1 for column in range(NUM_ROWS)] for row in held[WALL:LINE_COLOUR]],
        "lines": [[colour - 1 if size else None, size] for colour, size in lines],
        "floor": ["marker" if x == MARKER else x - 1 for x in held[FLOOR : FLOOR + held[FLOOR_SIZE]]],
    }


def is_capped(state: KernelState) -> bool:
    """Return whether a game is over only because of the cap of 1,000 drafts."""
    return ended_by_cap(state.vector)


def ended_by_cap(vector: Vector) -> bool:
    """Return whether a state vector is a game that is over without a complete row and with tiles to draw."""
    to_draw = sum(tiles_of(vector, BAG) + tiles_of(vector, LID))
    return bool(vector[KIND] == TERMINAL and not _has_row(vector) and to_draw > 0)


def _has_row(vector: Vector) -> bool:
    return any(complete_rows(wall_of(vector, BOARDS + BOARD * player)) for player in range(num_boards(vector)))


# -- reading a dict ----------------------------------------------------------------------------------------------------


def _vector_of(position: Any) -> Vector:
    """Return the vector of a position; raise PositionError unless all parts have the expected types and sizes."""
    _require_keys("a position", position, REQUIRED, OPTIONAL)
    players = _number("players", position["players"], PLAYER_COUNTS[0], PLAYER_COUNTS[-1])
    vector = np.zeros(BOARDS + BOARD * players, np.int64)
    for key, place in (("centre", CENTRE), ("bag", BAG), ("lid", LID)):
        vector[place : place + NUM_COLOURS] = _tiles(key, position[key])
    for i, tiles in enumerate(_list("factories", position["factories"], num_factories(players))):
        counts = _tiles(f"factory {i}", tiles)
        if sum(counts) > FACTORY_TILES:
            raise PositionError(f"azul: got {sum(counts)} tiles {counts} in factory {i}, expected at most 4")
        vector[FACTORY + i] = content_of(counts)
    for player, board in enumerate(_list("boards", position["boards"], players)):
        _read_board(f"board {player}", board, vector[BOARDS + BOARD * player :])
    vector[ROUND] = _number("round", position.get("round", 1), 1, MOST_DRAFTS)
    vector[DRAFTS] = _number("drafts", position.get("drafts", 0), 0, MOST_COUNTED_DRAFTS)
    vector[PLAYER] = _number("to_move", position["to_move"], 0, players - 1)
    vector[KIND] = _kind_of(position, vector)
    _read_marker(position, vector, players)
    if vector[KIND] == TERMINAL and "drafts" not in position and not _is_over(vector):
        vector[DRAFTS] = MOST_DRAFTS  # the only other reason for the end
    if vector[KIND] == CHANCE:
        factories = vector[FACTORY : FACTORY + MOST_FACTORIES]
        factories[:] = np.sort(factories)[::-1]  # as during a refill
    return vector


def _kind_of(position: Mapping[str, Any], vector: Vector) -> int:
    phase = position.get("phase")
    if phase is None:
        if vector[FACTORY : FACTORY + MOST_FACTORIES].any() or vector[CENTRE : CENTRE + NUM_COLOURS].any():
            return DECISION
        return TERMINAL if _is_over(vector) else CHANCE
    if phase not in PHASES:
        raise PositionError(f"azul: got the phase {phase!r}, expected one of {', '.join(PHASES)}")
    return PHASES.index(phase)


def _is_over(vector: Vector) -> bool:
    """Return whether a game with these boards, bag and lid ends before the next refill."""
    drawn = not any(tiles_of(vector, BAG) + tiles_of(vector, LID))
    return _has_row(vector) or drawn or bool(vector[DRAFTS] >= MOST_DRAFTS)


def _read_marker(position: Mapping[str, Any], vector: Vector, players: int) -> None:
    """Read who has the marker. Between rounds, ``next_start`` may stand for ``to_move``."""
    marker, starter = position["marker"], position["next_start"]
    if not isinstance(marker, bool):
        raise PositionError(f"azul: got {marker!r} for marker, expected true or false")
    if starter is not None:
        starter = _number("next_start", starter, 0, players - 1)
    if vector[KIND] != DECISION:
        vector[PLAYER] = vector[PLAYER] if starter is None else starter
    elif marker == (starter is not None):
        raise PositionError(
            f"azul: got the marker {'in' if marker else 'not in'} the centre and next_start {starter}, expected "
            f"next_start None while the marker lies in the centre, and a player afterwards"
        )
    else:
        vector[STARTER] = 0 if starter is None else starter + 1


def _read_board(name: str, board: Any, out: Vector) -> None:
    _require_keys(name, board, BOARD_KEYS)
    out[SCORE] = _number(f"the score of {name}", board["score"], *SCORE_RANGE)
    for row, places in enumerate(_list(f"the wall of {name}", board["wall"], NUM_ROWS)):
        what = f"row {row} of the wall of {name}"
        for column, full in enumerate(_list(what, places, NUM_ROWS)):
            out[WALL + row] |= _number(what, full, 0, 1) << column
    for row, line in enumerate(_list(f"the lines of {name}", board["lines"], NUM_ROWS)):
        what = f"line {row} of {name}"
        colour, size = _list(what, line, 2)
        out[LINE_SIZE + row] = _number(f"the tiles in {what}", size, 0, row + 1)
        if (colour is None) != (out[LINE_SIZE + row] == 0):
            raise PositionError(f"azul: got {line!r} for {what}, expected [colour, count], or [None, 0] if it is empty")
        if colour is not None:
            out[LINE_COLOUR + row] = 1 + _number(f"the colour of {what}", colour, 0, NUM_COLOURS - 1)
    floor = _list(f"the floor of {name}", board["floor"])
    if len(floor) > FLOOR_SLOTS:
        raise PositionError(f"azul: got {len(floor)} tiles on the floor of {name}, expected at most {FLOOR_SLOTS}")
    out[FLOOR_SIZE] = len(floor)
    for slot, held in enumerate(floor):
        what = f"the floor of {name}"
        out[FLOOR + slot] = MARKER if held == "marker" else 1 + _number(what, held, 0, NUM_COLOURS - 1)


def _require_keys(what: str, given: Any, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    if not isinstance(given, Mapping):
        raise PositionError(f"azul: got {_shown(given)} for {what}, expected a dict with {', '.join(required)}")
    missing = [key for key in required if key not in given]
    unknown = [key for key in given if key not in (*required, *optional)]
    if missing or unknown:
        wrong = f"without {missing[0]!r}" if missing else f"with {unknown[0]!r}"
        names = ", ".join(required) + (f"; optional: {', '.join(optional)}" if optional else "")
        raise PositionError(f"azul: got {what} {wrong}, expected the keys {names}")


def _list(what: str, given: Any, size: int | None = None) -> list[Any]:
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str | bytes):
        raise PositionError(f"azul: got {_shown(given)} for {what}, expected a list")
    if size is not None and len(given) != size:
        raise PositionError(f"azul: got {len(given)} entries in {what}, expected {size}")
    return list(given)


def _tiles(what: str, given: Any) -> list[int]:
    most = TILES_PER_COLOUR
    return [_number(f"the tiles in {what}", count, 0, most) for count in _list(what, given, NUM_COLOURS)]


def _number(what: str, given: Any, lowest: int, highest: int) -> int:
    try:
        number = index(given)
    except TypeError:
        number = lowest - 1
    if not lowest <= number <= highest:
        raise PositionError(f"azul: got {_shown(given)} for {what}, expected an integer from {lowest} to {highest}")
    return number


def _shown(given: Any) -> str:
    return shortened(repr(given), 60, 20)


# -- checking a vector -------------------------------------------------------------------------------------------------


def check(state: Vector, players: int, negative: bool) -> None:
    """Reject a state vector that breaks the rules, in a game with this number of players."""
    kind, player, starter = int(state[KIND]), int(state[PLAYER]), int(state[STARTER])
    if kind not in (DECISION, CHANCE, TERMINAL) or not 0 <= player < players or not 0 <= starter <= players:
        raise PositionError(
            f"azul: got kind {kind}, player {player} and marker {starter}, expected 0 to 2, 0 to {players - 1} and "
            f"0 to {players}"
        )
    if not 1 <= state[ROUND] <= MOST_DRAFTS or not 0 <= state[DRAFTS] <= MOST_COUNTED_DRAFTS:
        raise PositionError(
            f"azul: got round {state[ROUND]} and {state[DRAFTS]} drafts, expected a round from 1 to {MOST_DRAFTS:,} "
            f"and 0 to {MOST_COUNTED_DRAFTS:,} drafts"
        )
    factories = state[FACTORY : FACTORY + MOST_FACTORIES]
    if factories.min() < 0 or factories.max() >= FIRST[-1] or factories[num_factories(players) :].any():
        raise PositionError(
            f"azul: got the contents {factories.tolist()} of factories, expected 0 to {FIRST[-1] - 1} in the "
            f"first {num_factories(players)}"
        )
    for place in range(players):
        _check_board(state, place, negative)
    _check_conservation(state, players)
    _check_markers(state, players)
    _check_kind(state, players)


def _check_board(state: Vector, player: int, negative: bool) -> None:
    """Reject impossible numbers of a board, and lines whose colour is already in the row of the wall."""
    name = f"board {player}"
    held = [int(x) for x in state[BOARDS + BOARD * player : BOARDS + BOARD * (player + 1)]]
    lowest = SCORE_RANGE[0] if negative else 0
    if not lowest <= held[SCORE] <= SCORE_RANGE[1]:
        hint = "" if negative else "; load the game with negative_scores for scores below 0"
        raise PositionError(f"azul: got the score {held[SCORE]} of {name}, expected {lowest} to {SCORE_RANGE[1]}{hint}")
    for row in range(NUM_ROWS):
        wall, colour, size = held[WALL + row], held[LINE_COLOUR + row], held[LINE_SIZE + row]
        fits = 0 <= wall <= FULL_ROW and 0 <= size <= row + 1 and 0 <= colour <= NUM_COLOURS
        if not fits or (size == 0) != (colour == 0):
            raise PositionError(
                f"azul: got {size} tiles of colour {colour - 1} in line {row} of {name} and the wall {wall}, expected "
                f"at most {row + 1} tiles of a colour, and a wall from 0 to {FULL_ROW}"
            )
        if colour and wall >> int(COLUMN[row, colour - 1]) & 1:
            raise PositionError(
                f"azul: got {size} {COLOURS[colour - 1]} in line {row} of {name}, expected another colour: row {row} "
                f"of the wall has {COLOURS[colour - 1]}"
            )
    size, floor = held[FLOOR_SIZE], held[FLOOR:]
    if not 0 <= size <= FLOOR_SLOTS or min(floor) < 0 or max(floor) > MARKER or any(floor[size:]) or 0 in floor[:size]:
        raise PositionError(
            f"azul: got {size} slots of the floor of {name} in use and {floor} in them, expected 0 to {FLOOR_SLOTS} "
            f"slots with numbers from 1 to {MARKER}"
        )


def _check_conservation(state: Vector, players: int) -> None:
    """Reject positions without 20 tiles of each colour."""
    places = {"bag": tiles_of(state, BAG), "lid": tiles_of(state, LID), "centre": tiles_of(state, CENTRE)}
    lowest = min(min(tiles) for tiles in places.values())
    if lowest < 0:
        got = ", ".join(f"{tiles} in the {name}" for name, tiles in places.items())
        raise PositionError(f"azul: got the tiles {got}, expected at least 0 of each colour")
    places["factories"] = CONTENTS[state[FACTORY : FACTORY + num_factories(players)]].sum(axis=0).tolist()
    for name in ("lines", "floors", "walls"):
        places[name] = [0] * NUM_COLOURS
    for player in range(players):
        board = BOARDS + BOARD * player
        for row in range(NUM_ROWS):
            if state[board + LINE_SIZE + row]:
                places["lines"][state[board + LINE_COLOUR + row] - 1] += int(state[board + LINE_SIZE + row])
            for colour in range(NUM_COLOURS):
                places["walls"][colour] += int(state[board + WALL + row]) >> int(COLUMN[row, colour]) & 1
        for held in state[board + FLOOR : board + FLOOR + FLOOR_SLOTS]:
            if 0 < held < MARKER:
                places["floors"][held - 1] += 1
    totals = [sum(tiles[colour] for tiles in places.values()) for colour in range(NUM_COLOURS)]
    wrong = [colour for colour in range(NUM_COLOURS) if totals[colour] != TILES_PER_COLOUR]
    if wrong:
        counts = ", ".join(f"{totals[colour]} {COLOURS[colour]}" for colour in wrong)
        where = ", ".join(f"{name} {[tiles[colour] for colour in wrong]}" for name, tiles in places.items())
        raise PositionError(f"azul: got {counts} tiles ({where}), expected {TILES_PER_COLOUR} of each colour")


def _check_markers(state: Vector, players: int) -> None:
    """Reject markers on the wrong floor, or more than one."""
    starter = int(state[STARTER])
    floors = [state[BOARDS + BOARD * who + FLOOR :][:FLOOR_SLOTS] for who in range(players)]
    markers = [int((floor == MARKER).sum()) for floor in floors]
    if sum(markers) > 1 or (sum(markers) == 1 and markers.index(1) != starter - 1):
        holder = "nobody" if starter == 0 else f"player {starter - 1}"
        raise PositionError(
            f"azul: got {markers} markers on the floors by player while {holder} has taken it, expected one on the "
            f"floor of that player, or none if the floor was full"
        )


def _check_kind(state: Vector, players: int) -> None:
    """Reject states whose kind contradicts the tiles on display, the boards or the reason for the end."""
    kind = int(state[KIND])
    factories = CONTENTS[state[FACTORY : FACTORY + num_factories(players)]].sum(axis=1).tolist()
    centre, to_draw = sum(tiles_of(state, CENTRE)), sum(tiles_of(state, BAG) + tiles_of(state, LID))
    what = f"{KIND_NAMES[kind]} state ({PHASES[kind]})"
    if kind == DECISION:
        if centre + sum(factories) == 0:
            raise PositionError(f"azul: got a {what} without tiles in the factories and the centre, expected some")
        if _has_row(state):
            raise PositionError(f"azul: got a {what} with a complete row on a wall, expected the game to be over")
        return
    if centre or state[STARTER]:
        raise PositionError(
            f"azul: got a {what} with {centre} tiles in the centre and marker {state[STARTER]}, expected an empty "
            "centre and the marker in it"
        )
    for player in range(players):
        board = BOARDS + BOARD * player
        full = [row for row in range(NUM_ROWS) if state[board + LINE_SIZE + row] == row + 1]
        if full or state[board + FLOOR_SIZE]:
            raise PositionError(
                f"azul: got a {what} with full lines {full} and {state[board + FLOOR_SIZE]} slots of the floor in use "
                f"on board {player}, expected that the boards are already tiled"
            )
    if kind == TERMINAL and (sum(factories) or not _is_over(state)):
        raise PositionError(
            f"azul: got a {what} with {sum(factories)} tiles in the factories, {to_draw} in bag and lid and "
            f"{state[DRAFTS]} drafts, expected empty factories and a complete row, no tiles to draw or "
            f"{MOST_DRAFTS} drafts"
        )
    if kind == CHANCE and (_is_over(state) or 0 not in factories or not {0, FACTORY_TILES}.issuperset(factories)):
        raise PositionError(
            f"azul: got a {what} with {factories} tiles in the factories, {to_draw} in bag and lid and {state[DRAFTS]} "
            f"drafts, expected an empty factory, 4 tiles in the others, tiles to draw, no complete row, and fewer than "
            f"{MOST_DRAFTS} drafts"
        )


# -- other action ids --------------------------------------------------------------------------------------------------


def to_seed_id(action: int, players: int = 2) -> int:
    """Return the id of an action in the encoding with 500 ids.

    That encoding is ((source × 5 + colour) × 2 + floor) × 5 + line. Its sources are the factories 0 to 8 and the centre
    9; ``floor`` is 1 for the floor, and then ``line`` is 0.

    Args:
        action: an action id, (source × 5 + colour) × 6 + destination.
        players: the number of players of the game.

    Raises:
        GameError: the number of players is not 2, 3 or 4.
        IllegalActionError: there is no such action.
    """
    _require_id("action", action, _actions(players))
    rest, to = divmod(index(action), DESTINATIONS)
    source, colour = divmod(rest, NUM_COLOURS)
    source = SEED_CENTRE if source == num_factories(players) else source
    floor = int(to == TO_FLOOR)
    return ((source * NUM_COLOURS + colour) * 2 + floor) * SEED_LINES + (0 if floor else to)


def from_seed_id(seed_id: int, players: int = 2) -> int:
    """Return the action of an id in the encoding with 500 ids; the inverse of ``to_seed_id``.

    Args:
        seed_id: the id, 0 to 499.
        players: the number of players of the game.

    Raises:
        GameError: the number of players is not 2, 3 or 4.
        IllegalActionError: the id is not used in a game with this number of players.
    """
    _actions(players)
    _require_id("seed id", seed_id, SEED_IDS)
    rest, line = divmod(index(seed_id), SEED_LINES)
    rest, floor = divmod(rest, 2)
    source, colour = divmod(rest, NUM_COLOURS)
    factories = num_factories(players)
    if source != SEED_CENTRE and source >= factories:
        raise IllegalActionError(
            f"azul: seed id {seed_id} drafts from factory {source}, expected 0 to {factories - 1} with {players} "
            f"players, or {SEED_CENTRE} for the centre"
        )
    if floor and line:
        raise IllegalActionError(f"azul: seed id {seed_id} is a draft to the floor with line {line}, expected line 0")
    source = factories if source == SEED_CENTRE else source
    return (source * NUM_COLOURS + colour) * DESTINATIONS + (TO_FLOOR if floor else line)


def _actions(players: Any) -> int:
    if isinstance(players, bool) or players not in PLAYER_COUNTS:
        raise GameError(f"azul: players is {players!r}, expected 2, 3 or 4")
    return num_actions(players)


def _require_id(name: str, given: Any, count: int) -> None:
    try:
        fits = 0 <= index(given) < count
    except TypeError:
        fits = False
    if not fits:
        raise IllegalActionError(f"azul: got {_shown(given)} for the {name}, expected 0 to {count - 1}")
