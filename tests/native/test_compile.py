"""Compiled loops in the cache on disk: never stale, and errors of the cache do not matter."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import aleazero
from aleazero.native.cache import cache_info, clear_cache

RULES = """
import numpy as np
from aleazero import GameInfo
from neighbour import bonus
START = {start}
TABLE = np.array([0, {entry}])

def describe():
    return GameInfo(name="climb", num_players=1, num_actions=2, state_size=2, utility=(0.0, 100.0))
def kind(state):
    return 2 if state[0] >= 1 else 0
def to_play(state):
    return 0
def legal(state, out):
    out[0] = 0
    out[1] = 1
    return 2
def gain(action):
    return {gain} + bonus(action)
def apply(state, action):
    state[0] += 1
    state[1] = START + TABLE[action] + gain(action)
def returns(state, out):
    out[0] = state[1]
"""
NEIGHBOUR = "def bonus(action):\n    return {bonus}\n"
USUAL = {"start": 1, "entry": 10, "gain": 0, "bonus": 0}

# A loop of two steps, compiled and cached like that of the search, in a fraction of the time.
SCRIPT = """
import sys
import numpy as np
import aleazero
from aleazero.native.compile import compile_loop
game = aleazero.load_game(sys.argv[1])
def make(apply, returns):
    def step(state, action, out):
        apply(state, action)
        returns(state, out)
        return 0
    return step
step = compile_loop(make(game.kernels.apply, game.kernels.returns), game.name)
found = np.zeros(2)
for action in (0, 1):
    step(np.zeros(2, np.int32), action, found[action:])
print(found.tolist())
"""

SEARCH = """
import sys
import aleazero
game = aleazero.load_game(sys.argv[1])
result = aleazero.Search(game, "uniform", aleazero.SearchConfig(num_simulations=20)).run(game.new_initial_state())
print(result.q.tolist())
"""

# Loops that call one library function with records of different sizes; it is too long to be inlined.
RECORDS = """
import sys
import numpy as np
from aleazero.native.compile import compile_loop, not_inlined
body = "".join(f"        if last % {n} == 1: found += last * {n} - i\\n" for n in range(2, 60))
scope = {}
exec(f"def total(rows):\\n    found = 0\\n    for i in range(len(rows)):\\n        last = rows[i]['last']\\n{body}"
     "    return found\\n", scope)
total = not_inlined(scope["total"])
total.__module__ = "aleazero.search.demo"
def make(number):
    def run(rows):
        return number + total(rows) - total(rows[1:])
    return run
for number in map(int, sys.argv[1:]):
    rows = np.zeros(3, [(f"field{n}", np.int64) for n in range(number)] + [("last", np.int64)])
    rows["last"] = 121 * number
    run = compile_loop(make(number), f"records{number}")
    print(run(rows) == make(number)(rows))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def write(folder: Path, **changes: int) -> Path:
    """Write the game; all versions have the same file times."""
    values = {**USUAL, **changes}
    file = folder / "climb.py"
    file.write_text(RULES.format(**values))
    (folder / "neighbour.py").write_text(NEIGHBOUR.format(**values))
    for path in (file, folder / "neighbour.py"):
        os.utime(path, ns=(10**18, 10**18))
    return file


def search(file: Path, script: str = SCRIPT, **environment: str) -> tuple[str, str]:
    """Run a script in a new process and return its output and its log."""
    # Python does not write .pyc files here, which depend on time and size; this tests only the cache of the library.
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, env=variables, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_an_edit_recompiles(folder: Path) -> None:
    """A constant, a table, a helper and a helper in another file change, but not the file times."""
    assert search(write(folder)) == ("[1.0, 11.0]", "compiling climb, once (about 20 s)")
    assert search(write(folder)) == ("[1.0, 11.0]", "")
    for change, expected in (
        ({"start": 2}, "[2.0, 12.0]"),
        ({"entry": 20}, "[1.0, 21.0]"),
        ({"gain": 5}, "[6.0, 16.0]"),
        ({"bonus": 7}, "[8.0, 18.0]"),
    ):
        assert search(write(folder, **change)) == (expected, "compiling climb, once (about 20 s)")
    assert search(write(folder)) == ("[1.0, 11.0]", "")
    assert cache_info().files == 5


