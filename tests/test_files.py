"""Files: atomic writes, locks, hashes, JSON without NaN, and conversion of OSErrors."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from aleazero.errors import CheckpointError, RunError
from aleazero.files import (
    cache_root,
    file_hash,
    locked,
    os_errors_as,
    remove_leftovers,
    without_nan,
    write_atomic,
    write_file,
)


def test_a_file_consists_of_its_parts(tmp_path):
    path = tmp_path / "new" / "file"
    write_atomic(path, [b"ab", memoryview(b"cd")])
    assert path.read_bytes() == b"abcd"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def parts():
        yield b"new"
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        write_atomic(path, parts())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_temporary_files_of_killed_processes_are_removed(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", "pass"])
    killed.wait()
    names = [f".a[1].json.{killed.pid}.tmp", f".a[1].json.{os.getpid()}.tmp", ".a[1].json.1.tmp", ".a[1].json.x.tmp",
             f".b.json.{killed.pid}.tmp", "a[1].json"]  # fmt: skip
    for name in names:
        (tmp_path / name).write_text("half")
    remove_leftovers(tmp_path / "a[1].json")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names[1:])
    remove_leftovers(tmp_path / "none" / "a[1].json")


def test_a_pipe_or_a_device_is_not_replaced(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_atomic(path, [b"ab", memoryview(b"cd")])
    assert os.read(reader, 10) == b"abcd"
    os.close(reader)
    assert path.is_fifo()
    assert list(tmp_path.iterdir()) == [path]


def test_the_environment_sets_the_cache_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("ALEAZERO_CACHE_DIR")
    assert cache_root().name == "aleazero"


def test_os_errors_are_converted(tmp_path):
    with pytest.raises(RunError) as caught, os_errors_as(RunError, "x cannot be read", "a file"):
        raise OSError(2, "No such file", "x")
    assert str(caught.value) == "x cannot be read: No such file, expected a file"
    with (
        pytest.raises(CheckpointError, match=r"^x cannot be read: no space$"),
        os_errors_as(CheckpointError, "x cannot be read"),
    ):
        raise OSError("no space")
    with pytest.raises(ValueError, match="other"), os_errors_as(RunError, "x"):
        raise ValueError("other")
    write_file(tmp_path / "a", "ä", RunError)
    assert (tmp_path / "a").read_bytes() == "ä".encode()
    with pytest.raises(RunError, match=r"b cannot be written: (Not a directory|File exists)"):
        write_file(tmp_path / "a" / "b", b"", RunError)


def test_the_hash_depends_on_the_bytes_of_a_file(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_hash(tmp_path / "a", RunError) == hashlib.blake2b(b"abc", digest_size=8).hexdigest()
    with pytest.raises(CheckpointError, match=r"b cannot be read: No such file"):
        file_hash(tmp_path / "b", CheckpointError)


def test_a_folder_is_locked_by_one_process_at_a_time(tmp_path):
    with (
        locked(tmp_path / "new", RunError),
        pytest.raises(RunError, match="new is in use by another process"),
        locked(tmp_path / "new", RunError),
    ):
        pass
    with locked(tmp_path / "new", RunError):
        pass
    (tmp_path / "file").touch()
    with (
        pytest.raises(CheckpointError, match="file cannot be written: File exists, expected a directory"),
        locked(tmp_path / "file", CheckpointError),
    ):
        pass
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / ".lock").symlink_to(tmp_path / "elsewhere")
    with (
        pytest.raises(RunError, match=r"\.lock cannot be written: it is a symbolic link, expected a file, or none"),
        locked(tmp_path / "link", RunError),
    ):
        pass


def test_json_has_no_nan():
    held = {"a": [float("nan"), 1.5, (float("inf"), True)], 3: Path("x/y"), "b": {"c": None}}
    assert without_nan(held) == {"a": [None, 1.5, [None, True]], "3": "x/y", "b": {"c": None}}
