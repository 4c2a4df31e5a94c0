"""Value networks as torch would have them: slow twins of the kernels."""

from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss


def loss_of(z, columns, targets):
    """Summed losses by column of what a network says, (rows, K)."""
    losses = []
    for k, column in enumerate(columns):
        if column.link == "tanh":
            wanted = (targets[:, k] + 1) / 2
            loss = binary_cross_entropy_with_logits(2 * z[:, k], wanted, reduction="sum")
        else:
            loss = huber_loss(column.scale * z[:, k], targets[:, k], reduction="sum", delta=column.delta) / column.scale
        losses.append(column.weight * loss)
    return losses


def mlp(tensors, x, layers, skip):
    """What an mlp says, before its links."""
    h = x
    for layer in range(layers):
        h = torch.relu(h @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"])
    z = h @ tensors["heads.weight"].T + tensors["heads.bias"]
    return z + x @ tensors["skip.weight"].T if skip else z


def values_of(z, columns):
    """The columns, linked."""
    parts = [
        torch.tanh(z[:, k]) if column.link == "tanh" else column.scale * z[:, k] for k, column in enumerate(columns)
    ]
    return torch.stack(parts, 1)
