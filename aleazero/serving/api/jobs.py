"""Jobs of the HTTP API: asyncio on top of two groups of worker processes.

Rules of games run in one group, with a short time limit. Searches, plans and reviews run in the other one, at a lower
priority of the operating system. So a move is answered while searches run, and a search never waits in the event loop.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Final

from aleazero.errors import AleaZeroError
from aleazero.serving.api.settings import ApiLimits
from aleazero.serving.workers import Busy, Done, Ticket, Workers

RULES: Final = "rules"
"""Code of an exception in the rules of a user's game."""
CALL, CALL_NICELY = "aleazero.serving.api.tasks:call", "aleazero.serving.api.tasks:call_nicely"
"""Tasks for ``Workers.submit``, which run another task."""
RULES_WORKERS: Final = 2
"""Processes for rules. Games of the user's files use at most one at a time, so a rule that loops leaves the other."""
GRACE_SECONDS: Final = 2.0
"""Seconds after the end of its time until the process of a search is killed."""


class JobError(AleaZeroError):
    """A job failed: ``code`` is that of ``Done``, or ``busy``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Job:
    """A running or waiting job: its latest partial result and its end. Earlier partial results are dropped.

    Args:
        workers: group of processes.
        entry: task of ``Workers.submit``, which runs the task of the job.
        task: name in ``tasks``, or ``module:name``.
        payload: first argument of the task.
        identity: id of the job; None for a random one.
        user_game: the game if it comes from a user's file: its exceptions are not errors of the server.
        on_end: called with the job when it has ended, in any way.
        limits: further arguments of ``Workers.submit``.
    """

    def __init__(
        self, workers: Workers, entry: str, task: str, payload: Any, *, identity: str | None = None,
        user_game: str | None = None, on_end: Callable[[Job], None] | None = None, **limits: Any,
    ) -> None:  # fmt: skip
        self.id = identity or secrets.token_urlsafe(16)
        self._user_game, self._on_end = user_game, on_end
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._partial: Any = None
        self._done: Done | None = None
        self._workers = workers
        self._ticket: Ticket = workers.submit(
            entry, (task, payload), on_partial=self._from_thread(self._set_partial),
            on_done=self._from_thread(self._set_done), **limits,
        )  # fmt: skip

    def _from_thread(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        def later(content: Any) -> None:
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(call, content)

        return later

    def _set_partial(self, content: Any) -> None:
        self._partial = content
        self._news.set()

    def _set_done(self, done: Done) -> None:
        if self._user_game is not None and done.code in ("failed", "crashed"):
            message = f"the rules of {self._user_game!r} failed: {done.message}"
            done = Done(done.kind, code=RULES, message=message, seconds=done.seconds)
        elif done.code == "timeout":
            done = Done(done.kind, code=done.code, message=f"the request {done.message}", seconds=done.seconds)
        self._done = done
        self._news.set()
        if self._on_end is not None:
            self._on_end(self)

    async def wait(self, seconds: float | None = None) -> bool:
        """Wait for a partial result or the end; return False if there is none within this time."""
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def events(self) -> AsyncIterator[Any]:
        """Yield partial results, the latest one whenever the reader is ready, and the ``Done`` at last."""
        while True:
            await self._news.wait()
            self._news.clear()
            partial, self._partial = self._partial, None
            if self._done is not None:
                yield self._done
                return
            yield partial

    async def done(self) -> Done:
        """Wait for the end."""
        async for event in self.events():
            if isinstance(event, Done):
                return event
        raise AssertionError

    @property
    def ended(self) -> Done | None:
        """The end of the job; None before it."""
        return self._done

    def cancel(self) -> bool:
        """Stop the job; return False if it has ended."""
        return self._workers.cancel(self._ticket)


class Jobs:
    """The worker processes of a server.

    Args:
        workers: number of processes for searches.
        limits: time limits and the number of waiting jobs.
        user_games: names of games from the user's files, which share one process for rules.
    """

    def __init__(self, workers: int, limits: ApiLimits, user_games: frozenset[str]) -> None:
        self.limits, self._user_games = limits, user_games
        self._rules = Workers(RULES_WORKERS, most_waiting=limits.requests)
        self._searches = Workers(workers, most_waiting=limits.waiting)
        self._slow = asyncio.Semaphore(RULES_WORKERS - 1)
        self._running: dict[str, Job] = {}

    def status(self) -> dict[str, int]:
        """Return the number of processes for searches, and of running and waiting searches."""
        return self._searches.status()

    async def rules(
        self, task: str, payload: Any, game: str | None = None, until: Callable[[], Awaitable[Any]] | None = None, *,
        slow: bool = False,
    ) -> Any:  # fmt: skip
        """Run a task that needs the rules of a game, or reads files; return its result.

        Args:
            task: name in ``tasks``, or ``module:name``.
            payload: first argument of the task.
            game: name of the game.
            until: waits for an event that ends the task early.
            slow: give the task the time of a search, and as a game of the user's files only one of the processes.

        Raises:
            JobError: the task failed or took too long, or too many wait.
        """
        limits: Any = {"seconds": self.limits.seconds if slow else self.limits.rules_seconds,
                       "prepare_seconds": self.limits.load_seconds}  # fmt: skip
        user_game = game if game in self._user_games else None
        async with self._slow if slow or user_game is not None else nullcontext():
            return await self.finish(_start(self._rules, CALL, task, payload, user_game=user_game, **limits), until)

    def start_search(
        self, task: str, payload: Any, game: str | None, priority: int = 0, identity: str | None = None
    ) -> Job:
        """Start a search, plan or review and return it without waiting.

        Args:
            task: name in ``tasks``, or ``module:name``.
            payload: first argument of the task.
            game: name of the game.
            priority: searches with a higher priority start first.
            identity: id to cancel it with; None for a random one.

        Raises:
            JobError: too many searches wait.
        """
        user_game = game if game in self._user_games else None
        seconds = self.limits.seconds + GRACE_SECONDS
        job = _start(
            self._searches, CALL_NICELY, task, payload, identity=identity, user_game=user_game, priority=priority,
            seconds=seconds, prepare_seconds=self.limits.compile_seconds, on_end=self._remove,
        )  # fmt: skip
        self._running[job.id] = job
        return job

    async def finish(self, job: Job, until: Callable[[], Awaitable[Any]] | None = None) -> Any:
        """Return the result of a job; cancel it if ``until`` returns first.

        Raises:
            JobError: the job failed, took too long, or was cancelled.
        """
        stop = asyncio.ensure_future(asyncio.Event().wait() if until is None else until())
        end = asyncio.ensure_future(job.done())
        try:
            await asyncio.wait((stop, end), return_when=asyncio.FIRST_COMPLETED)
            if not end.done():
                raise JobError("cancelled", "the client is gone")
            return result_of(end.result())
        finally:
            stop.cancel()
            end.cancel()
            self.forget(job)

    def has(self, identity: str) -> bool:
        """Return whether a search has this id."""
        return identity in self._running

    def cancel(self, identity: str) -> bool:
        """Stop a search by its id; return False if there is none."""
        job = self._running.get(identity)
        return job is not None and job.cancel()

    def forget(self, job: Job) -> None:
        """Stop a search whose client needs no more results."""
        job.cancel()
        self._remove(job)

    def _remove(self, job: Job) -> None:
        if self._running.get(job.id) is job:  # a client may use the id of a search that was stopped again
            del self._running[job.id]

    def warm(self) -> None:
        """Start the processes for rules, which import the games."""
        for _ in range(RULES_WORKERS):
            _start(self._rules, CALL, "warm", None, prepare_seconds=self.limits.load_seconds)

    def close(self) -> None:
        """End all processes."""
        self._rules.close()
        self._searches.close()


def _start(workers: Workers, entry: str, task: str, payload: Any, **limits: Any) -> Job:
    try:
        return Job(workers, entry, task, payload, **limits)
    except Busy as busy:
        raise JobError("busy", str(busy)) from None


def result_of(done: Done) -> Any:
    """Return the result of a job that has ended; raises JobError if it has none."""
    if done.kind == "result":
        return done.content
    if done.kind == "cancelled":
        raise JobError("cancelled", "the request was cancelled")
    raise JobError(done.code, done.message)