@pytest.mark.long  # takes most of a minute
def test_an_edit_recompiles_the_search(folder: Path) -> None:
    assert search(write(folder), SEARCH) == ("[1.0, 11.0]", "compiling climb, once (about 20 s)")
    assert search(write(folder, bonus=7), SEARCH) == ("[8.0, 18.0]", "compiling climb, once (about 20 s)")
    assert search(write(folder), SEARCH) == ("[1.0, 11.0]", "")


def test_damaged_files_are_replaced(folder: Path) -> None:
    file = write(folder)
    search(file)
    code = next((folder / "cache" / "kernels").glob("climb-*.code"))
    whole = code.read_bytes()
    for damage in (whole[:-10], whole[:200] + b"\x00" * 50 + whole[250:]):  # test_cached_njit has more kinds
        code.write_bytes(damage)
        values, said = search(file)
        assert values == "[1.0, 11.0]"
        assert "compiling climb, once (about 20 s)" in said
        assert code.read_bytes()[:40] == whole[:40] or len(code.read_bytes()) > 1000
        assert search(file) == ("[1.0, 11.0]", "")


def test_a_read_only_cache_is_no_error(folder: Path) -> None:
    """A folder that cannot be created, and a disk that is full."""
    file = write(folder)
    blocked = folder / "file"
    blocked.write_text("in the way")
    assert search(file, ALEAZERO_CACHE_DIR=str(blocked))[0] == "[1.0, 11.0]"
    assert search(file, ALEAZERO_CACHE_DIR="/proc/aleazero")[0] == "[1.0, 11.0]"

    limited = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(limited) + SCRIPT, str(file)], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[1.0, 11.0]", done.stderr
    assert not list((folder / "cache").rglob("*.code"))
    assert not list((folder / "cache").rglob("*.tmp"))


def test_processes_can_compile_at_the_same_time(folder: Path) -> None:
    file = write(folder)
    others = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(file)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert {process.communicate(timeout=300)[0].strip() for process in others} == {"[1.0, 11.0]"}
    assert cache_info().files == 1
    assert search(file) == ("[1.0, 11.0]", "")


def test_games_compiled_in_separate_processes_are_loaded_into_one(folder: Path) -> None:
    """Each game was the first that its process compiled, so their symbols could collide."""
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    first, second = write(folder / "one"), write(folder / "two", start=5, gain=3)
    assert search(first) == ("[1.0, 11.0]", "compiling climb, once (about 20 s)")
    assert search(second) == ("[8.0, 18.0]", "compiling climb, once (about 20 s)")
    script = SCRIPT.replace("sys.argv[1]", "sys.argv[2]") + SCRIPT + SCRIPT.replace("sys.argv[1]", "sys.argv[2]")
    done = subprocess.run([sys.executable, "-c", script, first, second], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:3] == ["[8.0, 18.0]", "[1.0, 11.0]", "[8.0, 18.0]"]
    assert done.stderr == ""


def test_records_of_different_sizes_have_different_symbols(folder: Path) -> None:
    """Both processes give their type of records the same number, which numba writes into symbols."""
    for number in ("1", "4"):
        done = subprocess.run([sys.executable, "-c", RECORDS, number], capture_output=True, text=True, check=True)
        assert done.stdout == "True\n"
    done = subprocess.run([sys.executable, "-c", RECORDS, "1", "4", "1"], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n" * 3
    assert "compiling" not in done.stderr


def test_cache_info_and_clear_cache(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert (cache_info().files, cache_info().bytes) == (0, 0)
    game = aleazero.load_game("dice_game")
    for _ in range(2):
        with caplog.at_level(logging.WARNING, "aleazero"):
            aleazero.Planner(game, horizon="game", backend="compiled").run(game.new_initial_state())
    assert caplog.messages == ["compiling dice_game, once (about 20 s)"]
    assert cache_info().files == 1
    assert cache_info().bytes > 10_000
    assert clear_cache().files == 1
    assert cache_info().files == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("state[0] += 1", "state[0] += len('a' + action)", "do not compile"),
        ("return {gain} + bonus(action)".format(**USUAL), "return gain(action)", "calls itself"),
        ("START = 1", "START = {}", "START, used by apply, is a dict"),
    ],
)
def test_errors_name_rules_that_do_not_compile(folder: Path, old: str, new: str, message: str) -> None:
    file = write(folder)
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    game = aleazero.load_game(str(file))
    with pytest.raises(aleazero.GameError, match=message) as error:
        aleazero.Planner(game, plies=1, backend="compiled").run(game.new_initial_state())  # faster than a search
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("climb: ")
