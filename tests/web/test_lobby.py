"""Seeds and files that a user gives in the lobby, without a browser."""

from __future__ import annotations

import asyncio

import pytest
from nicegui.elements.upload_files import SmallFileUpload
from nicegui.events import UploadEventArguments

from aleazero.errors import ConfigError
from aleazero.web.pages.lobby import _read_json, read_seed


@pytest.mark.parametrize(
    ("text", "seed"), [("", None), (None, None), (" ", None), ("0", 0), (" 7 ", 7), (str(2**64 - 1), 2**64 - 1)]
)
def test_a_seed_is_read(text, seed):
    assert read_seed(text) == seed


@pytest.mark.parametrize("text", ["-1", "1.0", "x", "²", str(2**64), "9" * 5000])
def test_a_text_that_is_no_seed_is_one_error(text):
    with pytest.raises(ConfigError, match=r"expected an integer from 0 to 2\*\*64 - 1"):
        read_seed(text)


def read(data):
    file = SmallFileUpload("game.json", "application/json", data)
    return asyncio.run(_read_json(UploadEventArguments(sender=None, client=None, file=file)))


def test_a_saved_game_is_read():
    assert read('\ufeff{"names": ["Ä"]}'.encode()) == {"names": ["Ä"]}


@pytest.mark.parametrize("data", [b"", b"\xff", b"[" * 100_000, rb'{"names": ["\ud800"]}', b"9" * 5000])
def test_a_file_that_is_no_saved_game_is_one_error(data):
    with pytest.raises(ConfigError, match=r"game\.json is not a saved game"):
        read(data)
