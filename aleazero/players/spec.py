"""Player specs: ``NAME`` or ``NAME:KEY=VALUE,KEY=VALUE``, e.g. ``search:sims=200,evaluator=rollout``.

A network is named by its path, which comes first and without a key: ``net:PATH,sims=64``. A player of the user's own is
named by its Python file and what it is called there: ``path/file.py:NAME``. The kit of a game may have more kinds. The
names of evaluators and chance modes are the same in specs, settings and command-line options.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from aleazero.errors import ConfigError, nearest
from aleazero.untrusted import whole_number

if TYPE_CHECKING:
    from aleazero.search.config import ChanceConfig

EXAMPLES: Final = (
    "random, greedy, playout, oracle, human, search:sims=200,evaluator=rollout, plan:horizon=turn,evaluator=uniform, "
    "net:PATH,sims=64 or your own as path/file.py:NAME"
)
FILE: Final = "file"
"""The kind of players that a user's Python file has."""

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
"""What may be set of each kind of player."""
FIRST: Final[Mapping[str, str]] = {"net": "path"}
"""What comes first, without a key, in the text of a kind that needs it."""
CHANCE_MODES: Final = ("sampling", "stratified", "progressive", "full", "open")
"""Names of chance handling: the presets of ``ChanceConfig``."""
EVALUATORS: Final = ("uniform", "rollout", "rollout:N", "oracle", "net:PATH")
MOST_PLAYOUTS: Final = 100_000
"""Most playouts of one leaf: nothing is heard of a search while they run."""
EXPECTED: Final = {int: "a whole number", float: "a number"}


@dataclass(frozen=True)
class PlayerSpec:
    """A kind of player, and what is set of it."""

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


def parse_spec(text: str, what: str = "player", kinds: Collection[str] = ()) -> PlayerSpec:
    """Read a player's spec.

    Args:
        text: the spec.
        what: what errors call it.
        kinds: more kinds of players, those of a game's kit; what is set of them is text and checked by their makers.

    Raises:
        ConfigError: the text is not a spec.
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
            raise ConfigError(f"{what} {text!r}: {key} is there twice, expected once")
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
        check_evaluator(settings["evaluator"], f"{what} {text!r}: evaluator")
        if "net" in settings:
            raise ConfigError(f"{what} {text!r}: net is there beside evaluator, expected one of the two")
    if "net" in settings and kind != "net":
        settings["evaluator"] = f"net:{settings.pop('net')}"
    if "chance" in settings:
        read_chance(settings["chance"], f"{what} {text!r}: chance")
    return PlayerSpec(kind, settings)


def _first(kind: str, word: str, what: str) -> str:
    """The word that comes without a key."""
    if not word or word.partition("=")[0].strip() in SETTINGS[kind]:
        raise ConfigError(f"{what}: got no {FIRST[kind]}, expected {kind}:{FIRST[kind].upper()},KEY=VALUE")
    return word


def read_chance(word: str, what: str = "chance") -> ChanceConfig:
    """Return the preset of a chance mode by its name."""
    from aleazero.search.config import ChanceConfig

    if word not in CHANCE_MODES:
        raise ConfigError(f"is {word!r}, {nearest(word, CHANCE_MODES)}", field=what)
    return ChanceConfig.preset(word)


def chance_name(chance: ChanceConfig) -> str | None:
    """The preset that has these settings; None for others."""
    from aleazero.search.config import PRESETS, ChanceConfig

    return next((name for name in PRESETS if ChanceConfig.preset(name) == chance), None)


def check_evaluator(word: str, what: str = "evaluator") -> None:
    """Reject a text that names no evaluator."""
    name, colon, number = word.partition(":")
    if name == "net":
        if not number:
            raise ConfigError(f"is {word!r}, expected net:PATH, a network's file", field=what)
        return
    if name not in EVALUATORS:
        raise ConfigError(f"is {word!r}, {nearest(name, EVALUATORS)}", field=what)
    if colon and (name != "rollout" or not 1 <= (whole_number(number) or 0) <= MOST_PLAYOUTS):
        raise ConfigError(
            f"is {word!r}, expected uniform, rollout, rollout:N with N from 1 to {MOST_PLAYOUTS}, or oracle",
            field=what,
        )
