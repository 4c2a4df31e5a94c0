"""The page of the engine shows its example client and explains every request, field, key of an answer and error."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for pages.py

from pages import ROOT, blocks

from aleazero.serving.answers import answer
from aleazero.serving.engine import CONTROLS
from aleazero.serving.requests import REQUESTS, Limits, Sources
from aleazero.untrusted import parse_json

PAGE = ROOT / "docs" / "guides" / "engine.md"
TEXT = PAGE.read_text(encoding="utf-8")
PIG = {"game": "pig(target=20)", "moves": "roll 5"}


class NoWork:
    """A task that is never stopped; it collects partial results."""

    def __init__(self) -> None:
        self.partial: list[bytes] = []

    def report(self, content: bytes) -> None:
        self.partial.append(content)

    def stopped(self) -> bool:
        return False

    def preparing(self) -> None: ...

    def ready(self) -> None: ...

    def retire(self) -> None: ...


def section(name: str) -> str:
    return re.split(r"^## ", TEXT.partition(f"## `{name}`\n")[2], flags=re.MULTILINE)[0]


def test_the_client_is_that_of_the_examples() -> None:
    block = next(block for block in blocks(PAGE) if block.language == "python")
    assert re.sub(r"  #> .*", "", block.text) == (ROOT / "examples" / "engine_client.py").read_text(encoding="utf-8")


def test_every_request_has_a_section_with_its_fields() -> None:
    names = [*REQUESTS, *CONTROLS]
    assert re.findall(r"^## `(\w+)`$", TEXT, re.MULTILINE) == names
    for name in (*names, "every", "limits"):
        assert TEXT.count(f"<!-- generated: request/{name} -->") == 1
        assert name not in names or f"<!-- generated: request/{name} -->" in section(name)


@pytest.mark.parametrize(
    ("request_fields", "sections"),
    [
        ({"request": "analyse", **PIG, "sims": 20, "tree_depth": 1}, ["analyse"]),
        ({"request": "plan", **PIG, "tree_depth": 1}, ["plan", "analyse"]),
        ({"request": "evaluate", **PIG}, ["evaluate"]),
        ({"request": "evaluate", **PIG, "evaluator": "oracle"}, ["evaluate"]),
        ({"request": "review", **PIG}, ["review"]),
        ({"request": "legal", **PIG}, ["legal"]),
        ({"request": "apply", **PIG}, ["apply", "legal"]),
        ({"request": "games"}, ["games"]),
        ({"request": "games", "game": PIG["game"]}, ["games"]),
    ],
)
def test_every_key_of_an_answer_is_on_the_page(request_fields: dict[str, object], sections: list[str]) -> None:
    request = REQUESTS[str(request_fields["request"])].model_validate(request_fields)
    found = parse_json(answer((request, Sources(), Limits()), NoWork()))
    text = "".join(section(name) for name in sections)
    rows = [found, *(found["positions"] if request_fields["request"] == "evaluate" else [])]
    assert [key for row in rows for key in row if f"`{key}`" not in text] == []


def test_every_error_code_is_on_the_page() -> None:
    folder = ROOT / "aleazero" / "serving"
    source = "".join((folder / f"{name}.py").read_text(encoding="utf-8") for name in ("engine", "workers", "answers"))
    codes = set(re.findall(r'(?:code=|code = |code", |_error\(\w+, |ERROR, \()"(\w+)"', source))
    assert {"bad_line", "busy", "crashed", "timeout", "failed", "rules", "bad_request", "closed"} <= codes
    assert [code for code in sorted(codes) if f"| `{code}` |" not in TEXT] == []
