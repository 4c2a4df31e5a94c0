"""Value networks: creation from settings, and checkpoints."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import CheckpointError, ConfigError
from aleazero.nets.checkpoint import PolicyValueInfo, ValueInfo, load_value_net, read_checkpoint, write_checkpoint
from aleazero.nets.config import NetConfig, NetShape, ValueNetConfig, ValueScale
from aleazero.nets.inference import load_policy_net
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.torch_nets import make_body, weights_of
from aleazero.nets.value_net import make_value_net

SHAPE = FeatureShape(features=9, block=3, seats=2, common=3, lead=2, lead_unit=100.0)
COLUMNS = (Column(name="win", link="tanh"), Column(name="margin", scale=20.0, delta=10.0, weight=0.2))
KINDS = ["mlp", "towers", "torch"]


def configured(kind="mlp", **settings):
    return ValueNetConfig(kind=kind, **{"hidden": (8, 4), "joint": 5, "width": 6, "blocks": 1, **settings})


@pytest.fixture
def pig():
    return aleazero.load_game("pig")


def written(path, game, config, seed=1):
    net = make_value_net(config, SHAPE, COLUMNS)
    theta = net.initial(seed)
    about = ValueInfo.of(game, config, SHAPE, "pig.1", COLUMNS, step=7, training={"rate": 0.5})
    write_checkpoint(path, net.tensors(theta), about)
    return net, theta, about


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("phases", [1, 2])
def test_round_trip(kind, phases, tmp_path, pig) -> None:
    path = tmp_path / "net.safetensors"
    made, theta, about = written(path, pig, configured(kind, phases=phases))
    net, found, info = load_value_net(path, pig, SHAPE, "pig.1")
    assert info == about
    assert type(net) is type(made)
    assert net.columns == COLUMNS
    np.testing.assert_array_equal(found, theta)
    before = path.read_bytes()
    write_checkpoint(path, net.tensors(found), info)
    assert path.read_bytes() == before


def test_each_recipe_rejects_networks_of_the_other(tmp_path, pig) -> None:
    path = tmp_path / "net.safetensors"
    written(path, pig, configured("towers"))
    with pytest.raises(CheckpointError, match="contains a value network, expected a policy-value network"):
        load_policy_net(path, pig)
    config = NetConfig(width=4, blocks=0)
    write_checkpoint(
        path, weights_of(make_body(NetShape.of(pig), config, 1)), PolicyValueInfo.of(pig, config, ValueScale())
    )
    with pytest.raises(CheckpointError, match="contains a policy-value network, expected a value network"):
        load_value_net(path, pig)


def test_another_game_or_other_features_are_rejected(tmp_path, pig) -> None:
    path = tmp_path / "net.safetensors"
    written(path, pig, configured())
    with pytest.raises(CheckpointError, match="has game 'pig', expected 'yatzy'"):
        load_value_net(path, aleazero.load_game("yatzy"))
    with pytest.raises(CheckpointError, match=r"has feature_schema 'pig.1', expected 'pig.2'"):
        load_value_net(path, pig, feature_schema="pig.2")
    with pytest.raises(CheckpointError, match=r"has features features=9 .*, expected features=8"):
        load_value_net(path, pig, features=FeatureShape(features=8))


@pytest.mark.parametrize("other", [{"hidden": (8, 5)}, {"skip": False}, {"phases": 2}])
def test_weights_of_another_architecture_are_rejected(other, tmp_path, pig) -> None:
    path = tmp_path / "net.safetensors"
    net = make_value_net(configured(), SHAPE, COLUMNS)
    about = ValueInfo.of(pig, configured(**other), SHAPE, "pig.1", COLUMNS)
    write_checkpoint(path, net.tensors(net.initial(1)), about)
    with pytest.raises(CheckpointError, match=r"expected float32|weights that do not match its metadata"):
        read_checkpoint(path, ValueInfo)


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns(kind) -> None:
    """A few steps of Adam remove most of the loss of a simple function."""
    from aleazero.training import adam

    net = make_value_net(configured(kind, hidden=(32,), width=32), SHAPE, COLUMNS)
    rng = np.random.default_rng(1)
    x = rng.normal(0, 0.5, (256, 9)).astype(np.float32)
    margin = 100 * x[:, 8] + 30 * np.abs(x[:, 0]) - 30 * np.abs(x[:, 3])
    y = np.stack([np.tanh(margin / 20), margin], 1).astype(np.float32)
    theta, m, v = net.initial(1), np.zeros(net.size, np.float32), np.zeros(net.size, np.float32)
    losses = []
    for step in range(1, 151):
        grad = np.zeros(net.size, np.float32)
        losses.append(net.gradient(theta, x, y, grad)[1])
        adam.step(theta, grad, m, v, 0.02, step, shrink=1 / 256)
    assert losses[-1] < 0.2 * losses[0]


def test_invalid_settings_are_rejected() -> None:
    with pytest.raises(ConfigError, match="no columns, expected at least one"):
        make_value_net(configured(), SHAPE, ())
    with pytest.raises(ConfigError, match="ValueNetConfig: kind is 'nlp', expected"):
        ValueNetConfig(kind="nlp")
    with pytest.raises(ConfigError, match="hidden"):
        ValueNetConfig(hidden=(8, 0))
    with pytest.raises(ConfigError, match="Column: scale is 0"):
        Column(name="score", scale=0.0)
