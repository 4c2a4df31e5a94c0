"""What a network is taught: the policy over legal actions, values of decisions and afterstates, final scores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from aleazero.nets.config import NetConfig, NetShape, ValueScale
from aleazero.training.config import TrainConfig


@dataclass(frozen=True)
class TargetBatch:
    """A batch as tensors, with the targets of its values."""

    observations: Tensor
    legal_masks: Tensor
    policies: Tensor
    weights: Tensor
    """Of the policies."""
    values: Tensor
    """By seat from the viewer on, in units of return."""
    scores: Tensor
    afterstate: Tensor


@dataclass(frozen=True)
class Losses:
    """Means over a batch; 0 where it has no such sample."""

    policy: Tensor
    value: Tensor
    """Of decisions, in units of the value scale, squared."""
    afterstate: Tensor
    margin: Tensor
    target_entropy: Tensor
    model_entropy: Tensor
    errors: Tensor
    """Of the values, squared, by row; not-a-number where none is taught."""

    def total(self, config: TrainConfig) -> Tensor:
        """What is made small."""
        values = config.value_weight * (self.value + self.afterstate)
        return config.policy_weight * self.policy + values + config.margin_weight * self.margin


def losses(heads: Tensor, lesson: TargetBatch, shape: NetShape, net: NetConfig, scale: ValueScale) -> Losses:
    """The losses of a batch."""
    actions, players = shape.actions, shape.players
    logits = heads[:, :actions].masked_fill(~lesson.legal_masks, -torch.inf)
    teaches = lesson.weights > 0
    # Rows without a policy have equal logits, so that no gradient of theirs is not-a-number.
    chosen = torch.where(teaches[:, None], logits, torch.zeros_like(logits))
    log_shares = torch.log_softmax(chosen, dim=1)
    known = torch.where(lesson.policies > 0, log_shares, torch.zeros_like(log_shares))
    weights = lesson.weights / lesson.weights.sum().clamp(min=1e-9)
    policy = -((lesson.policies * known).sum(dim=1) * weights).sum()
    target_entropy = -((torch.special.xlogy(lesson.policies, lesson.policies)).sum(dim=1) * weights).sum()
    shares = torch.where(torch.isfinite(log_shares), log_shares.exp() * log_shares, torch.zeros_like(log_shares))
    model_entropy = -(shares.sum(dim=1) * weights).sum()

    at = heads[:, actions : actions + players]
    if net.afterstates:
        behind = heads[:, actions + players : actions + 2 * players]
        at = torch.where(lesson.afterstate[:, None], behind, at)
    wrong = (in_units(at, scale) - wanted(lesson.values, scale)).square().mean(dim=1)
    decisions = (~lesson.afterstate).to(wrong.dtype)
    value = (wrong * decisions).sum() / decisions.sum().clamp(min=1)
    behind_loss = torch.zeros_like(value)
    if net.afterstates:
        behind_loss = (wrong * (1 - decisions)).sum() / (1 - decisions).sum().clamp(min=1)
    else:
        wrong = torch.where(lesson.afterstate, torch.nan, wrong)
    margin = torch.zeros_like(value)
    if net.margin:
        margin = (heads[:, -players:] - wanted_scores(lesson.scores, scale)).square().mean() / margin_unit(scale)
    return Losses(policy, value, behind_loss, margin, target_entropy.detach(), model_entropy.detach(), wrong.detach())


def in_units(heads: Tensor, scale: ValueScale) -> Tensor:
    """What the head says, in units of the scale: wins in their range, scores around 0."""
    if scale.kind == "score":
        return heads
    lowest = -1.0 / max(1, heads.shape[1] - 1)
    shares = 0.5 * (1.0 + lowest) + 0.5 * (1.0 - lowest) * torch.tanh(heads)
    if shares.shape[1] == 2:
        ahead = 0.5 * (shares[:, :1] - shares[:, 1:])
        return torch.cat((ahead, -ahead), dim=1)
    return shares


def wanted(values: Tensor, scale: ValueScale) -> Tensor:
    """Targets in the same units."""
    return values if scale.kind == "win" else (values - scale.shift) / scale.scale


def margin_unit(scale: ValueScale) -> float:
    """What the squared error of scores is divided by, so that it is of about 1."""
    return scale.spread**2 if scale.kind == "win" else 1.0


def wanted_scores(scores: Tensor, scale: ValueScale) -> Tensor:
    """Final scores in units of about 1: where returns are scores, as these are; else as the game tells them."""
    return scores if scale.kind == "win" else (scores - scale.shift) / scale.scale
