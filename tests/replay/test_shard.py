"""Shards: round trips, byte-identical files for equal games, and detection of damage."""

import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from played_episodes import GAMES, damage, episode, episodes, make_shard, origin_of
from safetensors import safe_open

from aleazero.errors import ReplayError
from aleazero.replay.shard import (
    COLUMNS,
    GAME_COLUMNS,
    SAMPLE_COLUMNS,
    BrokenShard,
    open_shard,
    read_shard,
    shard_key,
    shard_name,
    write_shard,
)
from aleazero.selfplay.record import EpisodeRecord

SMALL = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("name", GAMES)
def test_round_trip_of_games(tmp_path, name):
    shard = read_shard(make_shard(tmp_path, name, 2, 4, iteration=7))
    assert shard.games == 2
    for record, original in zip(shard.records(), episodes(name, 2, 4), strict=True):
        assert record.equals(original)
    assert shard.meta.samples == sum(len(original) for original in episodes(name, 2, 4))
    assert set(shard.columns["iteration"]) == {7}
    assert shard.columns["game"].tolist() == [2] * len(episode(name, 2)) + [3] * len(episode(name, 3))


@pytest.mark.parametrize("name", ["pig", "yatzy"])
def test_returns_are_by_seat_relative_to_the_viewer(tmp_path, name):
    shard = read_shard(make_shard(tmp_path, name, 0, 1))
    record = episode(name)
    assert set(record.viewers) == {0, 1}
    expected = [np.roll(record.returns, -viewer) for viewer in record.viewers]
    assert shard.columns["returns"].tolist() == np.array(expected, np.float32).tolist()


def test_files_do_not_depend_on_the_order_of_games(tmp_path):
    records = episodes("pig", 0, 4)
    for name, order in (("a", records), ("b", records[::-1])):
        write_shard(tmp_path / name, order, origin_of("pig"), 1)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_shard_is_a_safetensors_file_with_documented_columns(tmp_path):
    path = make_shard(tmp_path, "yatzy", 0, 1)
    with safe_open(path, "numpy") as file:
        assert set(file.keys()) == set(COLUMNS) == set(SAMPLE_COLUMNS) | set(GAME_COLUMNS)
        assert json.loads(file.metadata()["aleazero"])["game"] == "yatzy"
        ours = read_shard(path).columns
        for name in file.keys():  # noqa: SIM118
            assert np.array_equal(file.get_tensor(name), ours[name])


@st.composite
def records(draw, first=0):
    """Draw records with arbitrary numbers; shards do not check them."""
    games, observation, actions, players = (draw(st.integers(1, 3)) for _ in range(4))

    def array(dtype, *shape):
        return draw(hnp.arrays(np.dtype(dtype), shape))

    made = []
    for number in range(games):
        n, k = draw(st.integers(0, 3)), draw(st.integers(0, 3))
        made.append(
            EpisodeRecord(
                game_number=first + number,
                seed=draw(st.integers(0, 2**64 - 1)),
                start=draw(st.text(max_size=8)),
                steps=array(np.int32, k, 2),
                returns=array(np.float64, players),
                step=array(np.int32, n),
                ply=array(np.int32, n),
                afterstate=array(np.bool_, n),
                observations=array(np.float32, n, observation),
                legal_masks=array(np.bool_, n, actions),
                policies=array(np.float32, n, actions),
                viewers=draw(hnp.arrays(np.int8, n, elements=st.integers(0, players - 1))),
                root_values=array(np.float32, n, players),
                scores=array(np.float32, n, players),
                weights=array(np.float32, n),
                searched=array(np.bool_, n),
            )
        )
    return made


@SMALL
@given(made=records(first=5))
def test_round_trip_of_random_records(tmp_path, made):
    path = tmp_path / shard_name(0, 0)
    with np.errstate(over="ignore"):
        write_shard(path, made, origin_of("pig"), 0)
    shard = read_shard(path)
    assert shard.games == len(made)
    for record, original in zip(shard.records(), made, strict=True):
        assert record.equals(original)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = make_shard(tmp_path_factory.mktemp("small"), "tic_tac_toe", 0, 2)
    return path.read_bytes()


