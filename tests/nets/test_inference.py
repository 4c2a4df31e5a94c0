"""Inference of policy-value networks: correct values, in range, independent of the batch."""

from __future__ import annotations

import numpy as np
import pytest

import aleazero
from aleazero import ConfigError
from aleazero.games.base import counts_wins
from aleazero.nets.checkpoint import PolicyValueInfo
from aleazero.nets.config import NetConfig, NetShape, ValueScale
from aleazero.nets.inference import INFERENCES, Net
from aleazero.nets.torch_nets import make_body, weights_of

GAMES = {"pig": {}, "yatzy": {"players": 3}, "2048": {}, "dice_game": {}}
CONFIGS = {
    "default": NetConfig(width=48),
    "plain": NetConfig(width=20, blocks=0, layer_norm=False, afterstates=False),
    "wide": NetConfig(width=130, blocks=3, margin=True),
}


def make_net(name: str, config: NetConfig, inference: str, values: ValueScale | None = None, seed: int = 3) -> Net:
    game = aleazero.load_game(name, **GAMES[name])
    body = make_body(NetShape.of(game), config, seed)
    rng = np.random.default_rng(seed)
    weights = {k: w + rng.normal(0, 0.2, w.shape).astype(np.float32) for k, w in weights_of(body).items()}
    scale = values or (ValueScale() if counts_wins(game) else ValueScale(kind="score", shift=100.0, scale=30.0))
    return Net(weights, PolicyValueInfo.of(game, config, scale), inference)


def observations(net: Net, rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, net.about.shape.observation)).astype(np.float32)


