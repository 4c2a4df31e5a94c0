"""Yatzy's ``GameKit``: its oracle, its reference player, fixed positions, and fast measurements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.games.kit import Example, GameKit, ReviewThresholds

SOLO_OPTIMAL = "solo-optimal"
"""Name of the player ``solo`` as an opponent."""
EXAMPLES = (
    Example(
        "One reroll left: reroll one die for the house, or three for sixes and the bonus?",
        "open sixes four_kind house upper 45 / player 0 dice 33566 rerolls 1",
        {"players": 1},
    ),
)
NOTES = {
    SOLO_OPTIMAL: "A player that maximizes its own expected score and ignores the opponents. This is optimal in the "
    "one-player game only: a player that considers the opponent's score can win more than half of its games.",
}
EQUAL_CARDS_NOTES = {
    "regret": "Expected points that a decision loses compared with the best decision of the one-player game, at "
    "positions where both players have the same card.",
}


def kit(game: Game) -> GameKit:
    """Return the kit of Yatzy for the number of players of a game.

    The one-player game has exact values. Other games have the solo-optimal player as reference. In the two-player game
    regret is measured in points, at positions where both players have the same card.
    """
    from aleazero.evaluation.yatzy.positions import classify, read_row

    parts: dict[str, Any] = {"players": {"solo": _solo}, "examples": EXAMPLES, "rolls_dice": True}
    if game.num_players <= 2:
        names = ("small", "standard") if game.num_players == 1 else ("standard", "small")
        parts |= {
            "positions": {name: partial(_states, name, game) for name in names},
            "read_position": lambda row: read_row(row).state(game),
            "classify": classify,
            "measure": _measure,
        }
    if game.num_players == 1:
        return GameKit(oracle=_oracle, review=ReviewThresholds(1.0, 4.0), **parts)
    notes = NOTES
    if game.num_players == 2:
        parts |= {"positions_oracle": _solo_values}
        notes = NOTES | EQUAL_CARDS_NOTES
    return GameKit(reference="solo", reference_name=SOLO_OPTIMAL, notes=notes, **parts)


def _oracle() -> Any:
    from aleazero.oracles.yatzy import load_or_build

    return load_or_build()


def _solo_values() -> Any:
    from aleazero.evaluation.yatzy.reference import SoloValues

    return SoloValues(_oracle())


def _solo(game: Game, settings: Mapping[str, str]) -> Any:
    from aleazero.evaluation.yatzy.reference import SoloPlayer

    if settings:
        raise ConfigError(f"solo has no setting {next(iter(settings))!r}, expected none")
    return SoloPlayer(_oracle())


def _states(name: str, game: Game) -> list[State]:
    from aleazero.evaluation.yatzy.positions import load_set

    return [position.state(game) for position in load_set(name)]


def _measure(values: Any, games: int, seed: int, threads: int) -> Mapping[str, Any]:
    from aleazero.evaluation.yatzy.measure import measure

    return measure(values, games, seed, threads)
