"""The fingerprint changes exactly with the things that the machine code depends on."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from aleazero.errors import GameError
from aleazero.native.cache import fingerprint

SOURCE = """
import math
import numpy as np
TABLE = np.array([1, 2, 3])
LIMIT = 10
PAIR = (1, 2.5)
def deeper(x):
    return x + LIMIT
def helper(x):
    return deeper(x) + TABLE[0]
def kernel(x, y=1):
    return helper(x) * math.sqrt(2.0) + PAIR[0] + y
"""


def stamp(source: str = SOURCE, name: str = "kernel") -> str:
    scope: dict[str, Any] = {}
    exec(textwrap.dedent(source), scope)
    return fingerprint(scope[name])


def test_the_fingerprint_is_reproducible() -> None:
    assert stamp() == stamp()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x + LIMIT", "x - LIMIT"),  # a helper's helper
        ("LIMIT = 10", "LIMIT = 11"),  # a constant two calls away
        ("LIMIT = 10", "LIMIT = 10.0"),  # its type
        ("[1, 2, 3]", "[1, 2, 4]"),  # a table
        ("[1, 2, 3]", "[1, 2, 3], dtype=np.int8"),
        ("TABLE[0]", "TABLE[1]"),  # a literal
        ("(1, 2.5)", "(2, 2.5)"),
        ("y=1", "y=2"),  # a default
        ("math.sqrt", "math.exp"),  # a library function
    ],
)
def test_every_dependency_changes_the_fingerprint(old: str, new: str) -> None:
    assert stamp(SOURCE.replace(old, new)) != stamp()


def test_comments_and_line_numbers_do_not_change_the_fingerprint() -> None:
    assert stamp("# a comment\n\n\n" + SOURCE.replace("def kernel", "# more\ndef kernel")) == stamp()


def test_not_inlined_changes_the_fingerprint() -> None:

    def marked() -> int:
        return 1

    before = fingerprint(marked)
    marked.not_inlined = True  # type: ignore[attr-defined]
    assert fingerprint(marked) != before


def test_closures_change_the_fingerprint() -> None:
    def make(n):
        def inner(x):
            return x + n

        return inner

    assert fingerprint(make(1)) == fingerprint(make(1))
    assert fingerprint(make(1)) != fingerprint(make(2))
    assert fingerprint(make(np.zeros(3))) != fingerprint(make(np.ones(3)))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("T = {1: 2}\ndef kernel(x):\n    return T[x]", "T, used by kernel, is a dict"),
        ("T = [1, 2]\ndef kernel(x):\n    return T[x]", "is a list"),
        ("import random\ndef kernel(x):\n    return random.random()", "is the module random, expected numpy or math"),
        ("class A:\n    pass\nT = A()\ndef kernel(x):\n    return T.y", "is a A"),
        ("import numpy as np\nT = np.array([{}])\ndef kernel(x):\n    return T[0]", "array of objects"),
    ],
)
def test_unreadable_dependencies_are_rejected(source: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        stamp(source)
