"""A folder of shards: order of age, damaged shards and duplicate games."""

import shutil

import pytest
from played_episodes import damage, make_shard

from aleazero.errors import ReplayError
from aleazero.replay.shard import shard_name
from aleazero.replay.window import open_folder, shard_paths


def test_shards_come_in_order_of_age(tmp_path):
    for iteration, first in ((100_000, 0), (2, 2), (2, 0), (0, 2)):
        make_shard(tmp_path, "tic_tac_toe", first, first + 2, iteration=iteration)
    calls = []
    shards, broken = open_folder(tmp_path, lambda done, of: calls.append((done, of)))
    assert [(shard.meta.iteration, shard.meta.first_game) for shard in shards] == [(0, 2), (2, 0), (2, 2), (100_000, 0)]
    assert broken == []
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_damaged_shards_are_reported_and_left_out(tmp_path):
    whole = make_shard(tmp_path, "tic_tac_toe", 0, 1)
    (tmp_path / shard_name(0, 1)).write_bytes(b"nothing")
    (tmp_path / "weights.safetensors").write_bytes(whole.read_bytes())
    (tmp_path / "README").write_bytes(b"not a shard")
    (tmp_path / f".{whole.name}.17.tmp").write_bytes(b"half")
    shards, broken = open_folder(tmp_path)
    assert [shard.path for shard in shards] == [whole]
    assert {each.path.name: each.why for each in broken} == {
        "weights.safetensors": "the file name is not that of a shard, expected e.g. shard_00000_00000.safetensors",
        shard_name(0, 1): "the file has 7 bytes, expected a header",
    }


def test_a_shard_named_for_another_iteration_is_rejected(tmp_path):
    path = make_shard(tmp_path, "tic_tac_toe", 0, 1)
    path.rename(tmp_path / shard_name(3, 0))
    assert [each.why for each in open_folder(tmp_path)[1]] == ["the iteration is 0, expected 3 as in the name"]


def test_duplicate_games_are_found(tmp_path):
    path = make_shard(tmp_path, "tic_tac_toe", 0, 2)
    shutil.copy(path, tmp_path / shard_name(0, 1))
    make_shard(tmp_path, "tic_tac_toe", 0, 2, iteration=1)  # equal numbers in another iteration are other games
    shards, broken = open_folder(tmp_path)
    assert [shard.path.name for shard in shards] == [shard_name(0, 1), shard_name(1, 0)]
    assert [(each.path, each.why) for each in broken] == [(path, f"game 0 is also in {shard_name(0, 1)}")]


def test_the_description_of_a_shard_is_one_line(tmp_path):
    damage(make_shard(tmp_path, "tic_tac_toe", 0, 1), lambda columns: columns.update({"a\nb": columns["ply"]}))
    assert [each.why for each in open_folder(tmp_path)[1]] == [r"the column 'a\nb' is unknown"]


def test_no_folder_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(ReplayError, match=r"no folder '.*', expected a folder of shards"):
            shard_paths(path)
    assert open_folder(tmp_path) == ([], [])
