"""From the words of the command line to games, positions and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from aleazero.errors import ConfigError
from aleazero.players.spec import SETTINGS, PlayerSpec
from aleazero.players.words import check_evaluator, read_chance
from aleazero.untrusted import parse_json, whole_number

if TYPE_CHECKING:
    from aleazero.games.base import Game, State

OPENSPIEL = "openspiel:"

OPTIONS = {
    "sims": "--sims",
    "evaluations": "--evaluations",
    "chance": "--chance",
    "evaluator": "--evaluator",
    "c": "--c",
    "selection": "--selection",
    "max_seconds": "--seconds",
    "max_nodes": "--nodes",
    "seed": "--seed",
}
"""The option of each key of a player's text, and of each limit of a search."""


def read_params(pairs: Sequence[str] | None, option: str = "--param", example: str = "target=50") -> dict[str, Any]:
    """``["target=50"]`` as ``{"target": 50}``; what is no number or truth value is text."""
    params: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{option} is {pair!r}, expected KEY=VALUE, e.g. {example}")
        try:
            params[key.strip()] = parse_json(value, constant=float)
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
    from aleazero.games.base import moves_of
    from aleazero.players.human import move_of

    state = game.new_initial_state() if position is None else game.state_from_text(position)
    for word in moves_of(moves or ""):
        state.apply_action(move_of(state, word))
    return state


def before_last_roll(game: Game, position: str | None, moves: str | None) -> State | None:
    """The state before the last of some moves, if that was a roll; else None."""
    from aleazero.games.base import moves_of

    words = moves_of(moves or "")
    before = read_state(game, position, ",".join(words[:-1]) + ",") if len(words) > 1 else None
    if len(words) == 1:
        before = read_state(game, position, None)
    return before if before is not None and before.is_chance_node() else None


def read_plan(spec: str) -> dict[str, Any]:
    """How far to plan: ``turn``, ``game``, or a number of plies; as settings of a Planner."""
    if spec in ("turn", "game"):
        return {"horizon": spec}
    plies = whole_number(spec)
    if not plies:
        raise ConfigError(f"--plan is {spec!r}, expected turn, game or a number of plies of at least 1")
    return {"plies": plies}


def with_options(spec: PlayerSpec, options: Mapping[str, Any]) -> PlayerSpec:
    """A player's spec with the options of the command that were given, by key; None stands for one that was not.

    An option that would have no effect is an error: the player has no such setting, or its text sets another value.
    """
    settings = dict(spec.settings)
    for key, value in options.items():
        if value is None:
            continue
        option = OPTIONS[key]
        if key == "evaluator":
            check_evaluator(value, option)
        if key == "chance":
            read_chance(value, option)
        if key not in SETTINGS.get(spec.kind, ()):
            raise ConfigError(f"{option} is {value!r}, which has no effect: the player {str(spec)!r} has no {key}")
        if key in settings:
            raise ConfigError(f"{option} is {value!r}, which has no effect: the player {str(spec)!r} sets {key}")
        settings[key] = value
    return PlayerSpec(spec.kind, settings)


def refuse_ignored(context: typer.Context, reasons: Mapping[str, str | None]) -> None:
    """Raise for the first option that was given on the command line and would have no effect.

    ``reasons`` say why, by the name of the parameter; None for an option that has an effect.
    """
    for parameter in context.command.params:
        why = reasons.get(parameter.name or "")
        if why is not None and was_given(context, parameter.name or ""):
            raise ConfigError(f"{parameter.opts[0]} has no effect: {why}")


def was_given(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
