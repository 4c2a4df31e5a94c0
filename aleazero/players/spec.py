"""A player as text: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, e.g. ``search:sims=200,evaluator=rollout``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aleazero.errors import ConfigError, nearest
from aleazero.players.words import check_evaluator, read_chance

EXAMPLES: Final = "random, greedy, oracle, search:sims=200,evaluator=rollout or plan:horizon=turn,evaluator=uniform"

SETTINGS: Final[Mapping[str, Mapping[str, type]]] = {
    "random": {},
    "greedy": {},
    "oracle": {},
    "search": {"sims": int, "evaluations": int, "chance": str, "evaluator": str, "c": float, "selection": str},
    "plan": {"horizon": str, "plies": int, "keep": int, "margin": float, "evaluator": str},
}
"""What may be set of each kind of player."""
EXPECTED: Final = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class PlayerSpec:
    """A kind of player, and what is set of it."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def parse_spec(text: str, what: str = "player") -> PlayerSpec:
    """Read a player's text; ``what`` is what errors call it."""
    kind, colon, rest = text.partition(":")
    if kind not in SETTINGS:
        raise ConfigError(f"{what} is {text!r}, {nearest(kind, SETTINGS)} (e.g. {EXAMPLES})")
    known = SETTINGS[kind]
    settings: dict[str, Any] = {}
    for pair in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in pair.partition("="))
        if key not in known:
            raise ConfigError(f"{what} {text!r}: no setting {pair!r} of {kind}, {nearest(key, known)}")
        if not equals or not value:
            raise ConfigError(f"{what} {text!r}: got {pair!r}, expected {key}=VALUE")
        if key in settings:
            raise ConfigError(f"{what} {text!r}: {key} is there twice, expected once")
        try:
            settings[key] = known[key](value)
        except ValueError:
            raise ConfigError(f"{what} {text!r}: {key} is {value!r}, expected {EXPECTED[known[key]]}") from None
    if "evaluator" in settings:
        check_evaluator(settings["evaluator"], f"{what} {text!r}: evaluator")
    if "chance" in settings:
        read_chance(settings["chance"], f"{what} {text!r}: chance")
    return PlayerSpec(kind, settings)
