"""A server of the HTTP API in this process, on a free port, with real worker processes."""

from __future__ import annotations

import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from aleazero.serving.api.app import make_app
from aleazero.serving.api.server import listen, make_server
from aleazero.serving.api.settings import ApiLimits, ApiSettings
from aleazero.serving.requests import Sources

COINS = Path(__file__).parents[3] / "examples" / "coins.py"
BROKEN = '''
import time

class Broken:
    """Flips one coin; the rules raise, loop or end the process if a step asks for it."""

    name = "broken"
    num_players = 1
    num_actions = 5
    utility = (0.0, 1.0)

    def __init__(self, loop_at_start=False, only=-1):
        self.over, self.only = False, only
        while loop_at_start:
            pass

    def current_player(self):
        return -4 if self.over else 0

    def legal_actions(self):
        return [0, 1, 2, 3] if self.only < 0 else [self.only]

    def apply_action(self, action):
        if action == 1:
            raise ValueError("no such coin")
        while action == 2:
            pass
        if action == 3:
            import os
            os._exit(7)
        self.over = True

    def returns(self):
        return [1.0]

    def action_to_string(self, action):
        return ("end", "raise", "loop", "exit", "never")[action]

    def __str__(self):
        return "over" if self.over else "running"
'''


class Live:
    """A running server and a client of it."""

    def __init__(self, settings, port, app, server):
        self.settings, self.app, self._server = settings, app, server
        self.port, self.origin = port, f"http://127.0.0.1:{port}"
        headers = {} if settings.token is None else {"authorization": f"Bearer {settings.token}"}
        self.client = httpx.Client(base_url=f"{self.origin}/api/v1", timeout=120, headers=headers)

    @property
    def store(self):
        """The sessions of the server."""
        return self.app.app.state.api.store

    def connections(self):
        """Return the open connections."""
        return set(self._server.server_state.connections)

    def wait_until_idle(self):
        """Wait until no search runs or waits."""
        while (server := self.get("/server").json())["running"] or server["waiting"]:
            time.sleep(0.02)

    def get(self, path, **more):
        return self.client.get(path, **more)

    def post(self, path, body=None, **more):
        return self.client.post(path, json={} if body is None else body, **more)

    def made(self, path, body=None):
        """Return the answer of a request that must succeed."""
        answer = self.post(path, body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def refused(self, path, body=None):
        """Return the status and the line of a request that must fail."""
        answer = self.post(path, body)
        assert set(answer.json()) == {"error"}
        assert "\n" not in answer.json()["error"]
        return answer.status_code, answer.json()["error"]


@contextmanager
def live_api(folder, *, games=(), limits=None, **settings):
    broken = folder / "broken.py"
    broken.write_text(BROKEN, encoding="utf-8")
    settings = ApiSettings(
        port=0, sessions=folder / "sessions", workers=settings.pop("workers", 1), limits=ApiLimits(**(limits or {})),
        sources=Sources.read([str(COINS), str(broken), *games]), **settings,
    )  # fmt: skip
    app = make_app(settings)
    with closing(listen(settings)) as listener:
        server = make_server(app, settings, app.end_work)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            live = Live(settings, listener.getsockname()[1], app, server)
            with live.client:
                yield live
        finally:
            server.should_exit = True
            thread.join()
