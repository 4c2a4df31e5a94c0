"""One server of the HTTP API for all tests that do not need other settings."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.serving.api.live_api import live_api

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "runs"))  # for run_by_hand.py

from run_by_hand import run_by_hand


@pytest.fixture(scope="session")
def live(tmp_path_factory):
    """Return a server with two processes for searches, games whose rules fail, and two runs, one of them damaged."""
    folder = tmp_path_factory.mktemp("api")
    run_by_hand(folder / "runs" / "first", "afterstate")
    damaged = run_by_hand(folder / "runs" / "second", "afterstate")
    (damaged / "events.ndjson").write_text("no event\n{}\n", encoding="utf-8")
    limits = {"rules_seconds": 2.0, "load_seconds": 120.0, "tree_nodes": 500, "tree_depth": 6, "sims": 20_000_000}
    with live_api(folder, workers=2, limits=limits, runs=folder / "runs") as live:
        yield live
