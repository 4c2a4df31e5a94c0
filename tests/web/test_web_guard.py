"""Who may reach the playground: Host, Origin and token, for pages and for websockets."""

from __future__ import annotations

import http.client
import socket

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.web.live_web import Server

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


def ask(server, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body, answer.headers


def open_socket(server, origin, host="127.0.0.1", **headers):
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=60)
    address = f"ws://{host}:{server.port}{SOCKET}"
    with connect(address, origin=origin, sock=connection, additional_headers=headers, proxy=None) as found:
        return found.recv(timeout=30)


def test_a_page_of_another_site_cannot_reach_it(playground):
    assert ask(playground)[0] == 200
    assert ask(playground, Host="rebound.example")[:2] == (
        403, '{"error": "Host is \'rebound.example\', expected 127.0.0.1 or localhost; --allow-host adds a name"}'
    )  # fmt: skip
    assert ask(playground, Origin="http://elsewhere.example")[0] == 403
    assert ask(playground, Sec_Fetch_Site="cross-site")[0] == 403
    assert ask(playground, "/api/v1/server", Origin="http://elsewhere.example")[0] == 403


def test_a_websocket_needs_the_origin_of_a_page(playground):
    assert "sid" in open_socket(playground, playground.origin)
    for origin in ("http://elsewhere.example", f"http://elsewhere.example:{playground.port}", "null", None):
        with pytest.raises(InvalidStatus, match="403"):
            open_socket(playground, origin)
    with pytest.raises(InvalidStatus, match="403"):
        open_socket(playground, f"http://rebound.example:{playground.port}", host="rebound.example")


def test_pages_cannot_be_framed(playground):
    headers = ask(playground)[2]
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_token_is_required_everywhere_and_kept_in_a_cookie(tmp_path, browser):
    token = "a-long-secret-token"
    (tmp_path / "token").write_text(token, encoding="utf-8")
    server = Server(tmp_path / "sessions", "--token-file", str(tmp_path / "token"), games=("tic_tac_toe",))
    try:
        assert server.address.endswith(f"/?token={token}")
        for path in ("/", "/?token=wrong", "/_nicegui/none", "/api/v1/games"):
            assert ask(server, path)[0] == 401
        with pytest.raises(InvalidStatus, match="403"):
            open_socket(server, server.origin)
        assert "sid" in open_socket(server, server.origin, Cookie=f"aleazero_token={token}")
        page = browser.new_page()
        page.goto(server.address)
        assert page.url == f"{server.origin}/"  # the token does not stay in the address
        page.get_by_role("button", name="Play Tic tac toe").wait_for()
        assert page.evaluate("document.cookie").find("aleazero_token") == -1
        page.close()
    finally:
        server.end()
