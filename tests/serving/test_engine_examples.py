"""The clients of the engine in ``examples/``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PIG = "pig(target=20)"


def run(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(EXAMPLES / name), *words], capture_output=True, text=True)


def test_the_client_prints_the_visits_of_a_search():
    ran = run("engine_client.py")
    assert ran.stdout.splitlines() == ["version 1", "{'roll': 1775, 'hold': 225}"], ran.stderr
    assert len((EXAMPLES / "engine_client.py").read_text(encoding="utf-8").splitlines()) <= 24


def test_a_match_between_two_engines_is_reproducible():
    words = (PIG, "--games", "2", "--at-once", "2", "--first", "sims=300", "--second", "sims=1,evaluator=uniform")
    first, second = run("engine_match.py", *words), run("engine_match.py", *words)
    assert first.stdout.startswith("2 games: "), first.stderr
    assert first.stdout == second.stdout
    assert first.returncode == 0


def test_a_match_reports_an_error_of_an_engine():
    ran = run("engine_match.py", "pgi", "--games", "2")
    assert (ran.returncode, ran.stderr) == (1, "error: no game 'pgi', did you mean pig?\n")


@pytest.mark.parametrize(
    ("command", "message"),
    [("false", "error: an engine has ended\n"), ("no-such-program", "error: [Errno 2] No such file or directory: ")],
)
def test_a_match_reports_an_engine_that_does_not_run(command, message):
    ran = run("engine_match.py", PIG, "--games", "2", "--at-once", "1", "--second-command", command)
    assert ran.returncode == 1
    assert ran.stderr.startswith(message)
    assert "Traceback" not in ran.stderr
