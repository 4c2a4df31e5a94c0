"""From the words of the command line to games, positions and settings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aleazero.errors import ConfigError, nearest

if TYPE_CHECKING:
    from aleazero.games.base import Game, State
    from aleazero.search.config import ChanceConfig, SearchConfig
    from aleazero.search.evaluator import Rollout, Uniform

OPENSPIEL = "openspiel:"

CHANCE_SPECS = {
    "closed": "sampling",
    "sampling": "sampling",
    "stratified": "stratified",
    "progressive": "progressive",
    "full": "full",
    "open": "open",
}
"""The preset of ``ChanceConfig`` that each word of ``--chance`` stands for."""

SETTING_OPTIONS = {
    "num_simulations": "--sims",
    "max_seconds": "--seconds",
    "max_evaluations": "--evaluations",
    "max_nodes": "--nodes",
    "seed": "--seed",
    "c": "--c",
    "selection": "--selection",
}

PLAN_SETTINGS: dict[str, type] = {"horizon": str, "plies": int, "keep": int, "margin": float}
"""What ``--engine plan:…`` may set in ``Planner``."""

ENDLESS = 2**31 - 2
"""The most simulations there can be: what a budget in seconds or evaluations cuts short."""


def read_params(pairs: Sequence[str] | None) -> dict[str, Any]:
    """``["target=50"]`` as ``{"target": 50}``; what is no number or truth value is text."""
    params: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--param is {pair!r}, expected KEY=VALUE, e.g. target=50")
        try:
            params[key.strip()] = json.loads(value)
        except ValueError:
            params[key.strip()] = value
    return params


def read_game(spec: str, pairs: Sequence[str] | None = None) -> Game:
    """A game by name, by ``path/file.py:NAME`` or by ``openspiel:NAME``."""
    from aleazero.games.openspiel import from_openspiel
    from aleazero.games.registry import load_game

    params = read_params(pairs)
    if spec.startswith(OPENSPIEL):
        return from_openspiel(spec.removeprefix(OPENSPIEL), **params)
    return load_game(spec, **params)


def read_state(game: Game, position: str | None, moves: str | None) -> State:
    """The start, or a position, and what follows after some moves."""
    state = game.new_initial_state() if position is None else game.state_from_text(position)
    if moves:
        state.play(moves)
    return state


def read_chance(spec: str) -> ChanceConfig:
    """How chance is treated, by one word."""
    from aleazero.search.config import ChanceConfig

    if spec not in CHANCE_SPECS:
        raise ConfigError(f"--chance is {spec!r}, {nearest(spec, CHANCE_SPECS)}")
    return ChanceConfig.preset(CHANCE_SPECS[spec])


def read_evaluator(spec: str) -> Uniform | Rollout:
    """``uniform``, ``rollout``, or ``rollout:N`` for N playouts a leaf."""
    from aleazero.search.evaluator import Rollout, Uniform

    name, colon, number = spec.partition(":")
    if name not in ("uniform", "rollout"):
        raise ConfigError(f"--evaluator is {spec!r}, {nearest(name, ('uniform', 'rollout', 'rollout:N'))}")
    if not colon:
        return Uniform() if name == "uniform" else Rollout()
    if name == "uniform" or not number.isdecimal() or int(number) < 1:
        raise ConfigError(f"--evaluator is {spec!r}, expected uniform, rollout or rollout:N with N at least 1")
    return Rollout(int(number))


def read_plan(spec: str) -> dict[str, Any]:
    """How far to plan: ``turn``, ``game``, or a number of plies; as settings of a Planner."""
    if spec in ("turn", "game"):
        return {"horizon": spec}
    if not spec.isdecimal() or int(spec) < 1:
        raise ConfigError(f"--plan is {spec!r}, expected turn, game or a number of plies of at least 1")
    return {"plies": int(spec)}


def read_engine(spec: str) -> dict[str, Any] | None:
    """``search`` as None; ``plan:KEY=VALUE,…`` as settings of a Planner."""
    name, _, rest = spec.partition(":")
    if name not in ("search", "plan") or (name == "search" and rest):
        raise ConfigError(f"--engine is {spec!r}, {nearest(name, ('search', 'plan:horizon=turn', 'plan:plies=2'))}")
    if name == "search":
        return None
    settings: dict[str, Any] = {}
    for pair in rest.split(",") if rest else ():
        key, equals, value = pair.partition("=")
        if key not in PLAN_SETTINGS or not equals:
            raise ConfigError(f"--engine: no setting {pair!r} of a plan, {nearest(key, PLAN_SETTINGS)}")
        try:
            settings[key] = PLAN_SETTINGS[key](value)
        except ValueError:
            raise ConfigError(f"--engine: {key} is {value!r}, expected a number") from None
    return settings


def read_config(chance: str, *, sims: int | None, otherwise: int, **settings: Any) -> SearchConfig:
    """A search's settings. Those left as None keep their defaults; another budget alone lifts that of simulations."""
    from aleazero.search.config import SearchConfig

    given = {name: value for name, value in settings.items() if value is not None}
    if sims is None:
        sims = ENDLESS if {"max_seconds", "max_evaluations"} & given.keys() else otherwise
    try:
        return SearchConfig(num_simulations=sims, chance=read_chance(chance), **given)
    except ConfigError as error:
        raise ConfigError(_in_words_of_the_command(str(error))) from None


def _in_words_of_the_command(message: str) -> str:
    """Call a setting what the user called it."""
    for field, option in SETTING_OPTIONS.items():
        message = message.replace(f"SearchConfig: {field} is", f"{option} is")
    return message
