"""Names of seats, players and judges for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

PERSON: Final = "human"
"""Text of a seat that a person plays, as in ``serving.session``."""
SEARCHES: Final = {"search:sims=2000": "search, 2,000 simulations", "search:sims=200": "search, 200 simulations"}
"""Players that every game has, in addition to its own."""
KNOWN: Final = {
    PERSON: "you", "champion": "bundled network", "greedy": "simple player", "oracle": "exact values",
    "random": "random moves", **SEARCHES,
}  # fmt: skip
"""Names of players by their texts."""


def seat_options(card: Mapping[str, Any]) -> dict[str, str]:
    """Return the players that a seat can have, with their names for people."""
    kinds = [kind["player"] for kind in card["kinds"]]
    found = {PERSON: KNOWN[PERSON]}
    for kind in kinds:
        if kind in KNOWN and kind not in SEARCHES and (kind != "oracle" or card["exact"]):
            found[kind] = KNOWN[kind]
        elif kind.startswith("net:") and kind not in ("net:champion", "net:dummy"):
            found[kind] = f"network {kind[4:]}"
    return found | SEARCHES


def default_seat(options: Mapping[str, str], number: int) -> str:
    """Return the player of a seat in a new game: a person, and the strongest player that needs no wait."""
    if number == 0:
        return PERSON
    return "champion" if "champion" in options else next(iter(SEARCHES))


def seat_names(names: Sequence[str]) -> list[str]:
    """Return a short name for each seat: ``You`` for the only person, else ``Player 1``."""
    people = [number for number, name in enumerate(names) if name == PERSON]
    return ["You" if people == [number] else f"Player {number}" for number in range(len(names))]


def full_names(names: Sequence[str]) -> list[str]:
    """Return a name for each seat that shows its number and who plays it: ``Player 1 (random moves)``."""
    if len(names) == 1:
        return seat_names(names)
    return [
        f"You (player {number})" if short == "You"
        else short if name == PERSON else f"{short} ({KNOWN.get(name, name)})"
        for number, (short, name) in enumerate(zip(seat_names(names), names, strict=True))
    ]  # fmt: skip


def judge_text(judge: str, exact: bool) -> str:
    """Return the sentence about what judged a game."""
    if exact:
        return f"Judged by {judge}."
    name = re.sub(r"^search:sims=(\d+)", r"a search of \1 simulations", judge)
    name = name.replace("plan:horizon=turn", "plans to the end of the turn")
    name = re.sub(r"^plan:plies=(\d+)\S*", r"plans of \1 plies", name)
    return f"Judged by {name} (estimates)."
