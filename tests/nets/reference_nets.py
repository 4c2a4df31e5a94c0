"""Reference implementations of value networks in torch, and checks against them."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, huber_loss


def check_against_torch(net, theta, x, y, phases, outputs, forward_tolerance, gradient_tolerance, dtype=np.float32):
    """Compare forward pass, losses and gradient with torch; ``outputs(tensors, rows)`` is the reference network.

    ``gradient_tolerance`` is a function of the reference gradient. Gradients are added to existing values.
    """
    grad = np.full(net.size, 0.25, np.float32)
    losses = net.gradient(theta, x, y, grad, phases)
    found = net.forward(theta, x, phases)
    wanted, wanted_losses, wanted_grad = np.empty_like(found), np.zeros(len(net.columns)), {}
    for phase in range(net.config.phases):
        prefix = f"phases.{phase}." if net.config.phases > 1 else ""
        tensors = {
            name.removeprefix(prefix): torch.from_numpy(array.astype(dtype)).requires_grad_()
            for name, array in net.tensors(theta).items()
            if name.startswith(prefix)
        }
        here = phases == phase
        z = outputs(tensors, torch.from_numpy(x[here].astype(dtype)))
        wanted[here] = values_of(z, net.columns).detach().numpy()
        parts = loss_of(z, net.columns, torch.from_numpy(y[here].astype(dtype)))
        wanted_losses += [float(part.detach()) for part in parts]
        sum(parts).backward()
        wanted_grad |= {prefix + name: tensor.grad.numpy() for name, tensor in tensors.items()}
    wanted_theta = net.flatten(wanted_grad)
    np.testing.assert_allclose(found, wanted, **forward_tolerance)
    np.testing.assert_allclose(losses, wanted_losses, rtol=1e-4 if dtype == np.float64 else 1e-5)
    np.testing.assert_allclose(grad - 0.25, wanted_theta, rtol=1e-3, atol=gradient_tolerance(wanted_theta))


def loss_of(z, columns, targets):
    """Return the summed losses by column for network outputs (rows, K)."""
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
    """Return the outputs of ``mlp``, before the links of the columns."""
    h = x
    for layer in range(layers):
        h = torch.relu(h @ tensors[f"layers.{layer}.weight"].T + tensors[f"layers.{layer}.bias"])
    z = h @ tensors["heads.weight"].T + tensors["heads.bias"]
    return z + x @ tensors["skip.weight"].T if skip else z


def values_of(z, columns):
    """Return the columns for network outputs."""
    links = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}
    parts = [links.get(c.link, lambda x, c=c: c.scale * x)(z[:, k]) for k, c in enumerate(columns)]
    return torch.stack(parts, 1)


def towers(tensors, x, layers, shape, scale):
    """Return the outputs of ``towers``: z of the win, and the margin in units of its scale."""
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
    """Assert that the values of a row are bit-identical in any batch and any order."""

    def forward(rows):
        return net.forward(theta, x[rows], None if phases is None else phases[rows])

    batch = forward(slice(None))
    for row in range(0, len(x), every):
        np.testing.assert_array_equal(forward(slice(row, row + 1))[0], batch[row])
    order = np.random.default_rng(3).permutation(len(x))
    np.testing.assert_array_equal(forward(order), batch[order])
