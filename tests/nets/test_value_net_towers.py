"""The compiled ``towers``, compared with a reference implementation in torch."""

from __future__ import annotations

import numpy as np
import pytest
import reference_nets

from aleazero import ConfigError
from aleazero.nets.config import ValueNetConfig
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.value_net import Towers

COLUMNS = (Column(name="win", link="tanh", weight=0.7), Column(name="margin", scale=20.0, delta=10.0, weight=0.2))


def shaped(seats=2, block=11, common=4):
    return FeatureShape(
        features=seats * block + common, block=block, seats=seats, common=common, lead=1, lead_unit=100.0
    )


def made(shape=None, seed=1, columns=COLUMNS, **settings):
    """Return a network and parameters that are all nonzero."""
    net = Towers(
        ValueNetConfig(**{"kind": "towers", "hidden": (17, 8), "joint": 9, **settings}), shape or shaped(), columns
    )
    rng = np.random.default_rng(seed)
    return net, net.initial(seed) + rng.normal(0, 0.1, net.size).astype(np.float32)


def drawn(net, rows=70, seed=2):
    """Return features of which half are 0, targets, and phases."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.5, (rows, net.shape.features)) * (rng.random((rows, net.shape.features)) < 0.5)
    y = np.stack([rng.uniform(-1, 1, rows), rng.normal(0, 50, rows)], 1)
    return x.astype(np.float32), y.astype(np.float32), rng.integers(0, net.config.phases, rows)


@pytest.mark.parametrize("seats", [2, 3])
@pytest.mark.parametrize("settings", [{}, {"skip": False, "sparse": False}, {"phases": 2, "hidden": (40,)}])
def test_forward_and_gradient_equal_those_of_torch(seats, settings) -> None:
    net, theta = made(shaped(seats), **settings)
    tensors = net.tensors(theta)
    for name in tensors:
        if name.endswith("heads.bias"):
            tensors[name][2] = 3.8  # some rows exceed the limit of 4
    theta = net.flatten(tensors)
    x, y, phases = drawn(net)

    def outputs(tensors, rows):
        return reference_nets.towers(tensors, rows, len(net.config.hidden), net.shape, 20.0)

    reference_nets.check_against_torch(
        net, theta, x, y, phases, outputs, {"rtol": 1e-4, "atol": 1e-4},
        lambda wanted: 1e-5 * np.abs(wanted).max(), np.float64,
    )  # fmt: skip


def test_a_row_does_not_depend_on_other_rows() -> None:
    net, theta = made(shaped(block=37), hidden=(31, 64), joint=19, phases=2)
    x, _, phases = drawn(net, rows=600)
    reference_nets.check_rows_stand_alone(net, theta, x, phases, every=19)


def test_repeated_blocks_give_equal_results() -> None:
    net, theta = made()
    x, _, _ = drawn(net, rows=700)
    block = net.shape.block
    rng = np.random.default_rng(4)
    x[:, :block] = x[np.sort(rng.integers(0, 40, 700)), :block]  # runs of equal blocks, longer for the opponent
    x[:, block : 2 * block] = x[np.sort(rng.integers(0, 3, 700)), block : 2 * block]
    wanted = np.concatenate([net.forward(theta, x[row : row + 1]) for row in range(700)])
    np.testing.assert_array_equal(net.forward(theta, x), wanted)
    assert len(np.unique(wanted[:, 1])) > 300


def test_nan_is_propagated() -> None:
    net, theta = made()
    x, y, _ = drawn(net)
    for where, column in ((x, 0), (x, 12), (x, 22), (x, 23), (y, 0), (y, 1)):
        kept = where[11, column]
        where[11, column] = np.nan
        lost = np.isnan(net.gradient(theta, x, y, np.zeros(net.size, np.float32)))
        assert lost.all() if where is x else lost[column]
        assert where is y or np.isnan(net.forward(theta, x)[11]).all()
        assert np.isfinite(net.forward(theta, x)[10]).all()
        where[11, column] = kept


def test_initial_values_depend_only_on_the_lead() -> None:
    net, _ = made()
    x, _, _ = drawn(net)
    lead = 100 * x[:, 2 * net.shape.block + 1]
    found = net.forward(net.initial(3), x)
    np.testing.assert_allclose(found[:, 1], lead, rtol=1e-6)
    np.testing.assert_allclose(found[:, 0], np.tanh(lead / 40), rtol=1e-5)


def test_tensors_round_trip() -> None:
    net, theta = made()
    assert {name: array.shape for name, array in net.tensors(theta).items()} == net.shapes()
    np.testing.assert_array_equal(net.flatten(net.tensors(theta)), theta)


def test_mismatched_input_is_rejected() -> None:
    with pytest.raises(ConfigError, match=r"columns of towers are margin \(linear\), win \(tanh\), expected a win"):
        made(columns=COLUMNS[::-1])
    with pytest.raises(ConfigError, match="expected blocks of at least 2 seats and a lead"):
        made(FeatureShape(features=5))
    with pytest.raises(ConfigError, match="2 blocks of 3 and 1 common features, expected 8 in total"):
        FeatureShape(features=8, block=3, seats=2, common=1)
    with pytest.raises(ConfigError, match="lead is 2, expected one of 2 common features"):
        FeatureShape(features=8, block=3, seats=2, common=2, lead=2)
