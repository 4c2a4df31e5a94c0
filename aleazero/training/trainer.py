"""The trainer fits a policy-value network to a window of samples. Results are bit-identical when repeated."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from aleazero.errors import CheckpointError, ConfigError
from aleazero.files import os_errors_as, write_file
from aleazero.games.base import Game, counts_wins
from aleazero.native.random import FIT_SAMPLES, stream_key
from aleazero.nets.checkpoint import (
    PolicyValueInfo,
    Weights,
    read_checkpoint,
    require_match,
    write_checkpoint,
)
from aleazero.nets.config import NetShape, ValueScale
from aleazero.nets.inference import Net
from aleazero.nets.torch_nets import make_body, weights_of
from aleazero.replay.window import Batch, Rows, Sampler, Window
from aleazero.training.config import TrainConfig
from aleazero.training.loss import TargetBatch, losses
from aleazero.training.targets import exact_targets, tenths, value_targets
from aleazero.untrusted import parse_json, read_regular

STATE: Final = "training"
"""Suffix of the file next to a checkpoint that holds the state of training."""
LAST_STEPS: Final = 100
"""Losses of a summary are means over this many last steps of a fit."""
ZERO: Final = 1e-5
"""Tolerance within which a float32 sum of returns counts as 0."""
MOST_TIMES: Final = 2.0
"""Factor by which the standard deviation of returns may change before the value scale is updated."""
Progress = Callable[[int, int, Mapping[str, float]], None]
"""Called with the steps done, the number of steps, and the losses of this step."""


class Trainer:
    """A network in training, its weight average and its optimizer."""

    def __init__(self, game: Game, config: TrainConfig, values: ValueScale) -> None:
        self.game, self.config, self.values = game, config, values
        self.device = pick_device(config.device)
        self.shape, self.net = NetShape.of(game), config.net
        self.step = 0
        self.body = make_body(self.shape, self.net, config.seed).to(self.device)
        self.average = {name: tensor.detach().clone() for name, tensor in self.body.state_dict().items()}
        decayed = [weight for weight in self.body.parameters() if weight.ndim > 1]
        others = [weight for weight in self.body.parameters() if weight.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=config.learning_rate)

    # -- fitting -----------------------------------------------------------------------------------------------

    def fit(self, window: Window, progress: Progress | None = None) -> Summary:
        """Train for ``config.steps`` steps. If the returns have drifted, the value scale is updated first."""
        config = self.config
        self._follow_returns(window)
        torch.set_num_threads(config.threads)
        targets, covered = self._targets(window)
        window.load()
        sampler = Sampler(window, config.batch_size, seed=stream_key(FIT_SAMPLES, config.seed, self.step))
        last: list[dict[str, float]] = []
        errors: list[tuple[Rows, NDArray[np.float32]]] = []
        began = time.perf_counter()
        for done in range(config.steps):
            rate = self._set_rate(done)
            batch = sampler.next()
            found, row_errors = self._step(self._target_batch(batch, targets))
            last = [*last[1 - LAST_STEPS :], found]
            errors = [*errors[1 - LAST_STEPS :], (batch.rows, row_errors)]
            if progress is not None:
                progress(done + 1, config.steps, found)
        seconds = time.perf_counter() - began
        means = {name: math.fsum(row[name] for row in last) / len(last) for name in last[0]}
        return Summary(
            step=self.step,
            samples=len(window),
            **means,
            kl=means["policy_loss"] - means["target_entropy"],
            calibration=self._calibrate(window, targets),
            sample_age=_mean_age(window),
            learning_rate=rate,
            samples_per_second=config.steps * config.batch_size / max(seconds, 1e-9),
            exact=None if covered is None else _exact_losses(covered, errors),
        )

    def _targets(self, window: Window) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
        """Return the value targets and, with ``exact``, which of them are values of the oracle."""
        config = self.config
        if config.value_target in ("exact", "mismatch"):
            mismatch = config.value_target == "mismatch"
            return exact_targets(window, self.game, config.td_lambda, mismatch=mismatch)
        return value_targets(window, config.value_target, config.mix, config.td_lambda), None

    def _follow_returns(self, window: Window) -> None:
        now = scale_for(self.game, window, self.config)
        if self.values.kind == "win" and now.kind == "score":
            raise ConfigError(
                f"{self.game!r} has returns that do not sum to 0, but this network was trained on wins and losses; "
                f"train from scratch"
            )
        if self.values.kind == "score" and now.kind == "score" and has_moved(now, self.values):
            self.rescale(now.shift, now.scale)

    @torch.no_grad()
    def rescale(self, shift: float, scale: float) -> None:
        """Change the value scale, and rescale the output layer so that predictions do not change.

        With x = (return − shift) / scale, the new x is times · x + more. The output layer changes accordingly. The
        optimizer's moments of gradients are multiplied by times, those of squared gradients by times².
        """
        old, values = self.values, slice(self.shape.actions, None)
        self.values = old.model_copy(update={"shift": shift, "scale": scale})
        times, more = old.scale / scale, (old.shift - shift) / scale
        for weights in (self.body.state_dict(), self.average):
            for name, added in (("heads.weight", 0.0), ("heads.bias", more)):
                rows = weights[name][values]
                rows.copy_(rows.double() * times + added)
        for weight in (self.body.heads.weight, self.body.heads.bias):
            moments = self.optimizer.state.get(weight, {})
            for name, power in (("exp_avg", 1), ("exp_avg_sq", 2)):
                if name in moments:
                    moments[name][values] *= times**power

    def _set_rate(self, done: int) -> float:
        config = self.config
        share = min(1.0, (done + 1) / (config.warmup + 1))
        if config.schedule == "cosine" and done >= config.warmup:
            progress = (done - config.warmup) / max(1, config.steps - config.warmup)
            share = config.final_rate + (1 - config.final_rate) * 0.5 * (1 + math.cos(math.pi * progress))
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * share
        return config.learning_rate * share

    def _target_batch(self, batch: Batch, targets: NDArray[np.float32]) -> TargetBatch:
        def tensor(array: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

        return TargetBatch(
            observations=tensor(batch.observations),
            legal_masks=tensor(batch.legal_masks),
            policies=tensor(batch.policies),
            weights=tensor(batch.weights),
            values=tensor(targets[batch.rows]),
            scores=tensor(batch.scores),
            afterstate=tensor(batch.afterstate),
        )

    def _step(self, batch: TargetBatch) -> tuple[dict[str, float], NDArray[np.float32]]:
        """Train on a batch and return its losses and the value errors by row."""
        found = losses(self.body(batch.observations), batch, self.shape, self.net, self.values)
        total = found.total(self.config)
        if not torch.isfinite(total):
            raise ConfigError(f"the loss is {total.item()} at step {self.step}, expected a number: lower learning_rate")
        self.optimizer.zero_grad(set_to_none=True)
        total.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.body.parameters(), self.config.clip)
        self.optimizer.step()
        self.step += 1
        keep = min(self.config.ema, self.step / (self.step + 10.0))  # shorter at first, to forget the initial weights
        with torch.no_grad():
            for name, tensor in self.body.state_dict().items():
                self.average[name].lerp_(tensor, 1.0 - keep)
        means = {
            "policy_loss": found.policy.item(),
            "value_loss": found.value.item(),
            "afterstate_loss": found.afterstate.item(),
            "margin_loss": found.margin.item(),
            "target_entropy": found.target_entropy.item(),
            "model_entropy": found.model_entropy.item(),
        }
        return means, found.errors.cpu().numpy()

    def _calibrate(self, window: Window, targets: NDArray[np.float32]) -> list[tuple[float, float, int]]:
        """Compare predicted values with targets in ten groups, on up to about 4096 decisions of the window."""
        decisions = np.flatnonzero(~np.concatenate(window.columns("afterstate")))
        rows = decisions[:: max(1, len(decisions) // 4096)]
        if not len(rows):
            return []
        observations = window.take(["observations"], rows)["observations"]
        predicted = Net(self.weights(), self.about()).predict_batch(observations)[1][:, 0]
        return tenths(predicted, targets[rows, 0])

    # -- checkpoints -------------------------------------------------------------------------------------------

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return the averaged weights, which are used for play."""
        return {name: np.array(tensor.cpu().numpy()) for name, tensor in self.average.items()}

    def about(self) -> PolicyValueInfo:
        """Return the metadata of the checkpoint."""
        return PolicyValueInfo.of(self.game, self.net, self.values, self.step, self.config.model_dump(mode="json"))

    def save(self, path: Path) -> None:
        """Write the checkpoint used for play, and next to it the state from which training can continue."""
        from safetensors.numpy import save

        write_checkpoint(path, self.weights(), self.about())
        held = {f"body.{name}": array for name, array in weights_of(self.body).items()}
        held |= {f"average.{name}": array for name, array in self.weights().items()}
        moments = self.optimizer.state_dict()["state"]
        for number, state in moments.items():
            held |= {f"optimizer.{number}.{name}": tensor.cpu().numpy() for name, tensor in state.items()}
        data = save({name: np.ascontiguousarray(held[name]) for name in sorted(held)}, {STATE: str(self.step)})
        write_file(state_path(path), data, CheckpointError)

    @classmethod
    def load(cls, path: Path, game: Game, config: TrainConfig) -> Trainer:
        """Continue from a checkpoint and the state of training next to it; from the weights alone if there is none.

        The architecture and the value scale come from the checkpoint. Settings of ``config.net`` that were given must
        agree with it.
        """
        weights, about = read_checkpoint(path, PolicyValueInfo)
        require_match(about, game, str(path))
        for name in sorted(config.net.model_fields_set):
            given, expected = getattr(config.net, name), getattr(about.net, name)
            if given != expected:
                raise ConfigError(f"{name} is {given}, expected {expected} as in {path}, where training continues")
        trainer = cls(game, config.model_copy(update={"net": about.net}), about.values)
        trainer.step = about.step
        try:
            held = read_state(path, weights, about)
        except CheckpointError as error:
            raise CheckpointError(f"{error}; delete it to continue from the weights alone") from None
        body, average = (
            {name: held[f"{part}.{name}"] for name in weights} if held else weights for part in ("body", "average")
        )
        trainer.body.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in body.items()})
        trainer.average = {
            name: torch.from_numpy(np.array(array)).to(trainer.device) for name, array in average.items()
        }
        if held and config.optimizer == "kept":
            trainer._restore_optimizer(held)
        return trainer

    def _restore_optimizer(self, held: Mapping[str, NDArray[Any]]) -> None:
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in held.items():
            part, _, rest = name.partition(".")
            if part == "optimizer":
                number, _, moment = rest.partition(".")
                state.setdefault(int(number), {})[moment] = torch.from_numpy(np.array(array))
        self.optimizer.load_state_dict({**self.optimizer.state_dict(), "state": state})


