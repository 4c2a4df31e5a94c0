"""What all routes of the HTTP API share: settings, jobs, sessions, and the change of a session by a job."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from aleazero.errors import AleaZeroError, ConfigError, ReplayError, RunError
from aleazero.serving.api.guard import DISCONNECTED
from aleazero.serving.api.jobs import RULES, Job, JobError, Jobs
from aleazero.serving.api.settings import ApiSettings
from aleazero.serving.api.store import (
    SessionConflictError,
    SessionLimitError,
    SessionStore,
    Stored,
    UnknownSessionError,
)
from aleazero.serving.requests import ANSWER, LegalRequest, Request, check_request, name_of

SWEEP_SECONDS: Final = 5.0
JOB_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
STATUS_OF_CODE: Final = {
    "bad_request": 400,
    RULES: 422,
    "timeout": 422,
    "busy": 429,
    "cancelled": 409,
    "closed": 503,
    "memory": 422,
    "damaged": 422,
}
"""Status of a job that failed, by its code. Other codes are errors of this program."""
log = logging.getLogger("aleazero")
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class UnknownNameError(AleaZeroError):
    """No game, run or search has this name."""


class Api:
    """State of a server. It is opened when the server starts, and closed when it ends."""

    jobs: Jobs
    store: SessionStore

    def __init__(self, settings: ApiSettings) -> None:
        self.settings, self.limits = settings, settings.limits
        self.sources, self.request_limits = settings.sources, settings.limits.of_requests()
        self.views: dict[str, tuple[int, dict[str, Any]]] = {}
        """The last view of each session in memory, with its revision."""
        self.games: dict[str, dict[str, Any]] = {}
        """Descriptions of games by name."""
        self.broken: dict[str, dict[str, Any]] = {}
        """Games of the user's files that cannot be loaded."""

    def open(self) -> None:
        """Find the saved sessions and start the worker processes."""
        self.store = SessionStore(self.settings.session_folder, self.limits)
        self.jobs = Jobs(self.settings.workers, self.limits, frozenset(self.sources.games))
        self.jobs.warm()

    def end_work(self) -> None:
        """End the worker processes; requests that wait for them get an error."""
        self.jobs.close()

    def close(self) -> None:
        """End the worker processes and save all sessions."""
        self.end_work()
        self.store.close()

    async def sweep(self) -> None:
        """Save changed sessions and drop idle ones, every few seconds."""
        failed = ""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.store.sweep()
            except RunError as error:  # e.g. the disk is full: the sessions stay in memory
                if str(error) != failed:
                    log.error("%s", error)
                failed = str(error)
            in_memory = set(self.store.in_memory)
            self.views = {key: one for key, one in self.views.items() if key in in_memory}

    # -- jobs ----------------------------------------------------------------------------------------------------------

    async def rules(
        self, receive: Receive, task: str, of: str | None = None, *, slow: bool = False, **payload: Any
    ) -> Any:
        """Run a task in a process for rules; it ends if the client disconnects."""
        return await self.jobs.rules(
            task, self._payload(payload), name_of(of), partial(disconnected, receive), slow=slow
        )

    def start(self, request: Request) -> Job:
        """Start the answer to a request in a process for searches."""
        self.check(request)
        self.require_free(request.id)
        game = name_of(getattr(request, "game", None))
        return self.jobs.start_search(ANSWER, self._request(request), game, request.priority, request.id)

    async def answer(self, receive: Receive, request: Request, quick: bool = False) -> bytes:
        """Return the answer to a request as JSON, from a process for rules if it is quick."""
        if quick:
            self.check(request)
            game = name_of(getattr(request, "game", None))
            found = await self.jobs.rules(ANSWER, self._request(request), game, partial(disconnected, receive))
        else:
            found = await self.jobs.finish(self.start(request), partial(disconnected, receive))
        assert isinstance(found, bytes)
        return found

    def check(self, request: Request) -> None:
        """Raise ConfigError if a request exceeds a limit or names a file."""
        check_request(request, self.request_limits, self.sources)
        depth = getattr(request, "tree_depth", None)
        if depth is not None and depth > self.limits.tree_depth:
            raise ConfigError(f"is {depth}, expected at most {self.limits.tree_depth}", field="tree_depth")

    def check_position(self, position: str | None, moves: str | list[str | int]) -> None:
        """Raise ConfigError if a position or moves are too long."""
        self.check(LegalRequest(game="x", position=position, moves=moves))

    def require_free(self, identity: str | None) -> None:
        """Raise an error if an id that a client chose cannot be used."""
        if identity is None:
            return
        if not JOB_ID.fullmatch(identity):
            raise ConfigError(f"is {identity[:40]!r}, expected up to 100 letters, digits, - and _", field="id")
        if self.jobs.has(identity):
            raise SessionConflictError(f"id is {identity!r}, which another search has, expected another one")

    def _payload(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        return {"sources": self.sources, "limits": self.request_limits, **payload}

    def _request(self, request: Request) -> Any:
        return request, self.sources, self.request_limits

    # -- sessions ------------------------------------------------------------------------------------------------------

    async def open_session(self, receive: Receive, of: str, **payload: Any) -> dict[str, Any]:
        """Make a session in a worker process and store it; return its view."""
        self.store.require_room()
        made = await self.rules(receive, "open_session", of, **payload)
        stored = self.store.add(made["session"])
        return self._view(stored, made["view"])

    async def change(
        self, receive: Receive, identity: str, task: str, revision: int | None = None, *,
        search: bool = False, job: str | None = None, **payload: Any,
    ) -> dict[str, Any]:  # fmt: skip
        """Change a session in a worker process; return its new view."""
        with self.exclusive(identity, revision) as stored:
            data = stored.data
            if search:
                self.require_free(job)
                work = self._payload({"session": data, **payload})
                started = self.jobs.start_search(task, work, data["game"], identity=job)
                made = await self.jobs.finish(started, partial(disconnected, receive))
            else:
                made = await self.rules(receive, task, data["game"], session=data, **payload)
            self.store.change(stored, made["session"])
            return self._view(stored, made["view"])

    async def view(self, receive: Receive, identity: str) -> dict[str, Any]:
        """Return the view of a session, which a worker process makes if it is not known."""
        stored = self.store.get(identity)
        known = self.views.get(identity)
        if known is not None and known[0] == stored.revision:
            return {**known[1], "changes": []}
        revision = stored.revision
        made = await self.rules(receive, "change_session", stored.data["game"], session=stored.data, change="view")
        return self._view(stored, made["view"], revision)

    @contextmanager
    def exclusive(self, identity: str, revision: int | None) -> Iterator[Stored]:
        """Keep a session from other changes in this block.

        Raises:
            SessionConflictError: another request changes the session, or its revision is another one.
        """
        stored = self.store.get(identity)
        if revision is not None and revision != stored.revision:
            raise SessionConflictError(f"revision is {revision}, expected {stored.revision}: the session has changed")
        if stored.busy:
            raise SessionConflictError(f"session {identity} is busy with another request, expected one at a time")
        stored.busy = True
        try:
            yield stored
        finally:
            stored.busy = False

    def _view(self, stored: Stored, view: dict[str, Any], revision: int | None = None) -> dict[str, Any]:
        revision = stored.revision if revision is None else revision
        view = {"id": stored.id, "revision": revision, **view}
        self.views[stored.id] = revision, view
        return view


async def disconnected(receive: Receive) -> None:
    """Wait until the client closes the connection."""
    while (await receive())["type"] != DISCONNECTED:
        pass


def status_of(error: AleaZeroError) -> int:
    """Return the status of an error."""
    if isinstance(error, JobError):
        return STATUS_OF_CODE.get(error.code, 500)
    if isinstance(error, UnknownSessionError | UnknownNameError):
        return 404
    if isinstance(error, SessionConflictError):
        return 409
    if isinstance(error, SessionLimitError):
        return 429
    if isinstance(error, ReplayError):  # the file of a saved session
        return 422
    return 503 if isinstance(error, RunError) else 400
