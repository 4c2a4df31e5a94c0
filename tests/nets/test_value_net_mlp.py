"""The compiled ``mlp``, compared with torch."""

from __future__ import annotations

import numpy as np
import pytest
import reference_nets

from aleazero import ConfigError
from aleazero.nets.config import ValueNetConfig
from aleazero.nets.outcome import Column, FeatureShape
from aleazero.nets.value_net import Mlp

WIN = Column(name="win", link="tanh", weight=0.7)
SCORE = Column(name="score", scale=20.0, delta=9.0, weight=1.5)
MARGIN = Column(name="margin", scale=3.0, delta=2.0)
CHANCE = Column(name="gammon", link="sigmoid", weight=1.3)


def made(columns=(WIN, SCORE), features=13, seed=1, **settings):
    """Return a network and parameters that are all nonzero."""
    net = Mlp(ValueNetConfig(**{"hidden": (17, 8), **settings}), FeatureShape(features=features), columns)
    rng = np.random.default_rng(seed)
    return net, net.initial(seed) + rng.normal(0, 0.1, net.size).astype(np.float32)


def drawn(net, rows=70, seed=2):
    """Return features of which half are 0, targets in the range of each column, and phases."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, net.shape.features)) * (rng.random((rows, net.shape.features)) < 0.5)
    reach = {"tanh": lambda c: (-1, 1), "sigmoid": lambda c: (0, 1), "linear": lambda c: (-3 * c.delta, 3 * c.delta)}
    y = np.stack([rng.uniform(*reach[c.link](c), rows) for c in net.columns], 1)
    return x.astype(np.float32), y.astype(np.float32), rng.integers(0, net.config.phases, rows)


@pytest.mark.parametrize("columns", [(SCORE,), (WIN,), (WIN, CHANCE), (WIN, SCORE, MARGIN)])
@pytest.mark.parametrize(
    "settings",
    [{}, {"skip": False}, {"sparse": False}, {"phases": 2}, {"phases": 2, "skip": False, "hidden": (40,)}],
)
def test_forward_and_gradient_equal_those_of_torch(columns, settings) -> None:
    net, theta = made(columns, **settings)
    x, y, phases = drawn(net)

    def outputs(tensors, rows):
        return reference_nets.mlp(tensors, rows, len(net.config.hidden), net.config.skip)

    tolerance = {"rtol": 1e-4, "atol": 1e-5}
    reference_nets.check_against_torch(net, theta, x, y, phases, outputs, tolerance, lambda wanted: 2e-4)


def test_a_row_does_not_depend_on_other_rows() -> None:
    net, theta = made((WIN, SCORE, MARGIN), features=37, hidden=(64, 31), phases=2)
    x, _, phases = drawn(net, rows=200)
    reference_nets.check_rows_stand_alone(net, theta, x, phases, every=7)


def test_repeated_rows_give_equal_results() -> None:
    net, theta = made(phases=2)
    x, _, phases = drawn(net, rows=50)
    repeats = np.random.default_rng(4).integers(1, 6, 50)
    found = net.forward(theta, np.repeat(x, repeats, 0), np.repeat(phases, repeats))
    np.testing.assert_array_equal(found, np.repeat(net.forward(theta, x, phases), repeats, 0))
    both = net.forward(theta, np.repeat(x, 2, 0), np.tile([0, 1], 50))  # the same row in the other phase
    assert (both[0::2] != both[1::2]).any(1).all()


def test_the_gradient_is_reproducible() -> None:
    net, theta = made()
    x, y, _ = drawn(net)
    one, same = np.zeros(net.size, np.float32), np.zeros(net.size, np.float32)
    assert (net.gradient(theta, x, y, one) == net.gradient(theta, x, y, same)).all()
    np.testing.assert_array_equal(one, same)
    assert one.any()


@pytest.mark.parametrize("column", [WIN, SCORE, CHANCE])
def test_nan_is_propagated(column) -> None:
    net, theta = made((column,))
    x, y, _ = drawn(net)
    for where in (x, y):
        kept = where[11, 0]
        where[11, 0] = np.nan
        assert np.isnan(net.gradient(theta, x, y, np.zeros(net.size, np.float32))[0])
        where[11, 0] = kept
    x[11, 0] = np.nan
    assert np.isnan(net.forward(theta, x)[11, 0])
    assert np.isfinite(net.gradient(theta, x[12:], y[12:], np.zeros(net.size, np.float32))[0])


def test_probabilities_stay_in_range_for_extreme_outputs() -> None:
    net, theta = made((CHANCE,), skip=True)
    x = np.zeros((3, 13), np.float32)
    x[:, 0] = -1e4, 0.0, 1e4
    theta[:] = 0
    theta[-13] = 1.0  # the skip weight of the first feature
    np.testing.assert_array_equal(net.forward(theta, x)[:, 0], [0.0, 0.5, 1.0])
    losses = net.gradient(theta, x, np.array([[0.0], [0.5], [1.0]], np.float32), np.zeros(net.size, np.float32))
    assert losses[0] == pytest.approx(1.3 * np.log(2.0))


def test_rows_of_one_phase_do_not_change_the_weights_of_another() -> None:
    net, theta = made(phases=2)
    x, y, _ = drawn(net)
    for phase in (0, 1):
        grad = np.zeros(net.size, np.float32)
        net.gradient(theta, x, y, grad, np.full(len(x), phase))
        touched, left = np.split(grad, 2)[:: 1 - 2 * phase]
        assert touched.any()
        assert not left.any()


def test_a_single_network_ignores_phases() -> None:
    net, theta = made()
    x, _, _ = drawn(net)
    np.testing.assert_array_equal(net.forward(theta, x, np.arange(len(x))), net.forward(theta, x))


def test_initial_parameters() -> None:
    net, _ = made(phases=2)
    x, _, phases = drawn(net)
    theta = net.initial(5)
    assert not net.forward(theta, x, phases).any()
    np.testing.assert_array_equal(theta, net.initial(5))
    assert (theta != net.initial(6)).any()
    assert (theta[: net.size // 2] != theta[net.size // 2 :]).any()


def test_tensors_round_trip() -> None:
    net, theta = made(phases=2)
    tensors = net.tensors(theta)
    assert {name: array.shape for name, array in tensors.items()} == net.shapes()
    assert tensors["phases.1.layers.0.weight"].shape == (17, 13)
    np.testing.assert_array_equal(net.flatten(tensors), theta)


def test_mismatched_input_is_rejected() -> None:
    net, theta = made(phases=2)
    x, y, phases = drawn(net)
    with pytest.raises(ConfigError, match=r"features have shape \(70, 12\), expected"):
        net.forward(theta, x[:, 1:], phases)
    with pytest.raises(ConfigError, match="phases is None, expected one of 2 phases per row"):
        net.forward(theta, x)
    with pytest.raises(ConfigError, match="phases are 0 to 2, expected 0 to 1"):
        net.forward(theta, x, np.arange(70) % 3)
    with pytest.raises(ConfigError, match="parameters are float64"):
        net.forward(theta.astype(np.float64), x, phases)
    with pytest.raises(ConfigError, match="targets have shape"):
        net.gradient(theta, x, y[:, :1], np.zeros(net.size, np.float32), phases)
