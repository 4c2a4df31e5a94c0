"""The engine: requests as JSON lines on one stream, answers as JSON lines on another one.

Every request gets exactly one final line, of kind ``result``, ``error`` or ``cancelled``; partial results come before
it. A reader that does not read makes the engine wait: it then holds a bounded number of answers, starts no further
requests, and drops partial results.
"""

from __future__ import annotations

import json
import logging
import os
import select
import threading
from collections import deque
from collections.abc import Iterator
from typing import Any, Final, Literal

from pydantic import Field

from aleazero.errors import ConfigError, nearest, shortened
from aleazero.files import reason
from aleazero.serving.requests import (
    ANSWER,
    REQUESTS,
    VERSION,
    Limits,
    Request,
    Sources,
    parse_request,
    read_model,
)
from aleazero.serving.workers import Busy, Done, Ticket, Workers
from aleazero.untrusted import parse_json, printable
from aleazero.version import VERSION as RELEASE

log = logging.getLogger("aleazero")
LONGEST_LINE: Final = 4_000_000
"""Bytes of a request."""
MOST_UNSENT: Final = 8_000_000
"""Bytes of answers that wait for the reader, before the engine waits as well."""
MOST_WAITING: Final = 10_000
"""Requests that wait for a worker."""
MOST_PENDING: Final = 64_000_000
"""Bytes of requests without an answer, above which further requests are errors."""


class CancelRequest(Request):
    """End a request early. Its final line has the kind `cancelled`."""

    request: Literal["cancel"] = Field("cancel", description="Kind of the request.")
    target: str = Field(min_length=1, max_length=200, description="The id of the request to end.")


class VersionRequest(Request):
    """Repeat the first line of the engine, with the present counts of requests."""

    request: Literal["version"] = Field("version", description="Kind of the request.")


CONTROLS: Final[dict[str, type[Request]]] = {"cancel": CancelRequest, "version": VersionRequest}
"""Requests that the engine answers itself."""


