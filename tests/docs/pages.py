"""Shared code of the documentation tests: pages, their fenced blocks, and commands that run in this process.

Conventions of a page:

- ``python`` blocks of a page run in order, in one namespace and one folder. A block whose first line is
  ``# file: NAME`` is saved under that name instead. ``#> text`` after a line is the expected output.
- ``yaml`` blocks are config files and must be valid.
- ``console`` blocks have ``$ aleazero …`` and ``$ python -m benchmarks …`` lines and their output. A line ``…`` stands
  for any lines. Times and rates may differ. ``.venv/bin/python tests/docs/pages.py [PAGE…]`` writes the outputs again.
- ``sh`` blocks have commands that must be valid; they are not run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from typer.testing import CliRunner

from aleazero.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))  # for the package benchmarks

from benchmarks.__main__ import app as benchmarks_app  # noqa: E402

PAGES = sorted(
    [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md")]
    + [*ROOT.glob("docs/**/*.md")]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# file: (\S+)\n")
TIMES = re.compile(r"[\d.]+ m?s \([\d,]+/s\)")


@dataclass(frozen=True)
class Block:
    """A fenced block and the line it starts at."""

    language: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Block(match[1], match[2], text.count("\n", 0, match.start()) + 1)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def save_file(block: Block, folder: Path) -> bool:
    """Save a block that is a file; return whether it is one."""
    named = FILE.match(block.text)
    if named is not None:
        (folder / named[1]).write_text(block.text[named.end() :], encoding="utf-8")
    return named is not None


def prepare(folder: Path) -> None:
    """Make the folders available that pages refer to."""
    for name in ("examples", "docs", "configs"):
        (folder / name).symlink_to(ROOT / name)


def run_command(line: str) -> str:
    """Return the output of ``aleazero …`` or ``python -m benchmarks …``, which must succeed."""
    words = shlex.split(line)
    benchmark = words[:3] == ["python", "-m", "benchmarks"]
    assert benchmark or words[0] == "aleazero", line
    with mock.patch.dict(os.environ, {"COLUMNS": "80"}):
        result = CliRunner().invoke(*((benchmarks_app, words[3:]) if benchmark else (app, words[1:])))
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout


def tidy(text: str) -> list[str]:
    """Return the lines without trailing spaces, empty lines and times."""
    return [line for line in (TIMES.sub("TIME", line).rstrip() for line in text.splitlines()) if line]


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield the commands of a block with the output below each."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, output = part.partition("\n")
        yield line, output


def matches(printed: list[str], shown: list[str]) -> bool:
    """Return whether lines are as shown; a line ``…`` stands for any lines."""
    pattern = "".join(r"(?:.*\n)*" if line.strip() == "…" else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def rewrite(page: Path) -> None:
    """Write the current output below each command; outputs with a line ``…`` stay as they are."""
    here = Path.cwd()
    folder = Path(tempfile.mkdtemp())
    prepare(folder)
    os.chdir(folder)
    namespace: dict[str, object] = {"__name__": "page"}
    has_commands = any(block.language == "console" for block in blocks(page))

    def run_again(match: re.Match[str]) -> str:
        block = Block(match[1], match[2], 0)
        saved = save_file(block, folder)
        if block.language == "python" and has_commands and not saved:  # commands may need its files
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, str(page), "exec"), namespace)
        if block.language != "console":
            return match[0]
        parts = []
        for line, output in commands(block):
            printed = run_command(line)
            shown = output if "…\n" in output.splitlines(keepends=True) else printed
            parts.append(f"$ {line}\n" + "".join(f"{row}\n" for row in map(str.rstrip, shown.splitlines()) if row))
        return "```console\n" + "".join(parts) + "```"

    try:
        page.write_text(FENCE.sub(run_again, page.read_text(encoding="utf-8")), encoding="utf-8")
    finally:
        os.chdir(here)
        shutil.rmtree(folder)


if __name__ == "__main__":
    for each in map(Path.resolve, map(Path, sys.argv[1:])) if sys.argv[1:] else PAGES:
        rewrite(each)
