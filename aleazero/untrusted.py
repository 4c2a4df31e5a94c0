"""Bounded reading of untrusted input (JSON, integers, files), and escaping of text for the terminal."""

from __future__ import annotations

import errno
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

DEEPEST: Final = 64
"""Maximum nesting depth of JSON."""
MOST_DIGITS: Final = 20
"""Maximum number of digits of an integer: enough for 64 bits."""
SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")
UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)
"""Control characters except tab and line feed, bidirectional controls, and lone surrogates."""


def printable(text: str) -> str:
    r"""Replace characters that control a terminal by escapes, e.g. ``\x1b``; tabs and line feeds stay."""
    return UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def parse_digits(text: str) -> int | None:
    """Return the non-negative integer of a text of decimal digits; None for any other text or too many digits."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MOST_DIGITS else None


def parse_json(text: str | bytes, constant: Callable[[str], Any] = lambda _: None) -> Any:
    """Parse JSON with at most ``DEEPEST`` levels of nesting and integers of at most ``MOST_DIGITS`` digits.

    Args:
        text: the JSON; bytes are UTF-8.
        constant: converts ``NaN`` and ``Infinity``, which are not JSON but which Python writes; default: to None.

    Raises:
        ValueError: the text is not JSON, exceeds a limit, or has a number that overflows or a lone surrogate.
    """
    written = text if isinstance(text, str) else text.decode("utf-8-sig")
    try:
        data = json.loads(written, parse_int=_integer, parse_float=_finite, parse_constant=constant)
    except RecursionError:
        raise ValueError(f"it nests more than {DEEPEST} levels deep") from None
    if written.count("[") + written.count("{") > DEEPEST or SURROGATE.search(written):
        _require_plain(data)
    return data


def read_regular(path: Path) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        OSError: the file cannot be read, or is a pipe, a socket or a device, which could block.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return path.read_bytes()


def path_exists(path: Path) -> bool:
    """Return whether a path exists; also False for a name that no file can have."""
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
    """Raise ValueError if data nests too deeply or has text that cannot be encoded. Does not use recursion."""
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
