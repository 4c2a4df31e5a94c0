"""The ``--json [FILE]`` of the benches: with a file it is written there, without one JSON goes to stdout."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from aleazero.errors import ConfigError, nearest

STDOUT = "-"


class FileAfterJson(TyperCommand):
    """A command whose ``--json`` may have a file behind it, or nothing: then it means stdout."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the name that stands for stdout where none is given."""
        filled: list[str] = []
        for i, word in enumerate(args):
            filled.append(word)
            if word == "--json" and (i + 1 == len(args) or args[i + 1].startswith("--")):
                filled.append(STDOUT)
        return super().parse_args(ctx, filled)


def read_file(json: str | None) -> Path | None:
    """The file to write, checked before anything is measured; None for none, or for stdout."""
    file = None if json in (None, STDOUT) else Path(str(json))
    if file is not None and not file.resolve().parent.is_dir():
        raise ConfigError(f"--json is {json!r}, expected a file in a folder that exists")
    return file


def write_json(file: Path, data: dict[str, Any]) -> None:
    """Write what was measured."""
    try:
        file.write_text(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot write {str(file)!r}: {error.strerror or error}") from error


def pick(option: str, words: str | None, known: Sequence[str]) -> list[str]:
    """Some of the known words, written with commas; None for all of them."""
    chosen = list(known) if words is None else [word.strip() for word in words.split(",") if word.strip()]
    for word in chosen:
        if word not in known:
            raise ConfigError(f"{option} has {word!r}, {nearest(word, known)}")
    if not chosen:
        raise ConfigError(f"{option} is empty, expected some of {', '.join(known)}")
    return chosen
