"""Yatzy's ``GameKit``: its oracle, its reference player, fixed positions, and fast measurements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from aleazero.errors import ConfigError
from aleazero.games.base import Game, State
from aleazero.games.kit import Example, GameKit

EXAMPLES = (
    Example(
        "One reroll left: one die for the house, or three for sixes and the bonus?",
        "open sixes four_kind house upper 45 / player 0 dice 33566 rerolls 1",
        {"players": 1},
    ),
)
NOTES = {
    "oracle": "The solo player: exact for its own points, blind to the scores of the others. A player that minds them "
    "can win more than half of its games against it.",
}
LEVEL_NOTES = {
    "regret": "Expected points that a decision loses compared with the best one, as if the player were alone, at "
    "positions where both cards are the same.",
}


def kit(game: Game) -> GameKit:
    """Return the kit of Yatzy for the number of players of a game.

    One player: exact values. Two: the solo player is the reference, and decisions are judged by points where both cards
    are the same. More: the solo player is the reference.
    """
    from aleazero.evaluation.yatzy.positions import classify, read_row

    parts: dict[str, Any] = {"players": {"solo": _solo}, "examples": EXAMPLES}
    if game.num_players <= 2:
        names = ("small", "standard") if game.num_players == 1 else ("standard", "small")
        parts |= {
            "positions": {name: partial(_states, name, game) for name in names},
            "read_position": lambda row: read_row(row).state(game),
            "classify": classify,
            "measure": _measure,
        }
    if game.num_players == 1:
        return GameKit(oracle=_oracle, **parts)
    if game.num_players == 2:
        parts |= {"positions_oracle": _level_oracle}
    return GameKit(reference="solo", notes=NOTES | (LEVEL_NOTES if game.num_players == 2 else {}), **parts)


def _oracle() -> Any:
    from aleazero.oracles.yatzy import load_or_build

    return load_or_build()


def _level_oracle() -> Any:
    from aleazero.evaluation.yatzy.reference import SoloOracle

    return SoloOracle(_oracle())


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
