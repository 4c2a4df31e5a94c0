"""The application of the playground: the HTTP API and the pages of NiceGUI behind one guard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from nicegui import Client, core, ui
from nicegui.language import Language

from aleazero.serving.api.app import make_api
from aleazero.serving.api.guard import App, Receive, Rejected, Scope, Send
from aleazero.serving.api.settings import ApiSettings
from aleazero.serving.api.state import Api
from aleazero.web.guard import PageGuard
from aleazero.web.pages import analysis, compare, lessons, lobby, review, runs, table
from aleazero.web.playground import Playground

MOST_PAGES: Final = 500
"""Open pages, with those that were left within the last minute."""
STATIC: Final = "/_nicegui"
ICON: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="2" y="2" width="28" height="28" rx="7" '
    'fill="#0b5c8f"/><g fill="#fff"><circle cx="10" cy="10" r="3"/><circle cx="22" cy="22" r="3"/>'
    '<circle cx="16" cy="16" r="3"/></g></svg>'
)


def make_app(settings: ApiSettings, shown: Sequence[str] = ()) -> PageGuard:
    """Return the application with its guard. A process can have one, because NiceGUI has one.

    Args:
        settings: address, files and limits, as for the HTTP API.
        shown: games of the lobby, with or without parameters; empty for all.
    """
    api = Api(settings)
    app = make_api(api)
    playground = Playground(api, shown)
    for pages in (lobby, table, analysis, compare, lessons, review, runs):
        pages.add_pages(playground)
    language: Language = "en-US"
    ui.run_with(
        app, title="AleaZero", favicon=ICON, dark=None, language=language, tailwind=False, show_welcome_message=False,
        reconnect_timeout=10.0, binding_refresh_interval=None,
    )  # fmt: skip
    core.sio.eio.max_http_buffer_size = settings.limits.body_bytes
    return PageGuard(_limit_pages(app), settings, api.end_work)


def _limit_pages(app: Any) -> App:
    """Reject new pages if there are too many: each one takes memory, also if its browser is gone."""

    making = 0  # requests whose page may not be there yet

    async def limited(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal making
        page = scope["type"] == "http" and not scope["path"].startswith((STATIC, "/api/"))
        if page and len(Client.instances) + making >= MOST_PAGES:
            raise Rejected(503, f"the server has {MOST_PAGES} open pages, expected fewer: try again in a minute")
        making += page
        try:
            await app(scope, receive, send)
        finally:
            making -= page

    return limited
