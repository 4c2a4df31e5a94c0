"""ASGI middleware that checks every request before the API sees it.

- The Host header must have a known name. A page whose DNS name changes to 127.0.0.1 (DNS rebinding) has another one.
- A request that a browser sends for a page of another origin is rejected: Origin must match Host.
- If there is a token, every request needs it.
- The body is read here, up to a size and within a time, whether or not its length is announced.
- The number of requests in flight is limited.

Slow headers and answers that are not read are ended by the connection itself, in ``server``.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import urlsplit

from aleazero.errors import shortened
from aleazero.serving.api.settings import ApiSettings
from aleazero.untrusted import parse_json

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Headers of every answer."""
OWN_SITE: Final = ("same-origin", "none")
"""Values of Sec-Fetch-Site for a page of this server, and for an address that the user typed."""
DISCONNECTED: Final = "http.disconnect"


class Rejected(Exception):
    """A request that the guard answers itself."""

    def __init__(self, status: int, problem: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(problem)
        self.status, self.headers = status, headers


class ClientGone(Exception):
    """The client closed the connection before its request was complete."""


class Guard:
    """Checks requests and passes those that are allowed to an application.

    Args:
        app: the application.
        settings: host names, token and limits.
        end_work: called before the server waits for its last answers.
    """

    def __init__(self, app: App, settings: ApiSettings, end_work: Callable[[], None] = lambda: None) -> None:
        self.app, self.limits, self.end_work = app, settings.limits, end_work
        self.hosts, self.token = settings.accepted_hosts, settings.token
        self.in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_checked(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        if self.in_flight >= self.limits.requests:
            busy = f"the server has {self.in_flight} requests in flight, expected fewer: try again later"
            await send_rejection(send_checked, Rejected(503, busy, (b"retry-after", b"1")))
            return
        self.in_flight += 1
        try:
            self.check(scope["method"], scope["headers"])
            body = _checked(await self.read_body(scope, receive))
            if body and _single(scope["headers"], b"content-type") is None:
                raise Rejected(415, "the body has no Content-Type, expected application/json")
            await self.app(scope, replayed(body, receive), send_checked)
        except Rejected as rejected:
            if not started:
                await send_rejection(send_checked, rejected)
        except ClientGone:
            pass
        finally:
            self.in_flight -= 1

    def check(self, method: str, headers: list[tuple[bytes, bytes]]) -> None:
        """Raise ``Rejected`` if the headers of a request are not allowed."""
        host = self.check_host(headers)
        origin = _single(headers, b"origin")
        if origin is not None and not _same_origin(origin, host):
            name = _host_name(host)
            raise Rejected(403, f"Origin is {_quoted(origin)}, expected none or http://{name} with the same port")
        site = _single(headers, b"sec-fetch-site")
        if origin is None and site is not None and site not in OWN_SITE:
            raise Rejected(403, f"Sec-Fetch-Site is {_quoted(site)}, expected {' or '.join(OWN_SITE)}")
        self.check_token(_single(headers, b"authorization") or "")
        kind = (_single(headers, b"content-type") or "").partition(";")[0].strip().lower()
        if kind and kind != "application/json":
            raise Rejected(415, f"Content-Type is {_quoted(kind)}, expected application/json")

    def check_host(self, headers: list[tuple[bytes, bytes]]) -> str:
        """Return the Host header; raises ``Rejected`` if its name is not known."""
        host = _single(headers, b"host")
        if host is None:
            raise Rejected(400, "the request has no Host header, expected one")
        if _host_name(host) not in self.hosts:
            raise Rejected(
                403, f"Host is {_quoted(host)}, expected {' or '.join(sorted(self.hosts))}; --allow-host adds a name"
            )
        return host

    def check_token(self, authorization: str) -> None:
        """Raise ``Rejected`` if there is a token and this Authorization header does not have it."""
        if self.token is not None and not hmac.compare_digest(
            authorization.encode("latin-1", errors="replace"), f"Bearer {self.token}".encode()
        ):
            problem = "the request has no valid token, expected the header Authorization: Bearer TOKEN"
            raise Rejected(401, problem, (b"www-authenticate", b"Bearer"))

    async def read_body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the complete body of a request; raises ``Rejected`` if it is too large or comes too slowly."""
        most, seconds = self.limits.body_bytes, self.limits.client_seconds
        announced = _single(scope["headers"], b"content-length") or "0"
        if announced.isdecimal() and int(announced[:20]) > most:
            raise Rejected(413, f"the body has {announced[:20]} bytes, expected at most {most}")
        body = bytearray()
        try:
            async with asyncio.timeout(seconds):
                while True:
                    message = await receive()
                    if message["type"] == DISCONNECTED:
                        raise ClientGone
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise Rejected(413, f"the body has more than {most} bytes, expected at most {most}")
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise Rejected(408, f"the body took longer than {seconds:g} s, expected it sooner") from None


def _checked(body: bytes) -> bytes:
    """Return a body that is empty, or JSON without deep nesting, huge integers and broken text."""
    try:
        if body:
            parse_json(body)
    except ValueError as error:
        raise Rejected(400, f"the body is not valid JSON: {shortened(str(error), 200, 50)}") from None
    return body


def error_body(problem: str) -> bytes:
    """Return the body of every answer that is not a success."""
    return json.dumps({"error": problem}, ensure_ascii=False).encode("utf-8", errors="replace")


async def send_rejection(send: Send, rejected: Rejected) -> None:
    """Send an error and close the connection, so that the rest of the request is not read."""
    body = error_body(str(rejected))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *rejected.headers,
    ]
    await send({"type": "http.response.start", "status": rejected.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that gives the body first, and then what comes after it."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _single(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return the value of a header; None if it is missing."""
    found = [value for key, value in headers if key == name]
    if len(found) > 1:
        raise Rejected(400, f"the header {name.decode()} is given {len(found)} times, expected once")
    return found[0].decode("latin-1") if found else None


def _host_name(host: str) -> str:
    """Return the name in a Host header, in lower case and without port or brackets."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _same_origin(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin.strip().lower())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc == host.strip().lower()


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 100 else f"{text[:100]}…")
