from __future__ import annotations

import subprocess
import sys

import pytest

import aleazero

SLOW = (
    "numba",
    "numpy",
    "llvmlite",
    "pyspiel",
    "jinja2",
    "matplotlib",
    "aleazero.games.base",
    "aleazero.search.config",
)


@pytest.mark.parametrize(
    ("words", "slow"),
    [
        (["--help"], (*SLOW, "pydantic")),
        (["--version"], (*SLOW, "pydantic")),
        # A verb's options make some versions of typer import pydantic; that is not ours to mend.
        (["analyse", "--help"], SLOW),
        (["play", "--help"], SLOW),
        (["bench", "--help"], SLOW),
    ],
)
def test_help_imports_nothing_slow(words, slow):
    program = (
        "import sys\n"
        "from aleazero.cli.main import run\n"
        f"sys.argv = ['aleazero', *{words!r}]\n"
        "try:\n    run()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        f"print('SLOW', [name for name in {slow!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("SLOW []")


def test_every_verb_is_listed_with_what_it_does(run):
    result = run("--help")
    assert result.exit_code == 0
    for verb in ("games", "analyse", "play", "check", "bench", "cache", "demo"):
        assert f"{verb} " in result.stdout


@pytest.mark.parametrize("verb", ["analyse", "play", "check", "bench"])
def test_help_has_examples(run, verb):
    assert f"aleazero {verb} pig" in run(verb, "--help").stdout


def test_version(run):
    assert run("--version").stdout == f"aleazero {aleazero.__version__}\n"


@pytest.mark.parametrize(
    "words", [("frobnicate",), ("analyse",), ("analyse", "pig", "--sims", "many"), ("games", "--loud"), ("cache",)]
)
def test_usage_errors_end_with_2(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_real_process_fails_with_one_line(process):
    done = process("analyse", "pgi")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no game 'pgi', did you mean pig?\n"


def test_letters_a_terminal_lacks_do_not_break_it(process):
    done = process("analyse", "dice_game", "--sims", "50", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert "####" in done.stdout
    assert "█" not in done.stdout


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (("train", "--wrkers", "2"), "aleazero train"),
        (("runs", "show", "--loud"), "aleazero runs show"),
        (("frobnicate",), "aleazero"),
    ],
)
def test_usage_errors_name_the_help_of_their_own_command(process, words, command):
    done = process(*words)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.strip().endswith(f"; `{command} --help` shows what there is")
    assert done.stderr.count("\n") == 1
