"""Attacks on a playground with small limits: it answers with an error, or closes the connection, and lives on."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.serving.api.test_attacks import Raw
from tests.web.board_play import play_to_the_end
from tests.web.live_web import Server, start_game

SESSIONS = 4
HTTP = httpx.Client(timeout=120)
SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport="
FORGED = """() => {
  const client_id = window.clientId, events = [];
  const junk = [null, 'x', [], {}, -1, 1e308, 'x'.repeat(10000), [[[]]], ['nowhere', true, 0]];
  for (const [id, element] of Object.entries(document.querySelector('#app')._vnode.component.proxy.elements))
    for (const event of element.events ?? []) events.push([+id, event.listener_id, event.type]);
  const texts = junk.map(one => [JSON.stringify(one)]);
  for (const [id, listener_id, type] of events)
    if (type !== 'click') for (const args of texts) window.socket.emit('event', {client_id, id, listener_id, args});
  for (const one of junk) {
    window.socket.emit('event', one);
    window.socket.emit('event', {client_id, id: one, listener_id: one, args: one});
    window.socket.emit('event', {client_id: one, id: 1, listener_id: one, args: []});
    window.socket.emit('javascript_response', {client_id, request_id: one, result: one});
    window.socket.emit('ack', {client_id, next_message_id: one});
    window.socket.emit('handshake', {client_id: one, tab_id: one});
    window.socket.emit('nothing', one);
  }
  return events.length;
}"""
"""Sends invalid events of every kind, and for every listener of the page; returns the number of listeners."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    limits = {"client_seconds": 1, "sessions": SESSIONS, "connections": 200}
    options = [text for name, value in limits.items() for text in ("--limit", f"{name}={value}")]
    started = Server(tmp_path_factory.mktemp("attacked"), *options, games=("tic_tac_toe",))
    yield started
    assert HTTP.get(f"{started.origin}/").status_code == 200  # after all attacks
    HTTP.close()
    started.end()


@pytest.fixture
def visitor(browser, server):
    """A page whose errors do not matter."""
    context = browser.new_context(base_url=server.origin)
    context.set_default_timeout(90_000)
    yield context.new_page()
    context.close()


def sockets(server):
    """Return the open sockets of a server's process."""
    folder, found = f"/proc/{server.process.pid}/fd", set()
    for name in os.listdir(folder):
        try:
            found.add(os.readlink(f"{folder}/{name}"))
        except OSError:  # closed in the meantime
            continue
    return {name for name in found if name.startswith("socket:")}


def wait_until_closed(server, before):
    """Wait until a connection that was not there before is closed."""
    while not (opened := sockets(server) - before):
        time.sleep(0.01)
    while sockets(server) & opened:
        time.sleep(0.05)


# -- slow clients ------------------------------------------------------------------------------------------------------


def test_slow_requests_are_closed(server):
    for start in (b"", b"GET / HTTP/1.1\r\nX: ", f"GET {SOCKET}websocket HTTP/1.1\r\nUpgrade: ".encode()):
        with Raw(server) as raw:
            assert raw.send(start).closed()


@pytest.mark.parametrize("path", ["/", f"{SOCKET}polling"])
def test_a_body_that_comes_slowly_or_is_too_large_gets_an_error(server, path):
    with Raw(server) as raw:
        status, body = raw.request(f"POST {path} HTTP/1.1", "Content-Length: 100", body=b"4").answer()
        assert (status, json.loads(body)["error"]) == (408, "the body took longer than 1 s, expected it sooner")
    with Raw(server) as raw:
        assert raw.request(f"POST {path} HTTP/1.1", "Content-Length: 100000000").answer()[0] == 413


def test_a_client_that_does_not_read_is_closed(server):
    page = HTTP.get(f"{server.origin}/").text
    script = max(
        re.findall(r'"(/_nicegui/[^"]+\.js)"', page), key=lambda path: len(HTTP.get(server.origin + path).content)
    )
    before = sockets(server)
    with Raw(server) as raw:
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1000)
        raw.send(f"GET {script} HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode() * 30)
        wait_until_closed(server, before)


@pytest.mark.long  # until the server misses an answer to its ping
@pytest.mark.parametrize("reads", [True, False])
def test_a_websocket_without_answers_is_closed(server, reads):
    before = sockets(server)
    raw = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1000)
    address = f"ws://127.0.0.1:{server.port}{SOCKET}websocket"
    with connect(address, origin=server.origin, sock=raw, proxy=None, max_queue=None if reads else 1) as connection:
        connection.send("40")
        raw.sendall(b"\x81\xfe\x7f\xff")  # the head of a message of 32,767 bytes, which does not follow
        wait_until_closed(server, before)


# -- payloads ----------------------------------------------------------------------------------------------------------


def test_forged_events_change_nothing_and_the_page_lives_on(server, visitor):
    identity = start_game(visitor, "Tic tac toe", seats=("you", "you"))
    assert visitor.evaluate(FORGED) > 5
    play_to_the_end(visitor, identity)


def test_a_huge_event_closes_its_websocket_only(server, visitor):
    identity = start_game(visitor, "Tic tac toe", seats=("you", "you"))
    with connect(f"ws://127.0.0.1:{server.port}{SOCKET}websocket", origin=server.origin, proxy=None) as connection:
        connection.recv(timeout=30)
        connection.send("40")
        connection.recv(timeout=30)
        connection.send('42["event",{"client_id":"' + "x" * 2_000_000 + '"}]')
        with contextlib.suppress(ConnectionClosed):
            list(connection)  # until it is closed
    play_to_the_end(visitor, identity)


# -- numbers -----------------------------------------------------------------------------------------------------------


def test_sessions_end_at_their_limit(server, visitor):
    api = f"{server.origin}/api/v1/sessions"
    for one in HTTP.get(api).json():  # of the tests before
        HTTP.delete(f"{api}/{one['id']}")
    made = [HTTP.post(api, json={"game": "tic_tac_toe"}) for _ in range(SESSIONS)]
    assert {one.status_code for one in made} == {201}
    visitor.goto("/")
    visitor.get_by_role("button", name="Play Tic tac toe").click()
    visitor.get_by_role("dialog").get_by_role("button", name="Start").click()
    visitor.get_by_role("alert").filter(has_text=f"the server has {SESSIONS} sessions, expected fewer").wait_for()
    assert len(HTTP.get(api).json()) == SESSIONS


@pytest.mark.long  # until the server forgets the pages
def test_600_pages_end_at_the_limit_and_are_forgotten(tmp_path):
    server = Server(tmp_path, games=("tic_tac_toe",))
    try:
        with httpx.Client(base_url=server.origin, timeout=120) as client, ThreadPoolExecutor(8) as pool:
            found = [answer.status_code for answer in pool.map(lambda _: client.get("/lessons"), range(600))]
            assert set(found) == {200, 503}
            assert found.count(200) == 500
            assert client.get("/api/v1/server").status_code == 200
            while client.get("/lessons").status_code != 200:
                time.sleep(1)
    finally:
        server.end()
