"""Every snippet and every command of the documentation is run, and what it shows is what comes out."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for pages.py

from pages import PAGES, blocks, commands, matches, name_of, prepare, run_command, save_file, tidy

from aleazero.games import registry
from aleazero.runs.config import make_config, parse

SHOWN = re.compile(r"#> (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_page_does_what_it_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # What a page registers or imports stays on the page.
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
            said = io.StringIO()
            code = "\n" * block.line + block.text
            with contextlib.redirect_stdout(said):
                exec(compile(code, str(page), "exec"), namespace)
            assert said.getvalue().splitlines() == SHOWN.findall(block.text), where
        elif block.language == "yaml":
            make_config(parse(block.text, where), where)
        else:
            assert block.language in ("python", "sh", "text"), f"{where}: {block.language!r} is not run"
