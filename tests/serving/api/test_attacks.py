"""Attacks on a real server with small limits: it answers with an error, or closes the connection, and lives on."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time

import pytest

from tests.serving.api.live_api import live_api

TOKEN = "a-token-of-this-test"
PIG = "pig(target=20)"
JSON = "Content-Type: application/json"
LIMITS = {
    "client_seconds": 1.0, "sessions": 6, "sessions_in_memory": 2, "requests": 6, "connections": 12,
    "load_seconds": 120.0, "waiting": 2, "sims": 20_000_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with live_api(tmp_path_factory.mktemp("api"), token=TOKEN, limits=LIMITS) as live:
        (live.settings.sessions.parent / "secret.json").write_text('{"secret": 1}', encoding="utf-8")
        yield live
        assert live.get("/server").status_code == 200  # after all attacks


class Raw:
    """A connection that sends what a test wants."""

    def __init__(self, live):
        self.socket = socket.create_connection(("127.0.0.1", live.port), timeout=20)
        self.live = live

    def send(self, data):
        with contextlib.suppress(OSError):  # the server has closed the connection
            self.socket.sendall(data)
        return self

    def request(self, line, *headers, body=b"", **replaced):
        given = {"host": f"127.0.0.1:{self.live.port}", "authorization": f"Bearer {TOKEN}", **replaced}
        head = [line, *(f"{name}: {value}" for name, value in given.items() if value is not None), *headers]
        return self.send("\r\n".join([*head, "", ""]).encode("latin-1") + body)

    def answer(self):
        """Return the status and the body of the answer; 0 if the server has closed the connection."""
        with contextlib.suppress(ConnectionError), self.socket.makefile("rb") as file:
            status = file.readline().split()
            if len(status) > 1:
                length = 0
                while header := file.readline().strip().lower():
                    name, _, value = header.partition(b":")
                    length = int(value) if name == b"content-length" else length
                return int(status[1]), file.read(length)
        return 0, b""

    def closed(self):
        """Wait until the server closes the connection."""
        with contextlib.suppress(ConnectionError):
            while self.socket.recv(100_000):
                pass
        return True

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.socket.close()


@pytest.fixture
def raw(server):
    with Raw(server) as connection:
        yield connection


def error(answer, status):
    got, body = answer
    assert got == status, body
    return json.loads(body)["error"]


# -- headers -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/api/v1/server", "/api/v1/openapi.json", "/api/v1/runs", "/", "/nothing"])
def test_no_token_opens_no_path(raw, path):
    assert "no valid token" in error(raw.request(f"GET {path} HTTP/1.1", authorization=None).answer(), 401)


def test_a_page_of_another_origin_is_rejected(raw):
    line = error(raw.request("POST /api/v1/sessions HTTP/1.1", origin="http://evil.example").answer(), 403)
    assert line.startswith("Origin is 'http://evil.example'")


def test_a_rebound_name_is_rejected(raw):
    line = error(raw.request("GET /api/v1/server HTTP/1.1", host="evil.example:8000").answer(), 403)
    assert line.startswith("Host is 'evil.example:8000'")


def test_an_absolute_address_does_not_replace_the_host(raw):
    line = error(raw.request("GET http://127.0.0.1/api/v1/server HTTP/1.1", host="evil.example").answer(), 403)
    assert line.startswith("Host is 'evil.example'")


def test_a_websocket_is_not_opened(raw):
    raw.request("GET /api/v1/server HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")  # fmt: skip
    assert raw.answer()[0] != 101


@pytest.mark.parametrize(
    "junk", [b"\0" * 100_000, b"GET\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000, b"\x16\x03"]
)
def test_garbage_is_answered_or_closed(raw, junk):
    raw.send(junk)
    assert raw.answer()[0] in (0, 400)


# -- paths -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prefix", ["/api/v1/sessions/", "/api/v1/games/", "/api/v1/runs/", "/api/v1/", "/"])
@pytest.mark.parametrize(
    "path", ["../secret", "../secret.json", "..%2fsecret", "%2e%2e/secret.json", "..%5csecret", "//etc/passwd",
             "%2fetc%2fpasswd", "secret.json%00", "....//secret"],
)  # fmt: skip
def test_a_path_opens_no_file(raw, prefix, path):
    error(raw.request(f"GET {prefix}{path} HTTP/1.1").answer(), 404)


# -- bodies ----------------------------------------------------------------------------------------------------------


def test_a_body_of_100_mb_is_rejected_when_it_is_announced(raw):
    raw.request("POST /api/v1/sessions HTTP/1.1", "Content-Length: 100000000", body=b"[" * 1000)
    assert error(raw.answer(), 413) == "the body has 100000000 bytes, expected at most 1000000"


def test_a_body_of_100_mb_without_length_is_rejected_at_the_limit(raw):
    raw.request("POST /api/v1/sessions HTTP/1.1", "Transfer-Encoding: chunked")
    sent = threading.Thread(target=raw.send, args=((b"%x\r\n" % 100_000 + b" " * 100_000 + b"\r\n") * 1000,))
    sent.start()
    status, body = raw.answer()
    raw.socket.close()
    sent.join()
    assert status in (0, 413)  # 0: the connection was reset before the answer was read
    assert status == 0 or b"more than 1000000 bytes" in body


def test_a_body_with_two_lengths_is_rejected(raw):
    raw.request("POST /api/v1/sessions HTTP/1.1", "Content-Length: 2", "Content-Length: 3", body=b"{}")
    assert raw.answer()[0] == 400


# -- slow clients ------------------------------------------------------------------------------------------------------


def test_a_client_that_sends_headers_slowly_is_closed(raw):
    raw.send(b"GET /api/v1/server HTTP/1.1\r\nX: ")
    assert raw.closed()


def test_a_client_that_sends_nothing_is_closed(raw):
    assert raw.closed()


def test_a_client_that_sends_its_body_slowly_gets_an_error(raw):
    raw.request("POST /api/v1/sessions HTTP/1.1", "Content-Length: 100", body=b"{")
    assert error(raw.answer(), 408) == "the body took longer than 1 s, expected it sooner"


def test_a_client_that_does_not_read_is_closed(server):
    with Raw(server) as raw:
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1_000)
        raw.send(b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer %b\r\n\r\n"
                 % TOKEN.encode() * 300)  # fmt: skip
        while not (connections := server.connections()):
            time.sleep(0.01)
        while server.connections() & connections:
            time.sleep(0.05)


def test_connections_that_wait_are_closed_for_new_ones(server):
    waiting = [Raw(server) for _ in range(LIMITS["connections"] + 5)]
    try:
        with Raw(server) as last:
            assert last.request("GET /api/v1/server HTTP/1.1").answer()[0] == 200
    finally:
        for one in waiting:
            one.socket.close()


def test_requests_in_flight_are_limited(server):
    waiting = [
        Raw(server).request("POST /api/v1/sessions HTTP/1.1", "Content-Length: 9") for _ in range(LIMITS["requests"])
    ]
    try:
        while (answer := server.get("/server")).status_code == 200:  # until all of them have arrived
            time.sleep(0.01)
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "1"
        assert all(one.answer()[0] == 408 for one in waiting)
    finally:
        for one in waiting:
            one.socket.close()
    assert server.get("/server").status_code == 200


# -- work ------------------------------------------------------------------------------------------------------------


def test_sessions_end_at_the_limit(server):
    found = []
    while (answer := server.post("/sessions", {"game": PIG})).status_code == 201:
        found.append(answer.json()["id"])
    assert answer.status_code == 429
    assert answer.json()["error"] == "the server has 6 sessions, expected fewer than 6: delete one first"
    assert len(found) == len(server.get("/sessions").json()) == 6
    while len(server.store.in_memory) > 2:  # until they are saved
        time.sleep(0.05)
    for identity in found:
        assert server.get(f"/sessions/{identity}").status_code == 200
        assert server.client.delete(f"/sessions/{identity}").status_code == 204


def test_waiting_searches_are_limited(server):
    body = {"game": PIG, "sims": 20_000_000, "position": "3-12 turn 7"}
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(server.client.stream("POST", "/analyse", json=body))]
        while not server.get("/server").json()["running"]:
            time.sleep(0.01)
        streams += [stack.enter_context(server.client.stream("POST", "/analyse", json=body)) for _ in range(3)]
        assert [one.status_code for one in streams] == [200, 200, 200, 429]
        assert json.loads(streams[3].read()) == {"error": "2 requests are waiting, expected fewer; retry later"}
    server.wait_until_idle()


@pytest.mark.parametrize(("path", "game"), [("/tree", "broken(only=2)"), ("/legal", "broken(loop_at_start=True)")])
def test_rules_that_loop_leave_other_games_and_end_with_their_client(server, path, game):
    with Raw(server) as raw:
        body = json.dumps({"game": game}).encode()
        raw.request(f"POST /api/v1{path} HTTP/1.1", f"Content-Length: {len(body)}", JSON, body=body)
        for _ in range(5):
            assert server.post("/legal", {"game": PIG}).status_code == 200
        raw.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            raw.socket.recv(1)
    assert server.made(path, {"game": "coins"})["position"] == ""


@pytest.mark.parametrize(
    "game", ["pig(target=999999999999)", "pig(target=1e400)", "pig(target=__import__('os'))", "pig" + "(" * 5000]
)
def test_parameters_are_bounded(server, game):
    status, line = server.refused("/sessions", {"game": game})
    assert status == 400
    assert len(line) <= 1_000