@dataclass(frozen=True)
class Summary:
    """Losses and calibration of one fit."""

    step: int
    """Training steps of the network, including earlier fits."""
    samples: int
    """Samples in the window."""
    policy_loss: float
    value_loss: float
    afterstate_loss: float
    margin_loss: float
    target_entropy: float
    model_entropy: float
    kl: float
    """Kullback-Leibler divergence of the policy from its target."""
    calibration: list[tuple[float, float, int]]
    """(mean prediction, mean target, samples) in ten groups of decisions, sorted by prediction."""
    sample_age: float
    """Mean age of the samples in iterations; the newest iteration has age 0."""
    learning_rate: float
    samples_per_second: float
    exact: Exact | None
    """Only with the value target ``exact``."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Exact:
    """Statistics of the value target ``exact``: value losses of samples with and without a value of the oracle."""

    share: float
    """Fraction of the samples of the window that the oracle covers."""
    loss: float | None
    """Mean value loss of covered samples in the last steps; None if there are none."""
    other_loss: float | None
    """Mean value loss of the other samples in the last steps; None if there are none."""


def scale_for(game: Game, window: Window, config: TrainConfig) -> ValueScale:
    """Return the value scale of a new network: wins as they are, scores standardized by those of the window.

    Returns between −1 and 1 that do not sum to 0 are treated as scores.
    """
    returns = np.concatenate(window.columns("returns")).astype(np.float64)
    if counts_wins(game) and sums_to_zero(returns):
        if not config.net.margin:
            return ValueScale(kind="win")
        scores = np.concatenate(window.columns("scores")).astype(np.float64)
        ahead = scores[:, 0] - scores[:, 1:].mean(axis=1)
        return ValueScale(kind="win", margin=config.margin_share, spread=max(1e-3, float(ahead.std())))
    return ValueScale(kind="score", shift=float(returns.mean()), scale=float(returns.std()) or 1.0)


def sums_to_zero(returns: NDArray[np.float64]) -> bool:
    """Return whether the returns of every row sum to 0."""
    return bool((np.abs(returns.sum(axis=1)) < ZERO).all())


def has_moved(now: ValueScale, scale: ValueScale) -> bool:
    """Return whether the mean has moved by more than one standard deviation, or that by more than a factor of 2."""
    times = now.scale / scale.scale
    return abs(now.shift - scale.shift) > scale.scale or not 1 / MOST_TIMES <= times <= MOST_TIMES


def state_path(path: Path) -> Path:
    """Return the path of the state of training that belongs to a checkpoint."""
    return path.with_suffix(f".{STATE}{path.suffix}")


def read_state(path: Path, weights: Weights, about: PolicyValueInfo) -> dict[str, NDArray[Any]]:
    """Read the state of training next to a checkpoint; empty if there is no file."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    file = state_path(path)
    with os_errors_as(CheckpointError, f"{file} cannot be read"):
        try:
            data = read_regular(file)
        except FileNotFoundError:
            return {}
    try:
        held = load(data)
        step = parse_json(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"][STATE]
    except (SafetensorError, ValueError, KeyError) as error:
        raise CheckpointError(f"{file} is damaged: {str(error)[:200]}") from None
    if step != str(about.step) or not all(
        np.array_equal(held.get(f"average.{name}", 0), weights[name]) for name in weights
    ):
        raise CheckpointError(
            f"{file} belongs to another network (step {step}), expected the one of {path} (step {about.step})"
        )
    for name, shape in about.weight_shapes().items():
        for part in ("body", "average"):
            if held.get(f"{part}.{name}", np.zeros(())).shape != shape:
                raise CheckpointError(f"{file} has no {part} weight {name} of shape {shape}")
    return held


def pick_device(name: str) -> torch.device:
    """Return the torch device to train on."""
    available = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        name = next(device for device in ("cuda", "mps", "cpu") if available[device])
    if not available[name]:
        raise ConfigError(f"device is {name!r}, which this machine does not have, expected auto or cpu")
    return torch.device(name)


def _exact_losses(covered: NDArray[np.bool_], errors: list[tuple[Rows, NDArray[np.float32]]]) -> Exact:
    """Return the mean errors of covered samples and of the others."""
    rows, row_errors = (np.concatenate(column) for column in zip(*errors, strict=True))
    means = []
    for which in (covered[rows], ~covered[rows]):
        used = row_errors[which & np.isfinite(row_errors)].astype(np.float64)
        means.append(float(used.mean()) if len(used) else None)
    return Exact(float(covered.mean()), *means)


def _mean_age(window: Window) -> float:
    iterations = np.concatenate(window.columns("iteration"))
    return float(iterations.max() - iterations.mean())