class Engine:
    """Serves one client.

    Args:
        workers: the processes that compute answers.
        sources: files that requests may name.
        limits: limits of requests.
        outbox: takes the lines for the client.
    """

    def __init__(self, workers: Workers, sources: Sources, limits: Limits, outbox: Outbox) -> None:
        self.workers, self.sources, self.limits, self._outbox = workers, sources, limits, outbox
        self._running: dict[str, Ticket | None] = {}
        self._open = self._bytes = 0
        self._changed = threading.Condition()

    def hello(self) -> None:
        """Write the first line."""
        self._write({"kind": "hello", **self._facts()})

    def handle(self, line: bytes) -> None:
        """Start the request of a line, or write an error."""
        name = None
        try:
            try:
                data = parse_json(line.decode(), _reject)
            except ValueError as error:  # also UnicodeDecodeError
                self._error(None, "bad_line", f"the line is not JSON: {error}")
                return
            fields = data if isinstance(data, dict) else {}
            if isinstance(fields.get("id"), str) and len(fields["id"]) <= 200:
                name = fields["id"]
            if name is not None and name in self._running:
                self._error(name, "duplicate_id", f"request {name!r} has not ended, expected another id")
                return
            request = self._parse(data)
            if isinstance(request, CancelRequest | VersionRequest):
                self._control(request)
            else:
                self._submit(request, len(line))
        except Busy as error:
            self._error(name, "busy", str(error))
        except ConfigError as error:
            self._error(name, "bad_request", str(error))
        except Exception as error:  # a bug; other requests are not affected
            log.exception("a request failed")
            self._error(name, "failed", f"{type(error).__name__}: {error}")

    def too_long(self) -> None:
        """Write the error of a line that was too long to read."""
        self._error(None, "bad_line", f"the line has more than {LONGEST_LINE:,} bytes, expected fewer")

    def wait(self) -> None:
        """Wait until every request has its final line, or the reader is gone."""
        with self._changed:
            while not self._changed.wait_for(lambda: self._open == 0, 0.2) and not self._outbox.closed:
                pass

    def _parse(self, data: Any) -> Request:
        kind = data.get("request") if isinstance(data, dict) else None
        if isinstance(kind, str) and kind in CONTROLS:
            return read_model(CONTROLS[kind], data)
        if isinstance(kind, str) and kind not in REQUESTS:
            hint = nearest(kind, [*REQUESTS, *CONTROLS])
            raise ConfigError(f"is {shortened(repr(kind), 80, 10)}, {hint}", field="request")
        return parse_request(data, self.limits, self.sources)

    def _submit(self, request: Request, size: int) -> None:
        name = request.id
        with self._changed:
            if self._bytes > MOST_PENDING:
                raise Busy(f"{MOST_PENDING:,} bytes of requests are waiting, expected fewer; retry later")
            self._open += 1
            self._bytes += size
            if name is not None:
                self._running[name] = None
        try:
            ticket = self.workers.submit(
                ANSWER,
                (request, self.sources, self.limits),
                priority=request.priority,
                seconds=self.limits.hard_seconds,
                prepare_seconds=self.limits.prepare_seconds,
                on_partial=lambda content: self._partial(name, content),
                on_done=lambda done: self._done(name, size, done),
            )
        except Busy:
            self._closed(name, size)
            raise
        with self._changed:
            if name in self._running:
                self._running[name] = ticket

    def _control(self, request: CancelRequest | VersionRequest) -> None:
        if isinstance(request, CancelRequest):
            with self._changed:
                ticket = self._running.get(request.target)
            if ticket is None or not self.workers.cancel(ticket):
                text = f"no request {request.target!r} is running or waiting, expected the id of one"
                self._error(request.id, "unknown_id", text)
                return
            self._write({"id": request.id, "kind": "result", "result": {"cancelled": request.target}})
        else:
            self._write({"id": request.id, "kind": "result", "result": self._facts()})

    def _facts(self) -> dict[str, Any]:
        return {
            "aleazero": RELEASE,
            "requests": [*REQUESTS, *CONTROLS],
            "limits": self.limits.model_dump(),
            "games": sorted(self.sources.games),
            "nets": sorted(self.sources.nets),
            "status": self.workers.status(),
        }

    # -- answers; the first two are called by the thread of the workers ----------------------------------------------

    def _partial(self, name: str | None, content: bytes) -> None:
        self._outbox.offer(_line(name, "partial", content))

    def _done(self, name: str | None, size: int, done: Done) -> None:
        if done.kind == "error":
            self._error(name, done.code, done.message)
        else:
            self._outbox.put(_line(name, done.kind, done.content or b"null"))
        self._closed(name, size)

    def _closed(self, name: str | None, size: int) -> None:
        with self._changed:
            self._bytes -= size
            if name is not None:
                self._running.pop(name, None)
            self._open -= 1
            self._changed.notify_all()

    def _error(self, name: str | None, code: str, message: str) -> None:
        self._write({"id": name, "kind": "error", "code": code, "message": shortened(printable(message))})

    def _write(self, fields: dict[str, Any]) -> None:
        self._outbox.put(json.dumps({"version": VERSION, **fields}, separators=(",", ":")).encode() + b"\n")


def _reject(constant: str) -> None:
    raise ValueError(f"a number is {constant}, expected a finite one")


def _line(name: str | None, kind: str, content: bytes) -> bytes:
    head = json.dumps({"version": VERSION, "id": name, "kind": kind}, separators=(",", ":")).encode()
    return b'%s,"result":%s}\n' % (head[:-1], content)


