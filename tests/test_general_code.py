"""General code contains no names of games; game-specific knowledge comes from kits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aleazero.games import registry

PACKAGE = Path(__file__).resolve().parents[1] / "aleazero"
WORDS = re.compile(r"yatzy|backgammon|azul|2048|twenty48|tic_?tac_?toe|dice_game|\bpig\b", re.IGNORECASE)
ALLOWED = {
    "games/registry.py",  # the table of the bundled games
    "cli/main.py",  # adds each game's own commands
    "web/pages/lessons.py",  # pages about particular games
}
SHOWN = {"help", "epilog", "description", "metavar"}
"""Arguments that are help texts."""
DECLARATIONS = {"option", "argument"}
"""Functions of ``cli/options.py`` that take a help text."""


def general_files() -> list[str]:
    names = [file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*.py")]
    return sorted(name for name in names if not WORDS.search(name))


def named(tree: ast.AST, shown: bool = False) -> Iterator[tuple[int, str]]:
    """Yield the names and texts of a module that are neither docstrings nor help texts."""
    body = getattr(tree, "body", None)
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant) and isinstance(body, list):
            continue  # a docstring of a module, a class, a function or a field
        inner = shown or (isinstance(child, ast.keyword) and child.arg in SHOWN)
        inner |= isinstance(child, ast.Call) and getattr(child.func, "id", None) in DECLARATIONS
        line = getattr(child, "lineno", 0)
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and not inner:
            yield line, str(child.value)
        for part in ("id", "attr", "name", "asname", "module", "arg"):
            if isinstance(getattr(child, part, None), str):
                yield line, getattr(child, part)
        yield from named(child, inner)


def places(source: str) -> list[str]:
    return [f"{line}: {text}" for line, text in named(ast.parse(source)) if WORDS.search(text)]


@pytest.mark.parametrize("name", general_files())
def test_no_general_module_names_a_bundled_game(name: str) -> None:
    assert name in ALLOWED or places((PACKAGE / name).read_text(encoding="utf-8")) == []


def test_names_of_bundled_games_are_found() -> None:
    assert all(WORDS.search(name) for name in registry._BUNDLED)
    assert places('"""Yatzy."""\nx = 1\n"""Pig."""\n') == []
    assert places('option(help="e.g. pig")\n') == []
    for source in ('game.name == "yatzy"', "import aleazero.games.pig", "from a import yatzy", "x.yatzy()", "f(pig=3)"):
        assert len(places(source)) == 1, source
    assert len(general_files()) > 100
    assert "evaluation/strength.py" in general_files()
    assert "evaluation/yatzy/__init__.py" not in general_files()
