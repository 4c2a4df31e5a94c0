"""Losses of policy-value networks: policy over legal actions, values of decisions and afterstates, final scores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from aleazero.nets.config import NetConfig, NetShape, ValueScale
from aleazero.training.config import TrainConfig


def losses(heads: Tensor, batch: TargetBatch, shape: NetShape, net: NetConfig, scale: ValueScale) -> Losses:
    """Return the losses of a batch for the network outputs ``heads``, shape (rows, outputs)."""
    actions, players = shape.actions, shape.players
    logits = heads[:, :actions].masked_fill(~batch.legal_masks, -torch.inf)
    # Rows without a policy target get equal logits, because gradients of masked rows could be NaN.
    chosen = torch.where((batch.weights > 0)[:, None], logits, torch.zeros_like(logits))
    log_priors = torch.log_softmax(chosen, dim=1)
    finite = torch.where(batch.policies > 0, log_priors, torch.zeros_like(log_priors))
    weights = batch.weights / batch.weights.sum().clamp(min=1e-9)
    policy = -((batch.policies * finite).sum(dim=1) * weights).sum()
    target_entropy = -((torch.special.xlogy(batch.policies, batch.policies)).sum(dim=1) * weights).sum()
    terms = torch.where(torch.isfinite(log_priors), log_priors.exp() * log_priors, torch.zeros_like(log_priors))
    model_entropy = -(terms.sum(dim=1) * weights).sum()

    outputs = heads[:, actions : actions + players]
    if net.afterstates:
        at_afterstates = heads[:, actions + players : actions + 2 * players]
        outputs = torch.where(batch.afterstate[:, None], at_afterstates, outputs)
    errors = (heads_in_units(outputs, scale) - values_in_units(batch.values, scale)).square().mean(dim=1)
    decisions = (~batch.afterstate).to(errors.dtype)
    value = (errors * decisions).sum() / decisions.sum().clamp(min=1)
    afterstate = torch.zeros_like(value)
    if net.afterstates:
        afterstate = (errors * (1 - decisions)).sum() / (1 - decisions).sum().clamp(min=1)
    else:
        errors = torch.where(batch.afterstate, torch.nan, errors)
    margin = torch.zeros_like(value)
    if net.margin:
        # Dividing by the squared spread makes the loss of scores about 1.
        unit = scale.spread**2 if scale.kind == "win" else 1.0
        margin = (heads[:, -players:] - values_in_units(batch.scores, scale)).square().mean() / unit
    return Losses(policy, value, afterstate, margin, target_entropy.detach(), model_entropy.detach(), errors.detach())


@dataclass(frozen=True)
class TargetBatch:
    """A batch as tensors, with value targets."""

    observations: Tensor
    legal_masks: Tensor
    policies: Tensor
    weights: Tensor
    """Weights of the policies."""
    values: Tensor
    """Value targets by seat relative to the viewer, as returns."""
    scores: Tensor
    afterstate: Tensor


@dataclass(frozen=True)
class Losses:
    """Mean losses of a batch; 0 if it has no such sample."""

    policy: Tensor
    value: Tensor
    """Squared error at decision nodes, in units of the value scale."""
    afterstate: Tensor
    margin: Tensor
    target_entropy: Tensor
    model_entropy: Tensor
    errors: Tensor
    """Squared error of the values by row; NaN if the row has no value target."""

    def total(self, config: TrainConfig) -> Tensor:
        """Return the weighted sum that training minimizes."""
        values = config.value_weight * (self.value + self.afterstate)
        return config.policy_weight * self.policy + values + config.margin_weight * self.margin


def heads_in_units(heads: Tensor, scale: ValueScale) -> Tensor:
    """Convert outputs of the value head to units of the scale: wins in their range, scores around 0."""
    if scale.kind == "score":
        return heads
    lowest = -1.0 / max(1, heads.shape[1] - 1)
    shares = 0.5 * (1.0 + lowest) + 0.5 * (1.0 - lowest) * torch.tanh(heads)
    if shares.shape[1] == 2:
        ahead = 0.5 * (shares[:, :1] - shares[:, 1:])
        return torch.cat((ahead, -ahead), dim=1)
    return shares


def values_in_units(values: Tensor, scale: ValueScale) -> Tensor:
    """Convert returns or final scores to units of the scale."""
    return values if scale.kind == "win" else (values - scale.shift) / scale.scale
