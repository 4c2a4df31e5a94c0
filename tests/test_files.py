"""Files appear whole or not at all."""

import os

import pytest

from aleazero.files import cache_root, write_whole


def test_a_file_is_its_parts(tmp_path):
    path = tmp_path / "new" / "file"
    write_whole(path, [b"ab", memoryview(b"cd")])
    assert path.read_bytes() == b"abcd"


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def parts():
        yield b"new"
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        write_whole(path, parts())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_or_a_device_stays_what_it_is(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(path, [b"ab", memoryview(b"cd")])
    assert os.read(reader, 10) == b"abcd"
    os.close(reader)
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("ALEAZERO_CACHE_DIR")
    assert cache_root().name == "aleazero"
