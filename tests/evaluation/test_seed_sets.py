from __future__ import annotations

import pytest

from aleazero.errors import ConfigError
from aleazero.evaluation.match import NAMED, fresh_seeds, load_seed_set, seeds_hash


def test_named_sets_have_their_stated_sizes():
    for name, count in NAMED.items():
        assert len(set(load_seed_set(name))) == count
    assert load_seed_set("large")[:100] == load_seed_set("small")


def test_seeds_are_read_from_a_file(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("# my own\n7\n\n 18446744073709551615 # the highest\n0\n")
    assert load_seed_set(str(file)) == [7, 2**64 - 1, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\nthree\n", "line 3: got 'three', expected a number from 0"),
        ("1\n-2\n", "line 2: got '-2'"),
        ("18446744073709551616", "line 1: got '18446744073709551616'"),
        ("1 2\n", "line 1: got '1 2'"),
        ("5\n# again\n5\n", "line 3: got 5, which is also on line 1"),
        ("# nothing\n", "got no seeds"),
    ],
)
def test_errors_name_the_invalid_line(tmp_path, text, message):
    file = tmp_path / "seeds.txt"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_seed_set(str(file))


def test_unknown_sets_and_invalid_files_are_rejected(tmp_path):
    with pytest.raises(ConfigError, match="no seed set 'smal', did you mean small"):
        load_seed_set("smal")
    file = tmp_path / "seeds.txt"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="is not a text file"):
        load_seed_set(str(file))


def test_fresh_seeds_depend_on_seed_and_iteration():
    assert fresh_seeds(1, 2, 5)[:3] == fresh_seeds(1, 2, 3)
    several = [fresh_seeds(1, 2, 50), fresh_seeds(1, 3, 50), fresh_seeds(2, 2, 50), load_seed_set("small")]
    assert len({seed for seeds in several for seed in seeds}) == 250
    assert seeds_hash([1, 2]) != seeds_hash([12]) != seeds_hash([2, 1])


def test_files_with_windows_line_ends(tmp_path):
    (tmp_path / "seeds.txt").write_bytes(b"\xef\xbb\xbf3\r\n\r\n4\r\n")
    assert load_seed_set(str(tmp_path / "seeds.txt")) == [3, 4]
