"""The shard writer: files that do not depend on the order of games, and resuming."""

import itertools
import random
import re

import pytest
from played_episodes import damage, episode, episodes, make_shard, origin_of
from test_shard import kill_between_temp_and_rename

from aleazero.errors import ReplayError
from aleazero.replay.shard import ShardWriter, read_shard, shard_name

NAME = "tic_tac_toe"


def new_writer(folder, games_per_shard=2, model="model-0", iteration=0):
    return ShardWriter(folder, iteration, games_per_shard, origin_of(NAME, model))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_files_do_not_depend_on_the_order_of_games(tmp_path):
    written = []
    for number, order in enumerate(itertools.islice(itertools.permutations(range(5)), 0, 120, 17)):
        folder = tmp_path / str(number)
        writer = new_writer(folder)
        for game in order:
            writer.add(episode(NAME, game))
        writer.finish(5)
        written.append(contents(folder))
    assert all(each == written[0] for each in written)
    assert set(written[0]) == {shard_name(0, 0), shard_name(0, 1), shard_name(0, 2)}


def test_a_shard_is_written_when_its_games_are_complete(tmp_path):
    writer = new_writer(tmp_path)
    for game, files in ((2, []), (1, []), (3, [shard_name(0, 1)]), (0, [shard_name(0, 0), shard_name(0, 1)])):
        writer.add(episode(NAME, game))
        assert sorted(path.name for path in tmp_path.glob("*")) == files
    assert read_shard(tmp_path / shard_name(0, 1)).meta.first_game == 2


def test_missing_games(tmp_path):
    writer = new_writer(tmp_path)
    assert writer.missing_games(5) == [0, 1, 2, 3, 4]
    for game in (0, 1, 3):
        writer.add(episode(NAME, game))
    assert writer.missing_games(5) == [2, 4]
    assert writer.missing_games(2) == []
    with pytest.raises(ReplayError, match="2 of 5 games are missing, the first is 2"):
        writer.finish(5)


def test_finish_can_be_called_twice(tmp_path):
    writer = new_writer(tmp_path)
    for record in episodes(NAME, 0, 3):
        writer.add(record)
    writer.finish(3)
    before = contents(tmp_path)
    writer.finish(3)
    assert contents(tmp_path) == before
    assert new_writer(tmp_path).missing_games(3) == []


def test_an_interrupted_writer_resumes(tmp_path):
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    writer = new_writer(whole)
    for record in episodes(NAME, 0, 7):
        writer.add(record)
    writer.finish(7)
    for count in range(8):
        order = list(range(7))
        random.Random(count).shuffle(order)
        folder = stopped / str(count)
        writer = new_writer(folder)
        for game in order[:count]:
            writer.add(episode(NAME, game))
        again = new_writer(folder)  # games in memory are lost with the process
        for game in again.missing_games(7):
            again.add(episode(NAME, game))
        again.finish(7)
        assert contents(folder) == contents(whole)


def test_a_writer_killed_before_the_rename_starts_again(tmp_path):
    kill_between_temp_and_rename(tmp_path)
    other = tmp_path / ".shard_00001_00000.safetensors.5.tmp"
    other.write_bytes(b"temporary file of another iteration")
    writer = new_writer(tmp_path)
    assert sorted(tmp_path.iterdir()) == [other]
    assert writer.missing_games(2) == [0, 1]
    for record in episodes(NAME, 0, 2):
        writer.add(record)
    assert contents(tmp_path).keys() == {other.name, shard_name(0, 0)}


@pytest.mark.parametrize("resumed", [False, True])
def test_a_shorter_last_shard_grows_when_there_are_more_games(tmp_path, resumed):
    writer = new_writer(tmp_path, games_per_shard=4)
    for record in episodes(NAME, 0, 2):
        writer.add(record)
    writer.finish(2)
    if resumed:
        writer = new_writer(tmp_path, games_per_shard=4)
    assert writer.missing_games(2) == []
    assert writer.missing_games(6) == [2, 3, 4, 5]
    writer.add(episode(NAME, 2))
    writer.finish(3)
    assert read_shard(tmp_path / shard_name(0, 0)).games == 3
    for game in (5, 3, 4):
        writer.add(episode(NAME, game))
    writer.finish(6)
    assert [record.game_number for record in read_shard(tmp_path / shard_name(0, 0)).records()] == [0, 1, 2, 3]
    assert [record.game_number for record in read_shard(tmp_path / shard_name(0, 1)).records()] == [4, 5]


def test_finish_with_fewer_games(tmp_path):
    writer = new_writer(tmp_path, games_per_shard=4)
    for record in episodes(NAME, 0, 7):
        writer.add(record)
    assert writer.missing_games(6) == []
    writer.finish(6)
    assert read_shard(tmp_path / shard_name(0, 1)).games == 2
    writer.finish(2)
    assert new_writer(tmp_path, games_per_shard=4).missing_games(5) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(path.read_bytes()[:-1]),
        lambda path: path.rename(path.with_name(shard_name(0, 5))),
    ],
    ids=["cut", "number"],
)
def test_games_of_damaged_shards_are_played_again(tmp_path, spoil):
    path = make_shard(tmp_path, NAME, 0, 2)
    assert new_writer(tmp_path).missing_games(2) == []
    spoil(path)
    writer = new_writer(tmp_path)
    assert writer.missing_games(2) == [0, 1]
    for record in episodes(NAME, 0, 2):
        writer.add(record)
    assert read_shard(path).meta.model == "model-0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rules_version": 2}, "belongs to another game"),
        ({"model": "another"}, "belongs to another model (another, expected model-0)"),
        ({"settings": "abc"}, "belongs to another seed and settings (abc, expected none)"),
    ],
)
def test_shards_of_another_origin_are_never_overwritten(tmp_path, change, message):
    path = make_shard(tmp_path, NAME, 0, 2)
    damage(path, **change)
    before = path.read_bytes()
    with pytest.raises(ReplayError, match=re.escape(message)):
        new_writer(tmp_path)
    assert path.read_bytes() == before


def test_shards_with_too_many_games_are_not_counted(tmp_path):
    make_shard(tmp_path, NAME, 0, 3)
    assert new_writer(tmp_path, games_per_shard=2).missing_games(2) == [0, 1]


def test_a_game_is_added_only_once(tmp_path):
    writer = new_writer(tmp_path)
    writer.add(episode(NAME, 1))
    for game in (1, 0):
        if game == 0:
            writer.add(episode(NAME, 0))
        with pytest.raises(ReplayError, match=f"game {game} of iteration 0 was already added"):
            writer.add(episode(NAME, game))


def test_a_failing_disk_loses_no_game(tmp_path, monkeypatch):
    import aleazero.replay.shard as module

    writer = new_writer(tmp_path)
    writer.add(episode(NAME, 0))

    def full(path, parts):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module, "write_atomic", full)
        with pytest.raises(ReplayError, match=r"cannot write .*: No space left on device"):
            writer.add(episode(NAME, 1))
    assert writer.missing_games(2) == []
    writer.finish(2)
    assert read_shard(tmp_path / shard_name(0, 0)).games == 2


def test_shards_without_games_are_rejected(tmp_path):
    with pytest.raises(ReplayError, match="games_per_shard is 0, expected at least 1"):
        new_writer(tmp_path, games_per_shard=0)
