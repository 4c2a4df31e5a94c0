"""The benchmarks' command line, run in this process."""

from __future__ import annotations

import pytest
from invoke import refused, run, run_json  # noqa: F401
from typer import Typer

from benchmarks.__main__ import app as benchmarks_app


@pytest.fixture
def app() -> Typer:
    return benchmarks_app
