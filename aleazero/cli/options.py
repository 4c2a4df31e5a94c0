"""Options that several commands share, and functions that read their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aleazero.errors import ConfigError, nearest
from aleazero.players.spec import SETTINGS, PlayerSpec, check_evaluator, read_chance
from aleazero.untrusted import parse_digits, parse_json

if TYPE_CHECKING:
    from aleazero.games.base import Game, State

OPENSPIEL = "openspiel:"
SEARCH = "search:sims=2000"
"""The player of `play` and `analyse` if the user names none and the game has no bundled network."""


def option(names: str, metavar: str, help: str, show_default: str | bool = True, **more: Any) -> Any:
    """Declare an option for ``Annotated``: its names, what stands for its value in the help, and the help.

    ``show_default`` describes a default that is not a plain value; ``more`` are further arguments of ``typer.Option``.
    """
    return typer.Option(*names.split(), metavar=metavar or None, help=help, show_default=show_default, **more)


def argument(metavar: str, help: str, show_default: bool = False) -> Any:
    """Declare an argument for ``Annotated``."""
    return typer.Argument(metavar=metavar, help=help, show_default=show_default)


def game_argument(more: str = "") -> Any:
    """Declare the argument GAME for ``Annotated``; ``more`` is added to its help."""
    return argument(
        "GAME",
        "A name from `aleazero games`, with parameters as `'pig(target=50)'`; your own game as `path/file.py` or "
        f"`path/file.py:NAME`; or `openspiel:NAME`.{more}",
    )


GameArgument = Annotated[str, game_argument()]
ParamOption = Annotated[
    list[str] | None, option("--param -p", "KEY=VALUE", "Set a parameter of the game. Can be repeated.")
]
PositionOption = Annotated[
    str | None, option("--position", "TEXT", "Start from this position, e.g. `'12-30 turn 7'` in pig.")
]
MovesOption = Annotated[
    str | None,
    option(
        "--moves",
        "'MOVE …'",
        "Apply these actions and outcomes first, e.g. `'roll 5 hold'`. A move is a name, the last part of a name "
        "(`13336` for `roll-13336`) or an id. If names contain spaces, separate moves with commas.",
    ),
]
PlayerArgument = Annotated[
    str,
    argument(
        "PLAYER",
        "Player spec: `random`, `greedy`, `oracle`, `search:sims=200,evaluator=rollout`, `plan:horizon=turn`, a "
        "network as `net:FILE,sims=64`, or your own as `path/file.py:NAME`.",
    ),
]
SimsOption = Annotated[
    int | None,
    option(
        "--sims",
        "N",
        "Simulations per search.",
        show_default="2000; no limit with --seconds; 10 × N with --evaluations N",
    ),
]
SecondsOption = Annotated[
    float | None, option("--seconds", "SECONDS", "Time limit of each search. Results are then not reproducible.")
]
EvaluationsOption = Annotated[
    int | None, option("--evaluations", "N", "Largest number of leaf evaluations per search, at least 2.")
]
ChanceOption = Annotated[
    str | None,
    option(
        "--chance",
        "MODE",
        "Chance mode. With `sampling`, `stratified`, `progressive` and `full` the tree has a child per outcome; "
        "with `open` all outcomes of a node share statistics.",
        show_default="sampling with uniform and rollout; otherwise stratified, or progressive if outcomes cannot be "
        "listed",
    ),
]
EvaluatorOption = Annotated[
    str | None,
    option(
        "--evaluator",
        "NAME",
        "Leaf evaluator: `uniform`, `rollout` (one playout; in plans the mean of 100), `rollout:4` (mean of 4), "
        "`oracle` if the game is solved, or a network as `net:FILE`.",
        show_default="rollout",
    ),
]
ExplorationOption = Annotated[
    float | None, option("--c", "C", "Exploration constant, for values scaled to 0..1.", show_default="1.5")
]
SelectionOption = Annotated[
    str | None,
    option(
        "--selection",
        "puct|uct",
        "Selection rule: `puct` uses the evaluator's priors, `uct` does not.",
        show_default="puct",
    ),
]
SeedOption = Annotated[int, option("--seed", "SEED", "Seed of the dice. The same seed gives the same dice.")]
PlayerSeedOption = Annotated[int, option("--player-seed", "SEED", "Seed of the players' own random choices.")]
DiceOption = Annotated[
    str,
    option(
        "--dice", "shared|fresh", "`shared`: all games of a pair have the same dice. `fresh`: each game has its own."
    ),
]
WorkersOption = Annotated[
    int | None,
    option("--workers", "N", "Worker processes. Results do not depend on it.", show_default="number of cores", min=1),
]
PairWorkersOption = Annotated[int, option("--workers", "N", "Worker processes. Results do not depend on it.", min=1)]
ThreadsOption = Annotated[
    int | None,
    option(
        "--threads",
        "N",
        "Threads of the players' searches. Results do not depend on it.",
        show_default="number of cores",
        min=1,
    ),
]
JsonFlag = Annotated[bool, option("--json", "", "Print JSON instead of text.")]

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
"""Option of each setting of a player spec and of each limit of a search."""


def read_game(text: str, params: Sequence[str] | None = None) -> Game:
    """Load a game by name, with parameters as ``pig(target=50)``, by ``path/file.py:NAME`` or ``openspiel:NAME``."""
    return load(text, read_params(params))


def load(text: str, params: Mapping[str, Any]) -> Game:
    """Load a game from its text and further parameters."""
    from aleazero.games.objects import from_openspiel
    from aleazero.games.registry import load_game

    if text.startswith(OPENSPIEL):
        return from_openspiel(text.removeprefix(OPENSPIEL), **params)
    return load_game(text, **params)


def read_params(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Read ``["target=50"]`` as ``{"target": 50}``. Values are JSON, or else text."""
    params: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise ConfigError(f"--param is {pair!r}, expected KEY=VALUE, e.g. target=50")
        if key.strip() in params:
            raise ConfigError(f"--param {key.strip()} is given twice, expected it once")
        try:
            params[key.strip()] = parse_json(value, constant=float)
        except ValueError:
            params[key.strip()] = value
    return params


