"""Python and console blocks of the documentation run and print what they show; commands in sh blocks are valid."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for pages.py

from pages import (
    PAGES,
    ROOT,
    app,
    benchmarks_app,
    blocks,
    commands,
    matches,
    name_of,
    prepare,
    run_command,
    save_file,
    tidy,
)

from aleazero.games import registry
from aleazero.runs.config import make_config, parse

SHOWN = re.compile(r"#> (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_the_page_print_what_they_show(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Registered games and imports are undone after the page.
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "race", raising=False)
    prepare(tmp_path)
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.language == "console":
            for line, output in commands(block):
                printed = run_command(line)
                assert matches(tidy(printed), tidy(output)), f"{where}: $ {line}\n{printed}"
        elif block.language == "python" and not save_file(block, tmp_path):
            printed_text = io.StringIO()
            code = "\n" * block.line + block.text
            with contextlib.redirect_stdout(printed_text):
                exec(compile(code, str(page), "exec"), namespace)
            assert printed_text.getvalue().splitlines() == SHOWN.findall(block.text), where
        elif block.language == "yaml":
            make_config(parse(block.text, where), where)
        else:
            assert block.language in ("python", "sh", "text"), f"{where}: {block.language!r} is not run"


PUBLIC_MODULES = {
    "aleazero",
    "aleazero.adapters.gymnasium_env",
    "aleazero.adapters.pettingzoo_env",
    "aleazero.games",
    "aleazero.games.azul",
    "aleazero.games.backgammon",
    "aleazero.games.dice",
    "aleazero.games.scene",
    "aleazero.games.svg",
    "aleazero.games.twenty48",
    "aleazero.games.yatzy",
    "aleazero.oracles.bearoff",
    "aleazero.oracles.solve",
    "aleazero.oracles.yatzy",
}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pages_import_public_names_only(page: Path) -> None:
    for block in blocks(page):
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            modules = []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
                if node.module == "aleazero.games":
                    assert [alias.name for alias in node.names] == ["dice"], f"{page.name}:{block.line}"
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                if module.partition(".")[0] == "aleazero":
                    assert module in PUBLIC_MODULES, f"{page.name}:{block.line} imports {module}"


def shell_lines() -> Iterator[Any]:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "sh":
                for line in block.text.splitlines():
                    if line.strip():
                        yield pytest.param(line, id=f"{name_of(page)}:{block.line}:{line[:40]}")


def parse_command(command: Any, words: list[str], name: str) -> None:
    """Parse a command line without running it; options and arguments must exist and fit."""
    context = command.make_context(name, list(words), resilient_parsing=False)
    if hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args] if hasattr(context, "_protected_args") else list(context.args)
        child_name, child, below = command.resolve_command(context, rest)
        parse_command(child, below, f"{name} {child_name}")


def test_an_unknown_option_is_not_valid() -> None:
    with pytest.raises(Exception, match="--nope"):
        parse_command(typer.main.get_command(app), ["analyse", "pig", "--nope"], "aleazero")


@pytest.mark.parametrize("line", list(shell_lines()))
def test_commands_of_shell_blocks_are_valid(line: str) -> None:
    for part in line.split("&&"):
        words = shlex.split(part, comments=True)
        match words:
            case [] | ["git" | "cd", *_]:
                pass
            case ["aleazero", "--version"]:
                pass
            case ["aleazero", *rest]:
                parse_command(typer.main.get_command(app), rest, "aleazero")
            case ["python", "-m", "benchmarks", *rest]:
                parse_command(typer.main.get_command(benchmarks_app), rest, "python -m benchmarks")
            case ["make", target, *_]:
                assert f"\n{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
            case ["python" | "/tmp/mctx/bin/python", script, *_] if script.endswith(".py"):
                assert (ROOT / script).is_file()
            case ["pip", "install", package]:
                extras = re.fullmatch(r"\.(?:\[([\w,]+)\])?", package)
                assert extras is not None
                text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
                assert all(f"\n{extra} = [" in text for extra in (extras[1] or "").split(",") if extra)
            case ["python3" | "/tmp/mctx/bin/pip", *_]:
                pass
            case _:
                pytest.fail(f"unknown command: {part}")
