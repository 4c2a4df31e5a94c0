"""``aleazero replay``: damaged shards are listed with exit code 1; a folder without shards is an error."""

import json

import numpy as np
import pytest
from played_episodes import damage, episodes, make_shard

from aleazero.replay.shard import shard_name


@pytest.fixture
def folder(tmp_path):
    for iteration in (0, 1):
        make_shard(tmp_path, "pig", 0, 2, iteration=iteration)
    make_shard(tmp_path, "pig", 2, 4, iteration=1)
    return tmp_path


def test_a_valid_replay(run, folder):
    result = run("replay", "check", str(folder))
    assert result.exit_code == 0, result.output
    samples = sum(map(len, episodes("pig", 0, 2) + episodes("pig", 0, 4)))
    assert result.stdout == f"3 shards valid: 6 games, {samples} samples checked\n"


def test_a_valid_replay_as_json(run_json, folder):
    samples = sum(map(len, episodes("pig", 0, 2) + episodes("pig", 0, 4)))
    assert run_json("replay", "check", str(folder)) == {
        "folder": str(folder),
        "shards": 3,
        "games": 6,
        "samples": samples,
        "broken": [],
    }


def test_broken_shards_are_listed(run, folder):
    damage(folder / shard_name(1, 1), lambda columns: columns["weights"].__setitem__(0, np.nan))
    (folder / shard_name(0, 0)).write_bytes(b"[bold]")
    result = run("replay", "check", str(folder))
    assert result.exit_code == 1
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("1 shard valid: 2 games, ")
    assert lines[1:] == [
        "2 shards damaged",
        "shard_00000_00000.safetensors: the file has 6 bytes, expected a header",
        "shard_00001_00001.safetensors: game 2, step 0: weights has nan, expected finite numbers",
    ]


def test_broken_shards_as_json(run, folder):
    (folder / shard_name(0, 0)).write_bytes(b"")
    result = run("replay", "check", str(folder), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["broken"] == [
        {"shard": shard_name(0, 0), "why": "the file has 0 bytes, expected a header"}
    ]


def test_a_replay_with_only_damaged_shards(run, tmp_path):
    (tmp_path / shard_name(0, 0)).write_bytes(b"")
    result = run("replay", "check", str(tmp_path))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "1 shard damaged"


@pytest.mark.parametrize("verb", ["check", "show"])
def test_a_folder_without_shards_is_one_line(refused, tmp_path, verb):
    assert "no shards in" in refused("replay", verb, str(tmp_path))
    assert "no folder" in refused("replay", verb, str(tmp_path / "nowhere"))


def test_show(run, folder):
    result = run("replay", "show", str(folder))
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    first = episodes("pig", 0, 2)
    second = episodes("pig", 0, 4)
    length = [f"{sum(len(r.steps) for r in some) / len(some):.1f}" for some in (first, second, first + second)]
    assert " ".join(lines[0]) == "pig(target=20) version 1, observations pig-1"
    assert lines[1] == ["iteration", "model", "shards", "games", "samples", "length"]
    assert lines[3] == ["0", "model-0", "1", "2", str(sum(map(len, first))), length[0]]
    assert lines[4] == ["1", "model-1", "2", "4", str(sum(map(len, second))), length[1]]
    assert lines[-1][:3] == ["all", "3", "6"]
    assert lines[-1][-1] == length[2]
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_show_as_json(run_json, folder):
    (folder / shard_name(1, 1)).write_bytes(b"")
    data = run_json("replay", "show", str(folder))
    assert [(row["iteration"], row["model"], row["games"]) for row in data["iterations"]] == [
        (0, "model-0", 2),
        (1, "model-1", 2),
    ]
    assert data["all"]["shards"] == 2
    assert data["broken"] == [{"shard": shard_name(1, 1), "why": "the file has 0 bytes, expected a header"}]


def test_show_with_damaged_shards(run, folder):
    (folder / shard_name(1, 1)).write_bytes(b"")
    result = run("replay", "show", str(folder))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == f"{shard_name(1, 1)}: the file has 0 bytes, expected a header"
    (folder / shard_name(0, 0)).write_bytes(b"")
    (folder / shard_name(1, 0)).write_bytes(b"")
    assert run("replay", "show", str(folder)).stdout.splitlines()[0] == "3 shards damaged"
