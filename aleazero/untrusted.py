"""Input that others wrote, read within bounds: JSON, integers and files; and text that is safe to print."""

from __future__ import annotations

import errno
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

DEEPEST: Final = 64
"""Most levels of nesting in JSON."""
MOST_DIGITS: Final = 20
"""Most digits of an integer: those of 64 bits."""
SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters except tab and line feed, characters that reorder a line, and halves of surrogate pairs."""


def printable(text: str) -> str:
    r"""Write characters that a terminal would act on as escapes, e.g. ``\x1b``; tabs and line feeds stay."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def whole_number(text: str) -> int | None:
    """The non-negative integer that a text writes in decimal digits; None for any other text or a longer one."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else None


def parse_json(text: str | bytes, constant: Callable[[str], Any] = lambda _: None) -> Any:
    """Parse JSON that nests at most ``DEEPEST`` levels, with integers of at most ``MOST_DIGITS`` digits.

    NaN and Infinity, which Python's own writer may have written, go through ``constant``, and are null by default:
    JSON has no such numbers.

    Raises:
        ValueError: for everything else; also for a number that overflows, and for half a surrogate pair, which cannot
            be written to a file.
    """
    try:
        data = json.loads(text, parse_int=_integer, parse_float=_finite, parse_constant=constant)
    except RecursionError:
        raise ValueError(f"it nests more than {DEEPEST} levels deep") from None
    written = text if isinstance(text, str) else text.decode("utf-8", errors="replace")
    if written.count("[") + written.count("{") > DEEPEST or SURROGATE.search(written):
        _require_plain(data)
    return data


def read_regular(path: Path) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: also for a pipe, a socket or a device, which could block or never end.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.read_bytes()


def is_there(path: Path) -> bool:
    """Whether a path exists; False also for a name that no file can have."""
    try:
        return path.exists()
    except OSError:
        return False


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise ValueError(f"an integer has {len(digits.lstrip('-'))} digits, expected at most {MOST_DIGITS}")
    return int(digits)


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"a number is {text[:20]}, expected a finite one")
    return number


def _require_plain(data: Any) -> None:
    """Check the depth, and that every text can be encoded; without recursion."""
    level, depth = [data], 0
    while level:
        inside: list[Any] = []
        for one in level:
            if depth >= DEEPEST and isinstance(one, dict | list):
                raise ValueError(f"it nests more than {DEEPEST} levels deep")
            if isinstance(one, dict):
                inside += one.keys()
                inside += one.values()
            elif isinstance(one, list):
                inside += one
            elif isinstance(one, str):
                one.encode()  # a UnicodeEncodeError is a ValueError
        level, depth = inside, depth + 1