def read_state(game: Game, position: str | None, moves: str | None) -> State:
    """Return the state after some moves from a position, or from the start of the game."""
    from aleazero.games.base import moves_of
    from aleazero.players.basic import find_move

    state = game.new_initial_state() if position is None else game.state_from_text(position)
    for move in moves_of(moves or ""):
        state.apply_action(find_move(state, move))
    return state


def read_plan(text: str) -> dict[str, Any]:
    """Read the horizon of a plan (``turn``, ``game`` or a number of plies) as settings of a Planner."""
    if text in ("turn", "game"):
        return {"horizon": text}
    plies = parse_digits(text)
    if not plies:
        raise ConfigError(f"--plan is {text!r}, expected turn, game or a number of plies of at least 1")
    return {"plies": plies}


def bundled_text(spec: PlayerSpec) -> str:
    """Describe the player of a game's bundled network."""
    settings = spec.settings
    if spec.kind == "search":
        return f"bundled network with a search of {settings['sims']:,} simulations"
    if "horizon" in settings:
        return f"bundled network with exact {settings['horizon']} plan"
    plies = int(settings.get("plies", 1))
    return "bundled network" if plies == 1 else f"bundled network with {plies}-ply plan"


def shares_dice(text: str) -> bool:
    """Read the value of ``--dice``."""
    if text not in ("shared", "fresh"):
        raise ConfigError(f"--dice is {text!r}, {nearest(text, ('shared', 'fresh'))}")
    return text == "shared"


def with_options(spec: PlayerSpec, options: Mapping[str, Any], game: Game) -> PlayerSpec:
    """Return a player spec with the options of the command line, by key; None for options that were not given.

    An option without effect is an error: the player has no such setting, the spec sets it already, or it is about
    chance and the game has none.
    """
    from aleazero.games.kernel import KernelGame
    from aleazero.games.kit import kit_of

    settings = dict(spec.settings)
    for key, value in options.items():
        if value is None:
            continue
        option = OPTIONS[key]
        if key == "evaluator":
            check_evaluator(value, option, kit_of(game).evaluators)
        if key == "chance":
            read_chance(value, option)
            if isinstance(game, KernelGame) and not game.info.max_outcomes:
                raise ConfigError(f"{option} is {value!r}, which has no effect: {game.name} has no chance")
        if key not in SETTINGS.get(spec.kind, ()):
            raise ConfigError(f"{option} is {value!r}, which has no effect: the player {str(spec)!r} has no {key}")
        if key in settings:
            raise ConfigError(f"{option} is {value!r}, which has no effect: the player {str(spec)!r} sets {key}")
        settings[key] = value
    return PlayerSpec(spec.kind, settings)


def refuse_ignored(context: typer.Context, reasons: Mapping[str, str | None]) -> None:
    """Raise for the first option on the command line that would have no effect.

    Args:
        context: context of the command.
        reasons: why a parameter has no effect, by its name; None if it has one.
    """
    for parameter in context.command.params:
        why = reasons.get(parameter.name or "")
        source = context.get_parameter_source(parameter.name or "")
        if why is not None and source is not None and source.name == "COMMANDLINE":
            raise ConfigError(f"{parameter.opts[0]} has no effect: {why}")


def cores() -> int:
    """Return the number of cores that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
