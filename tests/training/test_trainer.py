"""The trainer: correct gradients, reproducible training, and continuation from a checkpoint."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import aleazero
from aleazero import CheckpointError, ConfigError
from aleazero.nets.config import NetConfig, NetShape, ValueScale
from aleazero.nets.inference import load_net
from aleazero.replay.window import Sampler, Window
from aleazero.training.config import TrainConfig
from aleazero.training.loss import TargetBatch, losses
from aleazero.training.targets import value_targets
from aleazero.training.trainer import Trainer, pick_device, scale_for, state_path

CONFIG = TrainConfig(net=NetConfig(width=16, blocks=1, margin=True), steps=12, batch_size=32, warmup=3)
SHAPE = NetShape(observation=4, actions=3, players=2)


def target_batch(**changes) -> TargetBatch:
    made = {
        "observations": torch.zeros(3, 4),
        "legal_masks": torch.tensor([[True, True, False], [False, False, False], [True, True, True]]),
        "policies": torch.tensor([[0.25, 0.75, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        "weights": torch.tensor([1.0, 0.0, 0.0]),
        "values": torch.tensor([[0.5, -0.5], [-1.0, 1.0], [0.0, 0.0]]),
        "scores": torch.zeros(3, 2),
        "afterstate": torch.tensor([False, True, False]),
    }
    return TargetBatch(**{**made, **changes})


def test_losses_by_hand() -> None:
    heads = torch.zeros(3, 3 + 4, requires_grad=True)
    with torch.no_grad():
        heads[0, :3] = torch.tensor([0.0, np.log(3.0), 50.0])  # the last action is illegal, so it is ignored
        heads[1, 5] = np.arctanh(0.5)
    found = losses(heads, target_batch(), SHAPE, NetConfig(), ValueScale())
    entropy = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert found.policy.item() == pytest.approx(entropy, abs=1e-6)  # the policy equals its target
    assert found.target_entropy.item() == pytest.approx(entropy, abs=1e-6)
    assert found.model_entropy.item() == pytest.approx(entropy, abs=1e-6)
    assert found.value.item() == pytest.approx((0.25 + 0.0) / 2)  # two decisions, with errors 0.5 and 0
    assert found.afterstate.item() == pytest.approx(1.25**2)  # predicts (0.5 − 0) / 2 = 0.25; the target is −1
    found.total(TrainConfig()).backward()
    gradient = heads.grad
    assert torch.isfinite(gradient).all()
    assert not gradient[1:, :3].any()  # rows without a policy target
    assert gradient[0, 2] == 0
    assert not gradient[1, 3:5].any()  # an afterstate does not change the head of decisions
    assert not gradient[0, 5:].any()


def test_a_batch_without_policies_or_afterstates_has_only_value_losses() -> None:
    heads = torch.zeros(3, 7, requires_grad=True)
    nothing = target_batch(weights=torch.zeros(3), afterstate=torch.zeros(3, dtype=torch.bool))
    found = losses(heads, nothing, SHAPE, NetConfig(), ValueScale())
    assert (found.policy.item(), found.afterstate.item()) == (0.0, 0.0)
    found.total(TrainConfig()).backward()
    assert torch.isfinite(heads.grad).all()


def test_score_losses_are_in_units_of_the_scale() -> None:
    shape = NetShape(observation=4, actions=3, players=1)
    heads = torch.full((3, 5), 0.5)
    changes = {"values": torch.full((3, 1), 120.0), "scores": torch.zeros(3, 1)}
    found = losses(
        heads, target_batch(**changes), shape, NetConfig(), ValueScale(kind="score", shift=100.0, scale=20.0)
    )
    assert found.value.item() == pytest.approx(0.25)
    assert found.afterstate.item() == pytest.approx(0.25)


def fitted(pig, samples, **changes) -> tuple[Trainer, dict[str, np.ndarray]]:
    window = Window(samples, 10**6)
    trainer = Trainer(pig, CONFIG.model_copy(update=changes), scale_for(pig, window, CONFIG))
    trainer.fit(window)
    return trainer, trainer.weights()


def test_training_is_reproducible(pig, samples) -> None:
    _, one = fitted(pig, samples)
    _, same = fitted(pig, samples)
    _, other = fitted(pig, samples, seed=5)
    assert all(one[name].tobytes() == same[name].tobytes() for name in one)
    assert any(one[name].tobytes() != other[name].tobytes() for name in one)


def test_losses_decrease(pig, samples) -> None:
    window = Window(samples, 10**6)
    trainer = Trainer(
        pig, CONFIG.model_copy(update={"steps": 150, "value_target": "outcome"}), scale_for(pig, window, CONFIG)
    )
    one_step = {"steps": 1, "value_target": "outcome"}
    first = Trainer(pig, CONFIG.model_copy(update=one_step), scale_for(pig, window, CONFIG)).fit(window)
    summary = trainer.fit(window)
    assert summary.value_loss < 0.95 * first.value_loss
    assert summary.policy_loss < first.policy_loss
    assert summary.kl == pytest.approx(summary.policy_loss - summary.target_entropy)
    predicted = [row[0] for row in summary.calibration]
    assert predicted == sorted(predicted)
    assert summary.calibration[-1][1] > summary.calibration[0][1] + 0.5
    assert (summary.step, summary.samples, summary.sample_age) == (150, len(window), 0.0)


def test_continued_training_equals_uninterrupted_training(pig, samples, tmp_path) -> None:
    window = Window(samples, 10**6)
    whole = Trainer(pig, CONFIG, scale_for(pig, window, CONFIG))
    whole.fit(window)
    whole.save(tmp_path / "half.safetensors")
    whole.fit(window)
    resumed = Trainer.load(tmp_path / "half.safetensors", pig, CONFIG)
    assert resumed.step == 12
    resumed.fit(window)
    assert all(whole.weights()[name].tobytes() == array.tobytes() for name, array in resumed.weights().items())
    fresh = Trainer.load(tmp_path / "half.safetensors", pig, CONFIG.model_copy(update={"optimizer": "fresh"}))
    fresh.fit(window)
    assert any(whole.weights()[name].tobytes() != array.tobytes() for name, array in fresh.weights().items())


def test_the_checkpoint_has_averaged_weights(pig, samples, tmp_path) -> None:
    trainer, average = fitted(pig, samples)
    trainer.save(tmp_path / "net.safetensors")
    net = load_net(tmp_path / "net.safetensors", pig)
    rows = np.random.default_rng(0).random((5, 5)).astype(np.float32)
    with torch.no_grad():
        newest = trainer.body(torch.from_numpy(rows)).numpy()[:, :2]
        trainer.body.load_state_dict({name: torch.from_numpy(array) for name, array in average.items()})
        averaged = trainer.body(torch.from_numpy(rows)).numpy()[:, :2]
    np.testing.assert_allclose(net.predict_batch(rows)[0], averaged, atol=1e-5)
    assert np.abs(newest - averaged).max() > 1e-4
    assert net.about.step == 12
    assert net.about.training["learning_rate"] == 1e-3


def test_without_a_state_training_continues_from_the_weights_alone(pig, samples, tmp_path) -> None:
    trainer, average = fitted(pig, samples)
    path = tmp_path / "net.safetensors"
    trainer.save(path)
    state_path(path).write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match=r"is damaged: .*; delete it to continue from the weights alone"):
        Trainer.load(path, pig, CONFIG)
    state_path(path).unlink()
    again = Trainer.load(path, pig, CONFIG)
    assert all((again.weights()[name] == array).all() for name, array in average.items())


def test_the_state_of_another_network_is_rejected(pig, samples, tmp_path) -> None:
    trainer, _ = fitted(pig, samples)
    trainer.save(tmp_path / "one.safetensors")
    trainer.fit(Window(samples, 10**6))
    trainer.save(tmp_path / "two.safetensors")
    state_path(tmp_path / "one.safetensors").replace(state_path(tmp_path / "two.safetensors"))
    with pytest.raises(CheckpointError, match=r"two.training.safetensors belongs to another network \(step 12\), exp"):
        Trainer.load(tmp_path / "two.safetensors", pig, CONFIG)


def test_a_non_finite_loss_raises_an_error(pig, samples) -> None:
    window = Window(samples, 10**6)
    trainer = Trainer(
        pig, CONFIG.model_copy(update={"learning_rate": 1e30, "clip": 1e30}), scale_for(pig, window, CONFIG)
    )
    with pytest.raises(ConfigError, match="the loss is"):
        trainer.fit(window)


class Returns:
    """A window with returns only."""

    def __init__(self, returns) -> None:
        self.returns = np.array(returns, np.float32)

    def columns(self, name):
        assert name == "returns"
        return [self.returns]


def test_returns_that_do_not_sum_to_zero_are_scores(pig, samples) -> None:
    assert scale_for(pig, Returns([[1, -1], [-1, 1], [0, 0]]), TrainConfig()).kind == "win"
    mixed = scale_for(pig, Returns([[1, -1], [1, 1]]), TrainConfig())  # as if both could win
    assert (mixed.kind, mixed.shift) == ("score", 0.5)
    three = aleazero.load_game("yatzy", players=3)
    assert scale_for(three, Returns([[1, -0.5, -0.5], [0.25, 0.25, -0.5]]), TrainConfig()).kind == "win"
    trainer = Trainer(pig, CONFIG, ValueScale())
    with pytest.raises(ConfigError, match=r"pig\(target=20\) has returns that do not sum to 0, but this network"):
        trainer.fit(Returns([[1, 1]]))


SCORES = CONFIG.model_copy(update={"net": NetConfig(width=16, blocks=1, margin=True), "steps": 20})


@pytest.fixture
def scored(play):
    """Return a trainer of a game with scores after some steps, and its window."""
    game = aleazero.load_game("dice_game")
    window = play(game)
    trainer = Trainer(game, SCORES, scale_for(game, window, SCORES))
    trainer.fit(window)
    return trainer, window


def predictions(trainer, weights=None):
    """Return the logits and the other heads as returns, for the averaged weights or other ones."""
    rows = np.random.default_rng(1).random((50, 2)).astype(np.float32)
    with torch.no_grad():
        heads = torch.func.functional_call(trainer.body, weights or trainer.average, torch.from_numpy(rows)).numpy()
    return heads[:, :2], trainer.values.shift + trainer.values.scale * heads[:, 2:].astype(np.float64)


def test_rescaling_keeps_predictions(scored, tmp_path) -> None:
    trainer, _ = scored
    before = [predictions(trainer), predictions(trainer, dict(trainer.body.state_dict()))]
    trainer.save(tmp_path / "before.safetensors")
    net_before = load_net(tmp_path / "before.safetensors", trainer.game)
    old = trainer.values
    trainer.rescale(old.shift + 30.0, old.scale * 7.0)
    assert (trainer.values.shift, trainer.values.scale) == (old.shift + 30.0, old.scale * 7.0)
    for (logits, returns), (logits_after, returns_after) in zip(
        before, [predictions(trainer), predictions(trainer, dict(trainer.body.state_dict()))], strict=True
    ):
        np.testing.assert_array_equal(logits, logits_after)
        np.testing.assert_allclose(returns, returns_after, atol=1e-4)  # of about 20, in single precision
        assert returns.shape[1] == 3  # a value, an afterstate's value, a score
    trainer.save(tmp_path / "after.safetensors")
    rows = np.random.default_rng(2).random((9, 2)).astype(np.float32)
    net_after = load_net(tmp_path / "after.safetensors", trainer.game)
    assert net_after.about.values == trainer.values
    for one, other in zip(net_before.predict_batch(rows), net_after.predict_batch(rows), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)
    np.testing.assert_allclose(net_before.predict_afterstates(rows), net_after.predict_afterstates(rows), atol=1e-4)


def test_rescaling_converts_the_moments_of_the_optimizer(scored) -> None:
    trainer, window = scored

    def gradient() -> tuple[np.ndarray, np.ndarray]:
        targets = value_targets(window, "outcome")
        batch = Sampler(window, 64, seed=5).next()
        found = losses(
            trainer.body(torch.from_numpy(batch.observations)),
            trainer._target_batch(batch, targets),
            trainer.shape,
            trainer.net,
            trainer.values,
        )
        trainer.body.zero_grad()
        found.total(trainer.config).backward()
        return trainer.body.heads.weight.grad.numpy().copy(), trainer.body.heads.bias.grad.numpy().copy()

    weight, bias = gradient()
    state = trainer.optimizer.state[trainer.body.heads.weight]
    first, second = state["exp_avg"].numpy().copy(), state["exp_avg_sq"].numpy().copy()
    trainer.rescale(trainer.values.shift - 5.0, trainer.values.scale * 4.0)
    weight_after, bias_after = gradient()
    for before, after in ((weight, weight_after), (bias, bias_after)):
        np.testing.assert_allclose(after[2:], before[2:] / 4, atol=1e-5)
        np.testing.assert_allclose(after[:2], before[:2], atol=1e-6)
    np.testing.assert_allclose(state["exp_avg"][2:], first[2:] / 4, rtol=1e-6)
    np.testing.assert_allclose(state["exp_avg_sq"][2:], second[2:] / 16, rtol=1e-6)
    np.testing.assert_array_equal(state["exp_avg"][:2], first[:2])
    assert np.abs(first[2:]).max() > 0


def test_the_scale_is_updated_if_returns_drift(scored, tmp_path) -> None:
    trainer, window = scored
    expected = trainer.values
    trainer.fit(window)
    assert trainer.values == expected  # no drift
    for shift, scale in ((expected.shift - 1.5 * expected.scale, expected.scale), (expected.shift, expected.scale / 3)):
        trainer.rescale(shift, scale)
        trainer.save(tmp_path / "net.safetensors")
        later = Trainer.load(tmp_path / "net.safetensors", trainer.game, SCORES)
        assert later.values.shift == shift
        later.fit(window)
        assert later.values == expected
    trainer.rescale(expected.shift + 0.5 * expected.scale, expected.scale * 1.5)
    kept = trainer.values
    trainer.fit(window)
    assert trainer.values == kept  # the drift is small


def test_devices() -> None:
    assert pick_device("cpu").type == "cpu"
    assert pick_device("auto").type in ("cpu", "cuda", "mps")
    if not torch.cuda.is_available():
        with pytest.raises(ConfigError, match="device is 'cuda', which this machine does not have"):
            pick_device("cuda")
