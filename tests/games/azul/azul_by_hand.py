"""An independent implementation of Azul on plain position dicts: clear, slow, and without imports from the library.

A position is the JSON-able dict that ``aleazero.games.azul.from_position`` reads. Functions return new positions and
do not change their arguments, except those documented as working in place. A position of phase ``refill`` names the
seat that starts the next round twice: in ``to_move`` and in ``next_start``.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

Position = dict[str, Any]
Colours = tuple[int, ...]
Display = tuple[Colours, ...]

COLOURS = range(5)
ROWS = range(5)
FACTORIES = {2: 5, 3: 7, 4: 9}
FACTORY_SIZE = 4
TILES_PER_COLOUR = 20
FLOOR_MOVE = 5
FLOOR_COSTS = (1, 1, 2, 2, 2, 3, 3)
ROW_BONUS, COLUMN_BONUS, COLOUR_BONUS = 2, 7, 10
DRAFT_CAP = 1000
MARKER = "marker"


def initial_position(players: int) -> Position:
    """Return the position before the first refill."""
    board = {"score": 0, "wall": [[0] * 5 for _ in ROWS], "lines": [[None, 0] for _ in ROWS], "floor": []}
    return {
        "phase": "refill",
        "players": players,
        "to_move": 0,
        "next_start": 0,
        "marker": True,
        "factories": [[0] * 5 for _ in range(FACTORIES[players])],
        "centre": [0] * 5,
        "bag": [TILES_PER_COLOUR] * 5,
        "lid": [0] * 5,
        "boards": [copied(board) for _ in range(players)],
    }


def copied(value: Any) -> Any:
    """Return a deep copy of JSON data."""
    if isinstance(value, dict):
        return {name: copied(part) for name, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, list) else value


def phase_of(position: Position) -> str:
    """Return the phase; a position without one is a draft if there are tiles on display."""
    if "phase" in position:
        return str(position["phase"])
    if any(sum(source) for source in sources(position)):
        return "draft"
    ended = any(complete_rows(board) for board in position["boards"]) or not tiles_to_draw(position)
    return "over" if ended else "refill"


def sources(position: Position) -> list[list[int]]:
    """Return the contents of the factories, then of the centre."""
    return [*position["factories"], position["centre"]]


def tiles_to_draw(position: Position) -> int:
    return sum(position["bag"]) + sum(position["lid"])


def column_of(row: int, colour: int) -> int:
    return (row + colour) % 5


# Actions.


def action_id(source: int, colour: int, destination: int) -> int:
    return (source * 5 + colour) * 6 + destination


def parts_of(action: int) -> tuple[int, int, int]:
    """Return the source, the colour and the destination of an action."""
    return action // 30, action // 6 % 5, action % 6


def fits(board: dict[str, Any], row: int, colour: int) -> bool:
    """Return whether tiles of the colour may go to the pattern line of the row."""
    held, count = board["lines"][row]
    return count <= row and (count == 0 or held == colour) and not board["wall"][row][column_of(row, colour)]


def legal_actions(position: Position) -> list[int]:
    """Return all legal actions, including equivalent ones from factories with equal contents."""
    if phase_of(position) != "draft":
        return []
    board = position["boards"][position["to_move"]]
    return [
        action_id(source, colour, destination)
        for source, tiles in enumerate(sources(position))
        for colour in COLOURS
        for destination in (*ROWS, FLOOR_MOVE)
        if tiles[colour] and (destination == FLOOR_MOVE or fits(board, destination, colour))
    ]


def canonical(position: Position, action: int) -> int:
    """Return the lowest action that takes the same tiles from a factory with equal contents to the same place."""
    source, colour, destination = parts_of(action)
    if source < len(position["factories"]):
        source = position["factories"].index(position["factories"][source])
    return action_id(source, colour, destination)


def apply_action(position: Position, action: int, negative_scores: bool = False, drafts: int | None = None) -> Position:
    """Return the position after an action; the last action of a round includes tiling, scoring and the end of the game.

    Args:
        position: a position of phase ``draft``.
        action: a legal action.
        negative_scores: whether scores may fall below 0.
        drafts: drafts of the game before this one, for the move cap; None plays without a cap.
    """
    if action not in legal_actions(position):
        raise ValueError(f"action {action} is illegal")
    after = copied(position)
    after["phase"] = "draft"
    seat = after["to_move"]
    source, colour, destination = parts_of(action)
    from_centre = source == len(after["factories"])
    tiles = after["centre"] if from_centre else after["factories"][source]
    taken = tiles[colour]
    tiles[colour] = 0
    if from_centre and after["marker"]:
        after["marker"], after["next_start"] = False, seat
        drop(after, seat, MARKER)
    if not from_centre:
        for other in COLOURS:
            after["centre"][other] += tiles[other]
            tiles[other] = 0
    line = after["boards"][seat]["lines"]
    for _ in range(taken):
        if destination != FLOOR_MOVE and line[destination][1] <= destination:
            line[destination] = [colour, line[destination][1] + 1]
        else:
            drop(after, seat, colour)
    after["to_move"] = (seat + 1) % after["players"]
    if any(sum(source) for source in sources(after)):
        return after
    return end_round(after, negative_scores, capped=drafts is not None and drafts + 1 >= DRAFT_CAP)


def drop(position: Position, seat: int, piece: int | str) -> None:
    """Put a tile or the marker on a floor, in place; if the floor is full, a tile goes to the lid."""
    floor = position["boards"][seat]["floor"]
    if len(floor) < len(FLOOR_COSTS):
        floor.append(piece)
    elif piece != MARKER:
        position["lid"][piece] += 1


# End of a round and of the game.


def end_round(position: Position, negative_scores: bool, capped: bool) -> Position:
    """Tile and score all boards, in place, and find out what follows."""
    for board in position["boards"]:
        gained = sum(tile_row(board, row, position["lid"]) for row in ROWS)
        score = board["score"] + gained - sum(FLOOR_COSTS[: len(board["floor"])])
        board["score"] = score if negative_scores else max(0, score)
        for piece in board["floor"]:
            if piece != MARKER:
                position["lid"][piece] += 1
        board["floor"] = []
    if position["next_start"] is None:  # nobody took the marker; to_move is the seat after the last mover
        position["next_start"] = position["to_move"]
    position["to_move"] = position["next_start"]
    position["phase"] = "refill"
    if capped or any(complete_rows(board) for board in position["boards"]) or not tiles_to_draw(position):
        return end_game(position)
    return position


def tile_row(board: dict[str, Any], row: int, lid: list[int]) -> int:
    """Move a complete pattern line to the wall, in place; return the points, 0 if the line is not complete."""
    colour, count = board["lines"][row]
    if count <= row:
        return 0
    column = column_of(row, colour)
    board["wall"][row][column] = 1
    board["lines"][row] = [None, 0]
    lid[colour] += count - 1
    across = run_length(board["wall"][row], column)
    down = run_length([cells[column] for cells in board["wall"]], row)
    return 1 if across == down == 1 else (across if across > 1 else 0) + (down if down > 1 else 0)


def run_length(cells: Sequence[int], place: int) -> int:
    """Return the number of adjacent tiles in a row or a column of the wall around a place that has one."""
    first = last = place
    while first > 0 and cells[first - 1]:
        first -= 1
    while last < 4 and cells[last + 1]:
        last += 1
    return last - first + 1


def complete_rows(board: dict[str, Any]) -> int:
    return sum(all(cells) for cells in board["wall"])


def bonus(board: dict[str, Any]) -> int:
    """Return the points at the end of the game for complete rows, columns and colours."""
    wall = board["wall"]
    columns = sum(all(wall[row][column] for row in ROWS) for column in range(5))
    colours = sum(all(wall[row][column_of(row, colour)] for row in ROWS) for colour in COLOURS)
    return ROW_BONUS * complete_rows(board) + COLUMN_BONUS * columns + COLOUR_BONUS * colours


def end_game(position: Position) -> Position:
    """Add the bonuses, in place."""
    for board in position["boards"]:
        board["score"] += bonus(board)
    position["phase"] = "over"
    return position


def returns(position: Position) -> list[float]:
    """Return the result by seat: 1 for a sole winner, shares of a tie, −1/(n−1) for the others; 0 before the end."""
    players = position["players"]
    if phase_of(position) != "over":
        return [0.0] * players
    standings = [(board["score"], complete_rows(board)) for board in position["boards"]]
    leaders = [seat for seat in range(players) if standings[seat] == max(standings)]
    share = (1 - (len(leaders) - 1) / (players - 1)) / len(leaders)
    return [share if seat in leaders else -1 / (players - 1) for seat in range(players)]


# Refill.


def tiles_needed(position: Position) -> int:
    """Return the number of tiles that the next refill draws."""
    return min(FACTORY_SIZE * len(position["factories"]), tiles_to_draw(position))


def refill(position: Position, tiles: Sequence[int]) -> Position:
    """Fill the factories one after the other with these tiles, in the order in which they are drawn.

    Args:
        position: a position of phase ``refill``.
        tiles: a colour for each draw, as many as ``tiles_needed``.

    Returns:
        The position at the start of the round; without a tile, the end of the game.
    """
    if phase_of(position) != "refill" or len(tiles) != tiles_needed(position):
        raise ValueError(
            f"{len(tiles)} tiles in phase {phase_of(position)}, expected {tiles_needed(position)} in refill"
        )
    after = copied(position)
    if not tiles:
        return end_game(after)
    for number, colour in enumerate(tiles):
        if not any(after["bag"]):
            after["bag"], after["lid"] = after["lid"], [0] * 5
        if not after["bag"][colour]:
            raise ValueError(f"draw {number + 1} is colour {colour}, which is not in the bag {after['bag']}")
        after["bag"][colour] -= 1
        after["factories"][number // FACTORY_SIZE][colour] += 1
    return start_round(after)


def start_round(position: Position) -> Position:
    """Put the marker into the centre, in place."""
    position["to_move"] = starter(position)
    position["next_start"], position["marker"], position["phase"] = None, True, "draft"
    return position


def starter(position: Position) -> int:
    """Return the seat that starts the next round, in a position of phase ``refill``."""
    return int(position["to_move"] if position.get("next_start") is None else position["next_start"])


def draw_tiles(position: Position, rng: random.Random) -> list[int]:
    """Draw the tiles of a refill at random: the bag in a random order, then the lid."""
    drawn: list[int] = []
    for store in (position["bag"], position["lid"]):
        tiles = [colour for colour in COLOURS for _ in range(store[colour])]
        rng.shuffle(tiles)
        drawn += tiles
    return drawn[: tiles_needed(position)]


def display(factories: Sequence[Sequence[int]]) -> Display:
    """Return the factories in an order that does not depend on their places."""
    return tuple(sorted((tuple(tiles) for tiles in factories), reverse=True))


def refill_distribution(position: Position) -> dict[Display, Fraction]:
    """Return the exact probability of each display after the refill, for small bags.

    Tiles are drawn one by one. Sequences of draws that lead to the same display, bag and lid are added up.
    """
    needed = tiles_needed(position)
    empty: Display = ()
    layer = {(empty, (0,) * 5, tuple(position["bag"]), tuple(position["lid"])): Fraction(1)}
    for number in range(needed):
        following: dict[tuple[Display, Colours, Colours, Colours], Fraction] = {}
        for (done, current, bag, lid), probability in layer.items():
            if not any(bag):
                bag, lid = lid, (0,) * 5
            for colour in COLOURS:
                if not bag[colour]:
                    continue
                filled, left = add(current, colour, 1), add(bag, colour, -1)
                if number % FACTORY_SIZE == FACTORY_SIZE - 1 or number == needed - 1:
                    key = (display([*done, filled]), (0,) * 5, left, lid)
                else:
                    key = (done, filled, left, lid)
                following[key] = following.get(key, Fraction(0)) + probability * Fraction(bag[colour], sum(bag))
        layer = following
    result: dict[Display, Fraction] = {}
    for (done, _, _, _), probability in layer.items():
        shown = display([*done, *[(0,) * 5] * (len(position["factories"]) - len(done))])
        result[shown] = result.get(shown, Fraction(0)) + probability
    return result


def add(counts: Colours, colour: int, number: int) -> Colours:
    return tuple(count + number * (other == colour) for other, count in enumerate(counts))


# Checks and comparisons.


def tile_counts(position: Position) -> list[int]:
    """Return the number of tiles of each colour, wherever they are."""
    counts = [
        sum(place[colour] for place in (*sources(position), position["bag"], position["lid"])) for colour in COLOURS
    ]
    for board in position["boards"]:
        for colour, count in board["lines"]:
            if count:
                counts[colour] += count
        for piece in board["floor"]:
            if piece != MARKER:
                counts[piece] += 1
        for row in ROWS:
            for colour in COLOURS:
                counts[colour] += board["wall"][row][column_of(row, colour)]
    return counts


def conserved(position: Position) -> bool:
    """Return whether there are 20 tiles of each colour, and at most one marker."""
    markers = sum(board["floor"].count(MARKER) for board in position["boards"])
    markers += phase_of(position) == "draft" and position["marker"]
    return tile_counts(position) == [TILES_PER_COLOUR] * 5 and markers <= 1


def comparable(position: Position) -> Position:
    """Return the parts of a position that two engines must agree on.

    Factories and floors have no order. Between rounds only the seat that starts the next one counts, and an empty bag
    is the same as one that holds the lid already. After the end neither seat nor marker counts.
    """
    phase = phase_of(position)
    same: Position = {
        "phase": phase,
        "factories": display(position["factories"]),
        "boards": [
            {
                "score": board["score"],
                "wall": [[int(cell) for cell in row] for row in board["wall"]],
                "lines": [[colour, count] if count else [None, 0] for colour, count in board["lines"]],
                "floor": sorted(board["floor"], key=str),
            }
            for board in position["boards"]
        ],
    }
    same |= {name: position[name] for name in ("players", "centre", "bag", "lid")}
    if phase == "draft":
        same |= {name: position[name] for name in ("to_move", "next_start", "marker")}
    elif phase == "refill":
        same["starter"] = starter(position)
        if not any(position["bag"]):
            same["bag"], same["lid"] = position["lid"], position["bag"]
    return same


# Players.

Chooser = Callable[[Position, list[int], random.Random], int]


def choose_at_random(position: Position, actions: list[int], rng: random.Random) -> int:
    return rng.choice(actions)


def choose_greedily(position: Position, actions: list[int], rng: random.Random) -> int:
    """Prefer tiles that stay in a line, complete lines, and avoid the floor; ties are broken at random."""
    board = position["boards"][position["to_move"]]

    def worth(action: int) -> int:
        source, colour, row = parts_of(action)
        tiles = sources(position)[source][colour]
        if row == FLOOR_MOVE:
            return -2 * tiles
        room = row + 1 - board["lines"][row][1]
        return min(tiles, room) - 2 * max(0, tiles - room) + 3 * (tiles >= room)

    best = max(worth(action) for action in actions)
    return rng.choice([action for action in actions if worth(action) == best])


def choose_hoarding(position: Position, actions: list[int], rng: random.Random) -> int:
    """Keep tiles on the board and rows of the wall incomplete, so that the tiles run short."""
    board = position["boards"][position["to_move"]]

    def worth(action: int) -> int:
        source, colour, row = parts_of(action)
        tiles = sources(position)[source][colour]
        if row == FLOOR_MOVE:
            return -tiles
        room = row + 1 - board["lines"][row][1]
        ends = sum(board["wall"][row]) == 4 and tiles >= room
        return min(tiles, room) - max(0, tiles - room) - 20 * ends

    best = max(worth(action) for action in actions)
    return rng.choice([action for action in actions if worth(action) == best])


def play_game(
    players: int, seed: int, choose: Chooser = choose_at_random, negative_scores: bool = False
) -> Iterator[tuple[Position, int | list[int] | None]]:
    """Play a game; yield each position with the action or the draw that follows, and the end with None."""
    rng, position, drafts = random.Random(seed), initial_position(players), 0
    while (phase := phase_of(position)) != "over":
        if phase == "refill":
            drawn = draw_tiles(position, rng)
            yield position, drawn
            position = refill(position, drawn)
        else:
            action = choose(position, legal_actions(position), rng)
            yield position, action
            position = apply_action(position, action, negative_scores, drafts)
            drafts += 1
    yield position, None
