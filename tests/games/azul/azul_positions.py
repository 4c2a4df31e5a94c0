"""Positions of Azul for tests. All tiles that are not mentioned are in the bag."""

from __future__ import annotations

from typing import Any

BLUE, YELLOW, RED, BLACK, WHITE = range(5)
FLOOR = 5
CENTRE = {2: 5, 3: 7, 4: 9}


def action(source: int, colour: int, to: int) -> int:
    return (source * 5 + colour) * 6 + to


def wall(*rows: str) -> list[list[int]]:
    """Return a wall from rows such as ``.XX..``; missing rows are empty."""
    return [[int(place == "X") for place in row] for row in (*rows, *["....."] * (5 - len(rows)))]


def board(
    score: int = 0,
    wall: list[list[int]] | None = None,
    lines: dict[int, tuple[int, int]] | None = None,
    floor: tuple[Any, ...] = (),
) -> dict[str, Any]:
    """Return a board; ``lines`` are (colour, count) by line."""
    return {
        "score": score,
        "wall": wall or [[0] * 5 for _ in range(5)],
        "lines": [list((lines or {}).get(row, (None, 0))) for row in range(5)],
        "floor": list(floor),
    }


def tiles(**counts: int) -> list[int]:
    return [counts.get(name, 0) for name in ("blue", "yellow", "red", "black", "white")]


def position(*boards: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """Return a position with these boards, other parts by name, and the remaining tiles in the bag."""
    players = len(boards)
    factories = [list(tiles) for tiles in parts.pop("factories", ())]
    made = {
        "players": players,
        "to_move": 0,
        "next_start": None,
        "marker": parts.get("next_start") is None,
        "centre": [0] * 5,
        "lid": [0] * 5,
        "boards": list(boards),
        **parts,
        "factories": factories + [[0] * 5] * (2 * players + 1 - len(factories)),
    }
    made.setdefault("bag", [20 - count for count in count_tiles(made)])
    return made


def count_tiles(position: dict[str, Any]) -> list[int]:
    """Return the number of tiles of each colour in a position."""
    counts = [0] * 5
    for heap in (*position["factories"], position["centre"], position.get("bag", [0] * 5), position["lid"]):
        counts = [count + more for count, more in zip(counts, heap, strict=True)]
    for own in position["boards"]:
        for row in range(5):
            for colour in range(5):
                counts[colour] += own["wall"][row][(row + colour) % 5]
            colour, count = own["lines"][row]
            if count and colour is not None:
                counts[colour] += count
        for held in own["floor"]:
            if held != "marker":
                counts[held] += 1
    return counts
