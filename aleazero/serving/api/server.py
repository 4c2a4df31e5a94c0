"""Connections of the HTTP API: uvicorn with time limits for clients that send or read slowly.

uvicorn itself waits forever for the end of the headers, and for a client that reads its answer.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, ClassVar

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from aleazero.errors import ConfigError, RunError
from aleazero.files import locked, reason
from aleazero.serving.api.guard import App, Guard
from aleazero.serving.api.settings import ApiLimits, ApiSettings

KEEP_ALIVE: int = 5
"""Seconds that an idle connection stays open."""


class LimitedProtocol(H11Protocol):
    """A connection that is closed if its client sends headers, or reads the answer, too slowly."""

    limits: ClassVar[ApiLimits]

    _headers_due: asyncio.TimerHandle | None = None
    _read_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; if there are too many, close the oldest one that has sent no request."""
        if len(self.connections) >= self.limits.connections:
            idle = [one for one in self.connections if isinstance(one, LimitedProtocol) and one.waits_for_request()]
            if not idle:
                transport.abort()
                return
            min(idle, key=lambda one: one.since).abort()
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect_headers()

    def waits_for_request(self) -> bool:
        """Return whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def abort(self) -> None:
        """Close the connection without sending what is left."""
        self.transport.abort()
        self.connections.discard(self)

    def on_response_complete(self) -> None:
        """Expect the next request."""
        super().on_response_complete()
        self.since = self.loop.time()
        self._expect_headers()

    def pause_writing(self) -> None:
        """Expect the client to read, because the buffers are full."""
        super().pause_writing()
        self._read_due = self.loop.call_later(self.limits.client_seconds, self.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        self._stop_reading_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        if self._headers_due is not None:
            self._headers_due.cancel()
        self._stop_reading_timer()
        if self.transport is not None:
            super().connection_lost(exc)

    def _stop_reading_timer(self) -> None:
        if self._read_due is not None:
            self._read_due.cancel()
            self._read_due = None

    def _expect_headers(self) -> None:
        if self._headers_due is not None:
            self._headers_due.cancel()
        self._headers_due = self.loop.call_later(self.limits.client_seconds, self._end_if_waiting)

    def _end_if_waiting(self) -> None:
        if self.waits_for_request():
            self.abort()


class ApiServer(uvicorn.Server):
    """A server that ends all work first when it shuts down, so that no client waits for an answer until it is cut off.

    Args:
        config: settings of uvicorn.
        end_work: ends the worker processes.
    """

    def __init__(self, config: uvicorn.Config, end_work: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_work = end_work

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the worker processes, and then shut down as uvicorn does."""
        self._end_work()
        await super().shutdown(sockets)


def serve(app: Guard, settings: ApiSettings, started: Callable[[str], None]) -> None:
    """Run a server until Ctrl-C.

    Args:
        app: the application with its guard.
        settings: address, port and limits.
        started: called with the address when the server listens.

    Raises:
        ConfigError: the address cannot be used.
        RunError: the folder of sessions cannot be used, or another server uses it.
    """
    with locked(settings.session_folder, RunError), closing(listen(settings)) as listener:
        host, port = listener.getsockname()[:2]
        started(f"http://{f'[{host}]' if ':' in host else host}:{port}/api/v1")
        with suppress(KeyboardInterrupt):  # which uvicorn raises again after the end
            make_server(app, settings, app.end_work).run(sockets=[listener])


def listen(settings: ApiSettings) -> socket.socket:
    """Return a socket that listens on the address of the settings; port 0 is any free port."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.socket(family, socket.SOCK_STREAM)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((settings.host, settings.port))
            listener.listen(settings.limits.connections)
        except OSError:
            listener.close()
            raise
    except (OSError, OverflowError, UnicodeError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise ConfigError(
            f"cannot listen on {settings.host} port {settings.port}: {why}, expected an address of this machine and a "
            "free port"
        ) from None
    return listener


def make_server(
    app: App, settings: ApiSettings, end_work: Callable[[], None], protocol: type[LimitedProtocol] = LimitedProtocol,
    ws: Any = "none",
) -> uvicorn.Server:  # fmt: skip
    """Return the server of an application, which listens on sockets that it is given.

    Args:
        app: the application with its guard.
        settings: limits.
        end_work: called before the server waits for its last answers.
        protocol: connections.
        ws: implementation of websockets, as uvicorn names it.
    """
    own = type("Protocol", (protocol,), {"limits": settings.limits})
    config = uvicorn.Config(
        app, http=own, ws=ws, ws_max_size=settings.limits.body_bytes, interface="asgi3", lifespan="on",
        log_level="warning", access_log=False, server_header=False, date_header=False, proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=2,
    )  # fmt: skip
    return ApiServer(config, end_work)
