"""The file of the oracle: it is read back, and built again if it is damaged or has another version."""

import numpy as np
import pytest

from aleazero.oracles import yatzy as yatzy_table


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a fast build function that counts its calls."""
    monkeypatch.setenv("ALEAZERO_CACHE_DIR", str(tmp_path))
    built = []

    def build_values(progress=None):
        built.append(progress)
        values = np.arange(float(np.prod(yatzy_table.SHAPE))).reshape(yatzy_table.SHAPE)
        values[1, 1] = np.nan
        return values

    monkeypatch.setattr(yatzy_table, "build_values", build_values)
    return built


def test_the_table_is_built_once_and_then_mapped(cache):
    first = yatzy_table.load_table()
    again = yatzy_table.load_table()
    assert len(cache) == 1
    np.testing.assert_array_equal(first, again)
    assert again[3, 5] == 3 * 64 + 5
    assert not again.flags.writeable
    assert isinstance(again.base, np.memmap)


def truncate(content):
    return content[: len(content) // 2]


def flip(content):
    return content[:1_000_000] + bytes([content[1_000_000] ^ 1]) + content[1_000_001:]


def older(content):
    return content[:16] + b"\0" + content[17:]


@pytest.mark.parametrize("damage", [truncate, flip, older, lambda c: b"", lambda c: c + b"\0", lambda c: b"x" * len(c)])
def test_a_damaged_or_old_file_is_replaced(cache, damage):
    yatzy_table.load_table()
    path = yatzy_table.table_path()
    path.write_bytes(damage(path.read_bytes()))
    assert yatzy_table.read_table(path) is None
    assert yatzy_table.load_table()[0, 7] == 7.0
    assert len(cache) == 2
    assert yatzy_table.read_table(path) is not None
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_table_of_another_rules_version_is_replaced(cache, monkeypatch):
    yatzy_table.load_table()
    monkeypatch.setattr(yatzy_table, "FORMAT", 99)
    assert yatzy_table.read_table(yatzy_table.table_path()) is None


def test_a_read_only_folder_only_costs_time(cache, tmp_path):
    (tmp_path / "oracles").write_text("in the way")
    assert yatzy_table.load_table()[0, 7] == 7.0
    assert len(cache) == 1
