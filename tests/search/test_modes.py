"""The loop without numba's compiler, and with numba's bounds checks, passes the same tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CHOSEN = {
    "NUMBA_DISABLE_JIT": [
        "test_hand_trees.py",
        "plain/test_plain_search.py::test_afterstate_values",
        "plain/test_plain_search.py::test_seeds",
    ],
    "NUMBA_BOUNDSCHECK": [
        "test_hand_trees.py",
        "plain/test_plain_search.py::test_every_setting_on_every_game",
        "plain/test_plain_search.py::test_growth_does_not_change_the_search",
        "tree/test_room.py",
    ],
}
LEFT_OUT = "dice_game or tic_tac_toe"
"""Compiling with bounds checks takes long; pig and 2048 have all that these have."""


@pytest.mark.long  # takes, or compiles for, minutes
@pytest.mark.parametrize("variable", list(CHOSEN))
def test_search_tests_pass_in_this_mode(variable: str) -> None:
    tests = [str(HERE / name) for name in CHOSEN[variable]]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-k",
        f"not ({LEFT_OUT})",
    ]
    done = subprocess.run(
        [*command, *tests], capture_output=True, text=True, env={**os.environ, variable: "1"}, timeout=3600
    )
    assert done.returncode == 0, done.stdout[-3000:]
