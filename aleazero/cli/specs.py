"""From the words of the command line to games, positions and settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aleazero.errors import ConfigError
from aleazero.untrusted import parse_json, whole_number

if TYPE_CHECKING:
    from aleazero.games.base import Game, State
    from aleazero.search.config import SearchConfig

OPENSPIEL = "openspiel:"

SETTING_OPTIONS = {
    "num_simulations": "--sims",
    "max_seconds": "--seconds",
    "max_evaluations": "--evaluations",
    "max_nodes": "--nodes",
    "seed": "--seed",
    "c": "--c",
    "selection": "--selection",
}


def read_params(pairs: Sequence[str] | None, option: str = "--param", example: str = "target=50") -> dict[str, Any]:
    """``["target=50"]`` as ``{"target": 50}``; what is no number or truth value is text."""
    params: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"{option} is {pair!r}, expected KEY=VALUE, e.g. {example}")
        try:
            params[key.strip()] = parse_json(value)
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


def before_last_roll(game: Game, position: str | None, moves: str | None) -> State | None:
    """The state before the last of some moves, if that was a roll; else None."""
    from aleazero.games.base import moves_of

    words = moves_of(moves or "")
    before = read_state(game, position, ",".join(words[:-1]) + ",") if len(words) > 1 else None
    if len(words) == 1:
        before = read_state(game, position, None)
    return before if before is not None and before.is_chance_node() else None


def read_evaluator(spec: str, game: Game | None = None, prior_temperature: float | None = None) -> Any:
    """What values leaves; without a game the word is only checked, and there is None."""
    from aleazero.players import words

    words.check_evaluator(spec, "--evaluator")
    return None if game is None else words.read_evaluator(spec, game, "--evaluator", prior_temperature)


def read_plan(spec: str) -> dict[str, Any]:
    """How far to plan: ``turn``, ``game``, or a number of plies; as settings of a Planner."""
    if spec in ("turn", "game"):
        return {"horizon": spec}
    plies = whole_number(spec)
    if not plies:
        raise ConfigError(f"--plan is {spec!r}, expected turn, game or a number of plies of at least 1")
    return {"plies": plies}


def read_config(chance: str, *, sims: int | None, otherwise: int, **settings: Any) -> SearchConfig:
    """A search's settings. Those left as None keep their defaults; another budget alone lifts that of simulations."""
    from aleazero.players.make import ENDLESS
    from aleazero.players.words import read_chance
    from aleazero.search.config import SearchConfig

    given = {name: value for name, value in settings.items() if value is not None}
    if sims is None:
        sims = ENDLESS if {"max_seconds", "max_evaluations"} & given.keys() else otherwise
    try:
        return SearchConfig(num_simulations=sims, chance=read_chance(chance, "--chance"), **given)
    except ConfigError as error:
        raise ConfigError(_in_words_of_the_command(str(error))) from None


def _in_words_of_the_command(message: str) -> str:
    """Call a setting what the user called it."""
    for field, option in SETTING_OPTIONS.items():
        message = message.replace(f"SearchConfig: {field} is", f"{option} is")
    return message
