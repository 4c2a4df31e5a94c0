"""Player specs: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, e.g. ``search:sims=200,evaluator=rollout``.

The path of a network comes first and has no key: ``net:PATH,sims=64``. A player in a user's Python file is written
``path/file.py:NAME``. The kit of a game may have more kinds. The names of evaluators and chance modes are the same in
specs, settings and command-line options.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aleazero.errors import ConfigError, nearest
from aleazero.untrusted import parse_digits

if TYPE_CHECKING:
    from aleazero.search.config import ChanceConfig

EXAMPLES: Final = (
    "random, greedy, playout, oracle, human, search:sims=200,evaluator=rollout, plan:horizon=turn,evaluator=uniform, "
    "net:PATH,sims=64 or your own as path/file.py:NAME"
)
FILE: Final = "file"
"""The kind of a player in a user's Python file."""

SETTINGS: Final[Mapping[str, Mapping[str, type]]] = {
    "random": {},
    "greedy": {},
    "playout": {},
    "oracle": {},
    "human": {},
    "search": {
        "sims": int,
        "evaluations": int,
        "chance": str,
        "evaluator": str,
        "net": str,
        "prior_temperature": float,
        "c": float,
        "selection": str,
    },
    "plan": {"horizon": str, "plies": int, "keep": int, "margin": float, "evaluator": str, "net": str},
    "net": {"sims": int, "chance": str, "c": float, "inference": str, "prior_temperature": float},
}
"""Settings of each kind of player, with their types."""
FIRST: Final[Mapping[str, str]] = {"net": "path"}
"""Setting that comes first and has no key, by kind of player."""
CHANCE_MODES: Final = ("sampling", "stratified", "progressive", "full", "open")
"""Names of the chance modes, which are presets of ``ChanceConfig``."""
EVALUATORS: Final = ("uniform", "rollout", "rollout:N", "oracle", "net:PATH")
MOST_PLAYOUTS: Final = 100_000
"""Most playouts per leaf; a search cannot be interrupted during the playouts of a leaf."""
EXPECTED: Final = {int: "an integer", float: "a number"}


@dataclass(frozen=True)
class PlayerSpec:
    """A parsed player spec: the kind of player and its settings."""

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the text that ``parse_spec`` reads back."""
        if self.kind == FILE:
            return f"{self.settings['path']}:{self.settings['name']}"
        first = FIRST.get(self.kind)
        parts = [] if first is None else [self.settings[first]]
        for key, value in self.settings.items():
            if key == "evaluator" and value.startswith("net:"):
                parts.append(f"net={value.removeprefix('net:')}")
            elif key != first:
                parts.append(f"{key}={value}")
        return f"{self.kind}:{','.join(parts)}" if parts else self.kind


def parse_spec(
    text: str, what: str = "player", kinds: Collection[str] = (), evaluators: Collection[str] = ()
) -> PlayerSpec:
    """Parse a player spec.

    Args:
        text: the spec.
        what: name of the spec in error messages.
        kinds: further kinds of players, from the kit of a game; their settings are strings and not checked here.
        evaluators: names of further evaluators, from the kit of a game.

    Raises:
        ConfigError: if the text is not a spec.
    """
    kind, colon, rest = text.partition(":")
    path, dot, name = text.rpartition(".py")
    if path and dot and (not name or name.startswith(":")) and kind not in FIRST:
        if not name[1:].isidentifier():
            raise ConfigError(f"{what} is {text!r}, expected path/file.py:NAME, a function or class in that file")
        return PlayerSpec(FILE, {"path": f"{path}.py", "name": name[1:]})
    if kind not in SETTINGS and kind not in kinds:
        raise ConfigError(f"{what} is {text!r}, {nearest(kind, [*SETTINGS, *kinds])} (e.g. {EXAMPLES})")
    known = SETTINGS.get(kind)
    settings: dict[str, Any] = {}
    pairs = rest.split(",") if colon else []
    if kind in FIRST:
        settings[FIRST[kind]] = _first(kind, pairs.pop(0).strip() if pairs else "", f"{what} {text!r}")
    for pair in pairs:
        key, equals, value = (part.strip() for part in pair.partition("="))
        if known is not None and key not in known:
            raise ConfigError(f"{what} {text!r}: no setting {pair!r} of {kind}, {nearest(key, known)}")
        if not equals or not value:
            raise ConfigError(f"{what} {text!r}: got {pair!r}, expected {key}=VALUE")
        if key in settings:
            raise ConfigError(f"{what} {text!r}: {key} is given twice, expected once")
        if known is None:
            settings[key] = value
            continue
        try:
            settings[key] = known[key](value)
        except ValueError:
            raise ConfigError(f"{what} {text!r}: {key} is {value!r}, expected {EXPECTED[known[key]]}") from None
    if known is None:
        return PlayerSpec(kind, settings)
    if "evaluator" in settings:
        check_evaluator(settings["evaluator"], f"{what} {text!r}: evaluator", evaluators)
        if "net" in settings:
            raise ConfigError(f"{what} {text!r}: both net and evaluator are given, expected one of them")
    if "net" in settings and kind != "net":
        settings["evaluator"] = f"net:{settings.pop('net')}"
    if "chance" in settings:
        read_chance(settings["chance"], f"{what} {text!r}: chance")
    return PlayerSpec(kind, settings)


def _first(kind: str, value: str, what: str) -> str:
    """Return the value that comes first and has no key."""
    if not value or value.partition("=")[0].strip() in SETTINGS[kind]:
        raise ConfigError(f"{what}: got no {FIRST[kind]}, expected {kind}:{FIRST[kind].upper()},KEY=VALUE")
    return value


def read_chance(name: str, what: str = "chance") -> ChanceConfig:
    """Return the preset of a chance mode by its name."""
    from aleazero.search.config import ChanceConfig

    if name not in CHANCE_MODES:
        raise ConfigError(f"is {name!r}, {nearest(name, CHANCE_MODES)}", field=what)
    return ChanceConfig.preset(name)


def chance_name(chance: ChanceConfig) -> str | None:
    """Return the name of the chance mode with these settings; None if there is none."""
    from aleazero.search.config import PRESETS, ChanceConfig

    return next((name for name in PRESETS if ChanceConfig.preset(name) == chance), None)


def check_evaluator(text: str, what: str = "evaluator", more: Collection[str] = ()) -> None:
    """Raise a ``ConfigError`` if a text is not the name of an evaluator; ``more`` are names from the kit of a game."""
    name, colon, number = text.partition(":")
    if name == "net":
        if not number:
            raise ConfigError(f"is {text!r}, expected net:PATH with the path of a network", field=what)
        return
    if name in more:
        return
    if name not in EVALUATORS:
        raise ConfigError(f"is {text!r}, {nearest(name, [*EVALUATORS, *more])}", field=what)
    if colon and (name != "rollout" or not 1 <= (parse_digits(number) or 0) <= MOST_PLAYOUTS):
        raise ConfigError(
            f"is {text!r}, expected uniform, rollout, rollout:N with N from 1 to {MOST_PLAYOUTS}, or oracle",
            field=what,
        )
