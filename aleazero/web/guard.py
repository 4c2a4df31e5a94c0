"""ASGI middleware of the playground: the rules of the HTTP API for pages, their files and their websockets.

Host, Origin and token are checked by the API's own ``Guard``. A browser cannot add an Authorization header to a page or
a websocket, so the token comes as ``?token=...`` once and is kept in a cookie that scripts cannot read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Final
from urllib.parse import parse_qsl, urlencode

from aleazero.serving.api.guard import (
    App,
    ClientGone,
    Guard,
    Message,
    Receive,
    Rejected,
    Scope,
    Send,
    replayed,
    send_rejection,
)
from aleazero.serving.api.settings import ApiSettings

API: Final = "/api/"
COOKIE: Final = "aleazero_token"
PAGE_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every page and file. No other site may show a page in a frame."""
REFUSED: Final = 1008
"""Close code of a websocket that is not allowed."""


class PageGuard:
    """Passes requests of ``/api/`` to the API's guard, and checks all others itself.

    Args:
        app: the application with pages and API.
        settings: host names, token and limits.
        end_work: called before the server waits for its last answers.
    """

    def __init__(self, app: App, settings: ApiSettings, end_work: Callable[[], None]) -> None:
        self.app, self.limits, self.token, self.end_work = app, settings.limits, settings.token, end_work
        self.api = Guard(app, settings)
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or websocket, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        elif scope["path"].startswith(API):
            await self.api(scope, receive, send)
        else:
            await self._page(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if not any(name == b"origin" for name, _ in scope["headers"]):
                raise Rejected(403, "the websocket has no Origin header, expected that of a page of this server")
            self._check(scope)
        except Rejected:
            await receive()
            await send({"type": "websocket.close", "code": REFUSED})
            return
        await self._counted(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *PAGE_HEADERS]}
            await send(message)

        try:
            self.api.check_host(scope["headers"])
            if (location := self._login(scope)) is not None:
                await _redirect(send_with_headers, location, self.token or "")
                return
            self._check(scope)
            await self._counted(scope, receive, send_with_headers)
        except Rejected as rejected:
            await send_rejection(send_with_headers, rejected)
        except ClientGone:
            pass

    def _check(self, scope: Scope) -> None:
        """Check the headers as the API does, with the token of the cookie and any type of body."""
        headers = [(name, value) for name, value in scope["headers"] if name not in (b"content-type", b"authorization")]
        if self.token is not None:
            given = _cookie(scope["headers"])
            headers.append((b"authorization", f"Bearer {given}".encode("latin-1", errors="replace")))
        try:
            self.api.check(scope.get("method", "GET"), headers)
        except Rejected as rejected:
            if rejected.status == 401:
                raise Rejected(401, "the page needs a token, expected ?token=TOKEN at the end of its address") from None
            raise

    def _login(self, scope: Scope) -> str | None:
        """Return the address without the token if the address has the valid token, else None."""
        if self.token is None or scope["method"] != "GET":
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if len(given) != 1:
            return None
        self.api.check_token(f"Bearer {given[0]}")
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/")  # "//host" would lead to another site
        return f"{path}?{rest}" if rest else str(path)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.in_flight >= self.limits.connections:
            busy = f"the server has {self.in_flight} open connections, expected fewer: try again later"
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": REFUSED})
                return
            raise Rejected(503, busy, (b"retry-after", b"1"))
        self.in_flight += 1
        try:
            if scope["type"] == "http":
                receive = replayed(await self.api.read_body(scope, receive), receive)
            await self.app(scope, receive, send)
        finally:
            self.in_flight -= 1


def _cookie(headers: Iterable[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name == b"cookie":
            try:
                found = SimpleCookie(value.decode("latin-1")).get(COOKIE)
            except CookieError:
                continue
            if found is not None:
                return found.value
    return ""


async def _redirect(send: Send, location: str, token: str) -> None:
    cookie = SimpleCookie({COOKIE: token})
    for key, value in (("httponly", "true"), ("samesite", "Strict"), ("path", "/")):
        cookie[COOKIE][key] = value
    headers = [
        (b"location", location.encode("latin-1", errors="replace")),
        (b"set-cookie", cookie[COOKIE].OutputString().encode("latin-1")),
        (b"cache-control", b"no-store"),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
