"""Bodies and answers of the HTTP API. The fields of searches, plans and reviews are those of ``requests``."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from aleazero.serving.requests import AnalyseRequest, PlanRequest, Request, ReviewRequest
from aleazero.settings import Settings

Moves = str | list[str | int]
Params = dict[str, bool | int | float | str]
OF_POSITION: Final = ("request", "version", "game", "params", "position", "moves")
"""Fields of requests that a session has."""


# -- bodies ------------------------------------------------------------------------------------------------------------


class NewSession(Settings):
    """Start a session."""

    game: str = Field(
        min_length=1, max_length=10_000, description="Name of a game, with or without parameters: `pig(target=50)`."
    )
    params: Params = Field(default_factory=dict, description="Parameters, in addition to those in `game`.")
    position: str | None = Field(None, description="Position as text to start from; null for the start of the game.")
    moves: Moves = Field(
        default_factory=list,
        description="Actions and outcomes to apply first, by name or id. A text lists names, separated by commas, or "
        "by spaces if there is no comma.",
    )
    seed: int | None = Field(None, ge=0, lt=2**63, description="Seed of the dice; null for a random one.")
    seats: list[Annotated[str, Field(max_length=1_000)]] | None = Field(
        None,
        max_length=100,
        description="Text of each seat: `human`, `champion` for the bundled network, or a player spec without files, "
        "e.g. `search:sims=500`. null for people in all seats.",
    )
    names: list[Annotated[str, Field(max_length=200)]] | None = Field(
        None, max_length=100, description="Name of each player; null for the seats."
    )
    temperature: float = Field(
        0.0, ge=0, le=100, description="0 plays the most visited action of a search; 1 samples in proportion to visits."
    )
    draw: bool = Field(True, description="Draw outcomes until a player decides.")


class SessionFile(Settings):
    """Start a session from exported data."""

    file: dict[str, Any] = Field(description="A session, as `GET /sessions/{id}/file` or `aleazero play` writes it.")


class Change(Settings):
    """A change of a session."""

    revision: int | None = Field(
        None, ge=0, description="Revision that the client has seen. Another one is a conflict. null for any."
    )


class PlayMoves(Change):
    """Play moves."""

    moves: Moves = Field(min_length=1, description="Actions, and outcomes at chance nodes, by name or id.")
    draw: bool = Field(True, description="Draw outcomes until a player decides.")


class Walk(Change):
    """Take steps back, or play them again."""

    unit: Literal["step", "decision", "play"] = Field(
        "decision",
        description="`step`: one action or outcome. `decision`: to a decision. `play`: to the first decision of a "
        "complete play, e.g. a move of several checkers.",
    )
    count: int = Field(1, ge=1, le=10_000, description="Number of units.")


class PlaySeat(Change):
    """Let the player of a seat move."""

    all: bool = Field(False, description="Continue until a person moves or the game is over.")
    id: str | None = Field(
        None, pattern="^[A-Za-z0-9_-]{1,100}$", description="Id to cancel the search with; null for none."
    )


def _without_position(kind: type[Request], name: str, doc: str) -> type[Settings]:
    """Return the class of a request without the fields that a session has."""
    fields: Any = {key: (one.annotation, one) for key, one in kind.model_fields.items() if key not in OF_POSITION}
    return create_model(name, __base__=Settings, __doc__=doc, **fields)


SessionAnalysis: Any = _without_position(AnalyseRequest, "SessionAnalysis", "Search from the position of a session.")
SessionPlan: Any = _without_position(PlanRequest, "SessionPlan", "Plan from the position of a session.")
SessionReview: Any = _without_position(ReviewRequest, "SessionReview", "Review the game of a session.")


# -- answers -----------------------------------------------------------------------------------------------------------


class Answer(BaseModel):
    """An answer. Later versions may add fields."""

    model_config = ConfigDict(extra="forbid")


class Problem(Answer):
    """Every answer that is not a success."""

    error: str = Field(description="What is wrong, what was given and what is expected, in one line.")


class Loose(BaseModel):
    """An answer with more fields than are listed."""

    model_config = ConfigDict(extra="allow")


class ServerInfo(Answer):
    """The server."""

    version: str
    api: int
    limits: dict[str, int | float]
    workers: int = Field(description="Processes for searches.")
    running: int = Field(description="Searches, plans and reviews that run.")
    waiting: int = Field(description="Searches, plans and reviews that wait.")
    sessions: int
    nets: list[str] = Field(description="Networks that `net:NAME` can name.")


class GameDescription(Answer):
    """A game with its parameters."""

    name: str = Field(description="Name for requests.")
    title: str = ""
    about: str = ""
    params: dict[str, Any] = Field(default_factory=dict, description="Parameters with their values.")
    players: int | None = None
    actions: int | None = None
    max_outcomes: int | None = Field(
        None, description="Maximum number of outcomes of a chance event; 0 without chance."
    )
    lists_outcomes: bool | None = None
    utility: list[float] | None = Field(None, description="Lowest and highest return; null if they are not bounded.")
    rules_version: int | None = None
    position: str | None = Field(None, description="The first position as text.")
    error: str | None = Field(None, description="Why the game cannot be used; null if it can.")


class PlayerKind(Answer):
    """A kind of player."""

    player: str = Field(description="Text for a seat.")
    about: str
    settings: dict[str, str] = Field(description="Settings with their types, for `PLAYER:KEY=VALUE,KEY=VALUE`.")


class Move(Answer):
    """A legal action, or an outcome."""

    id: int
    name: str
    probability: float | None = Field(description="Probability of an outcome; null for an action.")


class Step(Answer):
    """A step of a session."""

    player: int = Field(description="The player; −1 for chance.")
    id: int
    name: str
    position: str = Field(description="The position after the step.")
    value: list[float | None] | None = Field(description="Expected returns by player, if a search chose the action.")


class SessionView(Answer):
    """A session and its position."""

    id: str
    revision: int = Field(description="Number of changes.")
    game: str
    params: dict[str, Any]
    players: int
    seed: int
    seats: list[str]
    names: list[str]
    temperature: float
    node: Literal["decision", "chance", "terminal"]
    player: int | None = Field(description="The player to move; null at a chance node and at the end.")
    position: str
    board: str
    moves: list[Move] | None = Field(description="Legal actions or outcomes; null if the outcomes cannot be listed.")
    returns: list[float | None] = Field(description="One number per player: the score so far, or the result.")
    steps: int = Field(description="Number of actions and outcomes so far.")
    redo_steps: int = Field(description="Number of steps that were taken back and can be played again.")
    changes: list[Step] = Field(description="Steps that this request has added.")


class SessionEntry(Answer):
    """A session in the list of sessions."""

    id: str
    game: str | None = Field(description="Name of the game; null if the saved session cannot be read.")
    params: dict[str, Any]
    names: list[str] = Field(description="Name of each player.")
    steps: int = Field(description="Number of actions and outcomes so far.")
    revision: int = Field(description="Number of changes.")
    error: str | None = Field(description="Why the session cannot be opened; null if it can.")


class RunSummary(Loose):
    """Status of a run and the strength of its champion."""

    run: str = Field(description="Name of the run.")
    error: str | None = Field(None, description="Why the run cannot be read; null if it can.")


class Scalar(Answer):
    """One number of a run."""

    time: float
    iteration: int
    round: int | None
    name: str
    value: float | None


class Scalars(Answer):
    """Numbers of a run, in the order of its events."""

    run: str
    total: int = Field(description="Numbers with this prefix, of which `scalars` is a part.")
    scalars: list[Scalar]


class Cancelled(Answer):
    """Whether a search was stopped."""

    cancelled: bool


Identity = Annotated[str, Field(description="Id of a session.")]
