"""Reference implementations of value networks in torch."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss


def loss_of(z, columns, targets):
    """Return the summed losses by column of outputs z (rows, K)."""
    losses = []
    for k, column in enumerate(columns):
        if column.link == "tanh":
            wanted = (targets[:, k] + 1) / 2
            loss = binary_cross_entropy_with_logits(2 * z[:, k], wanted, reduction="sum")
        elif column.link == "sigmoid":
            loss = binary_cross_entropy_with_logits(z[:, k], targets[:, k], reduction="sum")
        else:
            loss = huber_loss(column.scale * z[:, k], targets[:, k], reduction="sum", delta=column.delta) / column.scale
        losses.append(column.weight * loss)
    return losses


def mlp(tensors, x, layers, skip):
    """Return the outputs of an MLP before the links."""
    h = x
    for layer in range(layers):
        h = torch.relu(h @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"])
    z = h @ tensors["heads.weight"].T + tensors["heads.bias"]
    return z + x @ tensors["skip.weight"].T if skip else z


def values_of(z, columns):
    """Return the outputs after the links."""
    links = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}
    parts = [links.get(c.link, lambda x, c=c: c.scale * x)(z[:, k]) for k, c in enumerate(columns)]
    return torch.stack(parts, 1)


def towers(tensors, x, layers, shape, scale):
    """Return the outputs of towers: the logit of a win, and the margin in units of its scale."""
    points, joint = 0, tensors["common.bias"] + x[:, -shape.common :] @ tensors["common.weight"].T
    for seat in range(shape.seats):
        block = x[:, seat * shape.block : (seat + 1) * shape.block]
        e = block
        for layer in range(layers):
            e = torch.relu(e @ tensors[f"tower.{layer}.weight"].T + tensors[f"tower.{layer}.bias"])
        m = e @ tensors["margin.weight"].T + tensors["margin.bias"]
        if "skip.weight" in tensors:
            m = m + block @ tensors["skip.weight"].T
        points = points + (m[:, 0] if seat == 0 else -m[:, 0] / (shape.seats - 1))
        joint = joint + e @ tensors["own.weight" if seat == 0 else "others.weight"].T
    y = torch.relu(joint) @ tensors["heads.weight"].T + tensors["heads.bias"]
    lead = x[:, shape.seats * shape.block + shape.lead] * shape.lead_unit
    margin = lead + (points + y[:, 1]) * scale
    win = margin / (2 * scale) * torch.exp(torch.clamp(y[:, 2], -4, 4)) + y[:, 0]
    return torch.stack([win, margin / scale], 1)


def check_rows_stand_alone(net, theta, x, phases=None, every=7) -> None:
    """Assert that a row's values are bit-identical alone, with others and in another order."""

    def forward(rows):
        return net.forward(theta, x[rows], None if phases is None else phases[rows])

    together = forward(slice(None))
    for row in range(0, len(x), every):
        np.testing.assert_array_equal(forward(slice(row, row + 1))[0], together[row])
    order = np.random.default_rng(3).permutation(len(x))
    np.testing.assert_array_equal(forward(order), together[order])
