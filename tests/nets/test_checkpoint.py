"""Checkpoints: round trips, and rejection of damaged or mismatched files."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tuple_boards import SMALL

import aleazero
from aleazero import CheckpointError
from aleazero.nets.checkpoint import (
    PolicyValueInfo,
    TableInfo,
    ValueInfo,
    load_tables,
    read_checkpoint,
    write_checkpoint,
)
from aleazero.nets.config import NetConfig, NetShape, ValueNetConfig, ValueScale
from aleazero.nets.inference import load_net
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.tables import TupleTables
from aleazero.nets.torch_nets import make_body, weights_of

CONFIG = NetConfig(width=16, blocks=1)


def made(game, config=CONFIG, seed=1):
    return weights_of(make_body(NetShape.of(game), config, seed))


def about(game, config=CONFIG, **more):
    return PolicyValueInfo.of(game, config, ValueScale(), **more)


@pytest.fixture
def pig():
    return aleazero.load_game("pig")


@pytest.fixture
def path(tmp_path, pig):
    found = tmp_path / "net.safetensors"
    write_checkpoint(found, made(pig), about(pig, step=7, training={"rate": 0.5}))
    return found


def test_round_trip(path, pig) -> None:
    weights, found = read_checkpoint(path, PolicyValueInfo)
    assert found == about(pig, step=7, training={"rate": 0.5})
    assert set(weights) == set(made(pig))
    for name, array in made(pig).items():
        np.testing.assert_array_equal(weights[name], array)
    before = path.read_bytes()
    write_checkpoint(path, weights, found)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["net.safetensors"]


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        NetConfig(width=5, blocks=0, layer_norm=False),
        NetConfig(width=9, blocks=2, margin=True, afterstates=False),
    ],
)
def test_weight_names_and_shapes_equal_those_of_torch(config, pig) -> None:
    shapes = {name: array.shape for name, array in made(pig, config).items()}
    assert shapes == about(pig, config).weight_shapes()


def test_initial_weights_depend_only_on_the_seed_and_keep_the_torch_rng_state(pig) -> None:
    import torch

    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    one, same, other = made(pig, seed=1), made(pig, seed=1), made(pig, seed=2)
    assert torch.equal(torch.rand(3), wanted)
    assert all((one[name] == same[name]).all() for name in one)
    assert any((one[name] != other[name]).any() for name in one)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_truncated_file_is_rejected(data, tmp_path_factory) -> None:
    game = aleazero.load_game("pig")
    file = tmp_path_factory.mktemp("cut") / "net.safetensors"
    write_checkpoint(file, made(game), about(game))
    whole = file.read_bytes()
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(CheckpointError, match=r"damaged or not a checkpoint|safetensors file of another program"):
        read_checkpoint(file, PolicyValueInfo)


def rewritten(path, change):
    """Change the metadata in the header."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    written = json.loads(header["__metadata__"]["aleazero"])
    change(written)
    header["__metadata__"]["aleazero"] = json.dumps(written)
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.update(format=99), "has format 99, expected 2"),
        (lambda m: m.update(surprise=1), "invalid metadata"),
        (lambda m: m["net"].update(width="wide"), "invalid metadata"),
        (lambda m: m["net"].update(width=17), "expected float32"),
        (lambda m: m["net"].update(blocks=2), "weights that do not match its metadata"),
    ],
)
def test_invalid_metadata_is_rejected(path, change, message) -> None:
    rewritten(path, change)
    with pytest.raises(CheckpointError, match=message):
        read_checkpoint(path, PolicyValueInfo)


def test_non_finite_weights_are_rejected(tmp_path, pig) -> None:
    weights = made(pig)
    weights["heads.bias"][0] = np.nan
    with pytest.raises(CheckpointError, match=r"heads\.bias has non-finite weights"):
        write_checkpoint(tmp_path / "net", weights, about(pig))
    assert list(tmp_path.iterdir()) == []
    from safetensors.numpy import save_file

    save_file(weights, tmp_path / "net", {"aleazero": about(pig).model_dump_json()})
    with pytest.raises(CheckpointError, match=r"heads\.bias has non-finite weights"):
        read_checkpoint(tmp_path / "net", PolicyValueInfo)


def test_other_files_are_rejected(tmp_path) -> None:
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "other.safetensors")
    with pytest.raises(CheckpointError, match="of another program"):
        read_checkpoint(tmp_path / "other.safetensors", PolicyValueInfo)
    with pytest.raises(CheckpointError, match="cannot be read: No such file"):
        read_checkpoint(tmp_path / "missing.safetensors", PolicyValueInfo)
    (tmp_path / "text").write_text("not a checkpoint", encoding="utf-8")
    with pytest.raises(CheckpointError, match="damaged or not a checkpoint"):
        read_checkpoint(tmp_path / "text", PolicyValueInfo)
    game = aleazero.load_game("pig")
    with pytest.raises(CheckpointError, match="cannot be written"):
        write_checkpoint(tmp_path / "text" / "net", made(game), about(game))


def test_a_network_of_another_game_is_rejected(path, pig) -> None:
    assert load_net(path, pig).about.step == 7
    with pytest.raises(CheckpointError, match="has game 'pig', expected 'tic_tac_toe'"):
        load_net(path, aleazero.load_game("tic_tac_toe"))
    with pytest.raises(CheckpointError, match=r"has params .* expected"):
        load_net(path, aleazero.load_game("pig", target=20))
    rewritten(path, lambda m: m.update(observation_schema="pig-0"))
    with pytest.raises(CheckpointError, match="has observation_schema 'pig-0', expected 'pig-1'"):
        load_net(path, pig)
    rewritten(path, lambda m: m.update(observation_schema="pig-1", rules_version=9))
    with pytest.raises(CheckpointError, match="has rules_version 9, expected 1"):
        load_net(path, pig)


def test_playing_needs_no_torch(path) -> None:
    """A search with a network works in a process that cannot import torch."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import aleazero\n"
        "game = aleazero.load_game('pig')\n"
        f"player = aleazero.make_player('net:{path},sims=4', game)\n"
        "print(player.select(game.state_from_text('3-9 turn 8 player 0'), 1) in (0, 1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.parametrize("change", [{"cells": 2**40}, {"values": 2**40}, {"cells": -1}])
def test_tables_of_absurd_sizes_are_rejected(tmp_path, change) -> None:
    board, path = aleazero.load_game("2048"), tmp_path / "tables.safetensors"
    write_checkpoint(path, TupleTables(SMALL).tensors(), TableInfo.of(board, SMALL))
    rewritten(path, lambda found: found["net"].update(change))
    with pytest.raises(CheckpointError, match="invalid metadata"):
        load_tables(path, board)


@pytest.mark.parametrize("size", [2**25, 10**19])
def test_value_networks_of_absurd_sizes_are_rejected(tmp_path, pig, size) -> None:
    path = tmp_path / "value.safetensors"
    columns, net = (Column(name="win"),), ValueNetConfig(hidden=(4,))
    shape = FeatureShape(features=5)
    info = ValueInfo.of(pig, net, shape, "x", columns)
    write_checkpoint(path, {name: np.zeros(dims, np.float32) for name, dims in info.weight_shapes().items()}, info)
    rewritten(path, lambda found: found["features"].update(features=size))
    with pytest.raises(CheckpointError, match=r"invalid metadata.*features is"):
        read_checkpoint(path, ValueInfo)
