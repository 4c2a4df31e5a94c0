"""Fixtures for all tests."""

import fcntl
import signal

import pytest

from aleazero.oracles.yatzy import load_or_build, table_path


def pytest_configure():
    """Handle Ctrl-C as usual: a shell that runs the tests in the background ignores it, also in all their programs."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def interpreted(monkeypatch):
    """Run compiled loops as Python: the same code, without compiling a game that only one test needs."""
    monkeypatch.setattr("aleazero.native.compile.compiles_loops", lambda: False)


@pytest.fixture(scope="session")
def oracle():
    """Return the Yatzy oracle, built once for all test workers."""
    folder = table_path().parent
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return load_or_build()
