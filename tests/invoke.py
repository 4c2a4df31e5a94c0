"""Fixtures that run commands of an app in this process. The folder of the tests defines the fixture ``app``."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner


@pytest.fixture
def run(app: Typer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """``run("games", "--json")`` returns the result of the command, with separate stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, list(words), input=stdin)

    return call


@pytest.fixture
def run_json(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return the JSON output of a command; fail on NaN and Infinity, which are not JSON."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    def call(*words: str, stdin: str | None = None) -> Any:
        result = run(*words, "--json", stdin=stdin)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout, parse_constant=refuse)

    return call


@pytest.fixture
def refused(run: Callable[..., Any]) -> Callable[..., str]:
    """Run a command that is rejected, and return its error, which is one line."""

    def call(*words: str, stdin: str | None = None) -> str:
        result = run(*words, stdin=stdin)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        lines = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("error: ")
        return lines[0]

    return call
