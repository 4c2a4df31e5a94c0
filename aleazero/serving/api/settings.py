"""Settings of the HTTP API: its limits, and what the command line allows its clients to name."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from aleazero.errors import ConfigError, nearest
from aleazero.files import os_errors_as
from aleazero.serving.requests import Limits, Sources
from aleazero.settings import Settings
from aleazero.untrusted import parse_digits, read_regular

LOCAL: Final = "127.0.0.1"
"""The only address that needs no token: other users' machines cannot reach it."""
TOKEN_VARIABLE: Final = "ALEAZERO_API_TOKEN"
SHORTEST_TOKEN: Final = 16

Count = Annotated[int, Field(ge=1, le=2**31 - 2)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class ApiLimits(Settings):
    """Limits of the HTTP API. A request above a limit gets an error and changes nothing."""

    sims: Count = Field(1_000_000, description="Simulations of one search.")
    seconds: Seconds = Field(
        60.0, description="Seconds of one search, plan or review. Waiting and loading do not count."
    )
    evaluations: Annotated[int, Field(ge=2)] = Field(1_000_000, description="Leaf evaluations of one search.")
    nodes: Annotated[int, Field(ge=2, le=2**31 - 2)] = Field(
        1_000_000, description="Nodes of a search tree, and states of a plan."
    )
    tree_nodes: Count = Field(10_000, description="Nodes of a tree in an answer.")
    tree_depth: Annotated[int, Field(ge=1, le=60)] = Field(20, description="Depth of a tree in an answer.")
    moves: Count = Field(10_000, description="Moves in a request, and steps of a session.")
    positions: Count = Field(1_000, description="Positions in a request.")
    text: Count = Field(100_000, description="Characters of a position or of a list of moves.")
    rules_seconds: Seconds = Field(5.0, description="Seconds of the rules of a game for one request.")
    load_seconds: Seconds = Field(30.0, description="Seconds for loading a game to play it.")
    compile_seconds: Seconds = Field(
        120.0, description="Seconds for loading and compiling a game, and solving it for exact values, before a search."
    )
    sessions: Count = Field(1_000, description="Sessions, in memory and saved.")
    sessions_in_memory: Count = Field(100, description="Sessions in memory. Further ones are saved and dropped.")
    idle_seconds: Seconds = Field(900.0, description="Seconds without a request until a session is saved and dropped.")
    body_bytes: Count = Field(1_000_000, description="Bytes of the body of a request.")
    requests: Count = Field(64, description="Requests in flight, including streams.")
    waiting: Count = Field(32, description="Searches, plans and reviews that wait for a process.")
    connections: Count = Field(256, description="Open connections.")
    client_seconds: Seconds = Field(
        10.0, description="Seconds that a client may take to send a request, and to read a part of an answer."
    )

    def of_requests(self) -> Limits:
        """Return the limits of single requests."""
        return Limits(
            sims=self.sims, seconds=self.seconds, prepare_seconds=self.compile_seconds, evaluations=self.evaluations,
            nodes=self.nodes, tree_nodes=self.tree_nodes, batch=self.positions, moves=self.moves, text=self.text,
        )  # fmt: skip


@dataclass(frozen=True)
class ApiSettings:
    """Where the server listens, and what its clients may use. Clients can change none of it."""

    host: str = LOCAL
    port: int = 8000
    token: str | None = None
    """Required in every request if it is set."""
    host_names: tuple[str, ...] = ()
    """Further names in the Host header of requests."""
    sources: Sources = field(default_factory=Sources)
    """Files of games and networks that clients may use, by the names that they use for them."""
    runs: Path | None = None
    """Folder of the runs that clients may read."""
    sessions: Path | None = None
    """Folder for sessions that are not in memory; None for the user's state folder."""
    workers: int = 1
    """Processes for searches."""
    limits: ApiLimits = field(default_factory=ApiLimits)

    def __post_init__(self) -> None:
        if self.host != LOCAL and self.token is None:
            raise ConfigError(
                f"--host is {self.host!r}, which other machines may reach: expected a token in --token-file or "
                f"${TOKEN_VARIABLE}, or --host {LOCAL}"
            )
        for name in self.host_names:
            if not re.fullmatch(r"[A-Za-z0-9.-]+|\[?[0-9A-Fa-f:.]+\]?", name):
                raise ConfigError(f"--allow-host is {name!r}, expected the name of a host without port")
        if self.token is not None and (
            len(self.token) < SHORTEST_TOKEN or not self.token.isascii() or not self.token.isprintable()
            or " " in self.token
        ):  # fmt: skip
            raise ConfigError(
                f"the token has {len(self.token)} characters, expected at least {SHORTEST_TOKEN} ASCII characters "
                "without spaces"
            )

    @property
    def session_folder(self) -> Path:
        """Return the folder for sessions that are not in memory."""
        import platformdirs

        return self.sessions or Path(platformdirs.user_state_dir("aleazero")) / "sessions"

    @property
    def accepted_hosts(self) -> frozenset[str]:
        """Return the names that the Host header may have, in lower case and without port."""
        return frozenset(name.lower().strip("[]") for name in (LOCAL, "localhost", self.host, *self.host_names))


def read_token(file: Path | None) -> str | None:
    """Return the token in a file, or else in the environment; None if there is neither."""
    if file is None:
        return os.environ.get(TOKEN_VARIABLE, "").strip() or None
    with os_errors_as(ConfigError, f"{file} cannot be read", "a file with a token"):
        return read_regular(file)[:10_000].decode("utf-8", errors="replace").strip()


def read_limits(texts: Sequence[str], **defaults: float) -> ApiLimits:
    """Return the limits with the values of ``--limit KEY=VALUE``; ``defaults`` replace those of ``ApiLimits``."""
    given: dict[str, float] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if key not in ApiLimits.model_fields or not equals:
            raise ConfigError(f"--limit is {text!r}, expected KEY=VALUE, {nearest(key, ApiLimits.model_fields)}")
        if key in given:
            raise ConfigError(f"--limit: {key} is given twice, expected once")
        number = parse_digits(value)
        try:
            given[key] = float(value) if number is None else number
        except ValueError:
            raise ConfigError(f"--limit is {text!r}, expected a number after =") from None
    try:
        return ApiLimits(**{**defaults, **given})  # type: ignore[arg-type]
    except ConfigError as error:
        raise error.at("--limit") from None
