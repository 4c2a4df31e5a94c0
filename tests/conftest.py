"""The Yatzy oracle, built once for all test workers."""

import fcntl

import pytest

from aleazero.oracles.yatzy import load_or_build, table_path


@pytest.fixture(scope="session")
def oracle():
    folder = table_path().parent
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return load_or_build()
