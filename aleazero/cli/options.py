"""Shared options of the commands, parsing of their values, and exit on errors.

An error that the user, the input or the disk caused is one line on stderr and exit code 2, never a traceback.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from aleazero.errors import AleaZeroError, ConfigError, GameError, nearest, shortened
from aleazero.files import reason
from aleazero.players.spec import SETTINGS, PlayerSpec, check_evaluator, read_chance
from aleazero.untrusted import parse_json, printable, whole_number

if TYPE_CHECKING:
    from aleazero.games.base import Game, State

SEARCH = "search:sims=2000"
"""The player of `play` and `analyse` if the user names none and no champion is bundled."""
GameArgument = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A name from `aleazero games`, your own game as `path/file.py:NAME`, or `openspiel:NAME`.",
        show_default=False,
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the game, e.g. `target=50`; may be repeated."
    ),
]
PositionOption = Annotated[
    str | None,
    typer.Option(
        "--position", metavar="TEXT", help="Start here instead, e.g. `'12-30 turn 7'` in pig.", show_default=False
    ),
]
MovesOption = Annotated[
    str | None,
    typer.Option(
        "--moves",
        metavar="'MOVE …'",
        help="Then apply these actions and outcomes by name, by the name's last part (`13336` for `roll-13336`) or by "
        "id, e.g. `'roll 5 hold'`; commas where names have spaces.",
        show_default=False,
    ),
]
SimsOption = Annotated[
    int | None,
    typer.Option(
        "--sims",
        metavar="N",
        help="Simulations of each search [default: 2000; with --evaluations ten times as many as those; with --seconds "
        "no limit].",
    ),
]
EvaluationsOption = Annotated[
    int | None,
    typer.Option(
        "--evaluations",
        metavar="N",
        help="Stop a search after N evaluations: one of the root, and one or more for each simulation that reaches a "
        "new leaf; at least 2.",
    ),
]
ChanceOption = Annotated[
    str | None,
    typer.Option(
        "--chance",
        metavar="SPEC",
        help="`sampling`, `stratified`, `progressive`, `full`: a child for each outcome. `open`: "
        "outcomes share statistics (the best plan blind to them) [default: `sampling` with `uniform` and `rollout`, "
        "else `stratified`, or `progressive` if the game cannot list its outcomes].",
        show_default=False,
    ),
]
EvaluatorOption = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        metavar="SPEC",
        help="What values a leaf: `uniform`, `rollout`, `rollout:4` (4 playouts), `oracle` where there is one, or a "
        "network as `net:PATH` [default: `rollout`].",
        show_default=False,
    ),
]
NetOption = Annotated[
    str | None,
    typer.Option("--net", metavar="PATH", help="A network that values leaves: short for `--evaluator net:PATH`."),
]
ExplorationOption = Annotated[
    float | None,
    typer.Option("--c", metavar="C", help="Weight of exploration, with values scaled to 0..1 [default: 1.5]."),
]
SelectionOption = Annotated[
    str | None,
    typer.Option(
        "--selection", metavar="puct|uct", help="`puct` follows the priors, `uct` ignores them [default: puct]."
    ),
]
PLAN_HELP = "`turn`, `game`, or a number of plies"
PlanOption = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="SPEC",
        help=f"Plan exactly instead of searching, as far as {PLAN_HELP}; the evaluator values what lies there.",
        show_default=False,
    ),
]
OpponentOption = Annotated[
    str | None,
    typer.Option(
        "--opponent",
        metavar="SPEC",
        help="The computer's player: `search`, `search:sims=500,c=2`, the exact planner as `plan:horizon=turn` or "
        "`plan:plies=2` (and `keep=3`, `margin=0.1` to prune), a network as `net:PATH,sims=64`, `greedy`, `random`, "
        "`human`, or `oracle` if the game is solved [default: the bundled champion, or `search:sims=2000`].",
        show_default=False,
    ),
]
GameOption = Annotated[
    str,
    typer.Option(
        "--game",
        metavar="GAME",
        help="A name from `aleazero games`, or your own as `path/file.py:NAME`.",
        show_default=False,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the dice: same seed, same dice.")]
PlayerSeedOption = Annotated[
    int, typer.Option("--player-seed", metavar="S", help="Seed of the players' own luck; never that of the dice.")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
ThreadsOption = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", help="Threads of a search [default: all cores]; results do not change.", min=1
    ),
]
LuckOption = Annotated[
    str,
    typer.Option(
        "--luck",
        metavar="shared|fresh",
        help="`shared`: the games of a pair have the same luck, keyed by the event. `fresh`: each game has its own.",
    ),
]
PairWorkersOption = Annotated[
    int, typer.Option("--workers", metavar="N", help="Processes that play; results do not change.", min=1)
]


def shares_luck(word: str) -> bool:
    """What ``--luck`` says."""
    if word not in ("shared", "fresh"):
        raise ConfigError(f"--luck is {word!r}, {nearest(word, ('shared', 'fresh'))}")
    return word == "shared"


def cores() -> int:
    """Those that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    """Load a game with the parameters of the command line."""
    return load(spec, read_params(pairs))


def load(spec: str, params: Mapping[str, Any]) -> Game:
    """Load a game by name, by ``path/file.py:NAME`` or by ``openspiel:NAME``."""
    from aleazero.games.objects import from_openspiel
    from aleazero.games.registry import load_game

    if spec.startswith(OPENSPIEL):
        return from_openspiel(spec.removeprefix(OPENSPIEL), **params)
    return load_game(spec, **params)


def read_state(game: Game, position: str | None, moves: str | None) -> State:
    """The start, or a position, and what follows after some moves."""
    from aleazero.games.base import moves_of
    from aleazero.players.basic import find_move

    state = game.new_initial_state() if position is None else game.state_from_text(position)
    for word in moves_of(moves or ""):
        state.apply_action(find_move(state, word))
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


USER_ERROR = 2


class OneLineErrors(TyperGroup):
    """A group of verbs that ends with one line for what the user, the input or the disk caused.

    These are errors of AleaZero's tree, and what the operating system, text that cannot be decoded, nesting without
    end or a lack of memory raise. Any other exception is a bug and shows its traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the verb."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            said = error_line(error)
            if said is None:
                raise
        typer.echo(f"error: {said}", err=True)
        raise typer.Exit(USER_ERROR) from None


def error_line(error: Exception) -> str | None:
    """The line for an error that the user, the input or the disk caused; None for any other.

    A closed pipe is none: whoever reads the output has read enough.
    """
    if isinstance(error, AleaZeroError):
        return one_line(error)
    if isinstance(error, MemoryError):
        return f"not enough memory: {one_line(error)}"
    if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
        return one_line(": ".join(str(part) for part in (error.filename, reason(error)) if part))
    if isinstance(error, UnicodeError):
        return f"text is not valid UTF-8: {one_line(error)}"
    if isinstance(error, RecursionError):
        return "the input nests too deeply, expected fewer levels"
    return None


def one_line(error: BaseException | str) -> str:
    """An error's message on one line, safe to print and not too long."""
    return shortened(printable(" ".join(str(error).split()))) or type(error).__name__


@contextmanager
def blame_rules(spec: str) -> Iterator[None]:
    """Blame a game that is not ours for what its rules raise; in the games that ship it is a bug, and shows."""
    try:
        yield
    except (AleaZeroError, typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if ".py" not in spec and not spec.startswith("openspiel:"):
            raise
        raise GameError(
            f"{spec}: the rules raised {type(error).__name__}: {one_line(error)}; `aleazero check` finds where"
        ) from error
