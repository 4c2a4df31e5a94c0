"""The server of the playground: one port for pages, websockets and the HTTP API."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any, Final

from aleazero.errors import RunError
from aleazero.files import locked
from aleazero.serving.api.server import LimitedProtocol, listen, make_server
from aleazero.serving.api.settings import ApiSettings
from aleazero.web.guard import PageGuard

OPEN_AFTER: Final = 0.5
"""Seconds after which the browser is opened; the server then answers."""
ANY_ADDRESS: Final = ("0.0.0.0", "::")
WEBSOCKETS: Final = "websockets-sansio"


class PageProtocol(LimitedProtocol):
    """A connection that may become a websocket, which has its own time limits."""

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Stop the timers of requests, and let uvicorn's websocket take over."""
        if self._headers_due is not None:
            self._headers_due.cancel()
        super().handle_websocket_upgrade(event)


def serve(app: PageGuard, settings: ApiSettings, started: Callable[[str], None], opens: bool) -> None:
    """Run the playground until Ctrl-C.

    Args:
        app: the application with its guard.
        settings: address, port and limits.
        started: called with the address of the first page when the server listens.
        opens: open the page in the user's browser.

    Raises:
        ConfigError: the address cannot be used.
        RunError: the folder of sessions cannot be used, or another server uses it.
    """
    with locked(settings.session_folder, RunError), closing(listen(settings)) as listener:
        host, port = listener.getsockname()[:2]
        host = "127.0.0.1" if host in ANY_ADDRESS else f"[{host}]" if ":" in host else host
        token = "" if settings.token is None else f"?token={settings.token}"
        started(f"http://{host}:{port}/{token}")
        if opens:
            timer = threading.Timer(OPEN_AFTER, webbrowser.open, [f"http://{host}:{port}/{token}"])
            timer.daemon = True
            timer.start()
        with suppress(KeyboardInterrupt):  # which uvicorn raises again after the end
            make_server(app, settings, app.end_work, PageProtocol, WEBSOCKETS).run(sockets=[listener])
