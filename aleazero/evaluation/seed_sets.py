"""Seeds of played luck for gates: fresh ones, sets by name, and sets in files.

A file has one number a line; ``#`` begins a comment. A verdict on a fixed set is repeatable; it is of that luck.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aleazero.errors import ConfigError, nearest
from aleazero.evaluation.match import game_seeds
from aleazero.files import os_errors_as
from aleazero.native.random import GATE_SEEDS, MASK, NAMED_SETS, stream_key
from aleazero.untrusted import is_there

NAMED: Final = {"small": 100, "standard": 1000, "large": 10_000}
"""The sets that have names, and how many seeds they hold."""


def fresh_seeds(seed: int, iteration: int, count: int) -> list[int]:
    """Seeds that no other seed or iteration of a run has."""
    return game_seeds(stream_key(GATE_SEEDS, seed, iteration), count)


def load_seed_set(name: str) -> list[int]:
    """A set by name (``small``, ``standard``, ``large``: each begins with the smaller ones), or from a file."""
    if name in NAMED:
        return game_seeds(NAMED_SETS, NAMED[name])
    if not is_there(Path(name)) or not Path(name).is_file():
        raise ConfigError(f"no seed set {name!r}, {nearest(name, NAMED)} (or a file of one number a line)")
    return read_seeds(Path(name))


def read_seeds(file: Path) -> list[int]:
    """The seeds of a file, none twice: a seed played twice would count for two."""
    try:
        with os_errors_as(ConfigError, f"cannot read {str(file)!r}"):
            text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file.name}: got what is no text, expected one number a line") from None
    seeds: dict[int, int] = {}
    for line, words in enumerate(text.splitlines(), start=1):
        word = words.partition("#")[0].strip()
        if not word:
            continue
        if not (word.isascii() and word.isdecimal() and len(word) <= 20 and int(word) <= MASK):
            raise ConfigError(f"{file.name}, line {line}: got {word[:40]!r}, expected a number from 0 to 2^64 - 1")
        if int(word) in seeds:
            raise ConfigError(
                f"{file.name}, line {line}: got {word}, which is on line {seeds[int(word)]} too, expected it once"
            )
        seeds[int(word)] = line
    if not seeds:
        raise ConfigError(f"{file.name}: got no seeds, expected one number a line")
    return list(seeds)


def hash_of(seeds: Sequence[int]) -> str:
    """What tells seeds apart, in a few letters."""
    return hashlib.sha256("\n".join(map(str, seeds)).encode()).hexdigest()
