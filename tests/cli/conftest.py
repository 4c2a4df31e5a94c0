"""Fixtures of the command line: running it in this process and in another one, and all its commands."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from invoke import refused, run, run_json  # noqa: F401
from typer import Typer

from aleazero.cli.main import app as aleazero_app


@pytest.fixture
def app() -> Typer:
    return aleazero_app


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command in another process."""

    def call(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "aleazero.cli.main", *words],
            env={**os.environ, "COLUMNS": "80", **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            stdin=subprocess.DEVNULL,
        )

    return call


@pytest.fixture(scope="session")
def commands() -> dict[tuple[str, ...], Any]:
    """All commands that are not groups, by their names, e.g. ``("runs", "list")``."""

    def below(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        for name, inner in command.commands.items():
            if hasattr(inner, "commands"):
                yield from below(inner, (*path, name))
            elif not inner.hidden:
                yield (*path, name), inner

    return dict(below(typer.main.get_command(aleazero_app), ()))


COIN = '''
"""Coin: call it, flip it."""
class Coin:
    num_players = 1
    num_actions = 2
    max_outcomes = 2
    utility = (0.0, 1.0)
    def __init__(self, bias: float = 0.5):
        self.bias, self.called, self.fell = bias, None, None
    def current_player(self):
        return -4 if self.fell is not None else 0 if self.called is None else -1
    def legal_actions(self):
        return [0, 1]
    def chance_outcomes(self):
        return [(0, {chance}), (1, self.bias)]
    def apply_action(self, action):
        {step}
        if self.called is None:
            self.called = action
        else:
            self.fell = action
    def returns(self):
        return [float(self.fell is not None and self.called == self.fell)]
    def action_to_string(self, action):
        return ("[heads]", "[tails]")[action]
    def __str__(self):
        return f"called [bold]{{self.called}}, fell {{self.fell}}"
'''


@pytest.fixture(scope="session")
def coin_rules() -> str:
    """The rules of a user's object game."""
    return COIN.format(chance="1.0 - self.bias", step="pass")


@pytest.fixture
def coin_file(tmp_path: Any) -> Callable[..., str]:
    """Write a user's file with an object game, whose rules may be broken. Its names contain rich markup."""

    def write(chance: str = "1.0 - self.bias", step: str = "pass") -> str:
        file = tmp_path / "coin.py"
        file.write_text(COIN.format(chance=chance, step=step), encoding="utf-8")
        return f"{file}:Coin"

    return write
