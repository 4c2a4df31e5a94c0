"""Metadata of shards: round trip, and rejection of invalid texts."""

import json
from copy import copy

import pytest
from played_episodes import game_of, make_shard, origin_of

from aleazero.errors import ReplayError
from aleazero.replay.shard import read_shard
from aleazero.replay.shard_format import FORMAT, Origin, parse_meta


@pytest.fixture
def meta(tmp_path):
    return read_shard(make_shard(tmp_path, "tic_tac_toe", 4, 6, iteration=3)).meta


def test_metadata_has_origin_and_version(meta):
    assert json.loads(meta.to_text()) | {"checksum": "", "code_version": ""} == {
        "format": FORMAT,
        "game": "tic_tac_toe",
        "params": {},
        "rules_version": 1,
        "observation_schema": game_of("tic_tac_toe").info.observation_schema,
        "iteration": 3,
        "model": "model-3",
        "settings": "",
        "first_game": 4,
        "last_game": 6,
        "samples": meta.samples,
        "code_version": "",
        "checksum": "",
    }
    assert meta.code_version.count(".") == 2
    assert parse_meta(meta.to_text()) == meta


def changed(meta, **changes):
    content = json.loads(meta.to_text())
    content.update(changes)
    return json.dumps({name: value for name, value in content.items() if value is not None})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "the format is 2, expected 1"),
        ({"format": None}, "expected metadata of a shard"),
        ({"iteration": "3"}, "iteration in the metadata is '3': Input should be a valid integer"),
        ({"iteration": -1}, "iteration in the metadata is -1"),
        ({"samples": True}, "samples in the metadata is True"),
        ({"model": None}, "model in the metadata is .*: Field required"),
        ({"author": "me"}, "author in the metadata is 'me': Extra inputs are not permitted"),
        ({"params": []}, "params in the metadata is"),
    ],
)
def test_invalid_metadata_is_rejected(meta, changes, message):
    with pytest.raises(ReplayError, match=message):
        parse_meta(changed(meta, **changes))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "[" * 100_000])
def test_metadata_of_another_program_is_rejected(text):
    with pytest.raises(ReplayError, match="expected metadata of a shard"):
        parse_meta(text)


def test_samples_of_other_rules_are_distinguished():
    pig = origin_of("pig")
    assert pig.same_game(origin_of("pig", "another model"))
    for changes in ({"params": {"target": 21}}, {"rules_version": 2}, {"observation_schema": "pig-2"}, {"game": "gip"}):
        assert not pig.same_game(pig.model_copy(update=changes))


def test_origin_of_a_game():
    assert origin_of("pig").game_text() == "pig(target=20) version 1, observations pig-1"
    assert origin_of("race").game_text().endswith("race.py:race(length=8) version 1")


def test_parameters_that_are_not_json_are_rejected():
    strange = copy(game_of("pig"))
    strange.params = {"x": object()}
    with pytest.raises(ReplayError, match="parameters must be JSON"):
        Origin.of(strange, "model")


def test_the_origin_of_a_game_file_needs_its_path():
    with pytest.raises(ReplayError, match=r"race is not a registered game, expected spec=path/file\.py:NAME"):
        Origin.of(game_of("race"), "model")
