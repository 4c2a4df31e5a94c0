from __future__ import annotations

import logging
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import aleazero
from aleazero.cli.main import COMMANDS, Notes

ROOT = Path(__file__).resolve().parents[2]
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
        # Some versions of typer import pydantic for the options of a command.
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


def test_every_command_is_in_its_panel(run):
    result = run("--help")
    assert result.exit_code == 0
    for panel, commands in COMMANDS.items():
        assert f"─ {panel} ─" in result.stdout
        assert all(f"│ {name} " in result.stdout for name in commands)
    assert "analyze" not in result.stdout


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(run, option):
    assert run(option).stdout == f"aleazero {aleazero.__version__}\n"


def test_help_has_examples_a_page_and_no_python_types(commands, run):
    site = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Documentation"]
    assert " ".join(run("--help").stdout.split()).endswith(f"Documentation: {site}")
    for path, command in commands.items():
        text = run(*path, "--help").stdout
        assert not re.search(r"""<\w|\{(?!")|x>=|\[default: \(""", text), path
        page = re.search(rf"Documentation: {re.escape(site)}([\w/]+)/", text)
        assert page is not None, path
        assert any((ROOT / "docs" / f"{page[1]}{end}.md").is_file() for end in ("", "/index")), path
        if any(parameter.param_type_name == "argument" for parameter in command.params):
            assert f"• aleazero {' '.join(path)} " in text, path


def test_defaults_are_not_typed_into_help_texts(commands):
    texts = [parameter.help or "" for command in commands.values() for parameter in command.params]
    assert not [text for text in texts if "default" in text.lower()]


def test_the_american_spelling_of_analyse(run_json):
    words = ("dice_game", "--position", "5", "--sims", "20")
    assert run_json("analyze", *words)["visits"] == run_json("analyse", *words)["visits"]


def test_shell_completion(process):
    done = process(_ALEAZERO_COMPLETE="complete_bash", COMP_WORDS="aleazero anal", COMP_CWORD="1")
    assert done.stdout.split() == ["analyse"]


def test_quiet_hides_notes_and_verbose_shows_tracebacks(run):
    note = ("-q", "-v")
    assert run(*note, "games").exit_code == 2
    log = logging.getLogger("aleazero")
    assert run("--quiet", "games").exit_code == 0
    assert not log.isEnabledFor(logging.WARNING)
    assert run("--verbose", "games").exit_code == 0
    assert log.isEnabledFor(logging.DEBUG)
    assert "Traceback" in run("--verbose", "analyse", "pgi").stderr
    assert "Traceback" not in run("analyse", "pgi").stderr
    assert not log.isEnabledFor(logging.DEBUG)


def test_each_note_is_printed_once(capsys):
    notes = Notes()
    for text in ("compiling pig, once", "compiling pig, once", "no report"):
        notes.emit(logging.makeLogRecord({"msg": text}))
    assert capsys.readouterr().err.splitlines() == ["compiling pig, once", "no report"]


@pytest.mark.parametrize(
    "words",
    [
        ("frobnicate",),
        ("analyse",),
        ("analyse", "pig", "--sims", "many"),
        ("games", "--loud"),
        ("cache",),
        ("evaluate",),
    ],
)
def test_usage_errors_end_with_2(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_a_real_process_fails_with_one_line(process):
    done = process("analyse", "pgi")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no game 'pgi', did you mean pig?\n"


def test_characters_that_a_terminal_lacks_are_replaced(process):
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
    assert done.stderr.strip().endswith(f"; see `{command} --help`")
    assert done.stderr.count("\n") == 1
