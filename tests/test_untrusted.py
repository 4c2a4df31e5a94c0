"""Bounded input: valid input is unchanged, input beyond the limits raises ValueError, and escapes are not printed."""

import json
import os

import pytest

from aleazero.untrusted import DEEPEST, parse_digits, parse_json, path_exists, printable, read_regular


@pytest.mark.parametrize("data", [None, True, 3, -(2**63), 2**64 - 1, 0.5, "ä💥", [], {"a": [{"b": [1, 2.5, None]}]}])
def test_json_is_read_as_written(data):
    assert parse_json(json.dumps(data)) == data
    assert parse_json(json.dumps(data, ensure_ascii=False).encode()) == data


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), '{"a":' * 500 + "1" + "}" * 500, "9" * 21, "9" * 5000,
     "-" + "9" * 21, "1e999", "-1e400", r'"\ud800"', r'{"\udfff": 1}', "{", "", b"\xff\xff", "nan",
     b'"\xed\xa0\x80"', r'"\ud800"'.encode("utf-16"), r'"\udc00"'.encode("utf-32")],
)  # fmt: skip
def test_json_beyond_the_limits_is_rejected(text):
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


def test_json_at_the_limits_is_read():
    assert parse_json("[" * DEEPEST + "]" * DEEPEST) is not None
    assert parse_json('["' + "[" * 1000 + '"]') == ["[" * 1000]  # brackets inside a text do not count
    assert parse_json("[NaN, Infinity, -Infinity, 1e308]") == [None, None, None, 1e308]


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("007", 7), (" 12 ", 12), ("9" * 19, 10**19 - 1), ("9" * 20, None), ("9" * 5000, None), ("-1", None),
     ("1.0", None), ("", None), ("٣", None), ("²", None), ("1_0", None), ("0" * 5000 + "1", None)],
)  # fmt: skip
def test_integers(text, number):
    assert parse_digits(text) == number


def test_control_characters_are_escaped():
    assert printable("a\x1b[31m\x07\x9b\x7f\r\u202eb\ud800") == r"a\x1b[31m\x07\x9b\x7f\r\u202eb\ud800"
    assert printable("ä ×\t─\n💥 [bold]") == "ä ×\t─\n💥 [bold]"


def test_only_regular_files_are_read(tmp_path):
    (tmp_path / "file").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    assert read_regular(tmp_path / "file") == b"x"
    for name in ("pipe", "zeros", "folder", "x" * 300):
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(OSError, match=r"."):
            read_regular(tmp_path / name)
    assert path_exists(tmp_path / "file")
    assert not path_exists(tmp_path / ("x" * 300))
