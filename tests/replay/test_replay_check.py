"""Checking a folder: valid shards are counted, the others are listed with their first error."""

import re
import shutil

import numpy as np
import pytest
from played_episodes import GAMES, RACE, damage, make_shard

from aleazero.errors import ReplayError
from aleazero.games import registry
from aleazero.replay.check import check_replay
from aleazero.replay.shard import read_shard, shard_name


@pytest.mark.parametrize("name", GAMES)
def test_self_play_games_pass_all_checks(tmp_path, name):
    paths = [make_shard(tmp_path, name, first, first + 1) for first in range(2)]
    calls = []
    report = check_replay(tmp_path, lambda done, of: calls.append((done, of)))
    assert (report.shards, report.games, report.broken) == (2, 2, [])
    assert report.samples == sum(read_shard(path).meta.samples for path in paths)
    assert calls == [(1, 2), (2, 2)]


def test_damaged_shards_are_listed_and_the_others_are_counted(tmp_path):
    for first in range(5):
        make_shard(tmp_path, "pig", first, first + 1)
    paths = [tmp_path / shard_name(0, number) for number in range(5)]
    paths[0].write_bytes(paths[0].read_bytes()[:100])
    damage(paths[1], lambda columns: columns["weights"].__setitem__(0, np.nan))
    damage(paths[3], lambda columns: columns["steps"].__setitem__((1, 1), 9))
    (tmp_path / "other.safetensors").write_bytes(b"")
    calls = []
    report = check_replay(tmp_path, lambda done, of: calls.append((done, of)))
    assert (report.shards, report.games) == (2, 2)
    assert report.samples == sum(read_shard(path).meta.samples for path in (paths[2], paths[4]))
    assert [each.path.name for each in report.broken] == [
        "other.safetensors", *(paths[number].name for number in (0, 1, 3))
    ]  # fmt: skip
    assert report.broken[2].why == "game 1, step 0: weights has nan, expected finite numbers"
    assert report.broken[3].why.startswith("game 3, step 1: pig: outcome 9 cannot happen here")
    assert calls == [(2, 4), (4, 4)]
    assert report.to_dict()["broken"][2] == {"shard": paths[1].name, "why": report.broken[2].why}


@pytest.mark.parametrize(
    ("meta", "message"),
    [
        ({"game": "pgi"}, "the game cannot be loaded: no game 'pgi', did you mean pig?"),
        ({"game": "nowhere.py:pig"}, "the game cannot be loaded: no file 'nowhere.py', expected"),
        ({"params": {"target": 1}}, "the game cannot be loaded: pig: target is 1, expected"),
        ({"params": {"goal": 20}}, "the game cannot be loaded: pig: no parameter 'goal'"),
        ({"rules_version": 2}, "the rules are version 2, expected 1 of pig(target=20)"),
        ({"observation_schema": "pig-0"}, "the observations are 'pig-0', expected 'pig-1' of pig(target=20)"),
        ({"game": "2048", "params": {}}, "the observations are 'pig-1', expected '2048-onehot-1' of 2048()"),
    ],
)
def test_samples_of_other_rules_are_rejected(tmp_path, meta, message):
    damage(make_shard(tmp_path, "pig", 0, 1), **meta)
    (broken,) = check_replay(tmp_path).broken
    assert broken.why.startswith(message)


def test_samples_of_other_parameters_are_rejected(tmp_path):
    damage(make_shard(tmp_path, "pig", 0, 1), params={"target": 30})
    (broken,) = check_replay(tmp_path).broken
    assert re.match(r"game 0, step \d+: observations has .* at \d, expected ", broken.why)


def test_a_game_file_is_loaded_by_its_path_and_changes_are_detected(tmp_path):
    own = tmp_path / "own.py"
    shutil.copy(RACE, own)
    path = make_shard(tmp_path / "shards", "race", 0, 2)
    damage(path, game=f"{own}:race")
    assert check_replay(path.parent).broken == []
    own.write_text(own.read_text().replace("FALL = 3", "FALL = 2").replace("6 if", "5 if"))
    (broken,) = check_replay(path.parent).broken
    assert broken.why.startswith("game ")


def test_a_registered_game_is_loaded(tmp_path, monkeypatch):
    from aleazero.games import pig

    monkeypatch.setattr(registry, "_registered", {"my_pig": pig})
    damage(make_shard(tmp_path, "pig", 0, 1), game="my_pig")
    assert check_replay(tmp_path).broken == []


def test_a_folder_without_shards_is_an_error(tmp_path):
    with pytest.raises(ReplayError, match=r"no shards in '.*', expected at least one"):
        check_replay(tmp_path)
    with pytest.raises(ReplayError, match="no folder"):
        check_replay(tmp_path / "nowhere")
