from __future__ import annotations

import asyncio
import json

import pytest

from aleazero.errors import ConfigError
from aleazero.serving.api.guard import Guard
from aleazero.serving.api.settings import ApiLimits, ApiSettings, read_token

TOKEN = "a-token-of-this-test"


async def echo(scope, receive, send):
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


def call(guard, headers=(), body=(b"",), method="POST", hang=False):
    """Send one request; return the status, the body and the headers of the answer."""
    given = {"host": "127.0.0.1:8000", "content-type": "application/json", **dict(headers)}
    pairs = [(name.encode(), value.encode()) for name, value in given.items() if value is not None]
    parts = [{"type": "http.request", "body": one, "more_body": True} for one in body]
    if not hang:
        parts[-1]["more_body"] = False
    sent = []

    async def receive():
        if parts:
            return parts.pop(0)
        await asyncio.sleep(60)
        raise AssertionError

    async def send(message):
        sent.append(message)

    asyncio.run(guard({"type": "http", "method": method, "headers": pairs}, receive, send))
    received = dict(sent[0]["headers"])
    return sent[0]["status"], sent[1]["body"], received


def error(*arguments, **more):
    status, body, _ = call(*arguments, **more)
    return status, json.loads(body)["error"]


GUARD = Guard(echo, ApiSettings())


def test_an_allowed_request_is_passed_on_with_its_body():
    status, body, headers = call(GUARD, body=(b"[1, ", b"2]"))
    assert (status, body) == (200, b"[1, 2]")
    assert headers[b"cache-control"] == b"no-store"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:8000", "LOCALHOST"])
def test_names_of_this_machine_are_accepted(host):
    assert call(GUARD, {"host": host})[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "0.0.0.0", "[::1]"]
)
def test_a_rebound_name_is_rejected(host):
    status, line = error(GUARD, {"host": host})
    assert status == 403
    assert line.startswith(f"Host is {host!r}, expected 127.0.0.1 or localhost")


def test_a_request_without_host_is_rejected():
    assert error(GUARD, {"host": None}) == (400, "the request has no Host header, expected one")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:9000",
        "http://[",
        "file://127.0.0.1:8000",
        "",
    ],
)
def test_another_origin_is_rejected(origin):
    status, line = error(GUARD, {"origin": origin})
    assert status == 403
    assert line.startswith(f"Origin is {origin!r}, expected none or")


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "https://127.0.0.1:8000", "HTTP://127.0.0.1:8000"])
def test_the_own_origin_is_accepted(origin):
    assert call(GUARD, {"origin": origin})[0] == 200


def test_a_request_of_another_site_without_origin_is_rejected():
    assert error(GUARD, {"sec-fetch-site": "cross-site"}, method="GET")[0] == 403
    assert call(GUARD, {"sec-fetch-site": "same-origin"}, method="GET")[0] == 200
    assert call(GUARD, {"sec-fetch-site": "none"}, method="GET")[0] == 200


@pytest.mark.parametrize("given", [None, "", TOKEN, f"Basic {TOKEN}", "Bearer ", f"Bearer {TOKEN}x", f"bearer {TOKEN}"])
def test_a_request_without_token_is_rejected(given):
    guard = Guard(echo, ApiSettings(token=TOKEN))
    status, body, headers = call(guard, {"authorization": given})
    assert status == 401
    assert b"no valid token" in body
    assert headers[b"www-authenticate"] == b"Bearer"
    assert call(guard, {"authorization": f"Bearer {TOKEN}"})[0] == 200


def test_another_content_type_is_rejected():
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert error(GUARD, form)[0] == 415
    assert error(GUARD, {"content-type": None}, body=(b"{}",))[0] == 415
    assert call(GUARD, {"content-type": None})[0] == 200
    assert call(GUARD, {"content-type": "application/json; charset=utf-8"})[0] == 200


def test_a_large_body_is_rejected_before_it_is_read():
    status, line = error(GUARD, {"content-length": "100000000"}, hang=True)
    assert (status, line) == (413, "the body has 100000000 bytes, expected at most 1000000")


def test_a_large_body_of_unknown_length_is_rejected_at_the_limit():
    guard = Guard(echo, ApiSettings(limits=ApiLimits(body_bytes=10)))
    assert call(guard, body=(b"[1234", b"5678]"))[0] == 200
    assert error(guard, body=(b"x" * 5, b"x" * 6), hang=True)[0] == 413


@pytest.mark.parametrize("body", [b"{", b"\xff", b'"\\ud800"', b"[" * 100 + b"]" * 100, b"1" * 30, b"1e999"])
def test_a_body_that_is_not_plain_json_is_rejected(body):
    status, line = error(GUARD, body=(body,))
    assert status == 400
    assert line.startswith("the body is not valid JSON: ")


def test_a_slow_body_ends():
    guard = Guard(echo, ApiSettings(limits=ApiLimits(client_seconds=0.05)))
    assert error(guard, body=(b"x",), hang=True) == (408, "the body took longer than 0.05 s, expected it sooner")
    assert guard.in_flight == 0


def test_requests_in_flight_are_limited():
    guard = Guard(echo, ApiSettings(limits=ApiLimits(requests=3)))
    guard.in_flight = 3
    status, _, headers = call(guard)
    assert status == 503
    assert headers[b"retry-after"] == b"1"
    guard.in_flight = 2
    assert call(guard)[0] == 200


def test_a_repeated_header_is_rejected():
    sent = []

    async def send(message):
        sent.append(message)

    hosts = [(b"host", b"127.0.0.1"), (b"host", b"evil.example")]
    asyncio.run(GUARD({"type": "http", "method": "GET", "headers": hosts}, None, send))
    assert sent[0]["status"] == 400


def test_another_host_needs_a_token():
    with pytest.raises(ConfigError, match=r"--host is '0\.0\.0\.0', which other machines may reach: expected a token"):
        ApiSettings(host="0.0.0.0")
    settings = ApiSettings(host="0.0.0.0", token=TOKEN, host_names=("box.example",))
    assert settings.accepted_hosts == {"127.0.0.1", "localhost", "0.0.0.0", "box.example"}


@pytest.mark.parametrize("token", ["", "short", "with a space in the text", "ünicode-ünicode-ünicode", "x" * 20 + "\n"])
def test_a_weak_token_is_rejected(token):
    with pytest.raises(ConfigError, match="expected at least 16 ASCII characters"):
        ApiSettings(token=token)


def test_the_token_comes_from_a_file_or_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    monkeypatch.delenv("ALEAZERO_API_TOKEN", raising=False)
    assert read_token(None) is None
    monkeypatch.setenv("ALEAZERO_API_TOKEN", "another-token-of-this-test")
    assert read_token(None) == "another-token-of-this-test"
    assert read_token(file) == TOKEN
    with pytest.raises(ConfigError, match="cannot be read"):
        read_token(tmp_path / "missing")
