"""A playground in a process of its own, and what tests do on its pages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
COINS = str(ROOT / "examples" / "coins.py")
GAMES = (COINS, "pig(target=20)", "tic_tac_toe", "dice_game", "2048", "yatzy", "backgammon", "azul")
"""All bundled games, pig with the target that other tests compile, too; the first one is a user's file."""
BROKEN = '''
"""Broken: the rules raise, or loop."""
import time


class Broken:
    name = "broken"
    num_players = 1
    num_actions = 3
    utility = (0.0, 1.0)

    def __init__(self):
        self.over = False

    def current_player(self):
        return -4 if self.over else 0

    def legal_actions(self):
        return [0, 1, 2]

    def apply_action(self, action):
        if action == 1:
            raise ValueError("no such coin")
        while action == 2:
            pass
        self.over = True

    def returns(self):
        return [1.0]

    def action_to_string(self, action):
        return ("end", "raise", "loop")[action]

    def __str__(self):
        return "over" if self.over else "running"
'''


class Server:
    """A playground in a process of its own."""

    def __init__(self, folder, *options, games=GAMES):
        self.folder = folder
        command = [sys.executable, "-m", "aleazero", "web", "--no-open", "--workers", "2"]
        self.process = subprocess.Popen(
            [*command, "--sessions", str(folder), *options, *games],
            cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        line = self.process.stderr.readline()
        found = re.search(r"http://\S+/\S*(?=,)", line)
        assert found is not None, line + self.process.stderr.read()
        self.address = found[0]
        self.origin = re.match(r"http://[^/]+", self.address)[0]
        self.port = int(self.origin.rpartition(":")[2])

    def end(self):
        """End the server as Ctrl-C does; return what it printed."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=60)[1]


def start_game(page, game, seats=None, seed=None, **params):
    """Start a game by its form in the lobby, and wait for the table."""
    page.goto("/")
    page.get_by_role("button", name=f"Play {game}", exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Start").wait_for()
    for name, value in params.items():
        dialog.get_by_label(name).fill(str(value))
    for number, seat in enumerate(seats or ()):
        dialog.get_by_label(f"Player {number}").click()
        page.get_by_role("option", name=seat, exact=True).click()
    if seed is not None:
        dialog.get_by_label("Seed of the dice").fill(str(seed))
    dialog.get_by_role("button", name="Start").click()
    page.wait_for_url("**/table/*")
    page.locator(".status:not(:empty)").wait_for()
    return page.url.rpartition("/")[2]


def session_of(page, identity):
    """Return the stored session of a table, from the HTTP API."""
    return page.request.get(f"/api/v1/sessions/{identity}/file").json()
