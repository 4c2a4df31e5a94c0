"""The value network in torch, compared with the policy-value network."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import reference_nets
import torch

from aleazero.errors import ConfigError
from aleazero.nets.config import NetConfig, NetShape, ValueNetConfig
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.torch_nets import Body, TorchNet
from aleazero.nets.value_net import make_value_net

COLUMNS = (
    Column(name="win", link="tanh", weight=0.7),
    Column(name="margin", scale=20.0, delta=10.0, weight=0.2),
    Column(name="gammon", link="sigmoid", weight=1.3),
)


def made(**settings):
    config = ValueNetConfig(**{"kind": "torch", "width": 24, "blocks": 1, **settings})
    net = TorchNet(config, FeatureShape(features=13), COLUMNS)
    return net, net.initial(1) + np.random.default_rng(1).normal(0, 0.1, net.size).astype(np.float32)


def drawn(net, rows=70):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(rows, 13)).astype(np.float32)
    y = np.stack([rng.uniform(-1, 1, rows), rng.normal(0, 30, rows), rng.random(rows)], 1).astype(np.float32)
    return x, y, rng.integers(0, net.config.phases, rows)


@pytest.mark.parametrize(("skip", "phases"), [(True, 1), (False, 2)])
def test_forward_and_gradient_equal_the_policy_value_network(skip, phases) -> None:
    net, theta = made(skip=skip, phases=phases)
    x, y, which = drawn(net)
    body = Body(NetShape(observation=13, actions=1, players=1), NetConfig(width=24, blocks=1, afterstates=False))

    def outputs(tensors, rows):
        plain = {name: tensor for name, tensor in tensors.items() if name != "skip.weight"}
        z = torch.func.functional_call(body, plain, (rows,))
        return z + rows @ tensors["skip.weight"].T if skip else z

    tolerance = {"rtol": 1e-4, "atol": 1e-5}
    reference_nets.check_against_torch(net, theta, x, y, which, outputs, tolerance, lambda wanted: 1e-3)


@pytest.mark.parametrize("width", [128, 7])
def test_a_row_does_not_depend_on_other_rows(width) -> None:
    net, theta = made(width=width, blocks=2)
    x, _, _ = drawn(net, rows=300)
    reference_nets.check_rows_stand_alone(net, theta, x, every=23)


def test_initial_values_and_nan() -> None:
    net, theta = made()
    x, y, _ = drawn(net)
    assert (net.forward(net.initial(3), x) == [0.0, 0.0, 0.5]).all()
    y[5, 1] = np.nan
    losses = net.gradient(theta, x, y, np.zeros(net.size, np.float32))
    assert np.isnan(losses[1])
    assert np.isfinite(losses[0])


def test_torch_is_imported_only_on_demand() -> None:
    code = "import sys; from aleazero.nets import value_net; print('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_without_torch_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aleazero.nets.torch_nets", None)
    with pytest.raises(ConfigError, match=r"^torch is not installed, .*: pip install 'aleazero\[train\]'$"):
        make_value_net(ValueNetConfig(kind="torch"), FeatureShape(features=3), (Column(name="win"),))