class Outbox:
    """Lines for a reader, written by a thread. ``put`` waits while too much is unsent.

    Another thread notices a pipe or socket that the reader has closed, also if nothing is written.

    Args:
        file: descriptor to write to.
        most: bytes that may be unsent.
    """

    def __init__(self, file: int, most: int = MOST_UNSENT) -> None:
        self._file, self._most = file, most
        self._lines: deque[bytes] = deque()
        self._bytes = 0
        self.closed = False
        self.error: OSError | None = None
        """Why lines could not be written; None if the reader closed its end."""
        self._changed = threading.Condition()
        self.gone, self._tell = os.pipe()
        """Descriptor that can be read when the reader is gone."""
        for work in (self._send, self._watch):
            threading.Thread(target=work, name="aleazero answers", daemon=True).start()

    def put(self, line: bytes) -> None:
        """Add a line; wait for room if the reader is slow."""
        with self._changed:
            self._changed.wait_for(lambda: self._bytes < self._most or self.closed)
            self._add(line)

    def offer(self, line: bytes) -> None:
        """Add a line if there is room."""
        with self._changed:
            if self._bytes < self._most:
                self._add(line)

    def _add(self, line: bytes) -> None:
        if not self.closed:
            self._lines.append(line)
            self._bytes += len(line)
            self._changed.notify_all()

    def flush(self) -> None:
        """Wait until all lines are written, or the reader is gone."""
        with self._changed:
            self._changed.wait_for(lambda: not self._bytes or self.closed)

    def close(self) -> None:
        """Drop all lines, now and later."""
        with self._changed:
            if not self.closed:
                os.write(self._tell, b"x")
            self.closed = True
            self._lines.clear()
            self._bytes = 0
            self._changed.notify_all()

    def _send(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self.closed)
                if self.closed:
                    return
                batch = b"".join(self._lines)
                self._lines.clear()
            try:
                self._write(memoryview(batch))
            except OSError as error:
                self.error = None if isinstance(error, BrokenPipeError | ConnectionError) else error
                self.close()
                return
            with self._changed:
                self._bytes = max(0, self._bytes - len(batch))
                self._changed.notify_all()

    def _watch(self) -> None:
        poll = select.poll()
        poll.register(self._file, 0)  # errors only
        poll.register(self.gone, select.POLLIN)
        poll.poll()
        self.close()

    def _write(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[os.write(self._file, rest) :]
            except BlockingIOError:  # the client made the pipe non-blocking, for both ends
                select.select([], [self._file], [])


def read_lines(file: int, gone: int) -> Iterator[bytes | None]:
    """Yield the lines of a descriptor until its end, or until ``gone`` can be read; None for a line that is too long.

    Empty lines are left out. A last line without a line feed counts.
    """
    rest, skips = b"", False
    while True:
        ready, _, _ = select.select([file, gone], [], [])
        if gone in ready:
            return
        try:
            some = os.read(file, 1 << 16)
        except BlockingIOError:
            continue
        *lines, rest = (rest + some).split(b"\n") if some else (rest, b"")
        for line in lines:
            if not skips and len(line) <= LONGEST_LINE:
                if line.strip():
                    yield line
            elif not skips:
                yield None
            skips = False
        if not some:
            return
        if len(rest) > LONGEST_LINE:
            if not skips:
                yield None
            rest, skips = b"", True
        elif skips:
            rest = b""


def run_engine(workers: int, sources: Sources, limits: Limits, stdin: int = 0, stdout: int = 1) -> None:
    """Serve a client until the end of its input; then finish the requests that have no answer yet.

    The engine ends early if the client closes its end of the output.

    Raises:
        ConfigError: the answers cannot be written, e.g. because the disk is full.
    """
    outbox = Outbox(stdout)
    with Workers(workers, MOST_WAITING) as pool:
        try:
            engine = Engine(pool, sources, limits, outbox)
            engine.hello()
            for line in read_lines(stdin, outbox.gone):
                if line is None:
                    engine.too_long()
                else:
                    engine.handle(line)
            engine.wait()
            outbox.flush()
        finally:
            outbox.close()  # the thread of the workers may wait for room
    if outbox.error is not None:
        raise ConfigError(f"the answers cannot be written: {reason(outbox.error)}")
