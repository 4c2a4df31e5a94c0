"""One playground for all tests of this folder and a browser per file: a real server process and a real Chromium."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.runs.run_by_hand import run_by_hand
from tests.web.live_web import BROKEN, GAMES, Server

pytest.register_assert_rewrite("tests.web.board_play")  # before a test imports it


@pytest.fixture(scope="session")
def playground(tmp_path_factory):
    folder = tmp_path_factory.mktemp("playground")
    broken = folder / "broken.py"
    broken.write_text(BROKEN, encoding="utf-8")
    coins = folder / "coins.py"  # the example without its drawing
    coins.write_text(Path(GAMES[0]).read_text(encoding="utf-8").replace("def draw(", "def undrawn("), encoding="utf-8")
    games = (str(coins), *GAMES[1:], str(broken))
    run_by_hand(folder / "runs" / "first", "afterstate")
    server = Server(folder / "sessions", "--runs", str(folder / "runs"), games=games)
    yield server
    printed = server.end()
    assert "Traceback" not in printed, printed


@pytest.fixture(scope="module")  # its event loop must be gone before tests of other folders run one
def browser():
    names = (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    assert path is not None, "no Chromium found: run tests/web/install_browser.sh, or set CHROMIUM"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


LEFT = "WebSocket is already in CLOSING or CLOSED state"
"""Chromium's message if a page still sends while another one is opened."""


class Problems(list):
    """Errors on the console, exceptions and failed requests of a page."""

    def watch(self, page):
        page.on("console", self._printed)
        page.on("pageerror", lambda error: self.append(str(error)))
        page.on("requestfailed", lambda request: self.append(f"{request.url} {request.failure}"))
        page.on("response", lambda answer: self.append(f"{answer.status} {answer.url}") if answer.status >= 400 else 0)

    def _printed(self, message):
        if message.type == "error" and LEFT not in message.text:
            self.append(message.text)


@pytest.fixture
def page(browser, playground):
    """A page 1,280 pixels wide; a test fails if the page reports an error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, base_url=playground.origin)
    context.set_default_timeout(90_000)
    found, problems = context.new_page(), Problems()
    problems.watch(found)
    yield found
    context.close()
    assert problems == []
