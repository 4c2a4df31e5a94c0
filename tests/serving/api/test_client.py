"""The client of the documentation, and the command ``aleazero serve api`` with all its options, as processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.serving.api.live_api import COINS

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "guides" / "api.md"
TOKEN = "a-token-of-this-test"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Return the file of the client on the page."""
    file = tmp_path_factory.mktemp("client") / "api_client.py"
    block = re.search(r"# file: api_client.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file.write_text(block[1], encoding="utf-8")
    return file


def test_the_client_plays_a_game(live, client):
    result = subprocess.run([sys.executable, client, f"{live.origin}/api/v1"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert re.fullmatch(r"0-0 turn 0 player 0 \{'roll': [\d.-]+\}", lines[0])
    assert lines[-1] in ("returns [1.0, -1.0]", "returns [-1.0, 1.0]")


def test_the_client_shows_the_line_of_an_error(live, client):
    result = subprocess.run([sys.executable, client, f"{live.origin}/nowhere"], capture_output=True, text=True)
    assert result.stderr.splitlines()[-1] == "RuntimeError: POST /nowhere/sessions: Not Found"


class Served:
    """A process of ``aleazero serve api``."""

    def __init__(self, *options):
        command = [sys.executable, "-m", "aleazero", "serve", "api", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stderr.readline()
        self.address = self.first.removeprefix("listening on ").strip()

    def client(self, **headers):
        return httpx.Client(base_url=self.address, headers=headers, timeout=60)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(), self.process.stderr.read()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def test_every_option_of_the_command_has_an_effect(tmp_path):
    (tmp_path / "token").write_text(TOKEN, encoding="utf-8")
    net = tmp_path / "net.safetensors"
    (tmp_path / "runs" / "one").mkdir(parents=True)
    (tmp_path / "runs" / "one" / "manifest.json").write_text("{}", encoding="utf-8")
    net.write_bytes(b"")
    options = (
        "--host", "127.0.0.2", "--port", "0", "--token-file", str(tmp_path / "token"), "--allow-host", "box.example",
        "--game-file", f"mine={COINS}", "--net", f"own={net}", "--runs", str(tmp_path / "runs"), "--sessions",
        str(tmp_path / "sessions"), "--workers", "3", "--limit", "sims=77",
    )  # fmt: skip
    allowed = {"authorization": f"Bearer {TOKEN}"}
    with Served(*options) as server:
        assert re.fullmatch(r"http://127\.0\.0\.2:\d+/api/v1", server.address), server.first
        assert server.client().get("/server").status_code == 401
        with server.client(**allowed) as client:
            facts = client.get("/server", headers={"host": "box.example"}).json()
            assert (facts["workers"], facts["limits"]["sims"]) == (3, 77)
            assert "own" in facts["nets"]
            assert [run["run"] for run in client.get("/runs").json()] == ["one"]
            session = client.post("/sessions", json={"game": "mine", "seed": 1, "moves": ["flip"]}).json()
        assert server.end() == (0, "")
    saved = json.loads((tmp_path / "sessions" / f"{session['id']}.json").read_text(encoding="utf-8"))
    assert saved["session"]["game"] == "mine"
    with Served(*options) as again, again.client(**allowed) as client:
        assert client.get(f"/sessions/{session['id']}").json()["position"] == session["position"]
        with Served("--sessions", str(tmp_path / "sessions"), "--port", "0") as second:
            assert second.process.wait() == 2
            assert "another" in second.first