@pytest.mark.parametrize("name", list(GAMES))
@pytest.mark.parametrize("config", list(CONFIGS))
def test_onnxruntime_and_torch_agree(name: str, config: str) -> None:
    nets = [make_net(name, CONFIGS[config], inference) for inference in INFERENCES]
    rows = observations(nets[0], 37)
    masks = np.arange(37)[:, None] % 3 > 0
    (one_logits, one_values), (other_logits, other_values) = (net(rows, masks) for net in nets)
    np.testing.assert_allclose(one_logits, other_logits, atol=2e-4)
    np.testing.assert_allclose(one_values, other_values, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("inference", INFERENCES)
@pytest.mark.parametrize("config", list(CONFIGS))
def test_a_row_does_not_depend_on_the_other_rows_of_its_batch(config: str, inference: str) -> None:
    net = make_net("yatzy", CONFIGS[config], inference)
    rows = observations(net, 256)
    logits, values = net.predict_batch(rows)
    order = np.random.default_rng(1).permutation(256)
    for chosen in (order, order[::-1], *(order[:size] for size in (1, 2, 3, 4, 5, 7, 8, 17, 64, 255))):
        again = net.predict_batch(rows[chosen])
        np.testing.assert_array_equal(again[0], logits[chosen])
        np.testing.assert_array_equal(again[1], values[chosen])
    for row in (0, 100, 255):
        single = net.predict_single(rows[row])
        np.testing.assert_array_equal(single[0], logits[row])
        np.testing.assert_array_equal(single[1], values[row])


def test_win_values_are_in_range_and_sum_to_zero_for_two_players() -> None:
    for name in ("pig", "yatzy"):
        net = make_net(name, NetConfig(width=32), "onnxruntime")
        _, values = net.predict_batch(100 * observations(net, 200))
        assert values.shape == (200, net.about.shape.players)
        assert np.abs(values).max() <= 1.0
        assert np.abs(values).max() > 0.5  # the range is used
        if name == "pig":
            np.testing.assert_array_equal(values[:, 0], -values[:, 1])


def test_values_of_three_players_are_in_the_range_of_returns() -> None:
    for margin in (0.0, 0.5):
        net = make_net("yatzy", NetConfig(width=32, margin=True), "onnxruntime", ValueScale(margin=margin, spread=0.1))
        _, values = net.predict_batch(100 * observations(net, 200))
        assert values.min() >= -0.5
        assert values.max() <= 1.0
        assert values.min() < -0.4
        assert values.max() > 0.8


def test_the_predicted_margin_is_mixed_into_the_value() -> None:
    nets = [
        make_net("pig", NetConfig(width=16, margin=True), "onnxruntime", ValueScale(margin=margin, spread=2.0))
        for margin in (0.0, 1.0, 0.25)
    ]
    rows = observations(nets[0], 7)
    wins, leads, mixed = (net.predict_batch(rows)[1].astype(np.float64) for net in nets)
    np.testing.assert_allclose(mixed, 0.75 * wins + 0.25 * leads, atol=1e-6)
    scores = nets[0]._forward(rows)[:, -2:].astype(np.float64)
    np.testing.assert_allclose(leads[:, 0], np.tanh((scores[:, 0] - scores[:, 1]) / 2.0), atol=1e-6)


def test_score_values_are_a_linear_function_of_the_output() -> None:
    nets = [
        make_net("2048", NetConfig(width=16), "torch", ValueScale(kind="score", shift=shift, scale=scale))
        for shift, scale in ((0.0, 1.0), (500.0, 20.0))
    ]
    (_, raw), (_, scaled) = (net.predict_batch(observations(nets[0], 9)) for net in nets)
    np.testing.assert_allclose(scaled, 500 + 20 * raw.astype(np.float64), rtol=1e-6)


def test_afterstates_have_their_own_head() -> None:
    net = make_net("pig", NetConfig(width=32), "onnxruntime")
    rows = observations(net, 6)
    masks = np.array([[1, 1], [0, 0], [0, 1], [0, 0], [1, 0], [0, 0]], np.bool_)
    _, mixed = net(rows, masks)
    decisions, afterstates = net.predict_batch(rows)[1], net.predict_afterstates(rows)
    np.testing.assert_array_equal(mixed[[0, 2, 4]], decisions[[0, 2, 4]])
    np.testing.assert_array_equal(mixed[[1, 3, 5]], afterstates[[1, 3, 5]])
    assert not np.allclose(decisions, afterstates)
    without = make_net("pig", CONFIGS["plain"], "onnxruntime")
    assert (net.afterstates, without.afterstates) == (aleazero.ESTIMATE, aleazero.NONE)
    with pytest.raises(ConfigError, match="no head for afterstates"):
        without.predict_afterstates(rows)


def test_invalid_input_is_rejected() -> None:
    net = make_net("pig", NetConfig(width=8), "onnxruntime")
    with pytest.raises(ConfigError, match=r"shape \(4, 2\), expected"):
        net.predict_batch(np.zeros((4, 2), np.float32))
    with pytest.raises(ConfigError, match="inference is 'abacus', expected onnxruntime or torch"):
        make_net("pig", NetConfig(width=8), "abacus")


@pytest.mark.parametrize("inference", INFERENCES)
def test_a_forest_with_a_network_equals_single_searches(inference: str) -> None:
    net = make_net("pig", NetConfig(width=40), inference)
    game = aleazero.load_game("pig")
    states = [game.state_from_text(f"{a}-{b} turn 6 player 0") for a in (3, 20, 44) for b in (8, 31)]
    config = aleazero.SearchConfig(num_simulations=50, in_flight=3)
    wanted = [aleazero.Search(game, net, config).run(state, seed=5) for state in states]
    for trees, threads in ((2, 1), (6, 2)):
        with aleazero.Forest(game, net, config, trees=trees, threads=threads, batch_size=24) as forest:
            for found, alone in zip(forest.run(states, seeds=[5] * 6), wanted, strict=True):
                np.testing.assert_array_equal(found.visits, alone.visits)
                np.testing.assert_array_equal(found.q, alone.q)
                np.testing.assert_array_equal(found.value, alone.value)