def interesting(content):
    """Return the byte positions at and next to the edges of the header and of every tensor."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    edges = {0, 1, 7, 8, 9, 8 + length // 2, 8 + length, len(content)}
    edges |= {
        8 + length + edge for name, each in header.items() if name != "__metadata__" for edge in each["data_offsets"]
    }
    return sorted({at + near for at in edges for near in (-1, 0, 1) if 0 <= at + near < len(content)})


def test_a_truncated_file_is_rejected(tmp_path, small):
    path = tmp_path / shard_name(0, 0)
    for size in interesting(small):
        path.write_bytes(small[:size])
        with pytest.raises(ReplayError):
            read_shard(path)


def test_a_file_with_trailing_bytes_is_rejected(tmp_path, small):
    path = tmp_path / shard_name(0, 0)
    path.write_bytes(small + b"\0")
    with pytest.raises(ReplayError, match="expected no gap or overlap"):
        read_shard(path)


def test_a_flipped_byte_is_detected(tmp_path, small):
    path = tmp_path / shard_name(0, 0)
    path.write_bytes(small)
    whole = read_shard(path)
    some = random.Random(0)
    places = {*interesting(small), *some.sample(range(len(small)), 400)}
    for place in sorted(places):
        flipped = bytearray(small)
        flipped[place] ^= 1 << some.randrange(8)
        path.write_bytes(flipped)
        found = open_shard(path)
        if isinstance(found, BrokenShard):
            assert "\n" not in found.why
        else:  # only the padding after the JSON of the header can change
            assert small[place] in b" \t\n\r"
            assert found.meta == whole.meta


@SMALL
@given(content=st.binary(max_size=200))
def test_other_files_raise_a_replay_error(tmp_path, content):
    path = tmp_path / shard_name(0, 0)
    path.write_bytes(content)
    with pytest.raises(ReplayError):
        read_shard(path)


def test_another_safetensors_file_is_rejected(tmp_path):
    from safetensors.numpy import save

    path = tmp_path / shard_name(0, 0)
    path.write_bytes(save({"weight": np.zeros(3)}))
    with pytest.raises(ReplayError, match=r"the metadata has the keys \[\], expected \['aleazero'\]"):
        read_shard(path)


def cut_row(name):
    return lambda columns: columns.update({name: columns[name][:-1]})


def cut_edges(columns):
    for name in ("sample_offsets", "step_offsets", "start_offsets"):
        cut_row(name)(columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("ply"), "the column 'ply' is missing"),
        (lambda c: c.update(extra=np.zeros(3)), "the column 'extra' is unknown"),
        (lambda c: c.update(ply=c["ply"].astype("<i8")), "ply: has type int64, expected int32"),
        (lambda c: c.update(game_numbers=np.array(0)), r"game_numbers: has shape \(\), expected games"),
        (lambda c: c.update(steps=c["steps"][:, :1].copy()), r"steps: has shape \(\d+, 1\), expected \d+ × 2"),
        (cut_row("policies"), r"policies: has shape \(\d+, 9\), expected \d+ × 9"),
        (cut_row("game_returns"), r"game_returns: has shape \(1, 2\), expected 2 × 2"),
        (cut_row("step_offsets"), r"step_offsets: has shape \(2,\), expected 3"),
        (cut_edges, "sample_offsets: has 2 entries, expected 3"),
        (lambda c: c["game_numbers"].__iadd__(1), "the games are not 0 to 2 in order"),
        (lambda c: c["sample_offsets"].__setitem__(0, 1), "sample_offsets: got 1 to"),
        (lambda c: c["step_offsets"].__setitem__(1, 10**6), "step_offsets: got 0 to .*, expected to increase"),
        (lambda c: c["start_offsets"].__setitem__(-1, 3), "start_offsets: got 0 to 3"),
        (lambda c: c["game"].__setitem__(0, 1), "game: a sample has the number of another game"),
        (lambda c: c["iteration"].__setitem__(-1, 5), "iteration: a sample has another number than 0"),
    ],
)
def test_inconsistent_columns_are_rejected(tmp_path, change, message):
    path = make_shard(tmp_path, "tic_tac_toe", 0, 2)
    damage(path, change)
    with pytest.raises(ReplayError, match=message):
        read_shard(path)


@pytest.mark.parametrize(
    "meta", [{"samples": 3}, {"last_game": 9}, {"first_game": 1}, {"first_game": 2, "last_game": 0}]
)
def test_inconsistent_metadata_is_rejected(tmp_path, meta):
    path = make_shard(tmp_path, "tic_tac_toe", 0, 2)
    damage(path, **meta)
    with pytest.raises(ReplayError, match="expected games"):
        read_shard(path)


def test_a_wrong_checksum_is_rejected(tmp_path, small):
    path = tmp_path / shard_name(0, 0)
    path.write_bytes(small[:-1] + bytes([small[-1] ^ 1]))
    with pytest.raises(ReplayError, match=r"the checksum is \w{12}…, expected \w{12}…: the file is damaged"):
        read_shard(path)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([], "got no games"),
        ([0, 2], r"got the games \[0, 2\], expected consecutive numbers"),
        ([1, 1], r"got the games \[1, 1\], expected consecutive numbers"),
    ],
)
def test_nonconsecutive_games_are_rejected(tmp_path, made, message):
    with pytest.raises(ReplayError, match=message):
        write_shard(tmp_path / "x", [episode("pig", number) for number in made], origin_of("pig"), 0)
    assert list(tmp_path.iterdir()) == []


def test_games_of_other_sizes_are_rejected(tmp_path):
    other = replace(episode("tic_tac_toe"), game_number=1)
    with pytest.raises(ReplayError, match="expected equal shapes in all games"):
        write_shard(tmp_path / "x", [episode("pig"), other], origin_of("pig"), 0)


def test_an_unwritable_path_raises_a_replay_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ReplayError, match=r"cannot write .*: (Not a directory|File exists)"):
        write_shard(tmp_path / "file" / "x", [episode("pig")], origin_of("pig"), 0)


def test_names_contain_iteration_and_number(tmp_path):
    assert shard_key(tmp_path / shard_name(12, 345)) == (12, 345)
    assert shard_key(tmp_path / shard_name(123456, 7)) == (123456, 7)
    with pytest.raises(ReplayError, match=r"expected e\.g\. shard_00000_00000\.safetensors"):
        shard_key(tmp_path / "shard_1_2.safetensors")


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from played_episodes import make_shard
Path.replace = lambda self, target: os.kill(os.getpid(), signal.SIGKILL)
make_shard(Path({folder!r}), "tic_tac_toe", 0, 2)
"""


def kill_between_temp_and_rename(folder):
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = KILLED.format(tests=tests, folder=str(folder))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_writer_that_is_killed_leaves_no_shard(tmp_path):
    kill_between_temp_and_rename(tmp_path)
    left = list(tmp_path.iterdir())
    assert [path.name.startswith(".shard_00000_00000") for path in left] == [True]
    # The temporary file is complete, but its name is not that of a shard.
    with pytest.raises(ReplayError):
        shard_key(left[0])
