"""Fixtures that run a command line in this process. The ``app`` fixture of a test folder chooses it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner


@pytest.fixture
def run(app: Typer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command, e.g. ``run("games", "--json")``; return its result with separate stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str, stdin: str | None = None) -> Any:
        return CliRunner().invoke(app, list(words), input=stdin)

    return call


@pytest.fixture
def run_json(run: Callable[..., Any]) -> Callable[..., Any]:
    """Run a command with ``--json``; return the data. NaN and Infinity are not JSON."""

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    def call(*words: str, stdin: str | None = None) -> Any:
        result = run(*words, "--json", stdin=stdin)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout, parse_constant=refuse)

    return call


@pytest.fixture
def refused(run: Callable[..., Any]) -> Callable[..., str]:
    """Run a command that must fail with exit code 2; return its only line on stderr."""

    def call(*words: str, stdin: str | None = None) -> str:
        result = run(*words, stdin=stdin)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        lines = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("error: ")
        return lines[0]

    return call
