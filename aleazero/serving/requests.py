"""Requests of front ends to the engine and the HTTP API: fields, limits, and the files that a request may use.

This module is imported by processes that hold no game, so it imports neither numpy nor numba. ``answers.py`` computes
the answers in worker processes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from aleazero.errors import ConfigError, nearest, shortened
from aleazero.settings import Settings, config_error
from aleazero.untrusted import path_exists

VERSION: Final = 1
"""Version of the requests and answers. It changes if a field changes its meaning or is removed."""
ANSWER: Final = "aleazero.serving.answers:answer"
"""The task of worker processes that computes an answer, for ``Workers.submit``. Its module imports numba."""
OWN_NETS: Final = ("champion", "dummy")
"""Networks that need no file of the user: the bundled network for a game, and one that returns zeros."""
Model = TypeVar("Model", bound=BaseModel)
_GAME_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


MOST_STATES: Final = 2_000_000
"""Default limit of the states of a plan, as in ``Planner``."""


class Limits(Settings):
    """Largest values that requests may ask for. A request above a limit is an error, unless described otherwise."""

    sims: int = Field(10_000_000, ge=1, le=2**31 - 2, description="Simulations per search.")
    seconds: float = Field(600.0, gt=0, description="Seconds per request. A worker process that takes longer is ended.")
    prepare_seconds: float = Field(
        600.0, gt=0, description="Seconds for loading and compiling the game of a request, in addition to its seconds."
    )
    evaluations: int = Field(10_000_000, ge=2, description="Leaf evaluations per search.")
    nodes: int = Field(10_000_000, ge=2, le=2**31 - 2, description="Nodes of a searched tree, and states of a plan.")
    tree_nodes: int = Field(20_000, ge=1, description="Nodes of a tree in an answer. Those with more visits are kept.")
    batch: int = Field(1000, ge=1, description="Positions per request.")
    moves: int = Field(20_000, ge=0, description="Moves per request, and steps of a reviewed game.")
    text: int = Field(100_000, ge=1, description="Characters of a position or of the text of a game.")

    @property
    def plan_states(self) -> int:
        """Most states of a plan for which the request sets no limit."""
        return min(MOST_STATES, self.nodes)

    @property
    def hard_seconds(self) -> float:
        """Seconds after which a worker is ended. A search that reaches ``seconds`` has the rest to write its result."""
        return 2.0 + 1.1 * self.seconds


class Sources(Settings):
    """Files that the user named on the command line, by the names that requests use for them."""

    games: dict[str, str] = Field(
        default_factory=dict, description="Game files as `path/file.py` or `path/file.py:NAME`."
    )
    nets: dict[str, str] = Field(default_factory=dict, description="Network files.")

    @classmethod
    def read(cls, game_files: Sequence[str] = (), nets: Sequence[str] = ()) -> Sources:
        """Read the texts of command-line options: ``PATH``, ``PATH:NAME`` for games, or ``NAME=PATH``.

        Without a name, the part of a game's path after the colon is its name, or else the file name without its ending.
        """
        return cls(
            games=_named(game_files, "--game-file", _title), nets=_named(nets, "--net", lambda p: PurePath(p).stem)
        )

    def game_text(self, text: str) -> str:
        """Return the text for ``load_game``, with the file of a game that was named on the command line.

        Raises:
            ConfigError: the text is not the name of a game, with or without parameters.
        """
        name, bracket, rest = text.partition("(")
        name = name.strip()
        if name in self.games:
            return f"{self.games[name]}{bracket}{rest}"
        if not _GAME_NAME.fullmatch(name):
            raise ConfigError(
                f"is {shortened(text, 80, 10)!r}, expected the name of a game; a game file has to be named when the "
                "server is started",
                field="game",
            )
        return text

    def evaluator_text(self, text: str) -> str:
        """Return the text of an evaluator, with the file of a network that was named on the command line.

        Raises:
            ConfigError: there is no such network, or an evaluator other than ``rollout`` has a part after a colon.
        """
        name, colon, rest = text.partition(":")
        if not colon or name == "rollout":
            return text
        if name != "net":
            raise ConfigError(f"is {shortened(text, 80, 10)!r}, expected no colon after {name!r}", field="evaluator")
        if rest in self.nets:
            return f"net:{self.nets[rest]}"
        if rest not in OWN_NETS:
            known = nearest(rest, [*OWN_NETS, *self.nets])
            raise ConfigError(f"is {shortened(text, 80, 10)!r}, no such network, {known}", field="evaluator")
        return text


def name_of(game: str | None) -> str | None:
    """Return the name of a game without its parameters."""
    return None if game is None else game.partition("(")[0].strip()


def _named(texts: Sequence[str], option: str, title: Any) -> dict[str, str]:
    named: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or not _GAME_NAME.fullmatch(name):
            name, path = title(text), text
        if not _GAME_NAME.fullmatch(name) or not path:
            raise ConfigError(
                f"{option} is {text!r}, expected a path or NAME=PATH with letters, digits, - and _ in NAME"
            )
        if name in named:
            raise ConfigError(f"{option}: {name!r} is given twice, expected different names, e.g. {name}2={path}")
        file = f"{path.rpartition('.py:')[0]}.py" if ".py:" in path else path
        if not path_exists(Path(file)):
            raise ConfigError(f"{option} is {text!r}, expected a file that exists")
        named[name] = path
    return named


def _title(path: str) -> str:
    file, colon, name = path.rpartition(".py:")
    return name if colon and name else PurePath(f"{file}.py" if colon else path).stem


class Request(Settings):
    """Fields of every request."""

    request: str = Field(description="Kind of the request.")
    id: str | None = Field(
        None, min_length=1, max_length=200, description="Name of the request, which its answers repeat."
    )
    priority: int = Field(
        0, ge=-1000, le=1000, description="Waiting requests with a higher priority start first; equal ones in order."
    )
    version: Literal[1] = Field(1, description="Version of the request format.")


class GameRequest(Request):
    """Fields of every request about one game."""

    game: str = Field(
        min_length=1,
        max_length=10_000,
        description="Name of the game, with or without parameters, e.g. `pig(target=50)`. A game file is named by the "
        "name that it got when the server was started.",
    )
    params: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="Parameters of the game, in addition to those in `game`."
    )


class PositionRequest(GameRequest):
    """Fields of every request about one position."""

    position: str | None = Field(None, description="Position as text; null for the start of the game.")
    moves: str | list[str | int] = Field(
        default_factory=list,
        description="Actions and outcomes to apply to the position first: names, or ids. A text lists names, separated "
        "by commas, or by spaces if there is no comma.",
    )


_EVALUATOR = (
    "Leaf evaluator: `uniform`, `rollout`, `rollout:N`, `oracle`, `net:champion` for the bundled network, or "
    "`net:NAME` for a network that was named when the server was started."
)
Evaluator = Annotated[str, Field(min_length=1, max_length=200)]
Seed = Annotated[int, Field(ge=0, lt=2**64)]
Count = Annotated[int, Field(ge=1)]


class TreeRequest(PositionRequest):
    """Fields of requests whose answer can include a tree."""

    actions: list[int] | None = Field(
        None, min_length=1, max_length=100_000, description="Ids of the actions to consider at the root; null for all."
    )
    seed: Seed = Field(0, description="Seed of the search or of the playouts. The same seed gives the same answer.")
    tree_depth: int | None = Field(
        None, ge=0, le=60, description="Depth of the tree in the answer; null leaves the tree out."
    )
    tree_top: Count = Field(8, description="Largest number of children per node of the tree, the most visited first.")


class AnalyseRequest(TreeRequest):
    """Search from a position, as `Search.run` does."""

    request: Literal["analyse"] = Field("analyse", description="Kind of the request.")
    sims: Count | None = Field(
        None,
        description="Simulations. null: 2000; no limit with `seconds`; 10 × N with `evaluations` N.",
    )
    seconds: float | None = Field(
        None, gt=0, description="Time limit of the search. The answer is then not reproducible."
    )
    evaluations: int | None = Field(None, ge=2, description="Largest number of leaf evaluations.")
    nodes: int | None = Field(None, ge=2, description="Largest number of nodes of the tree.")
    chance: Literal["sampling", "stratified", "progressive", "full", "open"] | None = Field(
        None, description="Chance mode; null for the default of the evaluator."
    )
    evaluator: Evaluator = Field("rollout", description=_EVALUATOR)
    c: float | None = Field(None, ge=0, description="Exploration constant, for values scaled to 0..1; null for 1.5.")
    selection: Literal["puct", "uct"] | None = Field(
        None, description="Selection rule: `puct` uses the evaluator's priors, `uct` does not. null for `puct`."
    )
    report_every: float | None = Field(
        None, ge=0.1, le=3600, description="Seconds between partial answers; null for none."
    )


class PlanRequest(TreeRequest):
    """Plan from a position with exact chance, as `Planner.run` does."""

    request: Literal["plan"] = Field("plan", description="Kind of the request.")
    horizon: Literal["turn", "game"] | None = Field(
        None, description="Plan to the end of the turn or of the game; null for `turn`, or for `plies`."
    )
    plies: Count | None = Field(None, description="Plan this many chance events instead of a turn.")
    keep: Count | None = Field(None, description="Plan only the best actions of each decision further: their number.")
    margin: float | None = Field(
        None, ge=0, description="Plan only actions further whose value is within this margin of the best one."
    )
    nodes: int | None = Field(None, ge=2, description="Largest number of states of the plan; null for 2,000,000.")
    evaluator: Evaluator | None = Field(
        None,
        description="Evaluator of states past the horizon, named as in `analyse`. null: the bundled network, or else "
        "the mean of 100 playouts.",
    )


class EvaluateRequest(PositionRequest):
    """Evaluate positions without a search."""

    request: Literal["evaluate"] = Field("evaluate", description="Kind of the request.")
    positions: list[str] | None = Field(
        None, min_length=1, description="Several positions as text, instead of `position` and `moves`."
    )
    evaluator: Evaluator | None = Field(
        None,
        description="Evaluator, named as in `analyse`. null: the bundled network, or else the mean of 100 "
        "playouts. `oracle` gives exact values; solving a game can take a minute.",
    )
    seed: Seed = Field(0, description="Seed of playouts.")


class LegalRequest(PositionRequest):
    """List the legal actions or the outcomes in a position."""

    request: Literal["legal"] = Field("legal", description="Kind of the request.")


class ApplyRequest(PositionRequest):
    """Apply moves to a position, and optionally draw the dice that follow."""

    request: Literal["apply"] = Field("apply", description="Kind of the request.")
    draw: bool = Field(
        False,
        description="Draw outcomes until a player decides or the game is over. The dice are those of a game with this "
        "seed, if the moves start at its first position.",
    )
    seed: Seed = Field(0, description="Seed of the dice of the game.")


class GamesRequest(Request):
    """List the games, or describe one game."""

    request: Literal["games"] = Field("games", description="Kind of the request.")
    game: str | None = Field(
        None, min_length=1, max_length=10_000, description="Name of one game to describe; null lists all names."
    )
    params: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="Parameters of the game to describe."
    )


class ReviewRequest(GameRequest):
    """Review a complete or unfinished game: the cost of each decision and the luck of each roll."""

    request: Literal["review"] = Field("review", description="Kind of the request.")
    position: str | None = Field(None, description="Position as text from which the moves start; null for the start.")
    moves: str | list[str | int] = Field(
        description="All actions and outcomes of the game: names, or ids. A text lists names, separated by commas, or "
        "by spaces if there is no comma."
    )
    sims: Count | None = Field(
        None,
        description="Judge by searches with this many simulations. null: by exact values, or else by plans with the "
        "bundled network, or else by searches with 1000 simulations.",
    )
    error: float | None = Field(None, gt=0, description="Smallest cost of an error; null for the default of the game.")
    blunder: float | None = Field(
        None, gt=0, description="Smallest cost of a blunder; null for the default of the game."
    )
    report_every: float | None = Field(
        None,
        ge=0.1,
        le=3600,
        description="Seconds between partial answers with the number of judged steps; null for none.",
    )


REQUESTS: Final[Mapping[str, type[Request]]] = {
    kind.model_fields["request"].default: kind
    for kind in (
        AnalyseRequest,
        PlanRequest,
        EvaluateRequest,
        ReviewRequest,
        LegalRequest,
        ApplyRequest,
        GamesRequest,
    )
}
"""Class of each kind of request."""


def parse_request(data: Any, limits: Limits, sources: Sources) -> Request:
    """Return the request that a parsed JSON object describes.

    Raises:
        ConfigError: the object is not a request, exceeds a limit, or names an unknown file.
    """
    if not isinstance(data, dict):
        raise ConfigError(f"the request is {shortened(repr(data), 80, 10)}, expected an object")
    kind = data.get("request")
    if not isinstance(kind, str) or kind not in REQUESTS:
        given = f"is {shortened(repr(kind), 80, 10)}" if "request" in data else "is missing"
        hint = nearest(kind, REQUESTS) if isinstance(kind, str) else f"expected one of {', '.join(REQUESTS)}"
        raise ConfigError(f"{given}, {hint}", field="request")
    request = read_model(REQUESTS[kind], data)
    check_request(request, limits, sources)
    return request


def read_model(kind: type[Model], data: Any) -> Model:
    """Return the model of a JSON object; raises ConfigError about its first error."""
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise config_error(kind, error).at(None) from None


def check_request(request: Request, limits: Limits, sources: Sources) -> None:
    """Raise ConfigError if a request exceeds a limit or names a file that the user did not name."""
    for field in ("sims", "seconds", "evaluations", "nodes"):
        _check_most(field, getattr(request, field, None), getattr(limits, field))
    for field in ("position", "moves"):
        given = getattr(request, field, None)
        if isinstance(given, str):
            _check_most(f"length of {field}", len(given), limits.text)
        elif given is not None:
            _check_most("number of moves", len(given), limits.moves)
            _check_most("length of moves", sum(len(move) for move in given if isinstance(move, str)), limits.text)
    positions = getattr(request, "positions", None) or ()
    _check_most("number of positions", len(positions), limits.batch)
    for text in positions:
        _check_most("length of a position", len(text), limits.text)
    if positions and (request.position is not None or request.moves):  # type: ignore[attr-defined]
        raise ConfigError("is given with position or moves, expected one of them", field="positions")
    if getattr(request, "game", None) is not None:
        sources.game_text(request.game)  # type: ignore[attr-defined]
    if getattr(request, "evaluator", None) is not None:
        sources.evaluator_text(request.evaluator)  # type: ignore[attr-defined]


def _check_most(what: str, number: float | None, most: float) -> None:
    if number is not None and number > most:
        raise ConfigError(f"is {number:,}, expected at most {most:,}", field=what)
