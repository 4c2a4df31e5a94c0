from __future__ import annotations

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "pig-1.code").write_bytes(bytes(1_500_000))
    return kernels


def test_info_and_clear(run, folder):
    told = " ".join(run("cache", "info").stdout.split())
    assert told == f"{folder} holds 1 file, 1.5 MB"
    assert "it held 1 file" in run("cache", "clear").stdout
    assert list(folder.iterdir()) == []
    assert "holds 0 files" in run("cache", "info").stdout


def test_json(run_json, folder):
    held = {"folder": str(folder), "files": 1, "bytes": 1_500_000}
    assert run_json("cache", "info") == held
    assert run_json("cache", "clear") == held
    assert run_json("cache", "info") == {"folder": str(folder), "files": 0, "bytes": 0}


def test_a_folder_that_is_not_there_is_empty(run_json, tmp_path, monkeypatch):
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path / "nowhere"))
    assert run_json("cache", "info")["files"] == 0
    assert run_json("cache", "clear")["files"] == 0
