"""Random mutations of valid inputs, and assertions about their results: success, or an error in one line."""

from __future__ import annotations

import contextlib
import copy
import faulthandler
import json
import re
import resource
import signal
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
import yaml

from aleazero.errors import LONGEST, AleaZeroError
from aleazero.untrusted import UNSAFE

SECONDS = 60
"""Time limit for one input on a slow machine. Usual inputs take milliseconds."""
MEMORY = 2 << 30
"""Limit of the memory that a test may allocate, in bytes."""


def counts(short: int) -> pytest.MarkDecorator:
    """Parametrize a test with a small number of inputs, and with ten thousand in the long suite."""
    return pytest.mark.parametrize("count", [short, pytest.param(10_000, marks=pytest.mark.long)])


class Hang(BaseException):
    """An input exceeded the time limit. It is not an Exception, so that no code catches it."""


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Limit the time: a hang in Python raises Hang, a hang in native code ends the process with a traceback."""

    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def bounded() -> Iterator[None]:
    """Limit the memory of a test: allocating more raises MemoryError."""
    limits = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def survives(what: str, call: Callable[..., Any], *given: Any) -> Any:
    """Return the result of a call; None if it raises a short AleaZeroError. Other errors fail the test."""
    try:
        with watched():
            return call(*given)
    except AleaZeroError as error:
        if len(str(error)) <= LONGEST:
            return None
        raise AssertionError(f"{what}: a message of {len(str(error))} characters") from error
    except BaseException as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error!s:.300}; given {given!r:.2000}") from error


def answers(what: str, given: Any, result: Any, codes: tuple[int, ...] = (0, 2)) -> None:
    """Assert that a command printed no control characters, and ended with success or with one line on stderr."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        error = f"{type(result.exception).__name__}: {result.exception!s:.300}"
        raise AssertionError(f"{what}: {error}; given {given!r:.2000}") from result.exception
    assert result.exit_code in codes, (what, result.exit_code, result.output[:500], f"{given!r:.2000}")
    assert not UNSAFE.search(result.output), (what, result.output[:500])
    if result.exit_code == 2:
        lines = [line for line in result.stderr.splitlines() if not line.startswith("compiling ")]
        assert len([line for line in lines if line.startswith("error: ")]) == len(lines) >= 1, (what, result.stderr)


# -- mutations ---------------------------------------------------------------------------------------------------

NUMBERS = (
    "0", "-1", "1", "0.5", "-0", "127", "128", "255", "256", "32768", "2147483647", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "18446744073709551616", "1e9", "1e30", "1e308", "1e999", "-1e999",
    "nan", "inf", "NaN", "Infinity", ".inf", "0x7f", "1_000", "007", "9" * 25, "9" * 400, "9" * 5000, "1e-320",
    "٣", "²",
)  # fmt: skip
WORDS = (
    "", " ", "\n", "\t", "\0", "\x1b[31m", "\x1b]0;x\x07", "\x9b", "\u202e", "\ufeff", "ä", "💥", "[/red]", "[bold]",
    "$\\frac{x$", "%s", "{}", "{0}", "../", "/dev/null", "~", "null", "true", "None", "-", "--", "=", ",", ":", ";",
    "/", "'", '"', "\\", "*a", "&a x", "<<: *a", "!!python/object:os.system", "!!binary x", "- ", "[", "{", "]", "}",
    "[" * 200, "{a: " * 60, "x" * 300, "x" * 5000, "network 1", "net:", "player 0",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 7, 99, 10**6, 2**31, 2**63 - 1, 2**63, 2**64, 10**19, 10**400, 0.5, -0.0, 1e30, 1e308,
    -1e308, float("nan"), float("inf"), "", "x", "1", "pig", "\x1b[31mred", "$\\frac{x$", "[/red]", "\u202ex", "ä💥",
    "x" * 3000, "\ud800", [], {}, [[]], {"a": 1}, {"mean": None}, [1, 2], [{}], {"": {}}, [None] * 5,
)  # fmt: skip


def flipped(rng: Random, data: bytes) -> bytes:
    """Return bytes that are changed, cut, moved, doubled or inserted at one or more places."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        place = rng.randrange(len(out) + 1)
        length = rng.choice((1, 2, 8, 100))
        match rng.randrange(7):
            case 0 if place < len(out):
                out[place] ^= 1 << rng.randrange(8)
            case 1 if place < len(out):
                out[place] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
            case 2:
                del out[place:]
            case 3:
                del out[place : place + length]
            case 4:
                out[place:place] = rng.randbytes(length)
            case 5:
                other = rng.randrange(len(out) + 1)
                out[place:place] = out[other : other + length]
            case 6:
                out[place : place + length] = bytes(length)
    return bytes(out)


def garbled(rng: Random, text: str) -> str:
    """Return a text with letters, words or numbers changed at one or more places."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        place, other = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        found = list(re.finditer(r"\d+(\.\d+)?|\w+", text))
        one = rng.choice(found).span() if found else (place, place)
        match rng.randrange(8):
            case 0:
                text = text[:place] + rng.choice(WORDS) + text[place:]
            case 1:
                text = text[:place] + text[min(other, place + rng.choice((1, 3, 30))) :]
            case 2:
                text = text[: one[0]] + rng.choice(NUMBERS) + text[one[1] :]
            case 3:
                text = text[: one[0]] + rng.choice(WORDS) + text[one[1] :]
            case 4:
                text = text[:place] + text[place:other][:50] * rng.choice((2, 3, 50)) + text[other:]
            case 5:
                text = text[:place] + chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) + text[place + 1 :]
            case 6:
                text = text[:place]
            case 7:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
    return text[:100_000]


def swapped(rng: Random, data: Any) -> Any:
    """Return JSON data with values replaced, or keys removed, renamed or inserted, at one or more places."""
    data = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = list(_places(data))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        match rng.randrange(8):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[rng.choice(("x", "", "mean", "\x1b[1m", "a.b", str(key) + " "))] = holder.pop(key)
            case 2:
                other, place = rng.choice(places)
                with contextlib.suppress(KeyError, IndexError):
                    holder[key] = copy.deepcopy(other[place])
            case 3:
                holder[key] = nested(rng, holder[key])
            case _:
                holder[key] = copy.deepcopy(rng.choice(VALUES))
    return data


def as_yaml_text(rng: Random, data: Any) -> str:
    """Return data as YAML in block style or as JSON, which is also YAML."""
    if rng.random() < 0.7:
        with contextlib.suppress(RecursionError):
            return yaml.safe_dump(data, sort_keys=False, allow_unicode=rng.random() < 0.5)
    return json.dumps(data)


def nested(rng: Random, value: Any) -> Any:
    """Return a value inside many lists or mappings."""
    for _ in range(rng.choice((2, 20, 100))):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    waiting = [data]
    while waiting:
        holder = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
